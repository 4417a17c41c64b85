#!/usr/bin/env python3
"""What the machine has: a card, a build with the CUDA device, NVIDIA's libraries. `make gpu-check` asks before it builds for
minutes.

    look.py --card             whether the NVIDIA driver shows a card
    look.py --build FOLDER     whether the configured build folder has the CUDA device
    look.py --driver           whether the NVIDIA driver is installed, with or without a card
    look.py --bundle           which bundle this machine's driver takes, where one is run and not built
    look.py --libraries        LD_LIBRARY_PATH of the bundle that this is part of, to start its programs by hand
    look.py --architectures    "75;86": the machine's cards, for CMake; nothing if there is none

Exit code 0, or 2 with a sentence that names the missing part and how to get it.
"""

import ctypes
import glob
import json
import os
import pathlib
import re
import sys
import sysconfig

ELSEWHERE = "make gpu-bundle makes a folder that does the same on another machine"
# Major version of the CUDA that a bundle is made with: the oldest driver for it, by the CUDA that nvidia-smi shows and by its own.
DRIVERS = {13: ("13.0", "580"), 12: ("12.4", "550")}


def nvidia_driver():
    """The driver's library; None where it is not installed. nvidia-smi need not be."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


NO_DRIVER = f"there is no NVIDIA driver on this machine (libcuda.so.1); install it; {ELSEWHERE}"


def no_card():
    """Why no card can be used; None where one can."""
    driver = nvidia_driver()
    if driver is None:
        return NO_DRIVER
    error = driver.cuInit(0)
    count = ctypes.c_int(0)
    if error == 0:
        error = driver.cuDeviceGetCount(ctypes.byref(count))
    if error not in (0, 100):
        said = ctypes.c_char_p()
        driver.cuGetErrorString(error, ctypes.byref(said))
        text = said.value.decode() if said.value else "unknown error"
        return f"the NVIDIA driver does not start (error {error}: {text}); nvidia-smi may say more"
    if count.value == 0:
        return ("the NVIDIA driver shows no card; CUDA_VISIBLE_DEVICES may hide it, a container must be started with "
                f"it; {ELSEWHERE}")
    return None


def bundle_name(cuda):
    """Two may lie side by side."""
    return f"gpu-bundle-cuda{version(cuda)[0]}"


def driver_for(cuda):
    shown, driver = DRIVERS[version(cuda)[0]]
    return f"driver {driver} or later (nvidia-smi: CUDA {shown})"


def served_cuda():
    """The newest CUDA that the driver runs programs of, as nvidia-smi shows it: "12.4"; None without a driver."""
    driver = nvidia_driver()
    number = ctypes.c_int(0)
    if driver is None or driver.cuDriverGetVersion(ctypes.byref(number)) != 0:
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def which_bundle(served):
    """For a driver that serves that CUDA."""
    if version(served) >= version(DRIVERS[13][0]):
        return f"take {bundle_name('13')} (make gpu-bundle with CUDA 13)"
    if version(served) >= version(DRIVERS[12][0]):
        return (f"take {bundle_name('12')} (make gpu-bundle CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/12/bin/nvcc, in a fresh "
                f"checkout), or install driver {DRIVERS[13][1]} or later")
    return f"there is no bundle for so old a driver; install {DRIVERS[12][1]} or later"


def architectures():
    """Compute capabilities of the cards that are here, without the dot, in ascending order."""
    driver = nvidia_driver()
    if driver is None:
        return []
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return []
    found = set()
    for ordinal in range(count.value):
        device, major, minor = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(0)
        # 75 and 76 are CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
        if (driver.cuDeviceGet(ctypes.byref(device), ordinal) == 0
                and driver.cuDeviceGetAttribute(ctypes.byref(major), 75, device) == 0
                and driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, device) == 0):
            found.add(10 * major.value + minor.value)
    return sorted(found)


def libraries(bundle):
    """LD_LIBRARY_PATH for a bundle's programs; "" for a build folder.

    The bundle's own libraries come first, then NVIDIA's from pip's wheels next to this Python (with its PyTorch), then those
    of an installed toolkit. PyTorch must not get this path: it brings its own.
    """
    if not (bundle / "lib").is_dir():
        return ""
    paths = sysconfig.get_paths()
    wheels = [folder for site_packages in (paths["purelib"], paths["platlib"], *sys.path)
              for folder in sorted(glob.glob(f"{glob.escape(site_packages)}/nvidia/*/lib"))]
    toolkits = [f"{root}/lib64" for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda")
                if root and os.path.isdir(f"{root}/lib64")]
    given = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    # Each once; an empty one would be the current folder.
    return ":".join(dict.fromkeys(filter(None, [str(bundle / "lib"), *wheels, *given, *toolkits])))


def old_system(bundle):
    """Why a bundle's programs do not start on this system; None where they do, and for a build folder."""
    needs = bundle / "needs.json"
    if not needs.is_file():
        return None
    needed = json.loads(needs.read_text(encoding="utf-8"))
    return old_library(needed["glibc"]) or old_driver(needed["cuda"])


def old_driver(needed):
    served = served_cuda()
    # A program runs with every driver of its CUDA's major version, and with later ones.
    if served is None or version(served)[0] >= version(needed)[0]:
        return None
    return (f"the bundle's programs are made with CUDA {needed}, and this NVIDIA driver serves CUDA {served} at most; "
            f"{which_bundle(served)}")


def old_library(needed):
    try:
        here = os.confstr("CS_GNU_LIBC_VERSION").split()[-1]  # "glibc 2.31"
    except (AttributeError, OSError, ValueError):  # another C library
        here = "none"
    if here != "none" and version(here) >= version(needed):
        return None
    return (f"the bundle's programs need glibc {needed} or later, this system has {here}; make the bundle on a system as "
            "old as this one, or run it in a container with a newer one")


def version(text):
    return tuple(int(number) for number in re.findall("[0-9]+", text))


def no_device_in(folder):
    """Why the build has no CUDA device, as CMake wrote it down; None where it has."""
    header = pathlib.Path(folder) / "generated" / "bench_cuda_missing.h"
    if not header.exists():
        return None
    reason = re.search(r'#define BENCH_CUDA_MISSING "(.*)"', header.read_text(encoding="utf-8"))
    return f"{folder} was configured without the CUDA device: {reason[1] if reason else 'see the output of cmake'}"


def main():
    if sys.argv[1:] == ["--architectures"]:
        print(";".join(map(str, architectures())))
        missing = None
    elif sys.argv[1:] == ["--driver"]:
        missing = None if nvidia_driver() else NO_DRIVER
    elif sys.argv[1:] == ["--card"]:
        missing = no_card()
    elif sys.argv[1:] == ["--bundle"]:
        served = served_cuda()
        missing = None if served else NO_DRIVER
        if served:
            print(f"this NVIDIA driver serves CUDA {served}: {which_bundle(served)}")
    elif sys.argv[1:] == ["--libraries"]:
        print(libraries(pathlib.Path(__file__).resolve().parents[2]))
        missing = None
    elif len(sys.argv) == 3 and sys.argv[1] == "--build":
        missing = no_device_in(sys.argv[2])
    else:
        sys.exit("usage: look.py --card | --build FOLDER | --driver | --bundle | --libraries | --architectures")
    if missing:
        print(f"gpu-check: {missing}.", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
