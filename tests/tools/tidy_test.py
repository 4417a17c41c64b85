"""Which sources clang-tidy looks at after a change."""

import json
import pathlib
import sys
import tempfile
import typing
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import tidy

FILES = {
    "room/inner.h": "",
    "room/outer.h": '#include "room/inner.h"\n',
    "room/alone.cpp": "#include <vector>\n",
    "room/first.cpp": '#include "outer.h"\n',
    "room/second.cpp": '#include "room/outer.h"\n',
}


class Source(typing.NamedTuple):
    path: pathlib.Path


class OnlyChanged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        self.addCleanup(setattr, tidy, "ROOT", tidy.ROOT)
        tidy.ROOT = self.root
        self.sources = [Source(self.root / name) for name in FILES if name.endswith(".cpp")]

    def chosen(self, *changed):
        return [source.path.name for source in tidy.only_changed(self.sources, set(changed))]

    def test_a_changed_source_is_looked_at(self):
        self.assertEqual(self.chosen("room/alone.cpp", "docs/page.md"), ["alone.cpp"])

    def test_a_changed_header_is_looked_at_in_one_source(self):
        self.assertEqual(self.chosen("room/inner.h"), ["first.cpp"])

    def test_a_header_that_a_changed_source_includes_needs_no_other(self):
        self.assertEqual(self.chosen("room/inner.h", "room/second.cpp"), ["second.cpp"])

    def test_other_checks_are_for_all_sources(self):
        self.assertEqual(self.chosen(".clang-tidy"), ["alone.cpp", "first.cpp", "second.cpp"])

    def test_a_source_of_two_programs_is_looked_at_once(self):
        place = str(self.root / "room/alone.cpp")
        (self.root / "compile_commands.json").write_text(json.dumps(
            [{"file": place, "command": f"c++ {place} -o {program}.o"} for program in ("one", "two")]))
        self.assertEqual([source.path.name for source in tidy.read(self.root)], ["alone.cpp"])


if __name__ == "__main__":
    unittest.main()
