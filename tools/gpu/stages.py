"""What the check on a GPU consists of: each stage has a time limit, a folder with its result, and a table made from it.

A stage's `run` gets a Call and returns an Outcome. It may be cut at any moment; its folder then holds what was done until
then, and the next call's run goes on from there.
"""

import collections
import functools
import hashlib
import json
import pathlib
import sys
import typing

import gpu_peers
from machine import Machine, write_whole

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = 20  # rows of a table at most


class Outcome(typing.NamedTuple):
    status: str  # done; failed; cut: part of it is missing, because the time was over
    why: str = ""


class Settings(typing.NamedTuple):
    """The same for all stages of a check."""
    programs: pathlib.Path  # a build folder or a bundle
    libraries: str  # LD_LIBRARY_PATH of our programs; "": as it is
    environment: dict  # of everything else
    device: str
    plot: bool

    def ours(self, **more):
        return {**self.environment, **({"LD_LIBRARY_PATH": self.libraries} if self.libraries else {}), **more}


class Call(typing.NamedTuple):
    settings: Settings
    machine: Machine
    folder: pathlib.Path  # the stage's own
    limit: float  # seconds
    resume: bool  # the folder holds what an earlier call did of it

    @property
    def log(self):
        return self.folder / "log.txt"


def read(path):
    """The JSON of a file; None where there is none, or none that is whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


@functools.lru_cache(maxsize=None)
def digest(path, _size, _mtime_ns):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


class Stage:
    # Whether a failed one keeps the parts that went well.
    in_parts = False
    # Whether all others are continued before it begins.
    last = False

    def __init__(self, name, program, limit, least):
        self.name = name
        self.program = program
        self.limit = limit  # seconds
        self.least = least  # it does not begin with less

    def build(self, settings):
        """Tells one build of its program from another."""
        path = settings.programs / self.program
        try:
            about = path.stat()
        except OSError:
            return "missing"
        return digest(path, about.st_size, about.st_mtime_ns)


class Tests(Stage):
    """A test program, a process for each suite: one that crashes, hangs or loses the card takes no other with it."""

    in_parts = True

    def __init__(self, name, program, limit, few, last=False):
        super().__init__(name, f"tests/{program}", limit, 20)
        self.few = few
        self.last = last

    def run(self, call):
        end = call.machine.now() + call.limit
        listed = call.folder / "list.json"
        listing = self.start(call, call.limit, listed, "--gtest_list_tests")
        document = read(listed)
        if document is None:
            return Outcome("cut" if listing.cut else "failed", f"{self.program} lists no tests (exit code {listing.code})")
        before = {suite["name"]: suite for suite in (read(call.folder / "tests.json") or {"suites": []})["suites"]}
        suites = [before.get(suite["name"], {"name": suite["name"], "tests": suite["tests"], "status": "waiting"})
                  for suite in document["testsuites"]]
        # Those that were begun before come last; the largest has what the others leave.
        to_do = sorted((suite for suite in suites if suite["status"] != "passed"),
                       key=lambda suite: (suite["status"] != "waiting", suite["tests"]))
        for number, suite in enumerate(to_do):
            begin = call.machine.now()
            # A quarter of what is left, or more by its number of tests: one that hangs leaves time for the others.
            share = suite["tests"] / max(1, sum(one["tests"] for one in to_do[number:]))
            limit = (end - begin) * (1 if number + 1 == len(to_do) else max(share, 1 / 4))
            if limit <= 0:
                break
            result = call.folder / f"{suite['name'].replace('/', '.')}.json"
            result.unlink(missing_ok=True)
            suite["status"] = "cut"  # stays where this process is killed
            self.write(call.folder, suites)
            ended = self.start(call, limit, result, f"--gtest_filter={suite['name']}.*")
            suite |= self.judged(ended, read(result)) | {"seconds": call.machine.now() - begin}
            self.write(call.folder, suites)
        return self.outcome(suites)

    def start(self, call, limit, result, option):
        command = [str(call.settings.programs / self.program), option, f"--gtest_output=json:{result}", "--gtest_brief=1"]
        return call.machine.run(command, limit, call.log, call.settings.ours(**({"BENCH_FEW_PLANS": "1"} if self.few else {})))

    @staticmethod
    def judged(ended, document):
        if ended.cut:
            return {"status": "cut"}
        if document is None:
            return {"status": "crashed", "exit_code": ended.code, "failures": []}
        tests = [test for suite in document["testsuites"] for test in suite["testsuite"]]
        failures = [{"test": test["name"], "message": test["failures"][0]["failure"]} for test in tests if "failures" in test]
        return {"status": "failed" if ended.code else "passed", "exit_code": ended.code, "failures": failures,
                "skipped": sum(test["result"] == "SKIPPED" for test in tests)}

    @staticmethod
    def write(folder, suites):
        write_whole(folder / "tests.json", json.dumps({"suites": suites}, indent=1))

    @staticmethod
    def outcome(suites):
        def having(*statuses):
            return [suite["name"] for suite in suites if suite["status"] in statuses]

        broken = ", ".join(having("failed", "crashed"))
        if left := ", ".join(having("waiting", "cut")):
            return Outcome("cut", f"left: {left}{'; failed: ' if broken else ''}{broken}")
        if not broken and all(suite["skipped"] == suite["tests"] for suite in suites):
            return Outcome("failed", "every test was skipped; its log says why")
        return Outcome("failed", broken) if broken else Outcome("done")

    def table(self, folder):
        document = read(folder / "tests.json")
        if document is None:
            return ""
        lines = [f"{'suite':<32} {'tests':>5} {'skipped':>7} {'failed':>6} {'s':>6}"]
        for suite in document["suites"]:
            failures = suite.get("failures", [])
            lines.append(f"{suite['name']:<32} {suite['tests']:>5} {suite.get('skipped', 0):>7} {len(failures):>6} "
                         f"{suite.get('seconds', 0):>6.1f}  {suite['status']}"
                         f"{' with exit code ' + str(suite['exit_code']) if suite['status'] == 'crashed' else ''}")
            lines += [f"    {failure['test']}: {' '.join(failure['message'].split())[:200]}" for failure in failures[:3]]
        return "\n".join(lines)


class Sweep(Stage):
    """A sweep of the program, which ends by its own time budget and is interrupted OVERRUN seconds later."""

    OVERRUN = 25  # seconds: the device is opened, a point is finished, the picture is drawn
    SHORT = 20  # of which are kept of a limit that is shorter than usual
    DEFAULT_BUDGET = 100

    def __init__(self, name, budget, *options, choices_of=None):
        """`budget` None: as a user types it, without --time-budget, and only where there is time for all of it.
        `choices_of`: the stage in whose folder autotuning's choices are kept; else next to all stages."""
        limit = (budget or self.DEFAULT_BUDGET) + self.OVERRUN
        super().__init__(name, "bench", limit, 40 if budget else limit)
        self.budget = budget
        self.choices_of = choices_of
        self.options = options
        self.sweep = options[options.index("--sweep") + 1]

    def run(self, call):
        budget = min(self.budget or self.DEFAULT_BUDGET, call.limit - self.SHORT)
        short = budget < (self.budget or self.DEFAULT_BUDGET)
        settings = call.settings
        command = [str(settings.programs / self.program), "--device", settings.device, "--out", str(call.folder)]
        command += self.options
        command += ["--time-budget", f"{budget:.0f}s"] if self.budget else []
        command += [] if settings.plot else ["--no-plot"]
        command += ["--resume"] if call.resume else []
        cache = {"XDG_CACHE_HOME": str(call.folder.parent / self.choices_of / "cache")} if self.choices_of else {}
        begin = call.machine.now()
        code, cut = call.machine.run(command, call.limit, call.log, settings.ours(**cache))
        if cut or code == 130:
            return Outcome("cut", f"it was interrupted after {call.limit:.0f} s; its time budget was {budget:.0f} s")
        if code != 0:
            return Outcome("failed", f"exit code {code}")
        if short and call.machine.now() - begin >= budget:
            return Outcome("cut", f"it had {budget:.0f} s of its {self.budget} s")
        return Outcome("done")

    def table(self, folder):
        documents = filter(None, map(read, sorted(folder.glob(f"{self.sweep}-*.json"))))
        return "\n".join(line for document in documents for line in self.lines(document))

    @staticmethod
    def lines(document):
        """The headlines, the points where they are few, and each point in error."""
        headlines = sorted((finding for finding in document.get("findings", []) if finding.get("headline")),
                           key=lambda finding: finding["headline"])
        lines = [f"* {finding['claim']}" for finding in headlines]
        points = document.get("benchmarks", [])
        if len(points) <= SHOWN:
            for point in points:
                rate = f"{point['items_per_second']:.4g}/s" if "items_per_second" in point else ""
                peak = point.get("memory", {}).get("peak_measured", 0) / 2**20
                flags = " ".join(point.get("validity", {}).get("flags", []))
                median = point["stats"]["median_ns"] / 1e6
                lines.append(f"{point['name']:<52} {median:>10.3f} ms {rate:>12} {peak:>9.1f} MiB  {flags}".rstrip())
        else:
            lines.append(f"{len(points)} points")
        unmeasured = document.get("unmeasured", [])
        counts = collections.Counter(point["status"] for point in unmeasured)
        if unmeasured:
            lines.append("without a value: " + ", ".join(f"{count} {status}" for status, count in counts.items()))
        lines += [f"error: {point['name']}: {point['reason']}" for point in unmeasured if point["status"] == "error"][:5]
        return lines


