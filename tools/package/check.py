#!/usr/bin/env python3
"""Runs the tarball and the wheel in clean roots of other releases, as a user who may write nowhere but at home.

    check.py PACKAGES_FOLDER ROOTS_FOLDER

Each release has two roots, one without and one with gnuplot; mmdebstrap makes them once, from this machine's own package
sources, and ROOTS_FOLDER keeps them. A release is not run where this machine has no source or key of its distribution. Where
there is buildah, the Containerfile is built on a root. Needs root. Exit code 1 where something fails, with what it printed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from package import versions

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "releases"))
from releases import NOBODY, RELEASES, has_source, in_root, make_root, mirrors  # noqa: E402

PACKAGES = ["python3-venv", "xz-utils"]
PICTURES = {"plain": [], "pictures": ["gnuplot-nox"]}
SWEEP = "--sweep batch --workload conv2d --height 8 --width 8 --batch 1,2,4 --dtype fp32 --device cpu --time-budget 2s"
# Answers with its version, as the wheel of CUDA 13 and one of the system would.
CUDNN = "unsigned long cudnnGetVersion(void) { return %d; }\nunsigned long cudnnGetCudartVersion(void) { return %d; }\n"


# The root is read-only once the packages are installed, but for /home and /tmp.
INSTALL_AND_RUN = """
mount --bind "$FILES" mnt
chroot . /bin/sh -ec "$INSTALL"
mount -t tmpfs tmpfs home
mount -t tmpfs tmpfs tmp
install -d -o "$NOBODY" -g "$NOBODY" home/user
mount -o remount,ro "$WORK/root"
exec chroot --userspec="$NOBODY:$NOBODY" . /usr/bin/env -i HOME=/home/user PATH=/usr/bin:/bin LC_ALL=C.UTF-8 /bin/sh -ec "$RUN"
"""


def run_in(root, work, files, install, run):
    """Runs `install` as root, then `run` as another user; returns exit code and output."""
    shutil.rmtree(work, ignore_errors=True)
    return in_root(root, work, INSTALL_AND_RUN, {"FILES": files, "NOBODY": NOBODY, "INSTALL": install, "RUN": run})


def measure(program):
    """Shell words: --list, and a sweep from the root folder, whose results go to the user's own."""
    return f"cd /; {program} --list; {program} {SWEEP}; ls ~/.local/share/bench/results; echo ended"


def stub(folder, version, cuda):
    library = folder / f"libcudnn-{version}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-Wl,-soname,libcudnn.so.9", "-o", str(library)],
                   input=CUDNN % (version, 1000 * cuda), text=True, check=True)
    return library.name


def checks(files, tarball, wheel, cuda):
    """(name, kind of root, installing, running, what the output must hold), of one release; the root has `files` at /mnt."""
    unpack = f"mkdir /opt/bench; tar -xJf /mnt/{tarball.name} -C /opt/bench --strip-components=1"
    install, run, wanted = unpack, measure("/opt/bench/bin/bench"), ["cpu ", "no picture: ", "batch-conv2d-cpu.json"]
    if cuda:  # opened by its name, which only the loader's cache knows, the rest of a file would end the process
        install += f"; mkdir /opt/cut; cp /mnt/{stub(files, 91900, cuda)} /opt/cut/libcudnn.so.9; " \
                   "echo /opt/cut >/etc/ld.so.conf.d/cut.conf; ldconfig; truncate -s 5000 /opt/cut/libcudnn.so.9"
        run += "; /opt/bench/bin/bench --version; /opt/bench/bin/bench --list"
        wanted += ["cuDNN     /opt/cut/libcudnn.so.9: the file is cut short"]
    yield "tarball", "plain", install, run, wanted
    yield "tarball with pictures", "pictures", unpack, measure("/opt/bench/bin/bench"), ["batch-conv2d-cpu.png"]
    venv = f"python3 -m venv /opt/venv; /opt/venv/bin/pip install --quiet --no-index --no-deps /mnt/{wheel.name}"
    run, wanted = measure("/opt/venv/bin/bench"), ["cpu ", "batch-conv2d-cpu.json"]
    if cuda:  # the program finds a cuDNN of the system's by itself, and the wheel's command that of its environment
        site = "$(echo /opt/venv/lib/python3*/site-packages)"
        venv += f"; cd /usr/lib/x86_64-linux-gnu; cp /mnt/{stub(files, 90100, cuda)} libcudnn.so.9; " \
                f"cp libcudnn.so.9 libcudnn_graph.so.9; mkdir -p {site}/nvidia/cudnn/lib; cd {site}/nvidia/cudnn/lib; " \
                f"cp /mnt/{stub(files, 91900, cuda)} libcudnn.so.9; cp libcudnn.so.9 libcudnn_graph.so.9"
        run += f"; /opt/venv/bin/bench --version; {site}/bench_gpu/bin/bench --version"
        wanted += ["cuDNN     9.19.0, /opt/venv/", "cuDNN     9.1.0, /"]
    yield "wheel", "plain", venv, run, wanted


