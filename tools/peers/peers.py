"""Our networks and our loader compared with PyTorch's, onnxruntime's and OpenVINO's, and with bare convolutions and decoding,
interleaved in one run.

Every contestant is a process of its own that builds ResNet-50, warms up and then waits. In each round the contestants take
turns in a shuffled order: one times some steps while the others sleep, so a machine that slows down slows all of them. Ratios
are formed within a round; their interval comes from resampling the rounds.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

import importing
import loading
import ranked
import report
import sampled
import simulating
import training
from competition import compete
from statistics_of_rounds import median, ratio

HERE = pathlib.Path(__file__).resolve().parent
TORCH = "/usr/bin/python3"  # Debian's python3-torch belongs to Debian's Python, which need not be `python3`


def usable_cores():
    """The affinity mask's, limited by the control group's quota."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = pathlib.Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        if quota != "max":
            cores = max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return cores


class Tools:
    """Command lines of the contestants."""

    def __init__(self, build, threads, onnx_python="python3"):
        self.folder = build / "tools" / "peers"
        self.threads = threads
        self.onnx_python = onnx_python

    def ours(self, dtype, batch, warm_up, *optimizer):
        return [str(self.folder / "peers_ours"), "resnet50", dtype, str(batch), str(warm_up), *optimizer]

    def bare(self, dtype, batch, warm_up):
        return [str(self.folder / "peers_bare"), dtype, str(batch), str(warm_up)]

    def torch(self, variant, batch, warm_up, *optimizer):
        return [TORCH, str(HERE / "torch_contestant.py"), variant, str(batch), str(warm_up), str(self.threads),
                *optimizer]

    def torch_loading(self, decoder, folder, batch, workers):
        return [TORCH, str(HERE / "torch_loading.py"), decoder, folder, str(batch), str(workers), str(self.threads)]

    def torch_starving(self, folder, batch, sleep_ms, rounds):
        return [TORCH, str(HERE / "torch_starving.py"), folder, str(self.threads), "--batch", str(batch),
                "--sleep-ms", str(sleep_ms), "--rounds", str(rounds)]

    def torch_samples(self, folder, batch, sleeps_ms, workers, counts, rounds):
        return [TORCH, str(HERE / "torch_samples.py"), folder, "--batch", str(batch), "--rounds", str(rounds),
                "--sleeps-ms", ",".join(map(str, sleeps_ms)), "--workers", ",".join(map(str, workers)),
                "--counts", ",".join(map(str, counts))]

    @staticmethod
    def network(name):
        return str(HERE.parents[1] / "tests" / "kernels" / "networks" / "onnx" / "data" / f"{name}.onnx")

    def fill(self, path, folder, batch):
        return [self.onnx_python, str(HERE.parent / "onnx" / "fill.py"),
                str(self.folder.parent / "onnx" / "onnx_answers"), path, folder, "--batch", str(batch)]

    def imported(self, path, dtype, batch, warm_up):
        return [str(self.folder / "peers_ours"), path, dtype, str(batch), str(warm_up)]

    def runtime(self, name, folder, dtype, warm_up):
        return [self.onnx_python, str(HERE / "onnx_contestant.py"), name, folder, dtype, str(warm_up),
                str(self.threads)]


def commands(tools, batch, warm_up):
    for dtype in ("fp32", "bf16"):
        yield f"ours-{dtype}", tools.ours(dtype, batch, warm_up)
        yield f"bare-{dtype}", tools.bare(dtype, batch, warm_up)
    for variant in ("eager-nchw", "eager-channels-last", "script", "bf16-nchw", "bf16-channels-last"):
        yield f"torch-{variant}", tools.torch(variant, batch, warm_up)


def inference(tools, batch, options):
    """All contestants at one batch, compared."""
    results = compete(f"inference, batch {batch}", commands(tools, batch, options.warm_up), options)
    return {"batch": batch, "results": results, **compare(results)}


def compare(results):
    """What the goals are about, for one batch: ratios of step times, theirs over ours."""
    def faster(*names):
        return min(names, key=lambda name: results[name]["median_ns"])

    eager = faster("torch-eager-nchw", "torch-eager-channels-last")
    eager_bf16 = faster("torch-bf16-nchw", "torch-bf16-channels-last")
    pairs = (("eager", "ours-fp32", eager, 1.7), ("script", "ours-fp32", "torch-script", 1.25),
             ("bare", "ours-fp32", "bare-fp32", 0.9), ("bf16", "ours-bf16", eager_bf16, 2.2),
             ("bare-bf16", "ours-bf16", "bare-bf16", 0.9))
    speed = []
    for name, ours, theirs, goal in pairs:
        value, low, high = ratio(results[theirs]["rounds_ns"], results[ours]["rounds_ns"])
        speed.append({"name": name, "ours": ours, "theirs": theirs, "ratio": value, "ci95": [low, high],
                      "goal": goal, "met": low >= goal})
    memory = []
    for ours, theirs in (("ours-fp32", eager), ("ours-fp32", "torch-script"), ("ours-bf16", eager_bf16)):
        mine, other = results[ours]["peak_bytes"], results[theirs]["peak_bytes"]
        memory.append({"ours": ours, "theirs": theirs, "ours_bytes": mine, "theirs_bytes": other, "met": mine < other})
    return {"speed": speed, "memory": memory}


def harness(build):
    """What measuring itself costs, six times."""
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        command = [str(build / "bench"), "--sweep", "batch", "--dry-run", "--out", folder]
        for _ in range(6):
            figures = json.loads(subprocess.run([str(build / "tools" / "peers" / "peers_harness")], check=True,
                                                capture_output=True, text=True).stdout)
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            runs.append(dict(figures, dry_run_s=time.perf_counter() - start))
    return dict(runs[0], goals=harness_goals(runs))


