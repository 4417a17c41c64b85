#!/usr/bin/env python3
"""Compiles every file that includes oneDNN's or Google Benchmark's headers with those of the other releases of Debian or Ubuntu.

    other_versions.py BUILD_FOLDER [DOWNLOADS_FOLDER]

BUILD_FOLDER has a compile_commands.json. A file counts if one of the packages' headers is among what it includes, directly or
not. The packages come from this machine's own package sources and are kept in DOWNLOADS_FOLDER (build/other-versions); without a
network they are left out, which is said. Nothing is linked or run. Exit code 1 where a file does not compile.
"""

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

import releases

PACKAGES = ["libdnnl-dev", "libbenchmark-dev"]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)


@functools.cache
def includes_of(path):
    """[(bracket, name)]; none where there is no such file, as before it is generated."""
    try:
        return INCLUDE.findall(pathlib.Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []


def reaches(start, folders, headers):
    """Whether the file, or one that it includes from its own folder or from `folders`, includes <header> with one of these names."""
    seen, todo = {start}, [start]
    while todo:
        path = todo.pop()
        for bracket, name in includes_of(path):
            if name in headers:
                return True
            places = [os.path.dirname(path), *folders] if bracket == '"' else folders
            found = next((own for own in (os.path.normpath(os.path.join(place, name)) for place in places)
                          if os.path.isfile(own)), None)
            if found is not None and found not in seen:
                seen.add(found)
                todo.append(found)
    return False


def words_of(entry):
    """The compiler's command line."""
    return entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])


def folders_of(entry):
    """Where it looks for the project's headers."""
    return [os.path.join(entry["directory"], word[2:]) for word in words_of(entry) if word.startswith("-I") and len(word) > 2]


def syntax_command(entry, headers_folder):
    """Compiles without writing anything. Precompiled headers may hold the installed version's, so they are left out."""
    words, kept = words_of(entry), []
    i = 0
    while i < len(words):
        if words[i] == "-o" or (words[i] == "-include" and words[i + 1].endswith("cmake_pch.hxx")):
            i += 1
        elif words[i] not in ("-c", "-Winvalid-pch"):
            kept.append(words[i])
        i += 1
    options = next(i for i, word in enumerate(kept) if word.startswith("-"))
    return [*kept[:options], "-fsyntax-only", "-isystem", str(headers_folder), *kept[options:]]


def concerned(build, headers):
    """Entries of compile_commands.json, each file once."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = {entry["file"]: entry for entry in reversed(entries) if not entry["file"].endswith(".cu")}
    return [entry for file, entry in sorted(files.items()) if reaches(file, tuple(folders_of(entry)), headers)]


def compile_against(build, headers_folder):
    """How many files were compiled, and {file: the compiler's words} of those that do not."""
    headers = {str(path.relative_to(headers_folder)) for path in headers_folder.rglob("*.h*")}
    entries = concerned(build, headers)

    def compiled(entry):
        return subprocess.run(syntax_command(entry, headers_folder), cwd=entry["directory"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        ended = list(pool.map(compiled, entries))
    return len(entries), {entry["file"]: one.stdout for entry, one in zip(entries, ended) if one.returncode != 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("downloads", type=pathlib.Path, nargs="?", default=pathlib.Path("build/other-versions"))
    options = parser.parse_args()
    if not (options.build / "compile_commands.json").exists():
        sys.exit(f"other-versions: {options.build}: there is no compile_commands.json; run make configure first")
    mirrors, own, failed = releases.mirrors(), releases.own_release(), 0
    others = [one for one in releases.RELEASES if one.codename != own and releases.has_source(one, mirrors)]
    if not others:
        print("other-versions: left out: this machine has package sources of no other release, or not its key")
    for release in others:
        started = time.monotonic()
        folder = options.downloads.resolve() / release.codename
        if not folder.exists():
            try:
                releases.download(release, mirrors[release.distribution], PACKAGES, folder)
            except OSError as error:
                print(f"other-versions: {release.name} was left out: {' and '.join(PACKAGES)} could not be downloaded:\n{error}")
                continue
        versions = ", ".join(f"{name} {version}" for name, version in releases.downloaded_versions(folder).items())
        count, refused = compile_against(options.build, folder / "root/usr/include")
        for file, text in refused.items():
            print(f"other-versions: {file} does not compile with {versions}:\n{text}")
        if count == 0:
            print("other-versions: no file includes a header of these packages")
        failed += len(refused) + (count == 0)
        print(f"other-versions: {release.name} ({versions}): {count - len(refused)} of {count} files compile, "
              f"in {time.monotonic() - started:.0f} s", flush=True)
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
