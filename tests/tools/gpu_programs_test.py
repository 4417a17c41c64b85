"""The check on a GPU as a program, with stubs of the programs that need one (stubs/): what it starts and with which libraries,
its bundle, and how it ends what runs. Every number here is invented."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import unittest

import fake_card  # finds the modules that follow
import goals
from machine import Machine
from stages import Call, Settings, Tests

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = fake_card.SOURCE / "tools" / "gpu"
ALL_PROGRAMS = {"bench": "bench", "tests/tests_gpu": "test_program", "tests/tests_gpu_device": "test_program",
                "tools/peers/peers_ours": "peers_ours"}


# 465 of the datasheet's 500 GB/s, and a bit faster than a copy; nearly the plan's bytes.
KERNELS = {
    "findings": [{"headline": 1, "claim": "The sweep kernels found something."}],
    "context": {"device": {"datasheet": {"id": "h200", "bytes_per_s": 5e11}, "peaks": {"fp32": {"bytes_per_s": 9e11}}}},
    "benchmarks": [
        fake_card.stream_point(mode, caches, elements, size, ns)
        for mode, caches, elements, size, ns in (
            ("triad", "cold", 1000, 465000, 1000), ("triad", "hot", 1000, 460000, 100), ("triad", "cold", 10, 4600, 1000),
            ("copy", "cold", 1000, 460000, 1000), ("copy", "hot", 1000, 460000, 100), ("copy", "cold", 10, 9200, 10))]}
BATCH = {"benchmarks": [{"name": name, "params": {"dtype": "fp32", "batch": batch}, "stats": {"median_ns": 1000},
                         "memory": {"peak_predicted": 100, "peak_measured": peak}, "validity": {"flags": []},
                         "algorithms": {"fused attention eng6_k24=1": 24, "cublasLt": 30}}
                        for name, batch, peak in (("even", 1, 100), ("a bit off", 2, 104))],
         "findings": [{"name": "ceiling_batch", "value": 2, "claim": "", "details": {"may_lie_beyond": False}}]}


class WithStubs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.out = self.scratch / "out"
        self.build = self.scratch / "build"
        self.put_stubs(self.build)
        results = self.scratch / "results"
        results.mkdir()
        (results / "kernels.json").write_text(json.dumps(KERNELS), encoding="utf-8")
        (results / "batch.json").write_text(json.dumps(BATCH), encoding="utf-8")
        without_torch = self.scratch / "no-torch" / "torch"
        without_torch.mkdir(parents=True)
        (without_torch / "__init__.py").write_text('raise ImportError("PyTorch is not here")', encoding="utf-8")
        self.environment = {**os.environ, "STUB_CALLS": str(self.scratch / "calls"), "STUB_RESULTS": str(results),
                            "PYTHONPATH": str(HERE / "stubs"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment.pop("CUDA_VISIBLE_DEVICES", None)

    @staticmethod
    def put_stubs(folder):
        for program, stub in ALL_PROGRAMS.items():
            (folder / program).parent.mkdir(parents=True, exist_ok=True)
            (folder / program).unlink(missing_ok=True)
            shutil.copy(HERE / "stubs" / stub, folder / program)

    def without_torch(self):
        self.environment["PYTHONPATH"] = str(self.scratch / "no-torch")

    def command(self, *options):
        return [sys.executable, str(TOOLS / "check.py"), str(self.build), "--out", str(self.out), *options]

    def check(self, *options, command=None, **environment):
        """A call, ended; its sweeps in self.sweeps."""
        (self.scratch / "calls").write_text("", encoding="utf-8")
        ended = subprocess.run(command or self.command(*options), env={**self.environment, **environment},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.sweeps = [json.loads(line) for line in (self.scratch / "calls").read_text(encoding="utf-8").splitlines()]
        return ended

    def read(self, name):
        return json.loads((self.out / name).read_text(encoding="utf-8"))

    def rows(self):
        return {row["name"]: row for row in self.read("peers/gpu-peers.json")["rows"]}

    def goal(self, name):
        return next(goal for goal in self.read("goals.json") if name in goal["name"])

    def assert_goal(self, name, verdict, measured):
        goal = self.goal(name)
        self.assertEqual(goal["verdict"], verdict, goal)
        self.assertRegex(goal["measured"], measured)


class Check(WithStubs):
    def test_all_stages_run_and_goals_are_judged(self):
        ended = self.check()
        self.assertEqual(ended.returncode, 0, ended)
        self.assert_goal("of the datasheet's bandwidth", "met", r"93\.0% \(0\.4[67] of 0\.50 TB/s\)")
        self.assert_goal("of a copy within the card", "met", r"1\.011 \(common rounds: 1\)")
        self.assert_goal("gemm bf16 8192 vs torch", "met", r"1\.50 \(1\.50–1\.50\)")
        self.assert_goal("copy h2d pinned 256 MiB vs torch", "met", r"1\.50")
        self.assert_goal("implicit_gemm fp32 vs cudnn", "missed", r"0\.50")
        self.assert_goal("implicit_gemm fp16 vs cudnn", "met", r"0\.67")
        self.assert_goal("resnet50 infer fp16 batch 1 graph vs torch", "met", r"1\.50")
        self.assert_goal("resnet50 train fp16 batch 256 vs torch", "met", r"1\.50")
        self.assert_goal("peak memory reserved, of PyTorch's", "met", r"0\.90 at most")
        self.assert_goal("peak memory, off the plan", "met", r"4\.0% at most of [0-9]+ points \(a bit off\)")
        self.assert_goal("attention of gpt_small train fp16", "met", "24 × fused attention eng6_k24=1")
        self.assert_goal("default batch sweep, choices not cached", "met", "[0-9]+ s")
        self.assert_goal("default batch sweep, choices cached", "met", "2 points")
        self.assertIn("23 goals: 21 met, 1 missed, 1 reported, 0 not measured", ended.stdout)
        self.assertIn("The sweep kernels found something.", ended.stdout)
        # One import of PyTorch for all its cases.
        self.assertEqual((self.scratch / "calls.torch").read_text(encoding="utf-8"), "imported\n")
        # As a user types it.
        default = [sweep["arguments"] for sweep in self.sweeps if sweep["arguments"][-2:] == ["--sweep", "batch"]
                   or sweep["arguments"][-3:] == ["--sweep", "batch", "--no-plot"]]
        self.assertEqual(len(default), 1)
        self.assertNotIn("--time-budget", default[0])

    def test_without_pytorch_and_results_nothing_is_invented(self):
        self.without_torch()
        (self.scratch / "results" / "kernels.json").unlink()
        ended = self.check("--only", "peers,kernels")
        self.assertEqual(ended.returncode, 0, ended)
        self.assert_goal("gemm bf16 8192 vs torch", "not measured", "ImportError: PyTorch is not here")
        self.assert_goal("implicit_gemm fp16 vs cudnn", "met", r"0\.67")
        self.assert_goal("of the datasheet's bandwidth", "not measured", "no result of the sweep kernels")
        self.assert_goal("peak memory reserved, of PyTorch's", "not measured", "no ResNet-50 vs PyTorch")

    def test_a_failing_test_fails_the_check_and_the_rest_is_measured(self):
        self.without_torch()
        ended = self.check("--only", "tests-operations,peers", STUB_TESTS="fail")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("failed: tests-operations;", ended.stderr)
        self.assert_goal("implicit_gemm fp32 vs cudnn", "missed", r"0\.50")

    def test_a_batch_that_does_not_fit_is_a_row_and_no_failure(self):
        for variable, said in (("STUB_FULL", "ours ended with 1: peers_ours: out of memory"),
                               ("STUB_TORCH_FULL", "torch: out of memory: CUDA out of memory. Tried to allocate much")):
            with self.subTest(variable):
                ended = self.check("--only", "peers", "--fresh", **{variable: "yes"})
                self.assertEqual(ended.returncode, 0, ended)
                row = self.rows()["resnet50 train fp16 batch 256"]
                self.assertEqual(row["status"], "oom")
                self.assertIn(said, row["reason"])
                self.assertEqual(self.rows()["resnet50 infer fp16 batch 1 graph"]["status"], "measured")

    def test_two_that_do_not_fit_together_run_one_after_the_other(self):
        self.without_torch()
        ended = self.check("--only", "peers", STUB_CROWDED=str(self.scratch / "crowded"))
        self.assertEqual(ended.returncode, 0, ended)
        row = self.rows()["implicit_gemm fp16"]
        self.assertEqual((row["status"], row["apart"]), ("measured", True))

    def test_every_program_sees_the_card_that_was_asked_for_alone(self):
        for given, seen in ((None, "1"), ("4,7", "7")):
            with self.subTest(given):
                environment = {} if given is None else {"CUDA_VISIBLE_DEVICES": given}
                ended = self.check("--only", "transfer", "--fresh", "--device", "cuda:1", **environment)
                self.assertIn("cuda:1 NVIDIA Invented 9001", ended.stdout)
                self.assertEqual([sweep["card"] for sweep in self.sweeps], [seen])
                self.assertIn("cuda:0", self.sweeps[0]["arguments"])

    def test_without_a_card_nothing_runs(self):
        ended = self.check(STUB_NO_CARD="yes")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("cuda: no driver", ended.stderr)
        self.assertFalse(self.out.exists())

    def test_a_folder_that_cannot_be_made_is_named_before_anything_runs(self):
        self.out.write_text("a file", encoding="utf-8")
        ended = self.check()
        self.assertEqual((ended.returncode, self.sweeps), (2, []))
        self.assertIn(str(self.out), ended.stderr)

    def test_a_signal_ends_what_runs_and_saves_it(self):
        pipe = self.scratch / "pipe"
        os.mkfifo(pipe)
        (self.scratch / "calls").touch()
        with subprocess.Popen(self.command("--only", "transfer"), env={**self.environment, "STUB_BLOCKS": str(pipe)},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(pipe.read_text(encoding="utf-8"), "ready\n")
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate()
        self.assertEqual(process.returncode, 130, said)
        self.assertEqual(self.read("state.json")["stages"]["transfer"]["status"], "cut")


    def test_from_hopper_on_our_convolution_is_reported_and_not_judged(self):
        self.without_torch()
        ended = self.check("--only", "peers", STUB_CAPABILITY="9.0")
        self.assertEqual(ended.returncode, 0, ended)
        self.assert_goal("implicit_gemm fp32 vs cudnn", "reported", r"0\.50 \(0\.50–0\.50\), no goal from compute capability 9")
        self.assert_goal("implicit_gemm fp16 vs cudnn", "reported", "mma.sync reaches 60 to 65 % of wgmma's rate")
        self.check("--only", "peers", "--fresh", STUB_CAPABILITY="8.9")
        self.assert_goal("implicit_gemm fp32 vs cudnn", "missed", r"0\.50")


class Bundle(WithStubs):
    """Any program will do for those that it carries along."""

    def setUp(self):
        super().setUp()
        (self.build / "bundled").mkdir()
        for program in ALL_PROGRAMS:
            shutil.copy(shutil.which("ls"), self.build / "bundled" / pathlib.PurePath(program).name)
        self.built_with("13.0.88")
        self.bundle = self.scratch / "gpu-bundle-cuda13"

    def built_with(self, cuda):
        (self.build / "CMakeCache.txt").write_text(f"A:BOOL=ON\nBENCH_CUDA_VERSION:INTERNAL={cuda}\n", encoding="utf-8")

    def make(self, *options):
        return subprocess.run([sys.executable, str(TOOLS / "bundle.py"), str(self.build), str(self.scratch), *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_python_alone_unpacks_and_runs_it_with_the_wheels_libraries(self):
        made = self.make("--most", "40")
        self.assertEqual(made.returncode, 0, made)
        self.assertRegex(made.stdout, r"/gpu-bundle-cuda13\.tar\.xz, [0-9.]+ MiB")
        libraries = {path.name.split(".so")[0] for path in (self.bundle / "lib").iterdir()}
        self.assertIn("libselinux", libraries)
        self.assertFalse(libraries & {"libc", "libm", "libpthread", "libgcc_s"})
        shutil.rmtree(self.bundle)

        there = self.scratch / "there"
        there.mkdir()
        packed = self.scratch / "gpu-bundle-cuda13.tar.xz"
        subprocess.run([sys.executable, "-m", "tarfile", "-e", str(packed), str(there)], check=True)
        self.put_stubs(there / self.bundle.name)
        wheels = self.scratch / "site" / "nvidia" / "cudnn" / "lib"
        wheels.mkdir(parents=True)
        python_path = f"{self.environment['PYTHONPATH']}:{self.scratch / 'site'}"
        ended = self.check(command=[sys.executable, str(there / self.bundle.name / "check.py"), "--out", str(self.out), "--only",
                                    "peers,transfer"], PYTHONPATH=python_path, LD_LIBRARY_PATH="/given")
        self.assertEqual(ended.returncode, 0, ended)
        self.assert_goal("gemm bf16 8192 vs torch", "met", r"1\.50")
        path = self.sweeps[0]["libraries"].split(":")
        self.assertEqual(path[0], str(there / self.bundle.name / "lib"))
        self.assertLess(path.index(str(wheels)), path.index("/given"))
        look = subprocess.run([sys.executable, str(there / self.bundle.name / "tools" / "gpu" / "look.py"), "--libraries"],
                              env=dict(self.environment, PYTHONPATH=python_path, LD_LIBRARY_PATH="/given"), stdout=subprocess.PIPE,
                              text=True, check=True)
        self.assertEqual(look.stdout, self.sweeps[0]["libraries"] + "\n")

    def test_an_older_system_is_named_before_anything_runs(self):
        made = self.make()
        needs = json.loads((self.bundle / "needs.json").read_text(encoding="utf-8"))
        self.assertRegex(needs["glibc"], r"^2\.[0-9]+$")
        self.assertEqual(needs["cuda"], "13.0.88")
        self.assertIn(f"MiB; it needs glibc {needs['glibc']} or later and driver 580 or later (nvidia-smi: CUDA 13.0)\n", made.stdout)
        (self.bundle / "needs.json").write_text('{"glibc": "9.36", "cuda": "13.0.88"}', encoding="utf-8")
        command = [sys.executable, str(self.bundle / "check.py"), "--out", str(self.out)]
        ended = self.check(command=command)
        self.assertEqual((ended.returncode, self.sweeps, self.out.exists()), (2, [], False))
        self.assertRegex(ended.stderr, r"^gpu-check: the bundle's programs need glibc 9\.36 or later, this system has 2\.[0-9]+; "
                                       r"make the bundle on a system as old as this one, .*\n$")

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_an_older_driver_is_named_before_anything_runs(self):
        self.make()
        command = [sys.executable, str(self.bundle / "check.py"), "--out", str(self.out)]
        ended = self.check(command=command, LD_LIBRARY_PATH=made_driver(self.scratch, 12040))
        self.assertEqual((ended.returncode, self.sweeps, self.out.exists()), (2, [], False))
        self.assertEqual(ended.stderr, "gpu-check: the bundle's programs are made with CUDA 13.0.88, and this NVIDIA driver serves "
                                       "CUDA 12.4 at most; take gpu-bundle-cuda12 (make gpu-bundle "
                                       "CMAKE_FLAGS=-DCMAKE_CUDA_COMPILER=/path/to/12/bin/nvcc, in a fresh checkout), or install "
                                       "driver 580 or later\n")
        # Programs of 13.0 run with every driver for 13, those of 12 with this one and with later ones.
        for cuda, driver in (("13.1.50", 13000), ("12.9.86", 12040), ("12.4.131", 13000)):
            (self.bundle / "needs.json").write_text(json.dumps({"glibc": "2.2", "cuda": cuda}), encoding="utf-8")
            ended = self.check(command=command, LD_LIBRARY_PATH=made_driver(self.scratch, driver))
            self.assertNotIn("NVIDIA driver serves", ended.stderr)

    def test_an_older_python_is_named(self):
        script = f"import sys, runpy; sys.version_info = (3, 8, 10); runpy.run_path({str(TOOLS / 'check.py')!r})"
        ended = self.check(command=[sys.executable, "-c", script])
        self.assertEqual((ended.returncode, ended.stderr),
                         (2, "gpu-check: it needs Python 3.9 or later, this is 3.8; take a newer python3\n"))

    def test_bundles_for_cuda_12_and_13_lie_side_by_side(self):
        self.make()
        self.built_with("12.4.131")
        made = self.make()
        self.assertIn("/gpu-bundle-cuda12.tar.xz, ", made.stdout)
        self.assertIn("or later and driver 550 or later (nvidia-smi: CUDA 12.4)\n", made.stdout)
        for major, cuda in (("12", "12.4.131"), ("13", "13.0.88")):
            needs = json.loads((self.scratch / f"gpu-bundle-cuda{major}" / "needs.json").read_text(encoding="utf-8"))
            self.assertEqual(needs["cuda"], cuda)
            with tarfile.open(self.scratch / f"gpu-bundle-cuda{major}.tar.xz") as packed:
                self.assertIn(f"gpu-bundle-cuda{major}/bin/bench", packed.getnames())

    def test_one_that_is_too_large_fails_with_its_largest_parts(self):
        made = self.make("--most", "0.01")
        self.assertEqual(made.returncode, 1)
        self.assertRegex(made.stderr, r"bundle: it may have 0 MiB; the largest, .*\S [0-9.]+")


class Processes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.log = self.scratch / "log"
        self.pipe = self.scratch / "pipe"
        self.never = self.scratch / "never"  # a pipe that nobody writes to
        os.mkfifo(self.pipe)
        os.mkfifo(self.never)

    def test_the_limit_ends_a_program_and_its_helpers(self):
        ended = Machine().run(["sh", "-c", f"cat {self.never} & cat {self.never}"], 0.1, self.log, dict(os.environ))
        self.assertTrue(ended.cut)
        self.assertNotEqual(ended.code, 0)

    def test_an_interrupt_comes_before_the_kill(self):
        for traps, code in ((f"trap 'exit 130' INT; echo ready >{self.pipe}; read x <{self.never}", 130),
                            (f"trap '' INT; echo ready >{self.pipe}; read x <{self.never}", -signal.SIGKILL)):
            machine = Machine()
            machine.GRACE = 10 if code == 130 else 0
            process = subprocess.Popen(["bash", "-c", traps], preexec_fn=os.setpgrp)
            self.assertEqual(self.pipe.read_text(encoding="utf-8"), "ready\n")
            self.assertEqual(machine.stop(process), code)

    def test_a_program_does_not_outlive_the_check(self):
        script = (f"import sys; sys.path.insert(0, {str(TOOLS)!r}); import os; from machine import Machine; "
                  f"Machine().run(['bash', '-c', 'exec 3>{self.pipe}; echo ready >&3; exec cat {self.never}'], 600, "
                  f"{str(self.log)!r}, dict(os.environ))")
        with subprocess.Popen([sys.executable, "-c", script]) as process, open(self.pipe, encoding="utf-8") as said:
            self.assertEqual(said.readline(), "ready\n")
            process.kill()
            self.assertEqual(said.read(), "")  # it ends: nobody holds the pipe any more


def made_driver(folder, cuda):
    """LD_LIBRARY_PATH of a driver that serves that CUDA: 12040 is 12.4."""
    place = folder / f"driver-{cuda}"
    place.mkdir(exist_ok=True)
    (place / "driver.c").write_text(f"int cuDriverGetVersion(int* version) {{ *version = {cuda}; return 0; }}\n", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(place / "libcuda.so.1"), str(place / "driver.c")], check=True)
    return str(place)


@unittest.skipUnless(shutil.which("cc"), "no compiler")
class Look(unittest.TestCase):
    """What is looked for before anything is built: a driver that shows no card, one that shows one, and a build."""

    DRIVER = """int cuInit(unsigned flags) { return flags == 0 ? ERROR : 1; }
