"""Ours on a GPU compared with others on the same card, in turns within one run.

Copies from and to pinned memory, a large matrix product and ResNet-50 are compared with PyTorch, if it is installed with CUDA;
our implicit_gemm is compared with cuDNN. A ratio is their time over ours: above 1 ours is faster. Both sides take times between
CUDA events. Memory is the most that each allocator took from the driver: our segments and
torch.cuda.max_memory_reserved(). Neither counts the CUDA context and loaded kernels.

Both sides are on the card at once and take turns, so that its clock favours neither. If both may not fit (a batch of 256, or
a first try ran out of memory), they run one after the other, and the row says so. A side that does not fit alone gives a row
with the reason, not a failure.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time
import types

from competition import compete
from statistics_of_rounds import ratio

HERE = pathlib.Path(__file__).resolve().parent
WARM_UP = "5"


class Case:
    """A ratio to be measured. `goal` is the least that is asked for."""

    def __init__(self, name, goal, rival, ours, theirs, large=False):
        self.name, self.goal, self.rival = name, goal, rival
        self.large = large  # two of them may not fit on a card together
        self.ours = ours  # arguments of peers_ours
        self.theirs = theirs  # of torch_contestants.py where the rival is torch, else of peers_ours


def resnet50(mode, dtype, batch, launch, goal):
    optimizer = ["sgd"] if mode == "train" else []
    return Case(f"resnet50 {mode} {dtype} batch {batch}{' graph' if launch == 'graph' else ''}", goal, "torch",
                ["resnet50", dtype, str(batch), WARM_UP, *optimizer, f"launch={launch}"],
                ["resnet50", mode, dtype, str(batch), WARM_UP], large=batch >= 256)


def implicit_gemm(dtype, goal):
    """ResNet's 3x3 on 128 channels of 28x28, 64 images."""
    shape = ["mode=forward", "in-channels=128", "out-channels=128", "height=28", "width=28"]
    ours = ["conv2d", dtype, "64", WARM_UP, *shape]
    return Case(f"implicit_gemm {dtype}", goal, "cudnn", [*ours, "implementation=implicit_gemm"],
                [*ours, "implementation=cudnn"])


def gemm(dtype, size, goal):
    return Case(f"gemm {dtype} {size}", goal, "torch",
                ["gemm", dtype, str(size), WARM_UP, "mode=forward", f"inner={size}", f"columns={size}"],
                ["gemm", dtype, str(size), WARM_UP])


def copy(direction, size, goal):
    """Pinned memory; PyTorch's copies are non-blocking ones."""
    return Case(f"copy {direction} pinned {size >> 20} MiB", goal, "torch",
                ["copy", "fp32", "1", WARM_UP, f"mode={direction}", f"bytes={size}B", "host-memory=pinned"],
                ["copy", direction, str(size), WARM_UP])


# The short ones first: time may run out.
CASES = [
    copy("h2d", 256 << 20, 0.98), copy("d2h", 256 << 20, 0.98),
    implicit_gemm("fp32", 0.7), implicit_gemm("fp16", 0.5), gemm("bf16", 8192, 1.0),
    resnet50("infer", "fp16", 64, "stream", 1.0), resnet50("infer", "fp16", 1, "graph", 1.5),
    resnet50("train", "fp16", 64, "stream", 1.0), resnet50("infer", "fp16", 256, "stream", 1.0),
    resnet50("train", "fp16", 256, "stream", 1.0), resnet50("infer", "fp32", 64, "stream", 1.0),
    resnet50("infer", "tf32", 64, "stream", 1.0), resnet50("train", "fp32", 64, "stream", 1.0),
    resnet50("train", "tf32", 64, "stream", 1.0),
]


def torch_missing():
    """Why PyTorch cannot be compared with; None where it can."""
    check = "import torch, torchvision; assert torch.cuda.is_available(), 'PyTorch sees no GPU'"
    ended = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    return None if ended.returncode == 0 else ended.stderr.strip().splitlines()[-1]


def commands(case, options):
    ours = [options.ours]
    if options.ours_libraries:  # for our programs alone: PyTorch brings its own
        ours = ["env", f"LD_LIBRARY_PATH={options.ours_libraries}", *ours]
    at = [f"device={options.device}"]
    yield "ours", [*ours, *case.ours, *at]
    if case.rival == "torch":
        yield "torch", [sys.executable, str(HERE / "torch_contestants.py"), *case.theirs]
    else:
        yield case.rival, [*ours, *case.theirs, *at]


def ran_out(error):
    return "out of memory" in str(error).lower()


def results_of(case, both, turns):
    """Results by name, and whether a contestant started only when the one before had given its memory back."""
    if not case.large:
        try:
            return compete(case.name, both, turns), False
        except RuntimeError as error:
            if not ran_out(error):
                raise
    results = {}
    for contestant in both:
        results |= compete(case.name, [contestant], turns)
    return results, True


def measured(case, options, missing, left):
    """A row of the result: with a ratio, or with the reason why there is none."""
    row = {"name": case.name, "rival": case.rival, "goal": case.goal}
    if case.rival == "torch" and missing:
        return row | {"not_measured": missing}
    if left <= 0:
        return row | {"not_measured": "the time had run out"}
    turns = types.SimpleNamespace(turn=options.turn, rounds=options.rounds, seed=1, threads=4)
    try:
        results, row["apart"] = results_of(case, list(commands(case, options)), turns)
    except (RuntimeError, OSError) as error:
        return row | {"out_of_memory" if ran_out(error) else "error": str(error)}
    value, low, high = ratio(results[case.rival]["rounds_ns"], results["ours"]["rounds_ns"])
    return row | {"ratio": value, "ci95": [low, high], "results": results}


def table(rows):
    names = [f"{row['name']}, {row['rival']}" for row in rows]
    wide = max(map(len, [*names, "ours vs"]))
    lines = [f"{'ours vs':<{wide}} {'ours ms':>9} {'theirs ms':>9}  {'ratio (95 %)':<17} goal    reserved, MiB: ours  theirs"]
    for name, row in zip(names, rows):
        head = f"{name:<{wide}}"
        if "ratio" not in row:
            lines.append(f"{head} not measured: {row.get('error') or row.get('out_of_memory') or row['not_measured']}")
            continue
        ours, theirs = row["results"]["ours"], row["results"][row["rival"]]
        line = (f"{head} {ours['median_ns'] / 1e6:>9.3f} {theirs['median_ns'] / 1e6:>9.3f}  "
                f"{row['ratio']:.2f} ({row['ci95'][0]:.2f}–{row['ci95'][1]:.2f})  ≥ {row['goal']:.2f}")
        if row["rival"] == "torch":
            reserved = ours["about"].get("reserved_peak_bytes")
            said = "unknown" if reserved is None else f"{reserved / 2**20:.0f}"
            line += f"  {said:>19}  {theirs['peak_bytes'] / 2**20:>6.0f}"
        if row["apart"]:
            line += "  (one after the other)"
        lines.append(line)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, help="the program peers_ours")
    parser.add_argument("--ours-libraries", default="", help="LD_LIBRARY_PATH of peers_ours, and of it alone")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turn", type=float, default=0.4, help="seconds of a contestant's turn")
    parser.add_argument("--seconds", type=float, default=150, help="no case begins later")
    options = parser.parse_args()

    end = time.monotonic() + options.seconds
    missing = torch_missing()
    rows = []
    for case in CASES:
        rows.append(measured(case, options, missing, end - time.monotonic()))
        (options.out / "gpu-peers.json").write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")
    print(table(rows))
    return 1 if any("error" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
