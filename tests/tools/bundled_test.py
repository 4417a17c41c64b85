"""The program that `make gpu-bundle` packs, with the libraries that the bundle carries: it starts on older systems."""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "gpu"))
import bundle
from look import version

PROGRAM = os.environ["BENCH_BUNDLED"]
OLDEST = (2, 34)  # of RHEL 9; Ubuntu 22.04 has 2.35, Debian 12 2.36


@unittest.skipIf(version(platform.libc_ver()[1]) > (2, 36), "programs made with a newer C library need that one")
class Bundled(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.libraries = pathlib.Path(scratch.name)
        bundle.gather_libraries([PROGRAM], self.libraries)

    def test_nothing_needs_a_newer_c_library(self):
        for binary in (PROGRAM, *self.libraries.iterdir()):
            with self.subTest(binary):
                self.assertLessEqual(max(bundle.glibc_versions(binary)), OLDEST)
        names = {path.name.split(".so")[0] for path in self.libraries.iterdir()}
        self.assertIn("libstdc++", names)
        self.assertFalse(names & {"libc", "libm", "libgcc_s"})

    def test_it_runs_and_has_what_the_c_plus_plus_library_asks_for(self):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.libraries), LD_BIND_NOW="1", LD_DEBUG="bindings")
        ran = subprocess.run([PROGRAM, "--help"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             check=True)
        self.assertIn("--sweep", ran.stdout)
        asked = [line for line in ran.stderr.splitlines() if "symbol `arc4random'" in line]
        self.assertEqual(len(asked), 1, asked)
        self.assertRegex(asked[0], rf"binding file {self.libraries}/libstdc\+\+\.so\.6 .* to {PROGRAM} ")

    def test_it_starts_by_hand_with_the_libraries_of_the_bundle(self):
        folder = self.libraries.parent / f"{self.libraries.name}-bundle"
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(self.libraries, folder / "lib")
        (folder / "bin").mkdir()
        program = shutil.copy(PROGRAM, folder / "bin")
        traced = subprocess.run([program], env={"LD_TRACE_LOADED_OBJECTS": "1"}, stdout=subprocess.PIPE, text=True, check=True)
        loaded = dict(re.findall(r"(\S+) => (/\S+)", traced.stdout))
        for library in (folder / "lib").iterdir():
            self.assertEqual(os.path.realpath(loaded[library.name]), os.path.realpath(library))


if __name__ == "__main__":
    unittest.main()
