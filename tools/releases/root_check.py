#!/usr/bin/env python3
"""Builds, runs and tests the checkout in clean roots of other releases, as someone who has just cloned it there.

    root_check.py ROOTS_FOLDER [CODENAME...] [--without-tests]

In each: `make setup` as root, then as another user `make run ARGS="--sweep batch --quick"` and `make test`. mmdebstrap makes a
root once, from this machine's own package sources. It is kept with the packages of packages.txt and what ccache holds, so that
the second time is fast; the build folder is not. ROOTS_FOLDER/CODENAME-checkout.log has what was printed. A release is not run
where this machine has no source or key of its distribution. Needs root. Exit code 1 where something fails.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

from releases import NOBODY, RELEASES, has_source, in_root, make_root, mirrors

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ["ca-certificates", "ccache", "make"]  # all else is for `make setup` to install
BUILDER = "/home/user/bench"

# The host's devices, its view of processors, memory that ranks share, and where other hosts' names are looked up.
MOUNTS = """
mount --rbind /dev dev
mount -t tmpfs tmpfs dev/shm
mount --rbind /sys sys
cp -L /etc/resolv.conf etc/resolv.conf
"""
INSTALL = MOUNTS + """
mkdir -p mnt
mount --bind "$SOURCE" mnt
exec chroot . /usr/bin/env -i HOME=/root PATH="$PATH" LC_ALL=C.UTF-8 /bin/sh -ec "cd /mnt; $COMMAND"
"""
# ccache does not trust precompiled headers unless it is told to.
BUILD = MOUNTS + """
mkdir -p var/cache/ccache
mount --bind "$CCACHE" var/cache/ccache
exec chroot --userspec="$NOBODY:$NOBODY" . /usr/bin/env -i HOME=/home/user PATH=/usr/bin:/bin LC_ALL=C.UTF-8 \\
  CCACHE_DIR=/var/cache/ccache CCACHE_SLOPPINESS=pch_defines,time_macros CMAKE_CXX_COMPILER_LAUNCHER=ccache \\
  /bin/sh -ec "cd $BUILDER; $COMMAND"
"""


def copy_checkout(target):
    """Files that git knows or would add, as another user's."""
    listed = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            stdout=subprocess.PIPE, check=True).stdout
    names = [name for name in listed.split(b"\0") if name and os.path.lexists(os.path.join(os.fsencode(SOURCE), name))]
    target.mkdir(parents=True)
    packed = subprocess.Popen(["tar", "-C", str(SOURCE), "--null", "--no-recursion", "-T", "-", "-cf", "-",
                               f"--owner={NOBODY}", f"--group={NOBODY}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with subprocess.Popen(["tar", "-C", str(target), "--same-owner", "-xf", "-"], stdin=packed.stdout) as unpacked:
        packed.stdin.write(b"\0".join(names))
        packed.stdin.close()
        if packed.wait() + unpacked.wait() != 0:
            sys.exit("root-check: the checkout could not be copied")
    for folder, _, _ in os.walk(target.parent):
        os.chown(folder, int(NOBODY), int(NOBODY))


def check(release, mirror, roots, with_tests):
    """Whether all parts hold; says how long each took."""
    # Another list of packages, another layer over the root, so that none is there which the list has not.
    listed = (SOURCE / "packages.txt").read_text(encoding="utf-8").splitlines()
    wanted = sorted(line for line in listed if line and not line.startswith("#"))
    packages = hashlib.sha256("\n".join(wanted).encode()).hexdigest()[:12]
    root, installed, work, ccache, log = (roots / f"{release.codename}-checkout{more}" for more in
                                          ("", f".{packages}", ".work", ".ccache", ".log"))
    started = time.monotonic()

    def took(what, how):
        nonlocal started
        print(f"root-check: {release.name}, {what}: {how}, {time.monotonic() - started:.0f} s", flush=True)
        started = time.monotonic()

    def part(name, layers, upper, script, command):
        variables = {"NOBODY": NOBODY, "CCACHE": ccache, "SOURCE": SOURCE, "BUILDER": BUILDER, "COMMAND": command}
        with open(log, "a", encoding="utf-8") as output:
            code, _ = in_root(layers, upper, script, variables, output)
        took(name, "ok" if code == 0 else f"FAILED: exit code {code}")
        if code != 0:
            printed = log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:]
            print("".join(f"    {line}\n" for line in printed) + f"root-check: all that was printed is in {log}")
        return code == 0

    log.unlink(missing_ok=True)
    shutil.rmtree(work, ignore_errors=True)
    ccache.mkdir(exist_ok=True)
    os.chown(ccache, int(NOBODY), int(NOBODY))
    if not root.exists():
        make_root(root, release, mirror, PACKAGES)
        took("root", "made")
    if not installed.exists():
        for old in roots.glob(f"{root.name}.????????????"):
            shutil.rmtree(old)
        unfinished = installed.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        if not part("make setup", root, unfinished, INSTALL, "make setup"):
            return False
        unfinished.rename(installed)
    copy_checkout(work / "upper" / BUILDER[1:])
    layers = f"{installed / 'upper'}:{root}"
    if not part("make run", layers, work, BUILD, 'make run SETUP=skip ARGS="--sweep batch --quick"'):
        return False
    if with_tests and not part("make test", layers, work, BUILD, "make test SETUP=skip"):
        return False
    shutil.rmtree(work)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("roots", type=pathlib.Path)
    parser.add_argument("codenames", nargs="*", metavar="CODENAME", help="bookworm, trixie, jammy or noble; all, if none is given")
    parser.add_argument("--without-tests", action="store_true", help="make run only")
    options = parser.parse_args()
    unknown = set(options.codenames) - {release.codename for release in RELEASES}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: accepted: {', '.join(release.codename for release in RELEASES)}")
    if os.geteuid() != 0:
        sys.exit("root-check: it needs root: sudo make root-check")
    roots, available, held = options.roots.resolve(), mirrors(), {}
    roots.mkdir(parents=True, exist_ok=True)
    for release in RELEASES:
        if options.codenames and release.codename not in options.codenames:
            continue
        if not has_source(release, available):
            print(f"root-check: {release.name} was not run: this machine has no source or key of {release.distribution}")
            continue
        held[release.name] = check(release, available[release.distribution], roots, not options.without_tests)
    print(f"root-check: {sum(held.values())} of {len(held)} releases hold")
    if not held or not all(held.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
