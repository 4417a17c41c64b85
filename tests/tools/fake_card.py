"""A machine with a card for the check's tests: programs take invented time on a clock that only they move."""

import collections
import json
import math
import os
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "tools" / "gpu"), str(SOURCE / "tools" / "peers")]

import gpu_peers
from machine import Ended, write_whole

os.environ.pop("BENCH_FEW_PLANS", None)  # what the check itself decides

LISTING = {"devices": [{"id": "cpu", "description": "a processor", "missing": None},
                       {"id": "cuda:0", "description": "NVIDIA Invented 9000, 8.00 GiB", "missing": None}]}
# Each program's, as gpu_programs_test.py finds them in it, with a test or two.
SUITES = {"tests_gpu_device": {"CardTest": ["DescribesItself"], "CardTransfersTest": ["EveryKindArrives"]},
          "tests_gpu": {"LargeTensorsOnTheCard": ["AreConvolvedInParts"],
                        "OwnKernelsOnTheCard": ["HaveTheRoomThatLaunchesCountWith"],
                        "OwnKernelsInFp32": ["AreRightOverManySteps"],
                        "All/CudaAttentionOnDevice": ["IsLikeItsReferenceInEveryPass/fp32"],
                        "All/CudnnConv2d": ["Forward/fp32", "Forward/fp16"],
                        "All/CudaLibraries": ["CublasltMultipliesLikeTheReference/fp32"],
                        "All/OwnKernels": ["AreRight/fp32"],
                        "All/TrainingKernels": ["StepLikeTheReference/fp32"]}}
ALL_SUITES = {suite for suites in SUITES.values() for suite in suites}


class Killed(BaseException):
    """The check itself is killed: nothing of it runs any more."""


class FakeProcess:
    """A contestant: PyTorch, or ours."""

    STEP_NS = {"torch": 3_000_000}

    def __init__(self, card, name, command):
        self.card, self.name, self.words = card, name, command[1:]
        card.started[name] += 1

    def answer(self):
        if self.name == "torch":
            self.card.spend(self.card.torch_import_s)
            return self.card.torch_says
        self.card.spend(1 + self.card.tuning_s)
        return self.ready()

    @staticmethod
    def ready():
        return {"built_bytes": 0, "about": {"reserved_peak_bytes": 900}}

    def ask(self, line):
        verb, *words = line.split()
        if verb == "end":
            return {"ended": True}
        if verb == "case":
            self.card.cases.append(" ".join(words[:-1]))
            self.card.spend(self.card.tuning_s)
            failure = self.card.torch_failures.get(" ".join(words[:-1]))
            if failure and "out of memory" in failure:
                return {"error": failure}
            if failure:
                raise RuntimeError(f"torch ended with 1: {failure}")
            return self.ready()
        step = self.STEP_NS.get(self.name, 2_000_000)
        self.card.spend((int(words[0]) + 1) * step * 1e-9)
        return {"ns": [step] * int(words[0]), "peak_bytes": 1000}

    def end(self):
        pass


