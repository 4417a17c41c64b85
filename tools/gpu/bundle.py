#!/usr/bin/env python3
"""Gathers what the check on a GPU runs into one file, for a machine where nothing can be built or installed.

    bundle.py BUILD_FOLDER BUNDLE_FOLDER [--most MIB]

BUNDLE_FOLDER gets programs, the libraries they need, and the scripts; BUNDLE_FOLDER.tar.xz is the same in one file. The C
library, CUDA's and cuDNN's are left out: they are on the other machine. needs.json names the oldest C library that the
programs start with. There, python3 alone unpacks and runs it:

    python3 -m tarfile -e gpu-bundle.tar.xz
    python3 gpu-bundle/check.py

Exit code 1 where the file is larger than --most, with its largest parts.
"""

import argparse
import json
import lzma
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {"bench": "bin/bench", **{name: name for name in ("tests/tests_gpu", "tests/tests_gpu_device",
                                                             "tools/peers/peers_ours")}}
MACHINES_OWN = re.compile(r"lib(c|m|dl|rt|pthread)\.so.*|ld-linux.*|lib(cu|nv).*")


def needed(program):
    """Paths of the libraries that it needs, as the loader finds them. ldd speaks no JSON."""
    listing = subprocess.run(["ldd", str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", listing)]


def glibc_versions(binary):
    """The versions of the GNU C library whose symbols it refers to: {(2, 34), (2, 2, 5)}."""
    listing = subprocess.run(["readelf", "--version-info", "--wide", str(binary)], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    return {tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([0-9.]+)\b", listing)}


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)  # what a link leads to


def gather(build, bundle):
    """Returns the version of the GNU C library that the programs need: "2.36"."""
    shutil.rmtree(bundle, ignore_errors=True)
    for name, place in PROGRAMS.items():
        copy(build / name, bundle / place)
    (bundle / "lib").mkdir()
    for library in {path for place in PROGRAMS.values() for path in needed(bundle / place)}:
        if not MACHINES_OWN.fullmatch(library.name):
            copy(library, bundle / "lib" / library.name)
    binaries = [*(bundle / place for place in PROGRAMS.values()), *(bundle / "lib").iterdir()]
    for binary in binaries:
        subprocess.run(["strip", "--strip-unneeded", str(binary)], check=True)
    glibc = ".".join(map(str, max(set().union(*map(glibc_versions, binaries)))))
    (bundle / "needs.json").write_text(json.dumps({"glibc": glibc}) + "\n", encoding="utf-8")
    (bundle / "bench").symlink_to("bin/bench")
    for place in ("tools/gpu", "tools/peers"):
        for script in (SOURCE / place).glob("*.py"):
            copy(script, bundle / place / script.name)
    (bundle / "check.py").symlink_to("tools/gpu/check.py")
    return glibc


# The largest preset's dictionary of 64 MiB finds what the programs have in common. Of x86's code, a filter makes equal jumps
# equal bytes, and the rest is set for bytes that are aligned to nothing: 8 % less in all.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "pb": 0}]
if platform.machine() == "x86_64":
    FILTERS.insert(0, {"id": lzma.FILTER_X86})


def pack(bundle, file):
    with lzma.open(file, "wb", filters=FILTERS) as compressed, tarfile.open(fileobj=compressed, mode="w") as archive:
        archive.add(bundle, bundle.name)


def compressed_bytes(path):
    return len(lzma.compress(path.read_bytes(), preset=6))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("bundle", type=pathlib.Path)
    parser.add_argument("--most", type=float, metavar="MIB", help="the file may have")
    options = parser.parse_args()

    glibc = gather(options.build, options.bundle)
    file = options.bundle.with_name(options.bundle.name + ".tar.xz")
    pack(options.bundle, file)
    size = file.stat().st_size / 2**20
    print(f"bundle: {file}, {size:.1f} MiB; it needs glibc {glibc} or later")
    if options.most is not None and size > options.most:
        parts = sorted((path for path in options.bundle.rglob("*") if path.is_file() and not path.is_symlink()),
                       key=lambda path: path.stat().st_size, reverse=True)
        largest = ", ".join(f"{path.name} {compressed_bytes(path) / 2**20:.1f}" for path in parts[:5])
        sys.exit(f"bundle: it may have {options.most:.0f} MiB; the largest, each compressed by itself, in MiB: {largest}")


if __name__ == "__main__":
    main()