class Peers(Stage):
    """Ours compared with PyTorch and cuDNN."""

    in_parts = True

    def __init__(self, name, limit):
        super().__init__(name, "tools/peers/peers_ours", limit, 50)

    def run(self, call):
        settings = call.settings
        command = [sys.executable, str(HERE / "gpu_peers.py"), "--ours", str(settings.programs / self.program),
                   "--ours-libraries", settings.libraries, "--device", settings.device, "--out", str(call.folder),
                   "--seconds", f"{call.limit - 5:.0f}"]
        code, cut = call.machine.run(command, call.limit, call.log, settings.environment)
        rows = (read(call.folder / "gpu-peers.json") or {"rows": []})["rows"]

        def having(*statuses):
            return [row["name"] for row in rows if row["status"] in statuses]

        if cut or code == 130:
            return Outcome("cut", f"left: {', '.join(having('waiting', 'cut', 'error'))}")
        if code != 0:
            return Outcome("failed", ", ".join(having("error")) or f"exit code {code}")
        return Outcome("done")

    def table(self, folder):
        document = read(folder / "gpu-peers.json")
        return gpu_peers.table(document["rows"]) if document else ""


# The default batch sweep, first without any choice of autotuning's, then with those that the first one made.
UNCACHED, CACHED = "batch", "batch-cached"
ATTENTION = "attention"
RESNET = ("--sweep", "batch", "--workload", "resnet50", "--dtype", "fp16")

