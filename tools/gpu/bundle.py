#!/usr/bin/env python3
"""Gathers what the check on a GPU runs into one file, for a machine where nothing can be built or installed.

    bundle.py BUILD_FOLDER FOLDER [--most MIB]

FOLDER/gpu-bundle-cuda13, or -cuda12, gets programs, the libraries they need, and the scripts; the file of that name with .tar.xz is
the same. The C library, CUDA's and cuDNN's are left out: they are on the other machine. needs.json names the oldest C library that the
programs start with, and the version of CUDA that they are built with. There, python3 alone unpacks and runs it:

    python3 -m tarfile -e gpu-bundle-cuda13.tar.xz
    python3 gpu-bundle-cuda13/check.py

Exit code 1 where the file is larger than --most, with its largest parts.
"""

import argparse
import collections
import json
import lzma
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile

import look

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# From the build's folder `bundled` (cmake/Bundle.cmake) to the bundle's folders.
PROGRAMS = {"bench": "bin/bench", "tests_gpu": "tests/tests_gpu", "tests_gpu_device": "tests/tests_gpu_device",
            "peers_ours": "tools/peers/peers_ours"}
# libgcc_s goes with the C library: Debian 12's asks for glibc 2.35.
MACHINES_OWN = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s)\.so.*|ld-linux.*|lib(cu|nv).*")
# By functions of the C library that the programs have themselves: cmake/Bundle.cmake.
PROVIDED = {"arc4random"}


def needed(program):
    """Paths of the libraries that it needs, as the loader finds them. ldd speaks no JSON."""
    listing = subprocess.run(["ldd", str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [pathlib.Path(path) for path in re.findall(r"=> (/\S+)", listing)]


def read_elf(option, binary):
    return subprocess.run(["readelf", "--wide", option, str(binary)], stdout=subprocess.PIPE, text=True, check=True).stdout


def glibc_versions(binary):
    """The versions of the GNU C library whose symbols it refers to: {(2, 34), (2, 2, 5)}."""
    found = re.findall(r"Name: GLIBC_([0-9.]+)\b", read_elf("--version-info", binary))
    return {tuple(map(int, version.split("."))) for version in found}


def take_from_programs(library):
    """Where the library asks for a version of glibc because of PROVIDED functions alone, has it ask for another one that it needs
    anyway: the loader then binds those functions to the program's.

    A needed version is a record of 16 bytes: the first four are its hash, those from the ninth on its name's place.
    """
    used = collections.defaultdict(set)
    for name, version in re.findall(r" UND (\w+)@GLIBC_([0-9.]+)", read_elf("--dyn-syms", library)):
        used[version].add(name)
    replaced = [version for version, names in used.items() if names <= PROVIDED]
    if not replaced:
        return
    needs = read_elf("--version-info", library).partition("Version needs section")[2]
    start = int(re.search(r"Offset: 0x([0-9a-f]+)", needs)[1], 16)
    of_libc = re.search(r"File: libc\.so\.6 .*\n((?: +0x[0-9a-f]+: +Name: .*\n)+)", needs)[1]
    records = {version: start + int(place, 16)
               for place, version in re.findall(r"0x([0-9a-f]+): +Name: GLIBC_([0-9.]+) ", of_libc)}
    other = next(place for version, place in records.items() if version not in replaced)
    content = bytearray(library.read_bytes())
    for place in map(records.get, replaced):
        for part in (slice(0, 4), slice(8, 12)):
            content[place + part.start:place + part.stop] = content[other + part.start:other + part.stop]
    library.write_bytes(content)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)  # what a link leads to


def gather_libraries(programs, folder):
    for library in {path for program in programs for path in needed(program)}:
        if not MACHINES_OWN.fullmatch(library.name):
            copied = folder / library.name
            copy(library, copied)
            subprocess.run(["strip", "--strip-unneeded", str(copied)], check=True)
            take_from_programs(copied)


def cuda_version(build):
    """As CMake found it: "13.0.88"."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return re.search(r"^BENCH_CUDA_VERSION:INTERNAL=([0-9.]+)$", cache, re.MULTILINE)[1]


def gather(build, bundle):
    """Returns what the programs need: {"glibc": "2.34", "cuda": "13.0.88"}."""
    shutil.rmtree(bundle, ignore_errors=True)
    for name, place in PROGRAMS.items():
        copy(build / "bundled" / name, bundle / place)
    programs = [bundle / place for place in PROGRAMS.values()]
    gather_libraries(programs, bundle / "lib")
    for program in programs:
        subprocess.run(["strip", "--strip-unneeded", str(program)], check=True)
    binaries = [*programs, *(bundle / "lib").iterdir()]
    glibc = ".".join(map(str, max(set().union(*map(glibc_versions, binaries)))))
    needs = {"glibc": glibc, "cuda": cuda_version(build)}
    (bundle / "needs.json").write_text(json.dumps(needs) + "\n", encoding="utf-8")
    (bundle / "bench").symlink_to("bin/bench")
    for place in ("tools/gpu", "tools/peers"):
        for script in (SOURCE / place).glob("*.py"):
            copy(script, bundle / place / script.name)
    (bundle / "check.py").symlink_to("tools/gpu/check.py")
    return needs


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
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--most", type=float, metavar="MIB", help="the file may have")
    options = parser.parse_args()

    bundle = options.folder / look.bundle_name(cuda_version(options.build))
    needs = gather(options.build, bundle)
    file = bundle.with_name(bundle.name + ".tar.xz")
    pack(bundle, file)
    size = file.stat().st_size / 2**20
    print(f"bundle: {file}, {size:.1f} MiB; it needs glibc {needs['glibc']} or later and {look.driver_for(needs['cuda'])}")
    if options.most is not None and size > options.most:
        parts = sorted((path for path in bundle.rglob("*") if path.is_file() and not path.is_symlink()),
                       key=lambda path: path.stat().st_size, reverse=True)
        largest = ", ".join(f"{path.name} {compressed_bytes(path) / 2**20:.1f}" for path in parts[:5])
        sys.exit(f"bundle: it may have {options.most:.0f} MiB; the largest, each compressed by itself, in MiB: {largest}")


if __name__ == "__main__":
    main()
