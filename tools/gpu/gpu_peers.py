"""Ours on a GPU compared with others on the same card, in turns within one run.

Copies from and to pinned memory, a large matrix product and ResNet-50 are compared with PyTorch, if it is installed with CUDA;
our implicit_gemm is compared with cuDNN. A ratio is their time over ours: above 1 ours is faster. Both sides take times
between CUDA events, and both warm up for 50 ms or 200 steps, at least two, as the runner does. Next to PyTorch the times
contain the launch latency of the first kernel, on both sides; next to cuDNN, where both sides are ours, they do not. Memory is
the most that each allocator took from the driver: our segments and torch.cuda.max_memory_reserved(). Neither counts the CUDA
context and loaded kernels.

Inputs are equally random on both sides: all operands of products and copies, and as many different images in a batch.
PyTorch runs eagerly; its inference is also compared as torch.compile makes it, which fuses as ours does.

Both sides are on the card at once and take turns, so that its clock favours neither. If both may not fit (a batch of 256, or
a first try ran out of memory), they run one after the other, and the row says so. A side that does not fit alone gives a row
with the reason, not a failure. PyTorch is one process for all cases; ours is one for each.

Writes gpu-peers.json into the output folder after each case. Rows that are there already are kept if they are measured or out
of memory; the other cases run, those that were begun before last. Exit codes: 0 all cases have their row · 1 a case is in
error · 130 cases are left: the time is over, or this was interrupted.
"""

import argparse
import contextlib
import json
import os
import pathlib
import sys
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))

from competition import Contestant, Process, contestant, take_turns
from machine import write_whole
from statistics_of_rounds import ratio

WARM_UP = "auto"  # of peers_ours: as the runner
THREADS = "4"  # of the host, for either side
FIRST_CASE = 30  # seconds that the first case is taken to need


class Case:
    """A ratio to be measured. `goal` is the least that is asked for."""

    def __init__(self, name, goal, rival, ours, theirs, large=False, by_interval=False, not_from=None, note=""):
        self.name, self.goal, self.rival = name, goal, rival
        self.large = large  # two of them may not fit on a card together
        self.by_interval = by_interval  # met where the ratio's interval reaches the goal, else where the ratio does
        self.not_from = not_from  # compute capability, from which on there is no goal, and what to say instead
        self.note = note  # what one side's step has and the other's has not
        self.ours = ours  # arguments of peers_ours
        self.theirs = theirs  # a case of torch_contestants.py where the rival is torch, else arguments of peers_ours


COUNTERS = ("PyTorch's step also updates batch norm's running statistics, and counts batches in 53 kernels of its own, "
            "which shows at small batches")


def resnet50(mode, dtype, batch, launch, goal):
    optimizer = ["sgd"] if mode == "train" else []
    return Case(f"resnet50 {mode} {dtype} batch {batch}{' graph' if launch == 'graph' else ''}", goal, "torch",
                ["resnet50", dtype, str(batch), WARM_UP, *optimizer, f"launch={launch}"],
                ["resnet50", mode, dtype, str(batch)], large=batch >= 256, note=COUNTERS if mode == "train" else "")


def compiled(dtype, batch):
    """Inference as torch.compile makes it."""
    return Case(f"resnet50 infer {dtype} batch {batch} compiled", None, "torch",
                ["resnet50", dtype, str(batch), WARM_UP, "launch=stream"],
                ["resnet50", "infer", dtype, str(batch), "compiled"])


def implicit_gemm(dtype, goal, instead):
    """ResNet's 3x3 on 128 channels of 28x28, 64 images."""
    shape = ["mode=forward", "in-channels=128", "out-channels=128", "height=28", "width=28"]
    ours = ["conv2d", dtype, "64", WARM_UP, "launch-latency=no", *shape]
    return Case(f"implicit_gemm {dtype}", goal, "cudnn", [*ours, "implementation=implicit_gemm"],
                [*ours, "implementation=cudnn"], not_from=((9, 0), instead))


def gemm(dtype, size, goal):
    return Case(f"gemm {dtype} {size}", goal, "torch",
                ["gemm", dtype, str(size), WARM_UP, "mode=forward", f"inner={size}", f"columns={size}"],
                ["gemm", dtype, str(size)], by_interval=True)


def copy(direction, size, goal):
    """Pinned memory; PyTorch's copies are non-blocking ones."""
    return Case(f"copy {direction} pinned {size >> 20} MiB", goal, "torch",
                ["copy", "fp32", "1", WARM_UP, f"mode={direction}", f"bytes={size}B", "host-memory=pinned"],
                ["copy", direction, str(size)])