def harness_goals(runs):
    """Each figure's median over the runs, and the least and the most: of six runs they enclose the median in 97 %."""
    slowest = max(runs[0]["planning"], key=lambda plan: plan["median_ms"])
    figures = (
        (f"the CPU device's copy of {runs[0]['copy_bytes'] >> 20} MiB over the faster of memcpy and a loop of streaming "
         "stores", "times", 1.053, lambda run: run["copy_time_over_tuned"]),
        ("overhead of a sample", "ns", 1000, lambda run: run["ns_per_sample"]),
        ("bench --dry-run", "ms", 100, lambda run: 1e3 * run["dry_run_s"]),
        ("10,000-point result file, written and read", "s", 1, lambda run: run["file_write_s"] + run["file_read_s"]),
        ("a batch of the workers sweep's simulation", "ns", 1000, lambda run: run["ns_per_simulated_batch"]),
        (f"a plan of {slowest['network']}, {slowest['mode']}, batch {slowest['slowest_batch']}: the slowest, oneDNN's own "
         "queries apart", "ms", 5, lambda run: max(plan["median_ms"] for plan in run["planning"])))
    goals = []
    for name, unit, below, figure in figures:
        values = [figure(run) for run in runs]
        goals.append({"name": name, "value": median(values), "ci95": [min(values), max(values)], "unit": unit,
                      "below": below, "met": max(values) < below})
    return goals


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return re.sub(r"\s+", " ", found.group(1)).strip() if found else platform.machine()


def machine(threads):
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"processor": processor(), "threads": threads, "memory_bytes": pages, "kernel": platform.release()}


def versions():
    said = subprocess.run(
        [TORCH, "-c", "import json, torch, torchvision; print(json.dumps({'torch': torch.__version__, "
         "'torchvision': torchvision.__version__, 'torch_config': torch.__config__.show()}))"],
        check=True, capture_output=True, text=True).stdout
    found = json.loads(said)
    onednn = re.search(r"MKL-DNN v([\d.]+)", found.pop("torch_config"))
    found["onednn_of_torch"] = onednn.group(1) if onednn else None
    found["compiler"] = subprocess.run(["c++", "--version"], capture_output=True, text=True,
                                       check=False).stdout.split("\n")[0]
    git = subprocess.run(["git", "-C", str(HERE), "describe", "--always", "--dirty"], capture_output=True, text=True,
                         check=False).stdout.strip()
    found["bench"] = git or None
    return found


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder with the contestants")
    parser.add_argument("--out", type=pathlib.Path, default=HERE.parents[1] / "results" / "reference",
                        help="folder for peers-<processor>.md and .json")
    parser.add_argument("--only", choices=("inference", "training", "loading", "simulating", "samples", "onnx", "cards"),
                        help="one of the seven pages")
    parser.add_argument("--rounds", type=int, default=9, help="at least 7 for an interval worth having")
    parser.add_argument("--batches", type=lambda text: [int(one) for one in text.split(",")], default=[1, 4, 16],
                        help="of inference")
    parser.add_argument("--training-batches", type=lambda text: [int(one) for one in text.split(",")],
                        default=[4, 16])
    parser.add_argument("--onnx-batches", type=lambda text: [int(one) for one in text.split(",")], default=[1, 8])
    parser.add_argument("--network", default="", help="only ONNX files with this in their name")
    parser.add_argument("--onnx-python", default="python3", help="the Python that has onnxruntime and OpenVINO")
    parser.add_argument("--turn", type=float, default=0.7, help="seconds a contestant runs in a round, about")
    parser.add_argument("--warm-up", type=int, default=5, help="steps before anything counts")
    parser.add_argument("--threads", type=int, default=usable_cores())
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def write(options, document, name, text):
    options.out.mkdir(parents=True, exist_ok=True)
    slug = re.sub(r"[^a-z0-9]+", "-", document["machine"]["processor"].lower()).strip("-")
    stem = options.out / f"{name}-{slug}-{options.threads}-threads"
    stem.with_suffix(".json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    stem.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)
    print(f"written: {stem}.md and {stem}.json")


def main():
    options = read_arguments()
    tools = Tools(options.build, options.threads, options.onnx_python)
    about = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
             "machine": machine(options.threads), "versions": versions(), "rounds": options.rounds,
             "turn_s": options.turn, "seed": options.seed}
    if options.only in (None, "inference"):
        document = dict(about, batches=[inference(tools, batch, options) for batch in options.batches],
                        harness=harness(options.build))
        write(options, document, "peers", report.markdown(document))
    if options.only in (None, "training"):
        document = dict(about, batches=[training.speed(tools, batch, options) for batch in options.training_batches],
                        memory=training.memory(tools, options.training_batches[0], options))
        write(options, document, "peers-training", report.training_markdown(document))
    if options.only in (None, "loading"):
        document = dict(about, **loading.speed(tools, options))
        write(options, document, "peers-loading", report.loading_markdown(document))
    if options.only in (None, "simulating"):
        document = dict(about, **simulating.accuracy(tools, options))
        write(options, document, "peers-simulating", report.simulating_markdown(document))
    if options.only in (None, "samples"):
        document = dict(about, **sampled.accuracy(tools, options))
        write(options, document, "peers-samples", report.samples_markdown(document))
    if options.only == "cards" or (options.only is None and shutil.which(ranked.LAUNCH[0])):
        document = dict(about, **ranked.accuracy(tools, options))
        write(options, document, "peers-cards", report.cards_markdown(document))
    if options.only in (None, "onnx"):
        document = dict(about, **importing.speed(tools, options))
        write(options, document, "peers-onnx", report.onnx_markdown(document))


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError, subprocess.CalledProcessError) as problem:
        sys.exit(f"peers: {problem}")
