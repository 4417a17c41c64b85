"""Training on two ranks of one thread each, predicted from one rank's result and the link's, against measured: what
`bench predict --cards` says of the CPU device, and what a step takes over its replay."""

import json
import os
import pathlib
import subprocess
import tempfile

# Networks, their options, and batches of a rank.
CASES = (("resnet18", ["--image-size", "64"], (2, 4, 8)), ("mobilenet_v2", ["--image-size", "64"], (2, 4, 8)),
         ("resnet50", ["--image-size", "64"], (2, 4, 8)), ("yolov3_tiny", ["--image-size", "64"], (2, 4, 8)),
         ("unet", ["--image-size", "32"], (1, 2, 4)), ("vgg16_gap", ["--image-size", "32"], (2, 4, 8)),
         ("gpt_small", ["--sequence", "16"], (1, 2, 4)), ("embedding_classifier", ["--vocabulary", "50000"], (32, 128, 512)))
GOAL = 0.10  # of the median error
TIME = "45s"
LAUNCH = ["mpirun.openmpi", "-n", "2"]


def accuracy(tools, _options):
    """The whole page's measurement."""
    program = str(tools.folder.parents[1] / "bench")
    with tempfile.TemporaryDirectory() as folder:
        run([*LAUNCH, program, "--sweep", "collectives", "--operations", "all-reduce", "--time-budget", "60s", "--no-plot",
             "--out", folder])
        (link,) = pathlib.Path(folder).glob("collectives-*.json")
        compared = [compare(program, link, *case) for case in CASES]
        return {**judged([row for rows, _ in compared for row in rows]),
                "missing": [case for _, missing in compared for case in missing]}


def judged(rows):
    """Each row by what the other networks' say."""
    for row in rows:
        others = sorted(other["over_replay"] for other in rows if other["network"] != row["network"])
        row["error"] = row["over_replay"] / quantile(others, 0.5) - 1
        row["covered"] = quantile(others, 0.05) <= row["over_replay"] <= quantile(others, 0.95)
    errors = sorted(abs(row["error"]) for row in rows)
    over = sorted(row["over_replay"] for row in rows)
    return {"rows": rows, "median_error": quantile(errors, 0.5), "p90_error": quantile(errors, 0.9),
            "covered": sum(row["covered"] for row in rows) / len(rows), "goal": GOAL,
            "met": quantile(errors, 0.5) <= GOAL,
            "over_replay": {"likely": quantile(over, 0.5), "p05_p95": [quantile(over, 0.05), quantile(over, 0.95)]}}


def compare(program, link, network, options, batches):
    """A row for each batch that both results have, and what is missing."""
    with tempfile.TemporaryDirectory() as folder:
        common = ["--device", "cpu", "--workload", network, *options, "--dtype", "fp32", "--batch", ",".join(map(str, batches)),
                  "--no-plot", "--out", folder, "--time-budget", TIME]
        run([program, "--sweep", "batch", "--mode", "train", *common], OMP_NUM_THREADS="1")
        run([*LAUNCH, program, "--sweep", "cards", *common])
        (alone,) = pathlib.Path(folder).glob("batch-*.json")
        (ranks,) = pathlib.Path(folder).glob("cards-*.json")
        said = json.loads(run([program, "predict", "--from", str(alone), "--cards", "2", "--link", str(link), "--format", "json"]))
        alone, ranks = (json.loads(path.read_text(encoding="utf-8")) for path in (alone, ranks))
        steps = {(point["params"]["ranks"], point["params"]["batch"]): point["real_time"] for point in ranks["benchmarks"]}
        loss = said["losses"][0]["likely"] if said["losses"] else 1
        rows = []
        for step in said["steps"]:
            one, two = steps.get((1, step["batch"])), steps.get((2, step["batch"]))
            if step["cards"] == 2 and one and two:
                replay = step["step_ns"] / loss
                measured_one = next(other["step_ns"] for other in said["steps"]
                                    if other["cards"] == 1 and other["batch"] == step["batch"])
                # One rank's step in the run of two, which took turns with it, at the replay's growth.
                rows.append({"network": network, "batch": step["batch"], "one_ns": one, "two_ns": two,
                             "replay_ns": one * replay / measured_one, "alone_ns": measured_one,
                             "over_replay": two / (one * replay / measured_one)})
        return rows, missing(network, [batch for batch in batches if batch not in {row["batch"] for row in rows}], alone, ranks)


def missing(network, batches, *results):
    """Each batch with the reasons why the results have no time for it, as they say it."""
    said = {batch: {point["reason"] for result in results for point in result["unmeasured"]
                    if point["params"]["batch"] == batch} for batch in batches}
    return [{"network": network, "batch": batch, "reasons": sorted(said[batch])} for batch in batches]


def run(command, **more):
    ended = subprocess.run(command, check=False, capture_output=True, text=True,
                           env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more))
    if ended.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr.strip()}")
    return ended.stdout


def quantile(ordered, share):
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