# In the order of what is worth most if the time ends. Two calls have room for the limits of all but the last, the first call
# for those up to batch-train.
STAGES = [
    Tests("tests-device", "tests_gpu_device", 45, few=False),
    Tests("tests-operations", "tests_gpu", 100, few=True),
    Peers("peers", 200),
    Sweep("kernels", 60, "--sweep", "kernels"),
    Sweep("batch-train", 45, *RESNET, "--mode", "train", "--optimizer", "sgd"),
    Sweep("batch-infer", 45, *RESNET, "--mode", "infer"),
    Sweep(ATTENTION, 15, "--sweep", "batch", "--workload", "gpt_small", "--dtype", "fp16", "--mode", "train", "--batch", "8"),
    Sweep("memory", 40, "--sweep", "memory", "--workload", "resnet50", "--mode", "train", "--dtype", "fp32,fp16",
          "--optimizer", "sgd,adam", "--memory-cap", "6GiB,8GiB,12GiB,16GiB"),
    Sweep("transfer", 20, "--sweep", "transfer"),
    Sweep("workers", 20, "--sweep", "workers"),
    Sweep(UNCACHED, None, "--sweep", "batch", choices_of=UNCACHED),
    Sweep(CACHED, 60, "--sweep", "batch", choices_of=UNCACHED),
    Sweep("batch-graph", 25, "--sweep", "batch", "--workload", "resnet18", "--launch", "graph", "--dtype", "fp16",
          "--batch", "1:64:x2"),
    Tests("tests-all", "tests_gpu", 480, few=False, last=True),
]
