#!/usr/bin/env python3
"""Runs clang-tidy over our sources, several at a time.

    tools/tidy.py BUILD_FOLDER CLANG_TIDY [SINCE]      (the folder holds compile_commands.json)

With SINCE, a commit, it looks only at sources that changed after it, and for each header that changed, at one source that
includes it. Where the checks or the compiler's settings changed, it looks at all.

Most of clang-tidy's time goes into the headers that all sources include. Sources that are compiled with the same options
are therefore written one after the other into one file, in which the analyzer follows every function as it would in the
source itself (it does not in what is included). Reported are the source and its line. Two sources with an unnamed
namespace's name in common are never put together.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

TOGETHER = 12
# Left out: tests, which the compiler's warnings check (GoogleTest's macros take clang-tidy longer than all other sources
# together), CUDA sources, which nvcc's check, and what is generated when building.
LEFT_OUT = re.compile(r"/tests/|[.]cu$|/generated/")
SETTINGS = {".clang-tidy", "cmake/CompilerSettings.cmake", "tools/setup-tidy.sh", "tools/tidy.py"}
ROOT = pathlib.Path(__file__).resolve().parent.parent
# The analyzer follows a function's paths up to max-nodes; its default, 225000, takes several times as long. g++'s own
# headers (omp.h) come last, so that clang's take precedence.
GXX_HEADERS = subprocess.run(["g++", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
ARGUMENTS = ["--quiet", f"--extra-arg=-idirafter{GXX_HEADERS}", "--extra-arg=-Xclang", "--extra-arg=-analyzer-config",
             "--extra-arg=-Xclang", "--extra-arg=max-nodes=10000", "--extra-arg=-Wno-unknown-warning-option"]


class Source:
    def __init__(self, path, options):
        self.path = path
        self.options = options
        self.lines = path.read_text().splitlines()
        text = "\n".join(self.lines)
        hidden = "\n".join(re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text, re.M | re.S))
        # What stands at the beginning of a line and names something: functions, constants, types.
        self.names = set(re.findall(r"^(?:\w.*?[ *&])?(\w+)(?:\(| = |\{| final| : |;)", hidden, re.M)) - {"BENCH_REGISTERED"}
        self.names |= set(re.findall(r"^(?:class|struct|enum class|using) (?:\w+::)*(\w+)", hidden, re.M))
        self.names |= set(re.findall(r"^int (main)\(", text, re.M))


def read(build):
    """Each source once, also where several programs have it."""
    seen = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if not LEFT_OUT.search(entry["file"]) and entry["file"] not in seen:
            seen.add(entry["file"])
            options = entry["command"].split(" -o ")[0]
            yield Source(pathlib.Path(entry["file"]), options)


def changed_after(commit):
    """Paths of files, also of those not committed; deleted ones are left out."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return set(git("diff", "--name-only", "--diff-filter=d", commit) + git("ls-files", "--others", "--exclude-standard"))


def included(path, known):
    """All files of the project that a file includes, also through others."""
    if path not in known:
        known[path] = set()
        for name in re.findall(r'^#include "(.+)"', path.read_text(), re.M):
            for file in (ROOT / name, path.parent / name):
                if file.is_file():
                    known[path] |= {file.resolve(), *included(file.resolve(), known)}
                    break
    return known[path]


def only_changed(sources, changed):
    """The changed sources, and one for each changed header that none of them includes."""
    if SETTINGS & changed:
        return sources
    changed = {ROOT / name for name in changed}
    known = {}
    chosen = {source for source in sources if source.path in changed}
    for header in sorted(file for file in changed if file.suffix in (".h", ".cuh")):
        if not any(header in included(source.path, known) for source in chosen):
            chosen.update([source for source in sources if header in included(source.path, known)][:1])
    return [source for source in sources if source in chosen]


def grouped(sources):
    groups = []
    for source in sorted(sources, key=lambda s: str(s.path)):
        for group in groups:
            if (group[0].options == source.options and len(group) < TOGETHER
                    and not any(source.names & other.names for other in group)):
                group.append(source)
                break
        else:
            groups.append([source])
    return groups


def write(group, path):
    """One file; returns for each of its lines the source and the line there."""
    lines, places, included = [], [], set()
    for source in group:
        of_this = set()
        for at, line in enumerate(source.lines):
            include = re.match(r"#include \S+", line)
            if include and include[0] in included:
                line = ""
            elif include:
                of_this.add(include[0])
            lines.append(line)
            places.append((source.path, at + 1))
        included |= of_this
    path.write_text("\n".join(lines) + "\n")
    return places


def check(clang_tidy, folder, path, places):
    ran = subprocess.run([clang_tidy, "-p", str(folder), *ARGUMENTS, str(path)], capture_output=True, text=True)

    def in_source(found):
        source, line = places[int(found[1]) - 1]
        return f"{source}:{line}"
    said = re.sub(re.escape(str(path)) + r":(\d+)", in_source, ran.stdout + ran.stderr)
    kept = [line for line in said.splitlines() if line and not re.search(r"warnings? (generated|treated)", line)]
    return ran.returncode, "\n".join(kept)


def main():
    build, clang_tidy = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    folder = build / "together"
    folder.mkdir(exist_ok=True)
    sources = list(read(build))
    if len(sys.argv) > 3:
        sources = only_changed(sources, changed_after(sys.argv[3]))
    groups = grouped(sources)
    commands, work = [], []
    for number, group in enumerate(groups):
        path = folder / f"{number}.cpp"
        work.append((path, write(group, path)))
        quoted = " ".join(sorted({f"-iquote {source.path.parent}" for source in group}))
        commands.append({"directory": str(build), "file": str(path), "command": f"{group[0].options} {quoted} -c {path}"})
    (folder / "compile_commands.json").write_text(json.dumps(commands))
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, said in pool.map(lambda w: check(clang_tidy, folder, *w), work):
            failed |= code != 0
            if said:
                print(said, flush=True)
    print(f"clang-tidy: {sum(map(len, groups))} files in {len(groups)} groups")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
