"""PyTorch's DataLoader feeding a consumer that sleeps, as a result file of `bench --sweep workers`.

Points, in rounds of a shuffled order: the loader that does nothing (a ready batch), the loader alone with few workers, and
the consumer fed by 0 to 8 workers. Each point is a plain loop: wait for the next batch, then compute (sleep). Each batch
carries the time that its worker took to make it.

A step counts as computing for the time it was asked to sleep; waking late is lost time. A process that works and sleeps in
turn, as the consumer's does, measures that lateness next to the loader alone, in another pass than the loader's rate. Each
point also notes the time to receive a batch that was ready when it was asked for.
"""

import argparse
import json
import multiprocessing
import pathlib
import random
import sys
import time

import torch

from torch_loading import PREFETCH, DecodedByTorchvision, Endless

ALONE = (1, 2, 4, 8)  # workers of the loader alone
FED = (0, 1, 2, 3, 4, 6, 8)


class Timed(torch.utils.data.Dataset):
    """Notes when a worker begins a batch, and how long it takes."""

    def __init__(self, data):
        self.data = data
        self.began = None

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        if self.began is None:
            self.began = time.perf_counter_ns(), time.thread_time_ns()
        return self.data[index]

    def collate(self, samples):
        """In the worker too, right after the batch's last sample."""
        images = torch.utils.data.default_collate(samples)
        wall, cpu = self.began
        self.began = None
        done = time.perf_counter_ns()  # of the machine, so that the loader's process may compare
        return images, done - wall, time.thread_time_ns() - cpu, done


def sleep_and_note(sleep_s, busy_s, over, answer):
    """In a process of its own, for threads of one would wait for each other: how late it woke, each time."""
    late = []
    while not over.is_set():
        due = time.perf_counter() + sleep_s
        worked = time.thread_time() + busy_s
        while time.thread_time() < worked:
            pass
        time.sleep(max(0, due - time.perf_counter()))
        late.append(max(0, int((time.perf_counter() - due) * 1e9)))
    answer.send(late)


class Sleeper:
    """Runs next to the loader: sleeps as long as a step, and works as long as the loader's process to receive a batch."""

    def __init__(self, sleep_s, busy_s):
        self.over = multiprocessing.Event()
        self.answer, told = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=sleep_and_note, args=(sleep_s, busy_s, self.over, told))
        self.late = []

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.late = self.answer.recv()
        self.process.join()


def starts(batches, sleep_s, count):
    """Step and compute times of a loop over the batches, and what the workers took for them."""
    steps, walls, cpus, takes = [], [], [], []
    started, worked = None, time.thread_time()
    for _ in range(count + 1):
        asked = time.perf_counter_ns()
        _, wall, cpu, done = next(batches)
        now = time.perf_counter_ns()
        if 0 < done < asked:
            takes.append(now - asked)
        if started is not None:
            steps.append(now - started)
        started = now
        if sleep_s > 0:
            time.sleep(sleep_s)
        walls.append(wall)
        cpus.append(cpu)
    return {"step_ns": steps, "compute_ns": [int(sleep_s * 1e9)] * count, "copy_ns": 0, "batches": count,
            "batch_ns": walls, "batch_cpu_ns": cpus, "sample_ns": [], "take_ns": takes,
            "busy_s": (time.thread_time() - worked) / (count + 1)}


def window(data, loader, workers, options):
    """One repetition of a point: new workers, their first batches untimed."""
    count = max(options.steps, 4 * workers)
    sleep_s = 0 if loader == "capacity" else options.sleep_ms / 1e3
    if loader == "ready":
        return dict(starts(iter([(None, 0, 0, 0)] * (count + 1)), sleep_s, count), batch_ns=[], batch_cpu_ns=[])
    batches = iter(torch.utils.data.DataLoader(
        data, options.batch, sampler=Endless(len(data)), num_workers=workers, collate_fn=data.collate,
        **({"prefetch_factor": PREFETCH} if workers else {})))
    starts(batches, sleep_s, max(1, 2 * workers * PREFETCH))
    noted = starts(batches, sleep_s, count)
    if loader != "capacity":
        return noted
    with Sleeper(options.sleep_ms / 1e3, noted["busy_s"]) as sleeper:
        starts(batches, sleep_s, count)
    return dict(noted, late_ns=sleeper.late)


def point(loader, workers, notes, options):
    steps = [sum(note["step_ns"]) // len(note["step_ns"]) for note in notes]
    median = sorted(steps)[len(steps) // 2]
    zeros = {"weights": 0, "gradients": 0, "optimizer": 0, "activations": 0, "input": 0, "workspace": 0, "other": 0}
    name = f"workers/torch/{loader}/workers:{workers}"
    return {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 1, "repetition_index": 0,
            "threads": 1, "iterations": len(steps), "real_time": median, "cpu_time": 0, "time_unit": "ns",
            "items_per_second": options.batch / median * 1e9, "items_per_step": options.batch,
            "params": {"loader": loader, "workers": workers, "prefetch": PREFETCH, "order": "in-order",
                       "batch": options.batch, "dtype": "fp32",
                       "consumer": "none" if loader == "capacity" else f"{options.sleep_ms:g} ms"},
            "samples_ns": steps, "notes": notes,
            "stats": {"median_ns": median, "p05_ns": min(steps), "p95_ns": max(steps), "cv": 0,
                      "ci95_ns": [min(steps), max(steps)], "rounds": len(steps)},
            "rounds": [{"samples": 1, "session": 0, "round": i, "order": 0, "start_ns": 0} for i in range(len(steps))],
            "memory": dict(zeros, peak_predicted=0, peak_measured=0, driver_used=0), "validity": {"flags": []}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cores", type=int)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--sleep-ms", type=float, default=40, help="of a step's computing")
    parser.add_argument("--steps", type=int, default=32, help="of a window, at least")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    data = Timed(DecodedByTorchvision(options.folder))
    points = [("ready", 0), *(("capacity", workers) for workers in ALONE), *(("pool", workers) for workers in FED)]
    notes = {one: [] for one in points}
    shuffle = random.Random(1)
    for number in range(options.rounds):
        for one in shuffle.sample(points, len(points)):
            print(f"round {number + 1}: {one[0]}, {one[1]} workers", file=sys.stderr)
            notes[one].append(window(data, *one, options))
    json.dump({"schema": "bench-result/2", "context": {}, "sessions": [{"id": "torch", "started": ""}],
               "sweep": {"name": "workers", "question": "", "workload": "", "axes": {},
                         "loader": {"cores": options.cores, "data": str(options.folder), "page_cache": "warm",
                                    "storage": None, "consumer_device": "none", "consumer_on_cores": False,
                                    "lookahead": False, "slot_bytes": 0, "pinned": False, "demands": [], "gpus": 1}},
               "benchmarks": [point(loader, workers, notes[loader, workers], options) for loader, workers in points],
               "unmeasured": [], "findings": []}, sys.stdout)


if __name__ == "__main__":
    main()
