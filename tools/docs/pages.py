#!/usr/bin/env python3
"""Gathers the pages of `make docs`, and checks the links of what MkDocs makes of them.

    pages.py gather FOLDER    README.md and everything that it links to, directly or through other pages
    pages.py check FOLDER     every link of the pages there leads to a page or file, and to a heading that exists

Exit code 1 with one line for each link that leads nowhere and each page of docs/ that mkdocs.yml does not name.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
FENCE = re.compile(r"^```(\w+) \S+$", re.MULTILINE)  # with the file that an example is


def local(link):
    return not urllib.parse.urlsplit(link).scheme


def gather(folder):
    """Returns what is wrong."""
    wrong = []
    shutil.rmtree(folder, ignore_errors=True)
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    tracked = set(subprocess.run(listing, cwd=SOURCE, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())
    waiting, seen = ["README.md"], set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith(".md"):
            shutil.copyfile(SOURCE / name, target)
            continue
        text = (SOURCE / name).read_text(encoding="utf-8")
        target.write_text(FENCE.sub(r"```\1", text), encoding="utf-8")
        for link in filter(local, LINK.findall(text)):
            path = (SOURCE / name).parent.joinpath(link).resolve()
            linked = str(path.relative_to(SOURCE)) if path.is_relative_to(SOURCE) else link
            if linked in tracked:
                waiting.append(linked)
            else:
                wrong.append(f"{name}: {link} is no file of the repository")
    named = (SOURCE / "tools" / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    wrong += [f"{name} is not in tools/docs/mkdocs.yml" for name in sorted(tracked)
              if re.fullmatch(r"docs/[^/]+\.md", name) and f": {name}\n" not in named]
    return wrong


class Page(html.parser.HTMLParser):
    """The links of a page, and the places that links may name."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def check(folder):
    """Returns what is wrong."""
    wrong = []
    pages = {path: Page(path) for path in folder.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in filter(local, page.links):
            parts = urllib.parse.urlsplit(link)
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                wrong.append(f"{path.relative_to(folder)}: {link} leads nowhere")
            elif parts.fragment and target in pages and parts.fragment not in pages[target].places:
                wrong.append(f"{path.relative_to(folder)}: {link} names no heading there")
    return wrong


def main():
    steps = {"gather": gather, "check": check}
    if len(sys.argv) != 3 or sys.argv[1] not in steps:
        sys.exit(__doc__)
    wrong = steps[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())
    if wrong:
        sys.exit("\n".join(f"docs: {line}" for line in wrong))


if __name__ == "__main__":
    main()
