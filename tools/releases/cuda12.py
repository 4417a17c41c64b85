#!/usr/bin/env python3
"""Lays out CUDA 12.4 of Debian 13 (non-free) as a toolkit that this machine's g++ (13 at most) compiles with; nothing is installed.

    cuda12.py FOLDER

FOLDER/bin/nvcc is the compiler. 1.3 GB are downloaded and 4 GB unpacked, from this machine's own package sources. A program made
with it on Debian 12 needs no newer C library than others made there, unlike one made on Debian 13.
"""

import argparse
import dataclasses
import pathlib
import shutil
import sys

import releases

PACKAGES = ["nvidia-cuda-toolkit", "nvidia-cuda-dev", "libcudart12", "libcublas12", "libcublaslt12", "libnvrtc12",
            "libnvrtc-builtins12.4", "libcu++-dev", "libcub-dev", "libthrust-dev"]
TOOLS = ["bin2c", "cudafe++", "cuobjdump", "fatbinary", "nvdisasm", "nvlink", "ptxas"]
# In place of Debian's, which names folders of the system.
PROFILE = """TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
"""


def lay_out(root, folder):
    """As NVIDIA's own toolkit is; `root` is where Debian's packages were unpacked."""
    own = root / "usr/lib/nvidia-cuda-toolkit"
    links = {"include": root / "usr/include", "lib64": root / "usr/lib/x86_64-linux-gnu", "bin/crt": own / "bin/crt",
             "nvvm/bin/cicc": own / "bin/cicc", "nvvm/libdevice": own / "libdevice",
             **{f"bin/{tool}": root / "usr/bin" / tool for tool in TOOLS}}
    for place, target in links.items():
        link = folder / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target.resolve(strict=True))
    shutil.copy(own / "bin/nvcc", folder / "bin/nvcc")  # it looks for the profile next to itself, behind links
    (folder / "bin/nvcc.profile").write_text(PROFILE, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder.resolve()
    trixie = next(one for one in releases.RELEASES if one.codename == "trixie")
    mirrors = releases.mirrors()
    if not releases.has_source(trixie, mirrors):
        sys.exit("cuda12: this machine has no package sources of Debian, or not its key")
    packages = folder / "debian"
    if not packages.exists():
        try:
            releases.download(dataclasses.replace(trixie, components="main contrib non-free"), mirrors[trixie.distribution], PACKAGES,
                              packages)
        except OSError as error:
            sys.exit(f"cuda12: the packages could not be downloaded:\n{error}")
        shutil.rmtree(packages / "debs")
    lay_out(packages / "root", folder)
    print(f"cuda12: {folder / 'bin/nvcc'}")


if __name__ == "__main__":
    main()