# The most telling first, for time may run out.
CASES = [
    resnet50("train", "fp16", 64, "stream", 1.0), resnet50("infer", "fp16", 64, "stream", 1.0),
    resnet50("train", "fp16", 256, "stream", 1.0), resnet50("infer", "fp16", 256, "stream", 1.0),
    resnet50("infer", "fp16", 1, "graph", 1.5), resnet50("train", "fp16", 1, "graph", 1.5), gemm("bf16", 8192, 1.0),
    implicit_gemm("fp32", 0.7, "no goal from compute capability 9.0 on"),
    # cuDNN has wgmma there.
    implicit_gemm("fp16", 0.5, "no goal from compute capability 9.0 on: mma.sync reaches 60 to 65 % of wgmma's rate"),
    copy("h2d", 256 << 20, 0.98), copy("d2h", 256 << 20, 0.98),
    resnet50("train", "tf32", 64, "stream", 1.0), resnet50("infer", "tf32", 64, "stream", 1.0),
    resnet50("train", "fp32", 64, "stream", 1.0), resnet50("infer", "fp32", 64, "stream", 1.0), compiled("fp16", 64),
]


class Missing(Exception):
    """Why PyTorch cannot be compared with."""


class Torch:
    """PyTorch's process: started before the first case that needs it, and again by the next one after an error ended it."""

    name = "torch"

    def __init__(self, start):
        self.start = start
        self.process = None
        self.missing = None

    def begin(self):
        """Starts it if it does not run and is not missing."""
        if self.missing is None and self.process is None:
            self.process = self.start("torch", [sys.executable, str(HERE / "torch_contestants.py")],
                                      dict(os.environ, OMP_NUM_THREADS=THREADS))
            self.missing = self.answer(self.process.answer).get("missing")

    def case(self, words):
        self.begin()
        if self.missing is not None:
            raise Missing(self.missing)
        built = self.ask(f"case {' '.join(words)}")
        if "missing" in built:
            raise Missing(built["missing"])
        return TorchCase(self, built)

    def ask(self, line):
        return self.answer(lambda: self.process.ask(line))

    def answer(self, get):
        try:
            answer = get()
        except RuntimeError:  # it has ended
            self.end()
            raise
        if "error" in answer:
            raise RuntimeError(f"torch: {answer['error']}")
        return answer

    def end(self):
        if self.process is not None:
            self.process.end()
        self.process = None


class TorchCase(Contestant):
    """A case as PyTorch's process runs it: its end leaves the process to the next one."""

    def end(self):
        if self.process.process is not None:
            self.process.ask("end")


def capability(result):
    """Of the card that ours ran on: (8, 6); (0,) if it does not say."""
    return tuple(map(int, result["about"].get("compute_capability", "0").split(".")))


def ran_out(error):
    return "out of memory" in str(error).lower()


class Comparison:
    """Runs cases. `start` starts a process by name, command and environment."""

    def __init__(self, options, start):
        self.options = options
        self.start = start
        self.torch = Torch(start)

    def ours(self, name, words):
        environment = dict(os.environ, OMP_NUM_THREADS=THREADS)
        if self.options.ours_libraries:  # for our programs alone: PyTorch brings its own
            environment["LD_LIBRARY_PATH"] = self.options.ours_libraries
        command = [self.options.ours, *words, f"device={self.options.device}"]
        return lambda: contestant(self.start(name, command, environment))

    def theirs(self, case):
        return (lambda: self.torch.case(case.theirs)) if case.rival == "torch" else self.ours(case.rival, case.theirs)

    def results(self, case):
        """Results by name, and whether a contestant started only when the one before had given its memory back."""
        turns = types.SimpleNamespace(turn=self.options.turn, rounds=self.options.rounds, seed=1)
        both = [self.theirs(case), self.ours("ours", case.ours)]
        if not case.large:
            try:
                return take_turns(case.name, both, turns), False
            except RuntimeError as error:
                if not ran_out(error):
                    raise
        results = {}
        for one in both:
            results |= take_turns(case.name, [one], turns)
        return results, True

    def row(self, case):
        """With a ratio, or with the reason why there is none."""
        try:
            results, apart = self.results(case)
        except Missing as missing:
            return {"status": "missing", "reason": str(missing)}
        except (RuntimeError, OSError) as error:
            return {"status": "oom" if ran_out(error) else "error", "reason": str(error)}
        value, low, high = ratio(results[case.rival]["rounds_ns"], results["ours"]["rounds_ns"])
        row = {"status": "measured", "ratio": value, "ci95": [low, high], "apart": apart, "results": results}
        if case.goal is None:
            row["instead"] = "no goal: compiled, PyTorch fuses too"
        if case.note:
            row["note"] = case.note
        if case.not_from and capability(results["ours"]) >= case.not_from[0]:
            row |= {"goal": None, "instead": case.not_from[1]}
        return row

    def begin(self, cases):
        """Starts PyTorch if one of them needs it. If that fails, the case says why."""
        if any(case.rival == "torch" for case in cases):
            with contextlib.suppress(RuntimeError, OSError):
                self.torch.begin()

    def end(self):
        self.torch.end()


