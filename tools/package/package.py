#!/usr/bin/env python3
"""Packs the built program for other machines: a tarball that runs where it is unpacked, and a wheel.

    package.py BUILD_FOLDER PACKAGES_FOLDER

PACKAGES_FOLDER gets bench-VERSION/ (as `cmake --install` makes it, stripped), bench-VERSION-linux-MACHINE.tar.xz, and
bench_gpu-VERSION-py3-none-manylinux_2_35_MACHINE.whl, whose command is `bench`, and a Containerfile. Exit code 1 where a program or
library needs a newer C or C++ library than FLOORS.
"""

import argparse
import base64
import hashlib
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools" / "gpu"))
from bundle import pack  # noqa: E402

# The newest symbols of the system's C and C++ libraries that may be needed: Ubuntu 22.04, Debian 12 and later ones have both.
FLOORS = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)}
# RHEL 9 has glibc 2.34, but not that C++ library.
PLATFORM = f"manylinux_2_35_{platform.machine()}"

# What CUDA's libraries are called as wheels, by CUDA's major version.
CUDA_WHEELS = {
    "12": ("nvidia-cudnn-cu12>=9,<10", "nvidia-cublas-cu12>=12,<13", "nvidia-cuda-nvrtc-cu12>=12,<13", "nvidia-nccl-cu12>=2,<3"),
    "13": ("nvidia-cudnn-cu13>=9,<10", "nvidia-cublas>=13,<14", "nvidia-cuda-nvrtc>=13,<14", "nvidia-nccl-cu13>=2,<3"),
}

# An environment's own CUDA libraries come after LD_LIBRARY_PATH and before the system's.
LAUNCHER = '''"""The command `bench`."""

import os
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def main():
    folders = [folder for folder in os.environ.pop("LD_LIBRARY_PATH", "").split(":") if folder.startswith("/")]
    parts = FOLDER.parent / "nvidia"
    folders += [str(path) for path in (parts / "cudnn/lib", *sorted(parts.glob("cu1[23]/lib")), parts / "cublas/lib", parts / "nccl/lib",
                                       parts / "cuda_nvrtc/lib") if path.is_dir()]
    if folders:
        os.environ["LD_LIBRARY_PATH"] = ":".join(folders)
    program = FOLDER / "bin" / "bench"
    try:
        os.execv(program, sys.argv)
    except OSError as error:
        print(f"bench: {program}: {error.strerror}; install the wheel again, with pip install --force-reinstall", file=sys.stderr)
        sys.exit(2)
'''


def versions(program):
    """{"bench": "0.1.0", "CUDA": "13.0", …}: the first word after each name that --version prints."""
    listing = subprocess.run([str(program), "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: version for name, version in re.findall(r"^(\S+) +([^\s,]+)", listing, re.MULTILINE)}


def binaries(tree):
    return [tree / "bin" / "bench", tree / "libexec" / "bench", *sorted((tree / "lib").iterdir())]


def newest_symbols(binary):
    """{"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)}: the newest version that it needs of each."""
    listing = subprocess.run(["readelf", "--version-info", "--wide", str(binary)], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    found = re.findall(r"Name: ([A-Z]+)_([0-9.]+)\b", listing)
    return {family: max(tuple(map(int, version.split("."))) for one, version in found if one == family)
            for family in FLOORS if any(one == family for one, _ in found)}


def refuse_newer_symbols(tree):
    newer = [f"{path.name} needs {family}_{'.'.join(map(str, version))}" for path in binaries(tree)
             for family, version in newest_symbols(path).items() if version > FLOORS[family]]
    if newer:
        sys.exit(f"package: packages may need no newer symbols than {FLOORS}; {', '.join(newer)}")


def install(build, tree):
    shutil.rmtree(tree, ignore_errors=True)
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(tree), "--strip"], stdout=subprocess.DEVNULL,
                   check=True)


def metadata(version, cuda):
    lines = ["Metadata-Version: 2.1", "Name: bench-gpu", f"Version: {version}",
             "Summary: Which batch size, which card, which loader: measured on the machine at hand",
             "License: Apache-2.0", "License-File: LICENSE", "License-File: NOTICE", "Requires-Python: >=3.8",
             "Description-Content-Type: text/markdown"]
    if cuda in CUDA_WHEELS:
        lines.append(f"Provides-Extra: cuda{cuda}")
        lines += [f'Requires-Dist: {wheel}; extra == "cuda{cuda}"' for wheel in CUDA_WHEELS[cuda]]
    return "\n".join(lines) + "\n\n"


def write_wheel(tree, folder, version, cuda):
    """By hand: a wheel is a zip file with four texts, and nothing is compiled for Python."""
    tag = f"py3-none-{PLATFORM}"
    info = f"bench_gpu-{version}.dist-info"
    files = {"bench_gpu/__init__.py": (LAUNCHER.encode(), 0o644)}
    for path in binaries(tree):
        files[f"bench_gpu/{path.relative_to(tree)}"] = (path.read_bytes(), 0o755)
    for path in sorted((tree / "share" / "doc" / "bench").rglob("*")):
        if path.is_file() and path.name != "README.md":
            files[f"{info}/licenses/{path.relative_to(tree / 'share' / 'doc' / 'bench')}"] = (path.read_bytes(), 0o644)
    files[f"bench_gpu-{version}.data/scripts/bench-gate"] = ((tree / "bin" / "bench-gate").read_bytes(), 0o755)
    page = pathlib.Path("share") / "man" / "man1" / "bench.1"
    files[f"bench_gpu-{version}.data/data/{page}"] = ((tree / page).read_bytes(), 0o644)
    readme = (tree / "share" / "doc" / "bench" / "README.md").read_bytes()
    files[f"{info}/METADATA"] = (metadata(version, cuda).encode() + readme, 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\nbench = bench_gpu:main\n", 0o644)
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for name, (data, _) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), 0o644)
    wheel = folder / f"bench_gpu-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: equal trees give equal files
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("packages", type=pathlib.Path)
    options = parser.parse_args()

    found = versions(options.build / "bench")
    version = found["bench"]
    tree = options.packages / f"bench-{version}"
    install(options.build, tree)
    refuse_newer_symbols(tree)
    tarball = options.packages / f"bench-{version}-linux-{platform.machine()}.tar.xz"
    pack(tree, tarball)
    shutil.copy(SOURCE / "tools" / "package" / "Containerfile", options.packages)
    wheel = write_wheel(tree, options.packages, version, found.get("CUDA", "").partition(".")[0])
    for file in (tarball, wheel):
        print(f"package: {file}, {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
