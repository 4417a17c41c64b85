"""The installed tree and the wheel, made of the build in $BENCH_BUILD: what they need, what they hold, and that they run from
another folder."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["BENCH_BUILD"])
sys.path.insert(0, str(SOURCE / "tools" / "package"))
import package  # noqa: E402

QUESTION = ("predict", "--gpu", "t4,rtx3060-12gb", "--workload", "resnet50")


def output(command, **environment):
    """Of a command in the root, with these variables and no others."""
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True, cwd="/",
                          env={"PATH": "/usr/bin:/bin", **environment}).stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        made = cls.folder / "made"
        package.install(BUILD, made)
        cls.tree = made.rename(cls.folder / "moved")
        cls.program = cls.tree / "bin" / "bench"
        cls.versions = package.versions(cls.program)
        cls.wheel = package.write_wheel(cls.tree, cls.folder, "1.2.3", cls.versions.get("CUDA", "").partition(".")[0])
        cls.site = cls.folder / "site"
        with zipfile.ZipFile(cls.wheel) as archive:
            for entry in archive.infolist():
                path = pathlib.Path(archive.extract(entry, cls.site))
                path.chmod(entry.external_attr >> 16)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_it_needs_the_systems_c_and_cpp_libraries_and_its_own(self):
        for path in package.binaries(self.tree):
            if path.name.startswith("bench_ranks"):
                continue  # of MPI, which the program opens where there is one
            of_system = [library for library in re.findall(r"=> (/\S+)", output(("ldd", path)))
                         if not pathlib.Path(library).resolve().is_relative_to(self.tree)]
            if path == self.program:
                of_system = [pathlib.Path(library).name for library in of_system]
                self.assertLessEqual(set(of_system), {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"})

    def test_what_the_libraries_need_is_named_by_the_program(self):
        def needed(path):
            return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output(("readelf", "-d", path))))

        libraries = {path.name: path for path in (self.tree / "lib").iterdir() if not path.name.startswith("bench_ranks")}
        self.assertIn("libdnnl.so", " ".join(libraries))
        for path in libraries.values():
            self.assertLessEqual(needed(path) & set(libraries), needed(self.program), path.name)

    def test_it_answers_as_in_its_build_folder(self):
        self.assertEqual(output((self.program, *QUESTION)), output((BUILD / "bench", *QUESTION)))

    def test_it_names_no_folder_of_its_build(self):
        for path in (self.program, *(self.tree / "lib").glob("bench_ranks_*")):
            self.assertNotIn(os.fsencode(f"{SOURCE}/"), path.read_bytes(), path.name)
        run_path = re.findall(r"\(RUNPATH\).*\[(.*)\]", output(("readelf", "-d", self.program)))
        self.assertIn(run_path, (["$ORIGIN/../lib"], ["$ORIGIN/../lib:/usr/local/cuda/lib64"]))

    def test_no_program_looks_for_libraries_in_the_current_folder(self):
        for path in (BUILD / "bench", *BUILD.glob("bench_ranks_*.so"), *package.binaries(self.tree)):
            for folders in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", output(("readelf", "-d", path))):
                self.assertTrue(all(re.match(r"/|\$ORIGIN", folder) for folder in folders.split(":")), (path, folders))

    def test_a_newer_c_or_cpp_library_is_refused(self):
        package.refuse_newer_symbols(self.tree)
        for floors in {"GLIBC": (2, 31), "GLIBCXX": (3, 4, 30)}, {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 28)}:
            with unittest.mock.patch.object(package, "FLOORS", floors), self.assertRaisesRegex(SystemExit, "bench needs GLIBC"):
                package.refuse_newer_symbols(self.tree)

    def test_it_brings_licences(self):
        documents = self.tree / "share" / "doc" / "bench"
        self.assertIn("Apache License", (documents / "LICENSE").read_text(encoding="utf-8"))
        notice = (documents / "NOTICE").read_text(encoding="utf-8")
        for project in ("oneDNN", "Google Benchmark", "libarchive", "libjpeg-turbo", "{fmt}", "CLI11", "Eigen", "libgomp"):
            self.assertIn(project, notice)

    def test_the_wheel_is_for_a_c_library_and_lists_its_files(self):
        self.assertRegex(self.wheel.name, r"^bench_gpu-1\.2\.3-py3-none-manylinux_2_35_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as archive:
            record = archive.read("bench_gpu-1.2.3.dist-info/RECORD").decode().splitlines()
            listed = dict(line.split(",", 1) for line in record)
            self.assertEqual(set(listed), set(archive.namelist()))
            for name, rest in listed.items():
                if not name.endswith("/RECORD"):
                    data = archive.read(name)
                    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual(rest, f"sha256={digest},{len(data)}", name)
            wheel = archive.read("bench_gpu-1.2.3.dist-info/WHEEL").decode()
        self.assertIn(f"Tag: {'-'.join(self.wheel.stem.split('-')[2:])}\n", wheel)

    def command(self, *words, **environment):
        """As the script that pip writes for the command."""
        return output((sys.executable, "-c", "import sys, bench_gpu; sys.argv[0] = 'bench'; bench_gpu.main()", *words),
                      PYTHONPATH=str(self.site), **environment)

    def test_the_wheels_command_answers_the_same(self):
        self.assertEqual(self.command(*QUESTION), output((self.program, *QUESTION)))

    def test_pip_takes_the_wheel(self):
        pip = subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             check=False)
        if pip.returncode != 0:
            self.skipTest("there is no pip here")
        target = self.folder / "target"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(target),
                        str(self.wheel)], check=True, stdin=subprocess.DEVNULL)
        self.assertEqual(output((target / "bin" / "bench", *QUESTION), PYTHONPATH=str(target)),
                         output((self.program, *QUESTION)))

    # Found, not opened: these are empty files.
    def test_cudas_libraries_are_those_of_the_path_then_of_the_environment(self):
        if not self.versions.get("CUDA", "")[:1].isdigit():
            self.skipTest("built without the CUDA device")
        name = f"libcublasLt.so.{self.versions['CUDA'].partition('.')[0]}"
        own, theirs = self.site / "nvidia" / "cu13" / "lib", self.folder / "theirs"
        for folder in (own, theirs):
            folder.mkdir(parents=True)
            (folder / name).touch()
        self.addCleanup(shutil.rmtree, self.site / "nvidia")
        self.assertIn(f"cuBLASLt  {own}/{name}\n", self.command("--version"))
        self.assertIn(f"cuBLASLt  {theirs}/{name}\n", self.command("--version", LD_LIBRARY_PATH=str(theirs)))


if __name__ == "__main__":
    unittest.main()
