"""The workers sweep's simulator, given PyTorch's own times: does it reproduce PyTorch's measured AU?"""

import json
import subprocess
import sys

from loading import BATCH

SLEEP_MS = 40  # of a step
GOAL = 5  # points of AU, at each worker count


def accuracy(tools, options):
    """The whole page's measurement."""
    folder = subprocess.run([str(tools.folder / "peers_loading"), "folder"], check=True, capture_output=True,
                            text=True).stdout.strip()
    measured = subprocess.run(tools.torch_starving(folder, BATCH, SLEEP_MS, options.rounds), check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    said = subprocess.run([str(tools.folder / "peers_simulating")], check=True, input=measured, text=True,
                          stdout=subprocess.PIPE, stderr=sys.stderr).stdout
    answer = json.loads(said)
    for row in answer["au"]:
        row["error_points"] = 100 * (row["simulated_au"] - row["measured_au"])
        row["met"] = all(abs(100 * (row["simulated_au"] - end)) <= GOAL for end in row["measured_au_ci95"])
    return dict(answer, batch=BATCH, sleep_ms=SLEEP_MS, goal_points=GOAL)
