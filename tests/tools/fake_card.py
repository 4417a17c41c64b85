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


def stream_point(mode, caches, elements, size, ns):
    """As a result file has it: `ns` is the one sample of a single round."""
    return {"name": f"{mode} {elements} {caches}",
            "params": {"workload": "stream", "mode": mode, "caches": caches, "elements": elements},
            "work": {"fixed_bytes": 0, "sample_bytes": size}, "stats": {"median_ns": ns}, "samples_ns": [ns],
            "rounds": [{"samples": 1, "session": 0, "round": 0}]}


class Killed(BaseException):
    """The check itself is killed: nothing of it runs any more."""


# A step in seconds, of what takes longer than a few milliseconds, on a card such as the H200.
STEPS = {"train fp16 64": 0.025, "train fp16 256": 0.1, "infer fp16 64": 0.008, "infer fp16 256": 0.03,
         "train tf32 64": 0.05, "infer tf32 64": 0.015, "train fp32 64": 0.13, "infer fp32 64": 0.04}
WARM_UP = 0.05  # seconds, or two steps


class FakeProcess:
    """A contestant: PyTorch, or ours. Ours is a process for each case, which opens the card and its libraries and plans the
    network; what was tuned once is remembered where the environment says."""

    def __init__(self, card, name, command, environment):
        self.card, self.name, self.words = card, name, [str(word) for word in command[1:]]
        self.environment = environment
        self.step = 0.0
        card.started[name] += 1

    def answer(self):
        if self.name == "torch":
            self.card.spend(self.card.torch_import_s)
            return self.card.torch_says
        network, dtype, batch, *more = self.words
        mode = "train" if "sgd" in more else "infer"
        self.card.spend(self.card.ours_start_s)
        work = " ".join(self.words)
        if work not in self.card.choices(self.environment):
            self.card.spend(self.card.tuning_s)
            self.card.choose(self.environment, work)
        return self.ready(f"{mode} {dtype} {batch}" if network == "resnet50" else "")

    def ready(self, case):
        self.step = STEPS.get(case, 0.002) * self.card.slower * (1.5 if self.name == "torch" else 1)
        self.card.spend(max(WARM_UP, 2 * self.step))
        return {"built_bytes": 0, "about": {"reserved_peak_bytes": 900}}

    def ask(self, line):
        verb, *words = line.split()
        if verb == "end":
            return {"ended": True}
        if verb == "case":
            self.card.cases.append(" ".join(words))
            self.card.spend(self.card.tuning_s)  # cudnn.benchmark keeps no choices
            failure = self.card.torch_failures.get(" ".join(words))
            if failure and "out of memory" in failure:
                return {"error": failure}
            if failure and "torch.compile" in failure:
                return {"missing": failure}
            if failure:
                raise RuntimeError(f"torch ended with 1: {failure}")
            return self.ready(" ".join(words[1:4]) if words[0] == "resnet50" else "")
        self.card.spend((int(words[0]) + 1) * self.step)
        return {"ns": [int(self.step * 1e9)] * int(words[0]), "peak_bytes": 1000}

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
        # Seconds; `slower`: times a step takes longer than on an H200, about 10 on a T4.
        self.torch_import_s, self.ours_start_s, self.tuning_s, self.slower = 15, 3, 10, 1
        self.suite_s = {"All/CudnnConv2d": 150}  # with all plans; a third of it with few
        self.other_suite_s = 8
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
        self.environment = environment
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
        return FakeProcess(self, name, command, self.environment)

    @staticmethod
    def choices_file(environment):
        return pathlib.Path(environment["XDG_CACHE_HOME"]) / "bench" / "autotune.json"

    def choices(self, environment):
        file = self.choices_file(environment)
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []

    def choose(self, environment, work):
        file = self.choices_file(environment)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps([*self.choices(environment), work]))

    def sweep(self, _name, options, _environment):
        sweep = options[options.index("--sweep") + 1]
        out = pathlib.Path(options[options.index("--out") + 1])
        budget = float(options[options.index("--time-budget") + 1].rstrip("s")) if "--time-budget" in options else 100
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
            self.spend(self.suite_s.get(chosen, self.other_suite_s) / (3 if "BENCH_FEW_PLANS" in environment else 1))
            if chosen in self.crashes:
                return -11
        document = {"testsuites": [{"name": suite, "tests": len(tests), "testsuite": list(map(self.judged, tests))}
                                   for suite, tests in suites.items()]}
        write_whole(result, json.dumps(document))
        return 1 if "--gtest_list_tests" not in options and self.failing & set(sum(suites.values(), [])) else 0

    def judged(self, test):
        failures = {"failures": [{"failure": "off by one\nin x.cpp"}]} if test in self.failing else {}
        return {"name": test, "result": "SKIPPED" if self.skips else "COMPLETED", **failures}
