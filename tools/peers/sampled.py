"""The workers sweep's simulator, given the load times that the lines of docs/readings.md print of PyTorch's DataLoader: does it
reproduce the AU of a loop that the same loader feeds?"""

import json
import pathlib
import subprocess
import tempfile

from loading import BATCH
from simulating import GOAL
from statistics_of_rounds import ratio

SLEEPS_MS = (40, 20)  # of a step: one that few workers feed, and one that the host does not
WORKERS = (0, 1, 2, 3, 4, 6)  # of the loop that is fed
COUNTS = (1, 2, 6)  # whose load times are given: up to the most, for counts beyond are extrapolated
KNEE_GOAL = 1  # workers
SHARE = 0.95  # of the best AU, at the knee


def accuracy(tools, options):
    """The whole page's measurement."""
    folder = subprocess.run([str(tools.folder / "peers_loading"), "folder"], check=True, capture_output=True,
                            text=True).stdout.strip()
    measured = json.loads(subprocess.run(tools.torch_samples(folder, BATCH, SLEEPS_MS, WORKERS, COUNTS, options.rounds), check=True,
                                         stdout=subprocess.PIPE, text=True).stdout)
    samples = measured["samples"]
    consumers, law = [], None
    for sleep_ms in SLEEPS_MS:
        result = simulated(tools.folder.parents[1] / "bench", samples, sleep_ms)
        law = result["sweep"]["profile"]["law"]
        consumers.append(dict(compare(measured["fed"][str(sleep_ms)], result), sleep_ms=sleep_ms))
    return {"batch": BATCH, "counts": [one["workers"] for one in samples["times"]], "goal_points": GOAL, "law": law,
            "consumers": consumers, "samples": samples}


def simulated(program, samples, sleep_ms):
    """The result file of the program."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "samples.json"
        path.write_text(json.dumps(samples), encoding="utf-8")
        subprocess.run([str(program), "--sweep", "workers", "--simulate", "--samples", str(path), "--consumer",
                        f"{sleep_ms}ms", "--workers", ",".join(map(str, WORKERS)), "--no-plot", "--out", folder],
                       check=True, stdout=subprocess.DEVNULL)
        (result,) = pathlib.Path(folder).glob("workers-*.json")
        return json.loads(result.read_text(encoding="utf-8"))


def compare(fed, result):
    """Measured AU: each round's, divided by that of its ready batches."""
    rows = []
    for point in result["sweep"]["simulated"]["points"]:
        value, low, high = ratio([[au] for au in fed["workers"][str(point["workers"])]], [[au] for au in fed["ready"]])
        rows.append({"workers": point["workers"], "measured_au": value, "measured_au_ci95": [low, high],
                     "simulated_au": point["au"], "simulated_au_ci95": point["au_ci95"],
                     "error_points": 100 * (point["au"] - value),
                     "met": all(abs(100 * (point["au"] - end)) <= GOAL for end in (low, high))})
    return {"au": rows, **knees(rows)}


def knees(rows):
    """Where AU hardly grows any more, noise decides which count reaches the share of the best: fewer workers whose interval
    reaches it cannot be told from the knee."""
    best = max(row["measured_au"] for row in rows)
    knee = knee_of(rows, "measured_au")
    first = min(row["workers"] for row in rows if row["measured_au_ci95"][1] >= SHARE * best)
    simulated_knee = knee_of(rows, "simulated_au")
    return {"measured_knee": knee, "measured_knee_from": first, "simulated_knee": simulated_knee,
            "knee_met": first - KNEE_GOAL <= simulated_knee <= knee + KNEE_GOAL}


def knee_of(rows, key):
    """The smallest count with nearly the best AU."""
    best = max(row[key] for row in rows)
    return min(row["workers"] for row in rows if row[key] >= SHARE * best)