# On a root in the place of the distribution's image, and a sweep in what is built. The mounts end with the name space.
IMAGE = """
set -e
export BUILDAH_ISOLATION=chroot
run() { buildah --root "$WORK/root" --runroot "$WORK/run" "$@"; }
printf 'FROM scratch\\nCOPY . /\\n' | run build --quiet --tag base --file - "$BASE"
run build --quiet --tag bench --build-arg BASE=localhost/base "$PACKAGES"
run from --name bench localhost/bench
run run bench -- /opt/bench/bin/bench $SWEEP
"""


def build_image(packages, base, work):
    """Builds the Containerfile; returns exit code and output."""
    variables = {"WORK": work, "BASE": base, "PACKAGES": packages, "SWEEP": SWEEP}
    ended = subprocess.run(["unshare", "--mount", "/bin/sh", "-c", IMAGE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False,
                           env={**os.environ, **{name: str(value) for name, value in variables.items()}})
    shutil.rmtree(work, ignore_errors=True)
    return ended.returncode, ended.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=pathlib.Path)
    parser.add_argument("roots", type=pathlib.Path)
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("package-check: it needs root: sudo make package-check")
    roots, files = options.roots.resolve(), options.roots.resolve() / "files"
    (tarball,), (wheel,), (tree,) = map(options.packages.glob, ("bench-*-linux-*.tar.xz", "bench_gpu-*.whl", "bench-*[0-9]"))
    shutil.rmtree(files, ignore_errors=True)
    files.mkdir(parents=True)
    for file in (tarball, wheel):
        shutil.copy(file, files)
    cuda = re.match(r"\d*", versions(tree / "bin" / "bench").get("CUDA", ""))[0]

    available, failed, ran = mirrors(), 0, 0
    started = time.monotonic()
    for release in RELEASES:
        if not has_source(release, available):
            print(f"package-check: {release.name} was not run: this machine has no source or key of {release.distribution}")
            continue
        for kind, extra in PICTURES.items():
            if not (roots / f"{release.codename}-{kind}").exists():
                make_root(roots / f"{release.codename}-{kind}", release, available[release.distribution], [*PACKAGES, *extra])
        for check, kind, install, run, wanted in checks(files, tarball, wheel, int(cuda or 0)):
            code, output = run_in(roots / f"{release.codename}-{kind}", roots / "work", files, install, run)
            missing = [text for text in wanted if text not in output]
            ok = code == 0 and not missing
            ran, failed = ran + 1, failed + (not ok)
            print(f"package-check: {release.name}, {check}: {'ok' if ok else f'FAILED: exit code {code}, missing {missing}'}", flush=True)
            if not ok:
                print(re.sub("^", "    ", output, flags=re.MULTILINE))
    base = roots / "bookworm-pictures"
    if shutil.which("buildah") is None or not base.exists():
        print("package-check: the Containerfile was not built: there is no buildah, or no root of Debian 12")
    else:
        code, output = build_image(options.packages.resolve(), base, roots / "images")
        ok = code == 0 and "batch-conv2d-cpu.png" in output
        ran, failed = ran + 1, failed + (not ok)
        print(f"package-check: Containerfile: {'ok' if ok else f'FAILED: exit code {code}'}")
        if not ok:
            print(re.sub("^", "    ", output, flags=re.MULTILINE))
    print(f"package-check: {ran - failed} of {ran} hold, in {time.monotonic() - started:.0f} s")
    if failed or ran == 0:
        sys.exit(1)


if __name__ == "__main__":
    main()
