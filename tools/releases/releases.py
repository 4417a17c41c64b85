"""Releases of Debian and Ubuntu, from this machine's own package sources: clean roots of them, and packages by themselves."""

import pathlib
import shutil
import subprocess
from dataclasses import dataclass

NOBODY = "65534"
KEYS = pathlib.Path("/usr/share/keyrings")


@dataclass(frozen=True)
class Release:
    name: str
    codename: str
    distribution: str  # as apt names a source's origin
    key: str
    components: str


RELEASES = [Release("Debian 12", "bookworm", "Debian", "debian-archive-keyring.gpg", "main"),
            Release("Debian 13", "trixie", "Debian", "debian-archive-keyring.gpg", "main"),
            Release("Ubuntu 22.04", "jammy", "Ubuntu", "ubuntu-archive-keyring.gpg", "main universe"),
            Release("Ubuntu 24.04", "noble", "Ubuntu", "ubuntu-archive-keyring.gpg", "main universe")]


def mirrors():
    """{"Debian": address}: of the distributions that this machine takes packages from; none without apt."""
    if shutil.which("apt-get") is None:
        return {}
    listing = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(LABEL)\t$(REPO_URI)", "Created-By: Packages"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
    sources = (line.split("\t") for line in listing.splitlines())
    return {origin: address for origin, label, address in sources if origin == label}


def has_source(release, found):
    """Whether packages of the release can be had here; `found`: of mirrors()."""
    return release.distribution in found and (KEYS / release.key).exists()


def make_root(root, release, mirror, packages):
    """Under another name until it is whole."""
    unfinished = root.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    subprocess.run(["mmdebstrap", "--quiet", "--mode=root", "--variant=apt", f"--keyring={KEYS / release.key}",
                    f"--components={release.components.replace(' ', ',')}", f"--include={','.join(packages)}", release.codename,
                    str(unfinished), mirror], check=True, stdin=subprocess.DEVNULL)
    unfinished.rename(root)


# An overlay over the root takes what is written. The mounts end with the name space.
IN_ROOT = """
set -e
mount -t overlay overlay -o lowerdir="$ROOT",upperdir="$WORK/upper",workdir="$WORK/work" "$WORK/root"
cd "$WORK/root"
mount -t proc proc proc
"""


def in_root(root, work, script, variables, output=subprocess.PIPE):
    """Runs a shell script in the folder of the root, with these variables; returns exit code and output. What earlier scripts
    wrote is kept in `work`."""
    for name in ("upper", "work", "root"):
        (work / name).mkdir(parents=True, exist_ok=True)
    ended = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", IN_ROOT + script],
                           env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "ROOT": str(root), "WORK": str(work),
                                **{name: str(value) for name, value in variables.items()}},
                           stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, text=True, check=False)
    return ended.returncode, ended.stdout


def own_release():
    """The code name of this machine's release."""
    lines = pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line).get("VERSION_CODENAME", "").strip('"')


def download(release, mirror, packages, folder):
    """Unpacks packages of another release into `folder`/root, without what they depend on. apt has its lists there too: nothing
    changes for this machine. Raises OSError where they cannot be had, as without a network."""
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    for name in ("state/lists/partial", "cache/archives/partial", "debs", "root"):
        (unfinished / name).mkdir(parents=True)
    source = unfinished / "sources.list"
    source.write_text(f"deb [signed-by={KEYS / release.key}] {mirror} {release.codename} {release.components}\n", encoding="utf-8")
    apt = ["apt-get", "-qq", "-o", f"Dir::State={unfinished / 'state'}", "-o", f"Dir::Cache={unfinished / 'cache'}",
           "-o", f"Dir::Etc::SourceList={source}", "-o", "Dir::Etc::SourceParts=-", "-o", "Dir::State::Status=/dev/null",
           "-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User=root"]
    for command in (["update", "--error-on=any"], ["download", *packages]):
        ended = subprocess.run([*apt, *command], cwd=unfinished / "debs", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, check=False)
        if ended.returncode != 0:
            raise OSError(ended.stdout.strip())
    for package in (unfinished / "debs").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(unfinished / "root")], check=True)
    for name in ("state", "cache"):
        shutil.rmtree(unfinished / name)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def downloaded_versions(folder):
    """{package: version} of what download() unpacked there."""
    listed = (subprocess.run(["dpkg-deb", "-W", "--showformat=${Package} ${Version}", str(package)], stdout=subprocess.PIPE,
                             text=True, check=True).stdout.split() for package in sorted((folder / "debs").glob("*.deb")))
    return dict(listed)