class FakeCard:
    """In place of machine.Machine. `hangs`: programs and suites that never end by themselves."""

    GRACE = 10

    def __init__(self, programs):
        self.time = 0.0
        self.killed_at = math.inf
        self.killed_in = None  # a stage: 8 s after it began
        self.deadline = math.inf
        self.programs = programs
        self.calls = []  # (begin, program, options) of each program that ran
        self.started = collections.Counter()  # contestants by name
        self.cases = []  # that PyTorch began
        self.hangs = set()
        self.deaf = False  # programs do not end at an interrupt
        self.torch_import_s, self.tuning_s, self.suite_s = 15, 10, 8
        self.torch_says = {"ready": True, "about": {}}
        self.torch_failures = {}
        self.crashes = set()  # suites
        self.failing = set()  # tests
        self.skips = False  # every test
        self.sweep_code = 0
        for program in ("bench", "tests/tests_gpu", "tests/tests_gpu_device", "tools/peers/peers_ours"):
            (programs / program).parent.mkdir(parents=True, exist_ok=True)
            (programs / program).write_text("the first build", encoding="utf-8")

    def now(self):
        return self.time

    def spend(self, seconds):
        if self.time + seconds < min(self.killed_at, self.deadline):
            self.time += seconds
        elif self.killed_at < self.deadline:
            self.time = self.killed_at
            raise Killed
        else:
            self.time = self.deadline
            raise KeyboardInterrupt

    def output(self, _command, _environment):
        self.spend(2)
        return json.dumps(LISTING)

    def run(self, command, limit, log, environment):
        command = [str(word) for word in command]
        self.deadline = self.time + limit
        pathlib.Path(log).touch()
        begin = self.time
        if f"/{self.killed_in}/log.txt" in str(log):
            self.killed_at = min(self.killed_at, begin + 8)
        try:
            if "gpu_peers.py" in command[1]:
                self.calls.append((begin, "gpu_peers", command[2:]))
                code = gpu_peers.main(command[2:], self.start, self.now)
            else:
                name = pathlib.Path(command[0]).name
                self.calls.append((begin, name, command[1:]))
                code = (self.sweep if name == "bench" else self.tests)(name, command[1:], environment)
            return Ended(code, self.time >= self.deadline)
        except KeyboardInterrupt:
            self.time += self.GRACE if self.deaf else 0
            return Ended(130, True)
        finally:
            self.deadline = math.inf

    def start(self, name, command, _environment):
        if "gpu_peers" in self.hangs:
            self.spend(math.inf)
        return FakeProcess(self, name, command)

    def sweep(self, _name, options, _environment):
        sweep = options[options.index("--sweep") + 1]
        out = pathlib.Path(options[options.index("--out") + 1])
        budget = float(options[options.index("--time-budget") + 1].rstrip("s")) if "--time-budget" in options else 40
        result = out / f"{sweep}-all-cuda-0.json"
        before = "--resume" in options and result.exists()
        points = json.loads(result.read_text(encoding="utf-8"))["benchmarks"] if before else []
        self.spend(6)  # the device is opened, its peaks are measured
        end = self.time + budget
        while self.time < end:
            self.spend(math.inf if sweep in self.hangs and points else 5)
            points.append({"name": f"{sweep}/point:{len(points)}", "stats": {"median_ns": 2e6}, "items_per_second": 500,
                           "params": {}, "memory": {"peak_predicted": 100, "peak_measured": 100}})
            finding = {"name": "best", "headline": 1, "claim": f"The sweep {sweep} found {len(points)} points."}
            write_whole(result, json.dumps({"benchmarks": points, "findings": [finding]}))
        self.spend(2)  # the picture
        return self.sweep_code

    def tests(self, name, options, environment):
        values = dict(option.removeprefix("--gtest_").split("=", 1) for option in options if "=" in option)
        result = pathlib.Path(values["output"].removeprefix("json:"))
        suites = SUITES[name]
        self.spend(1)
        if "--gtest_list_tests" not in options:
            chosen = values["filter"].removesuffix(".*")
            suites = {chosen: suites[chosen]}
            if chosen in self.hangs:
                self.spend(math.inf)
            self.spend(self.suite_s / (3 if "BENCH_FEW_PLANS" in environment else 1))
            if chosen in self.crashes:
                return -11
        document = {"testsuites": [{"name": suite, "tests": len(tests), "testsuite": list(map(self.judged, tests))}
                                   for suite, tests in suites.items()]}
        write_whole(result, json.dumps(document))
        return 1 if "--gtest_list_tests" not in options and self.failing & set(sum(suites.values(), [])) else 0

    def judged(self, test):
        failures = {"failures": [{"failure": "off by one\nin x.cpp"}]} if test in self.failing else {}
        return {"name": test, "result": "SKIPPED" if self.skips else "COMPLETED", **failures}