def rows_before(path):
    try:
        return {row["name"]: row for row in json.loads(path.read_text(encoding="utf-8"))["rows"]}
    except (OSError, ValueError):
        return {}


class Rows:
    """A row for each case, in the file at all times. Status: measured, oom, missing (no PyTorch), error; cut where the time
    ended within it, waiting where it ended before."""

    def __init__(self, path):
        before = rows_before(path)
        self.path = path
        self.rows = {case.name: before.get(case.name, {"name": case.name, "rival": case.rival, "goal": case.goal,
                                                       "status": "waiting", "reason": "there was no time for it yet"})
                     for case in CASES}
        self.write()

    def set(self, case, values):
        self.rows[case.name] = {"name": case.name, "rival": case.rival, "goal": case.goal, "by_interval": case.by_interval,
                                **values}
        self.write()

    def write(self):
        write_whole(self.path, json.dumps({"rows": list(self.rows.values())}, indent=1))

    def statuses(self):
        return {row["status"] for row in self.rows.values()}

    def to_do(self):
        """Cases without a result; those that were begun before come last."""
        left = [case for case in CASES if self.rows[case.name]["status"] not in ("measured", "oom")]
        return sorted(left, key=lambda case: self.rows[case.name]["status"] != "waiting")


def target(row):
    """"≥ 1.00"; "–" where this card has no goal."""
    return "–" if row["goal"] is None else f"≥ {row['goal']:.2f}"


def table(rows):
    names = [f"{row['name']}, {row['rival']}" for row in rows]
    wide = max(map(len, [*names, "ours vs"]))
    lines = [f"{'ours vs':<{wide}} {'ours ms':>9} {'theirs ms':>9}  {'ratio (95 %)':<17} goal    reserved, MiB: ours  theirs"]
    for name, row in zip(names, rows):
        head = f"{name:<{wide}}"
        if row["status"] != "measured":
            lines.append(f"{head} {row['status']}: {row['reason']}")
            continue
        ours, theirs = row["results"]["ours"], row["results"][row["rival"]]
        line = (f"{head} {ours['median_ns'] / 1e6:>9.3f} {theirs['median_ns'] / 1e6:>9.3f}  "
                f"{row['ratio']:.2f} ({row['ci95'][0]:.2f}–{row['ci95'][1]:.2f})  {target(row):<6}")
        if row["rival"] == "torch":
            reserved = ours["about"].get("reserved_peak_bytes")
            said = "unknown" if reserved is None else f"{reserved / 2**20:.0f}"
            line += f"  {said:>19}  {theirs['peak_bytes'] / 2**20:>6.0f}"
        if row["apart"]:
            line += "  (one after the other)"
        lines.append(line)
    notes = dict.fromkeys(row["note"] for row in rows if "note" in row)
    return "\n".join([*lines, *notes])


def main(arguments=None, start=Process, now=time.monotonic):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, help="the program peers_ours")
    parser.add_argument("--ours-libraries", default="", help="LD_LIBRARY_PATH of peers_ours, and of it alone")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turn", type=float, default=0.4, help="seconds of a contestant's turn")
    parser.add_argument("--seconds", type=float, default=150, help="no case begins that would not end by then")
    options = parser.parse_args(arguments)

    end = now() + options.seconds
    rows = Rows(options.out / "gpu-peers.json")
    comparison = Comparison(options, start)
    longest = FIRST_CASE
    try:
        comparison.begin(rows.to_do())  # what is imported once counts for no case
        for case in rows.to_do():
            begin = now()
            if end - begin < longest:
                break
            rows.set(case, {"status": "cut", "reason": "the time ended within it"})
            rows.set(case, comparison.row(case))
            longest = max(longest, now() - begin)
        comparison.end()
    except KeyboardInterrupt:
        return 130
    return 130 if rows.statuses() & {"waiting", "cut"} else 1 if "error" in rows.statuses() else 0


if __name__ == "__main__":
    sys.exit(main())
