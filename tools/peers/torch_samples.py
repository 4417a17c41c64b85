"""The load times that the lines of docs/readings.md print of PyTorch's DataLoader, and the AU of loops that it feeds.

In each round the lines print, and each loop runs with each count of workers, in shuffled order. A loop waits for the next batch,
then sleeps as long as a step. The load times of all rounds are joined.
"""

import argparse
import contextlib
import io
import json
import pathlib
import random
import sys

import torch

from torch_loading import DecodedByTorchvision
from torch_starving import Timed, window

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "readings.md"


def lines_of(document, name):
    """The document's block of Python that defines the function."""
    blocks = [block.split("```")[0] for block in document.read_text(encoding="utf-8").split("```python\n")[1:]]
    (found,) = [block for block in blocks if f"def {name}(" in block]
    return found


def printed(load_times, data, batch, counts):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        load_times(data, batch, counts)
    return json.loads(text.getvalue())


def join(whole, other):
    """The times of another print, appended."""
    if whole is None:
        return other
    for mine, theirs in zip(whole["times"], other["times"]):
        for key in ("load_ms", "ready_ms"):
            mine[key] += theirs[key]
    return whole


def au(note):
    """Computing over total time."""
    return sum(note["compute_ns"]) / sum(note["step_ns"])


def numbers(text):
    return [int(one) for one in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--counts", type=numbers, default=[1, 2, 4], help="of workers whose load times are printed")
    parser.add_argument("--sleeps-ms", type=numbers, default=[40], help="of the loops' steps")
    parser.add_argument("--workers", type=numbers, default=[0, 1, 2, 4], help="of the loops")
    parser.add_argument("--steps", type=int, default=32, help="of a loop in a round, at least")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    data = DecodedByTorchvision(options.folder)
    lines = {}
    exec(compile(lines_of(DOCUMENT, "load_times"), str(DOCUMENT), "exec"), lines)  # as a user runs them
    fed = {sleep: {"ready": [], "workers": {workers: [] for workers in options.workers}} for sleep in options.sleeps_ms}
    turns = [None] + [(sleep, workers) for sleep in options.sleeps_ms for workers in ("ready", *options.workers)]
    samples = None
    shuffle = random.Random(1)
    for number in range(options.rounds):
        for turn in shuffle.sample(turns, len(turns)):
            print(f"round {number + 1}: {'load times' if turn is None else '{} ms, {}'.format(*turn)}", file=sys.stderr)
            if turn is None:
                samples = join(samples, printed(lines["load_times"], data, options.batch, options.counts))
                continue
            sleep, workers = turn
            options.sleep_ms = sleep
            if workers == "ready":
                fed[sleep]["ready"].append(au(window(None, "ready", 0, options)))
            else:
                fed[sleep]["workers"][workers].append(au(window(Timed(data), "pool", workers, options)))
    json.dump({"samples": samples, "fed": fed}, sys.stdout)


if __name__ == "__main__":
    main()
