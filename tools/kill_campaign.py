#!/usr/bin/python3
"""Interrupts and kills the built program at random moments, and looks whether anything was lost or left behind.

    tools/kill_campaign.py build/release/bench [--signals 400 | --seconds 120] [--seed N]

Five sweeps, each going on where the one before was stopped, and the commands. After each signal:
- SIGINT, SIGTERM and SIGHUP end the program with 130 (by the signal itself only before main() began, while nothing was printed),
- the result file is whole, and has every point and sample that it had,
- no process is left,
and after the next run that is left alone no temporary file is, in the results, the cache or TMPDIR. Exits with 1 where one of
these does not hold; the seed that is printed repeats the choice of cases, signals and moments.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MARK = "BENCH_KILL_CAMPAIGN"
INTERRUPTED = 130
DONE = (0, 1, 3)  # measured times differ, or there is none: a busy machine is no problem here
LONGEST = 6  # seconds: what a longer run does later, it did before
# What an interrupted run may take to end: of the processor, and at most until it is waited for no longer. Next to other programs a
# run may get a hundredth of a core.
MOST_PROCESSOR_SECONDS = 30
MOST_SECONDS = 600
TINY = ["--workload", "conv2d", "--height", "8", "--width", "8", "--in-channels", "4", "--out-channels", "4"]
NETWORK = ["--workload", "resnet18", "--image-size", "32"]
SHORT = ["--time-budget", "6s"]
SWEEPS = {
    "batch": [*TINY, "--batch", "1,2,4", "--dtype", "fp32", "--time-budget", "60min", "--benchmark_repetitions=20"],
    "kernels": ["--dtype", "fp32", "--benchmark_filter=kernels/gemm/forward/fp32/hot/inner:(128|256)/", *SHORT],
    "memory": [*NETWORK, "--batch", "1,2", "--dtype", "fp32", "--mode", "infer", *SHORT],
    "transfer": ["--benchmark_filter=bytes:(4096|65536)", *SHORT],
    "workers": ["--consumer", "5ms", "--batch", "4", "--workers", "0,1", *SHORT],
}
NEW_FOLDER = ("ab", "advise --workload")  # what they write goes to one
EVALUATE = "evaluate"  # writes one result
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


class Case:
    """A command line and what is known of it. `result`: where a sweep writes."""

    def __init__(self, name, words, result=None):
        self.name, self.words, self.result = name, words, result
        self.seconds = LONGEST if result is not None or name in NEW_FOLDER else 0.5  # that it takes, as far as is known
        self.before = {}  # samples by point, as the file had them


class Run(subprocess.Popen):
    """The program, with its output in files: no pipe fills up."""

    def __init__(self, words, environment, folder):
        self.files = [tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")]
        super().__init__(words, env=environment, stdin=subprocess.DEVNULL, stdout=self.files[0], stderr=self.files[1],
                         start_new_session=True, cwd=folder)

    def communicate(self):
        self.wait()
        texts = []
        for file in self.files:
            with file:
                file.seek(0)
                texts.append(file.read())
        return texts


class Campaign:
    def __init__(self, bench, folder, seed):
        self.bench, self.folder = bench, folder
        self.random = random.Random(seed)
        self.out = folder / "results"
        for name in ("results", "cache", "temporary"):
            (folder / name).mkdir()
        self.environment = {**os.environ, MARK: str(folder), "XDG_CACHE_HOME": str(folder / "cache"),
                            "TMPDIR": str(folder / "temporary")}
        self.environment.pop("OMP_WAIT_POLICY", None)  # else the program never starts itself again
        self.counts = collections.Counter()
        self.problems = []
        self.cases = []

    def problem(self, case, what):
        self.problems.append(f"{case.name}: {what}")
        print(f"PROBLEM {case.name}: {what}", flush=True)

    # --- What there is to run.

    def sweep_case(self, name):
        words = ["--sweep", name, "--device", "cpu", *SWEEPS[name], "--out", str(self.out / name)]
        return Case(name, words, self.out / name)

    def command_cases(self):
        result, other = (str(self.measured(name)) for name in ("first", "second"))
        page = self.folder / "results" / "page.html"
        return [
            Case("compare", ["compare", result, other]),
            Case("report", ["report", result, "-o", str(page)]),
            Case("advise", ["advise", result]),
            Case("advise --workload", ["advise", *NETWORK, "--device", "cpu", "--time-budget", "30s", "--out",
                                       str(self.out / "advise")]),
            Case("ab", ["ab", "--pairs", "5", "--new-env", "NEW=1", "--out", str(self.out / "ab"), str(self.bench), "--",
                        "--sweep", "batch", "--device", "cpu", *SWEEPS["batch"]]),
            Case(EVALUATE, ["evaluate", "--workload", "resnet18", "--gpu", "t4,a100-80gb", "--out", str(self.out / "evaluate")]),
            Case("predict", ["predict", "--workload", "resnet18", "--gpu", "t4"]),
            Case("list", ["--list"]),
            Case("dry run", ["--sweep", "batch", "--device", "cpu", *NETWORK, "--dry-run"]),
        ]

    def measured(self, name):
        """A result for the commands to read."""
        subprocess.run([str(self.bench), "--sweep", "batch", "--device", "cpu", *SWEEPS["batch"], "--no-plot", "--out",
                        str(self.out / name)], env=self.environment, check=True, capture_output=True)
        return next((self.out / name).glob("*.json"))

    # --- A run, and what is looked at after it.

    def start(self, case, may_leave_out_pictures=True):
        if case.name in (*NEW_FOLDER, EVALUATE):
            shutil.rmtree(self.out / case.name.split()[0], ignore_errors=True)
        words = [str(self.bench), *case.words]
        if case.result is not None:
            words += ["--resume"]
            if may_leave_out_pictures and self.random.random() < 0.6:  # they take as long as the rest
                words += ["--no-plot"]
        return Run(words, self.environment, self.folder)

    def left_alone(self, case):
        """Runs it whole; afterwards nothing temporary is left."""
        begun = time.monotonic()
        process = self.start(case, may_leave_out_pictures=False)  # a run that draws removes what one that was killed left
        _, err = process.communicate()
        print(f"{case.name}: {time.monotonic() - begun:.2f} s, ends with {process.returncode}", flush=True)
        if process.returncode not in DONE:
            self.problem(case, f"left alone it ended with {process.returncode}: {err.strip()[-300:]}")
        self.look(case)
        if case.result is not None:
            for place in (case.result, self.folder / "cache", self.folder / "temporary"):
                for path in place.rglob("*"):
                    # Half-made images are removed by the next run that makes them.
                    if self.is_temporary(path) and (path.suffix != ".partial" or case.name == "workers"):
                        self.problem(case, f"a run that was left alone left {path}")

    @staticmethod
    def is_temporary(path):
        if path.suffix == ".lock" and not path.name.startswith("."):
            return False  # in the cache: it stays
        return path.name.startswith((".", "bench-")) or path.suffix in (".new", ".partial", ".bench-tmp")

    def interrupt(self, case):
        which = self.random.choice(SIGNALS)
        after = self.random.uniform(0, 1.1 * min(case.seconds, LONGEST))
        begun = time.monotonic()
        process = self.start(case)
        try:
            process.wait(after)
            case.seconds = time.monotonic() - begun
        except subprocess.TimeoutExpired:
            pass
        finished = process.poll() is not None
        process.send_signal(which)  # nothing where it has ended
        sent = time.monotonic()
        lost = not self.ends(process)
        at_once = time.monotonic() - sent < 0.5
        if lost:
            process.kill()
        out, err = process.communicate()
        if lost:
            self.problem(case, f"{which.name} after {after:.3f} s was lost: it did not end: {err.strip()[-300:]}")
            return
        code = process.returncode
        self.counts[f"{which.name} {'too late' if finished else 'sent'}"] += 1
        before_main = code == -which and not out and not err
        # It was ending. What runs others and goes on for long after a signal has lost it.
        last_moment = code in DONE and not finished and (at_once or case.name not in NEW_FOLDER)
        self.counts["in the last moment"] += last_moment
        self.counts["before main()"] += before_main and which != signal.SIGKILL
        expected = code == -which if which == signal.SIGKILL else code == INTERRUPTED or before_main
        if finished and code not in DONE:
            self.problem(case, f"it ended with {code}: {err.strip()[-300:]}")
        if not (expected or finished or last_moment):
            self.problem(case, f"{which.name} after {after:.3f} s: it ended with {code}: {err.strip()[-300:]}")
        if case.name == EVALUATE and code == INTERRUPTED:
            for path in (self.out / case.name).glob(".*"):
                self.problem(case, f"{which.name} after {after:.3f} s left {path}")
        self.look(case)

    @staticmethod
    def ends(process):
        """Whether it does, in the time that it may take."""
        def used():
            try:
                fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                return 0
            return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

        before, deadline = used(), time.monotonic() + MOST_SECONDS
        while process.poll() is None:
            if used() - before > MOST_PROCESSOR_SECONDS or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def look(self, case):
        self.look_for_processes(case)
        if case.result is None:
            return
        for path in case.result.glob("*.json"):
            try:
                document = json.loads(path.read_text())
                points = {point["name"]: point["samples_ns"] for point in document["benchmarks"]}
            except (ValueError, KeyError) as error:
                self.problem(case, f"{path} is not whole: {error}")
                continue
            for name, samples in case.before.get(path, {}).items():
                if points.get(name, [])[:len(samples)] != samples:
                    self.problem(case, f"{path} lost samples of {name}")
            case.before[path] = points
        for path in case.before:
            if not path.exists():
                self.problem(case, f"{path} is gone")

    def look_for_processes(self, case):
        # gnuplot ends by itself soon after the program that waits for it was killed.
        deadline = time.monotonic() + 15
        while left := self.processes():
            if time.monotonic() > deadline:
                self.problem(case, f"processes are left: {left}")
                for process in left:
                    os.kill(process, signal.SIGKILL)
                return
            time.sleep(0.02)

    def processes(self):
        """Those that inherited the mark and have not ended."""
        found = []
        wanted = f"{MARK}={self.folder}".encode()
        for place in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if wanted in (place / "environ").read_bytes().split(b"\0"):
                    found.append(int(place.name))
            except OSError:  # another user's, or it ended just now
                pass
        return found

    # --- All of it.

    def run(self, signals, seconds):
        begun = time.monotonic()
        self.cases = [self.sweep_case(name) for name in SWEEPS]
        commands = self.command_cases()
        sent = 0
        while (sent < signals) if signals else (time.monotonic() - begun < seconds):
            # A sweep is stopped several times in turn and goes on; then it may end.
            case = self.random.choice(self.cases) if self.random.random() < 0.7 else self.random.choice(commands)
            for _ in range(3 if case.result is not None else 1):
                self.interrupt(case)
                sent += 1
            if sent % 20 < 3:
                print(f"{sent} signals", flush=True)
            if case.result is not None and self.random.random() < 0.2:
                self.start_over(case)
        for case in self.cases:
            self.left_alone(case)
        took = time.monotonic() - begun
        print(f"{sent} signals in {took:.0f} s: {dict(sorted(self.counts.items()))}; {len(self.problems)} problems")
        return not self.problems

    def start_over(self, case):
        """Also with the images of the workers sweep, which take half a minute."""
        self.left_alone(case)
        shutil.rmtree(case.result)
        case.before, case.seconds = {}, LONGEST
        if case.name == "workers":
            shutil.rmtree(self.folder / "cache")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("--signals", type=int, help="how many to send (default: as many as --seconds allows)")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kill-campaign-") as folder:
        return 0 if Campaign(given.bench.resolve(), pathlib.Path(folder), given.seed).run(given.signals, given.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