int cuDeviceGetCount(int* count) { *count = 1; return 0; }
int cuGetErrorString(int error, const char** text) { *text = error == 803 ? "system has unsupported driver" : 0; return 0; }
"""

    def look(self, *options, **environment):
        return subprocess.run([sys.executable, str(TOOLS / "look.py"), *options], env={**os.environ, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_a_driver_is_asked_for_a_card(self):
        unsupported = "gpu-check: the NVIDIA driver does not start (error 803: system has unsupported driver)"
        for error, sentence in ((0, ""), (100, "gpu-check: the NVIDIA driver shows no card"), (803, unsupported)):
            with self.subTest(error), tempfile.TemporaryDirectory() as scratch:
                source = pathlib.Path(scratch) / "driver.c"
                source.write_text(self.DRIVER, encoding="utf-8")
                subprocess.run(["cc", "-shared", "-fPIC", f"-DERROR={error}", "-o", f"{scratch}/libcuda.so.1", str(source)],
                               check=True)
                ended = self.look("--card", LD_LIBRARY_PATH=scratch)
                self.assertEqual(ended.returncode, 2 if sentence else 0)
                self.assertTrue(ended.stderr.startswith(sentence) and ended.stderr.count("\n") == bool(sentence), ended.stderr)

    def test_the_driver_tells_which_bundle_to_take(self):
        with tempfile.TemporaryDirectory() as scratch:
            for cuda, answer in ((13000, "CUDA 13.0: take gpu-bundle-cuda13 (make gpu-bundle with CUDA 13)"),
                                 (13020, "CUDA 13.2: take gpu-bundle-cuda13 "),
                                 (12080, "CUDA 12.8: take gpu-bundle-cuda12 (make gpu-bundle CMAKE_FLAGS="),
                                 (12020, "CUDA 12.2: there is no bundle for so old a driver; install 550 or later")):
                with self.subTest(cuda):
                    ended = self.look("--bundle", LD_LIBRARY_PATH=made_driver(pathlib.Path(scratch), cuda))
                    self.assertEqual(ended.returncode, 0)
                    self.assertTrue(ended.stdout.startswith(f"this NVIDIA driver serves {answer}"), ended.stdout)

    def test_a_build_without_the_device_says_why(self):
        with tempfile.TemporaryDirectory() as scratch:
            self.assertEqual(self.look("--build", scratch).returncode, 0)
            generated = pathlib.Path(scratch) / "generated"
            generated.mkdir()
            why = "it was switched off; make configure CMAKE_FLAGS=-DBENCH_CUDA=AUTO switches it on"
            (generated / "bench_cuda_missing.h").write_text(f'#define BENCH_CUDA_MISSING "{why}"\n', encoding="utf-8")
            ended = self.look("--build", scratch)
        self.assertEqual(ended.returncode, 2)
        self.assertIn(f"was configured without the CUDA device: {why}.", ended.stderr)


@unittest.skipUnless(os.environ.get("BENCH_TESTS_GPU"), "the tests of the CUDA device are not built")
class RealTests(unittest.TestCase):
    """The stage of tests with the program that it is for, all cards hidden: every test is skipped."""

    def run_stage(self, folder, few):
        program = pathlib.Path(os.environ["BENCH_TESTS_GPU"]).resolve()
        settings = Settings(program.parents[1], "", dict(os.environ, CUDA_VISIBLE_DEVICES=""), "cuda:0", False)
        folder.mkdir()
        outcome = Tests("tests", program.name, 500, few).run(Call(settings, Machine(), folder, 500, False))
        suites = json.loads((folder / "tests.json").read_text(encoding="utf-8"))["suites"]
        return outcome, {suite["name"]: suite for suite in suites}

    def test_its_suites_are_understood_and_few_plans_are_fewer(self):
        with tempfile.TemporaryDirectory() as scratch:
            few, some = self.run_stage(pathlib.Path(scratch) / "few", True)
            every, suites = self.run_stage(pathlib.Path(scratch) / "all", False)
        self.assertEqual([few, every], 2 * [("failed", "every test was skipped; its log says why")])
        self.assertEqual(some.keys(), suites.keys())
        self.assertEqual(suites.keys(), fake_card.SUITES["tests_gpu"].keys())
        self.assertTrue(all(suite["skipped"] == suite["tests"] > 0 for suite in suites.values()), suites)
        self.assertLess(2 * some["All/CudnnConv2d"]["tests"], suites["All/CudnnConv2d"]["tests"])


if __name__ == "__main__":
    unittest.main()
