"""The installed tree and the wheel, made of the build in $BENCH_BUILD: what they need, what they hold, and that they run from
another folder."""

import base64
import hashlib
import json
import os
import pathlib
import platform
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
                          env={"PATH": "/usr/bin:/bin", "COLUMNS": "1000", **environment}).stdout


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output(("readelf", "-d", path))))


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        made = cls.folder / "made"
        package.install(BUILD, made)
        cls.tree = made.rename(cls.folder / "moved")
        cls.program = cls.tree / "bin" / "bench"
        cls.started = cls.tree / "libexec" / "bench"  # what cls.program starts
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
            if path == self.started:
                of_system = [pathlib.Path(library).name for library in of_system]
                self.assertLessEqual(set(of_system), {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"})

    def test_what_the_libraries_need_is_named_by_the_program(self):
        libraries = {path.name: path for path in (self.tree / "lib").iterdir() if not path.name.startswith("bench_ranks")}
        self.assertIn("libdnnl.so", " ".join(libraries))
        for path in libraries.values():
            self.assertLessEqual(needed(path) & set(libraries), needed(self.started), path.name)

    def test_it_answers_as_in_its_build_folder(self):
        self.assertEqual(output((self.program, *QUESTION)), output((BUILD / "bench", *QUESTION)))

    def test_it_names_no_folder_of_its_build(self):
        for path in (self.program, self.started, *(self.tree / "lib").glob("bench_ranks_*")):
            self.assertNotIn(os.fsencode(f"{SOURCE}/"), path.read_bytes(), path.name)
        run_path = re.findall(r"\(RUNPATH\).*\[(.*)\]", output(("readelf", "-d", self.started)))
        self.assertIn(run_path, (["$ORIGIN/../lib"], ["$ORIGIN/../lib:/usr/local/cuda/lib64"]))

    def test_no_program_looks_for_libraries_in_the_current_folder(self):
        for path in (BUILD / "bench", *BUILD.glob("bench_ranks_*.so"), *package.binaries(self.tree)):
            for folders in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", output(("readelf", "-d", path))):
                self.assertTrue(all(re.match(r"/|\$ORIGIN", folder) for folder in folders.split(":")), (path, folders))

    def test_a_newer_c_or_cpp_library_is_refused(self):
        needed_here = {family: max(package.newest_symbols(path).get(family, (0,)) for path in package.binaries(self.tree))
                       for family in package.FLOORS}
        with unittest.mock.patch.object(package, "FLOORS", needed_here):
            package.refuse_newer_symbols(self.tree)
        for family in needed_here:
            floors = {**needed_here, family: (2, 3)}
            with unittest.mock.patch.object(package, "FLOORS", floors), self.assertRaisesRegex(SystemExit, "bench needs GLIBC"):
                package.refuse_newer_symbols(self.tree)

    def test_what_the_oldest_releases_have_suffices_where_it_is_built_on_one_of_them(self):
        c_library = tuple(map(int, platform.libc_ver()[1].split(".")))
        if c_library > (2, 36):
            self.skipTest("packages are built on a release whose C library is no newer than Debian 12's")
        package.refuse_newer_symbols(self.tree)

    def test_the_manual_page_is_installed(self):
        page = (self.tree / "share" / "man" / "man1" / "bench.1").read_bytes()
        self.assertEqual(page.decode(), output((self.program, "--man")))
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertEqual(archive.read("bench_gpu-1.2.3.data/data/share/man/man1/bench.1"), page)

    def test_its_readme_links_to_nothing_that_is_not_there(self):
        readme = (self.tree / "share" / "doc" / "bench" / "README.md").read_text(encoding="utf-8")
        self.assertIn("| Does pinned memory pay? | `bench --sweep transfer` | transfer |\n", readme)
        self.assertNotIn("](", readme)
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertTrue(archive.read("bench_gpu-1.2.3.dist-info/METADATA").decode().endswith(f"\n\n{readme}"))

    def test_it_brings_licences(self):
        documents = self.tree / "share" / "doc" / "bench"
        self.assertIn("Apache License", (documents / "LICENSE").read_text(encoding="utf-8"))
        notice = (documents / "NOTICE").read_text(encoding="utf-8")
        for project in ("oneDNN", "Google Benchmark", "libarchive", "libjpeg-turbo", "{fmt}", "CLI11", "Eigen", "libgomp",
                        "cuBLAS, cuDNN, NVRTC, NCCL", "source code provided by NVIDIA"):
            self.assertIn(project, notice)
        if pathlib.Path("/usr/share/doc/libgomp1/copyright").exists():
            licences = [path.name for path in (documents / "licences").iterdir()]
            for library in "libdnnl", "libbenchmark", "libgomp":
                self.assertTrue(any(re.match(rf"{library}\d", name) for name in licences), (library, licences))

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

    # As the script that pip writes for the command.
    COMMAND = (sys.executable, "-c", "import sys, bench_gpu; sys.argv[0] = 'bench'; bench_gpu.main()")

    def command(self, *words, **environment):
        return output((*self.COMMAND, *words), PYTHONPATH=str(self.site), **environment)

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

    def test_ranks_run_over_the_modules_of_tree_and_wheel(self):
        sweep = ("--sweep", "collectives", "--dry-run")
        # Open MPI 5 asks for a home folder.
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
                       "HOME": str(self.folder)}
        for name, more in (("openmpi", ["--oversubscribe"]), ("mpich", [])):
            with self.subTest(name):
                if shutil.which(f"mpirun.{name}") is None or not (self.tree / "lib" / f"bench_ranks_{name}.so").exists():
                    self.skipTest("it is not installed here")
                start = (f"mpirun.{name}", *more, "-n", "2", "/usr/bin/env", f"PYTHONPATH={self.site}")
                planned = [re.findall(r"^collectives/\S+", output((*start, *command, *sweep), **environment), re.MULTILINE)
                           for command in ((self.program,), self.COMMAND)]
                self.assertTrue(any(point.startswith("collectives/all-reduce/ranks:2/") for point in planned[0]))
                self.assertEqual(planned[1], planned[0])

    def test_the_extra_brings_the_libraries_of_its_cuda(self):
        for cuda, names in (("13", "nvidia-cudnn-cu13 nvidia-cublas nvidia-cuda-nvrtc nvidia-nccl-cu13"),
                            ("12", "nvidia-cudnn-cu12 nvidia-cublas-cu12 nvidia-cuda-nvrtc-cu12 nvidia-nccl-cu12")):
            required = re.findall(r'^Requires-Dist: ([\w-]+)\S+; extra == "cuda(\d+)"$', package.metadata("1", cuda), re.MULTILINE)
            self.assertEqual(required, [(name, cuda) for name in names.split()])
        self.assertNotIn("Requires-Dist", package.metadata("1", ""))

    def library(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)], input=text, text=True, check=True)

    def test_what_starts_the_program_needs_the_c_and_cpp_libraries_alone(self):
        self.assertLessEqual({name.partition(".")[0] for name in needed(self.program)},
                             {"libc", "libstdc++", "libgcc_s", "ld-linux-x86-64"})
        self.assertIn("(RPATH)", output(("readelf", "-d", self.program)), "which comes before LD_LIBRARY_PATH")

    # The loader would end the process by SIGBUS, or with a sentence and a code of its own.
    def test_a_library_that_is_damaged_or_missing_is_named(self):
        parts = [path.relative_to(self.tree) for path in (self.started, *sorted((self.tree / "lib").iterdir()))
                 if path == self.started or path.name in needed(self.started)]
        self.assertGreaterEqual(len(parts), 3)
        for folder, advice in ((self.tree, "unpack or install the package again"),
                               (self.site / "bench_gpu", "install the wheel again, with pip install --force-reinstall")):
            for path in (folder / part for part in parts):
                whole = path.read_bytes()
                for left, wrong in ((whole[:-1], "the file is cut short"), (whole[:len(whole) // 2], "the file is cut short"),
                                    (whole[:4096], "the file is cut short"), (b"", "the file is damaged"),
                                    (b"<html>not found</html>" * 9, "the file is damaged"), (None, "the file is missing")):
                    path.unlink()
                    if left is not None:
                        path.write_bytes(left)
                    self.refuses(folder / "bin" / "bench", f"{path}: {wrong}; {advice}")
                path.write_bytes(whole)
                path.chmod(0o755)
        self.assertEqual(self.command(*QUESTION), output((self.program, *QUESTION)))

    def refuses(self, program, sentence):
        ended = subprocess.run([program, *QUESTION], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                               cwd="/", env={"PATH": "/usr/bin:/bin"})
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (2, "", f"bench: {sentence}\n"))

    # An empty entry of LD_LIBRARY_PATH and of PATH means the current folder, as does "."; a semicolon ends an entry too.
    def test_nothing_of_the_current_folder_runs(self):
        marker, planted = self.folder / "marker", self.folder / "planted"
        mark = f'__attribute__((constructor)) static void mark(void) {{ fclose(fopen("{marker}", "w")); }}\n'
        for name in ("libcuda.so.1", "libcuda.so", "libcudnn.so.9", "libnvidia-ml.so.1", *needed(self.started)):
            self.library(planted / name, "#include <stdio.h>\n" + mark)
        for name in ("gnuplot", "nvidia-smi", "sh"):
            (planted / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
            (planted / name).chmod(0o755)
        for command in (("--list",), ("--version",)):
            for folders in (":.", ".", "", ":/nowhere", "/nowhere:", "/nowhere;.", "../planted"):
                ended = subprocess.run([self.program, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=planted,
                                       env={"PATH": ".::/usr/bin:/bin", "LD_LIBRARY_PATH": folders, "HOME": str(self.folder)},
                                       check=False)
                self.assertEqual((ended.returncode, ended.stderr), (0, b""), (command, folders))
        self.assertFalse(marker.exists())

    def test_its_own_libraries_come_before_those_of_an_absolute_folder(self):
        marker, others = self.folder / "other-marker", self.folder / "others"
        mark = f'__attribute__((constructor)) static void mark(void) {{ fclose(fopen("{marker}", "w")); }}\n'
        own = {path.name for path in (self.tree / "lib").iterdir()}
        for name in (name for name in needed(self.started) if name in own):
            self.library(others / name, "#include <stdio.h>\n" + mark)
        self.assertTrue(any(others.iterdir()))
        for program in (self.program, self.site / "bench_gpu" / "bin" / "bench"):
            output((program, *QUESTION), LD_LIBRARY_PATH=str(others))
        self.assertFalse(marker.exists())

    def test_a_cudnn_that_does_not_fit_is_named(self):
        if not self.versions.get("CUDA", "")[:1].isdigit():
            self.skipTest("built without the CUDA device")
        place = self.folder / "cudnn" / "libcudnn.so.9"
        text = "unsigned long cudnnGetVersion(void) {{ return {}; }}\nunsigned long cudnnGetCudartVersion(void) {{ return {}; }}\n"
        cuda = int(self.versions["CUDA"].partition(".")[0])

        def said():
            return re.search(r"^cuDNN +(.*)$", output((self.program, "--version"), LD_LIBRARY_PATH=str(place.parent)), re.M)[1]

        graph = place.with_name("libcudnn_graph.so.9")
        self.library(graph, "int unrelated;")
        for number, built_with, wanted in (
                (90200, cuda, f"9.2.0, {place}"),
                (90100, cuda, f"{place} is cuDNN 9.1.0, and this program needs 9.2 or later"),
                (8907, cuda, f"{place} is cuDNN 8.9.7, and this program needs cuDNN 9"),
                (90100, 25 - cuda, f"{place} is cuDNN 9.1.0 for CUDA {25 - cuda}, and this program needs one for CUDA {cuda}")):
            self.library(place, text.format(number, 1000 * built_with))
            self.assertEqual(said(), wanted)
        graph.write_bytes(graph.read_bytes()[:5000])
        self.assertEqual(said(), f"{graph}: the file is cut short; install it again")
        graph.write_bytes(b"")
        self.assertEqual(said(), f"{graph}: file too short")
        whole = place.read_bytes()
        place.write_bytes(whole[:len(whole) // 2])
        self.assertEqual(said(), f"{place}: the file is cut short; install it again")
        place.write_bytes(b"<html>not found</html>" * 9)
        self.assertIn("invalid ELF header", said())
        self.library(place, "int unrelated;")
        self.assertEqual(said(), f"{place} is no cuDNN")

    # Opened, it would end the process by a signal.
    def test_a_driver_that_is_cut_short_is_named(self):
        if not self.versions.get("CUDA", "")[:1].isdigit():
            self.skipTest("built without the CUDA device")
        driver = self.folder / "driver" / "libcuda.so.1"
        self.library(driver, "int unrelated;")
        driver.write_bytes(driver.read_bytes()[:5000])
        listed = json.loads(output((self.program, "--list", "--format", "json"), LD_LIBRARY_PATH=str(driver.parent)))
        missing = {device["id"]: device.get("missing") for device in listed["devices"]}
        self.assertEqual(missing["cuda"], f"{driver}: the file is cut short; install it again")

    DRIVER = """
#include <string.h>
int cuDriverGetVersion(int* version) { *version = %d; return 0; }
int cuInit(unsigned flags) { return 0; }
int cuGetProcAddress(const char* name, void** function, int version, unsigned long flags) {
  *function = strcmp(name, "cuDriverGetVersion") == 0 ? (void*)cuDriverGetVersion
              : strcmp(name, "cuInit") == 0           ? (void*)cuInit
              : strcmp(name, "cuGetProcAddress") == 0 ? (void*)cuGetProcAddress
                                                      : 0;
  return *function ? 0 : 500;
}
int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long flags, int* found) {
  return cuGetProcAddress(name, function, version, flags);
}
"""

    def test_a_driver_that_is_too_old_is_named(self):
        if not self.versions.get("CUDA", "")[:1].isdigit():
            self.skipTest("built without the CUDA device")
        major = int(self.versions["CUDA"].partition(".")[0])
        driver = self.folder / "old" / "libcuda.so.1"
        self.library(driver, self.DRIVER % (1000 * (major - 1)))
        sentence = f"the NVIDIA driver supports CUDA {major - 1}.0 at most, and this program was built with CUDA {self.versions['CUDA']}"
        ended = subprocess.run([self.program, "--sweep", "batch", "--device", "cuda", "--dry-run"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, check=False, cwd="/",
                               env={"PATH": "/usr/bin:/bin", "COLUMNS": "1000", "LD_LIBRARY_PATH": str(driver.parent)})
        self.assertEqual(ended.returncode, 2)
        self.assertIn(f"{sentence}; install a newer driver", ended.stderr)

    # Found, not opened: these are empty files.
    def test_cudas_libraries_are_those_of_the_path_then_of_the_environment(self):
        if not self.versions.get("CUDA", "")[:1].isdigit():
            self.skipTest("built without the CUDA device")
        name = f"libcublasLt.so.{self.versions['CUDA'].partition('.')[0]}"
        own, theirs = self.site / "nvidia" / "cu13" / "lib", self.folder / "theirs"
        for folder in (own, theirs):
            folder.mkdir(parents=True)
            (folder / name).touch()
        nccl = self.site / "nvidia" / "nccl" / "lib"
        nccl.mkdir(parents=True)
        (nccl / "libnccl.so.2").touch()
        self.addCleanup(shutil.rmtree, self.site / "nvidia")
        self.assertIn(f"cuBLASLt  {own}/{name}\n", self.command("--version"))
        self.assertIn(f"NCCL      {nccl}/libnccl.so.2\n", self.command("--version"))
        self.assertIn(f"cuBLASLt  {theirs}/{name}\n", self.command("--version", LD_LIBRARY_PATH=str(theirs)))


if __name__ == "__main__":
    unittest.main()
