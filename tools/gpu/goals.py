"""The goals of the CUDA device compared with what the check on a GPU measured.

    goals.py FOLDER

Reads the results in FOLDER's stages and prints a row for each goal: target, measured value, and met or missed. A goal without
a result is "not measured", with the reason if it is known. Writes goals.json into FOLDER.
"""

import json
import pathlib
import sys

from machine import write_whole


class Goal:
    def __init__(self, name, target):
        self.name, self.target = name, target
        self.measured, self.verdict = "", "not measured"

    def judge(self, met, measured):
        self.measured, self.verdict = measured, "met" if met else "missed"
        return self

    def why(self, reason):
        self.measured = reason
        return self


def read(folder, pattern):
    """All documents of that name in the stages' folders, those that are no JSON left out."""
    documents = []
    for path in sorted(folder.glob(f"*/{pattern}")):
        try:
            documents.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:
            print(f"goals.py: {path} is not JSON", file=sys.stderr)
    return [document for document in documents if isinstance(document, dict)]


def bandwidth(point):
    work = point["work"]
    return (work["fixed_bytes"] + work["sample_bytes"]) / (point["stats"]["median_ns"] * 1e-9)


def triad_goals(kernels):
    sheet = Goal("stream triad, of the datasheet's bandwidth", "≥ 92 %")
    copy = Goal("stream triad, of a copy within the card", "≥ 1.00")
    if not kernels:
        return [sheet.why("no result of the sweep kernels"), copy.why("no result of the sweep kernels")]
    document = kernels[0]
    triads, copies = ({point["params"]["elements"]: bandwidth(point) for point in document.get("benchmarks", [])
                       if point["params"].get("workload") == "stream" and point["params"].get("mode") == mode
                       and point["params"].get("caches") == "cold"} for mode in ("triad", "copy"))
    if not triads:
        return [sheet.why("no cold triad was measured"), copy.why("no cold triad was measured")]
    rate = triads[max(triads)]
    device = document.get("context", {}).get("device", {})
    known = (device.get("datasheet") or {}).get("bytes_per_s")
    if known:
        sheet.judge(rate >= 0.92 * known, f"{rate / known:.1%} ({rate / 1e12:.2f} of {known / 1e12:.2f} TB/s)")
    else:
        sheet.why(f"{rate / 1e12:.2f} TB/s; results/gpus.json has no such card")
    # Arrays of the same size, in the same rounds, median against median.
    same = copies.get(max(triads))
    if same:
        copy.judge(rate >= same, f"{rate / same:.3f}")
    else:
        copy.why("no cold copy of the triad's size was measured")
    return [sheet, copy]


def peer_goals(peers):
    """A goal for each ratio, and one for the memory of all of them."""
    rows = peers[0].get("rows", []) if peers else []
    goals = []
    shares = []
    for row in rows:
        goal = Goal(f"{row['name']} vs {row['rival']}", f"≥ {row['goal']:.2f}")
        if "ratio" in row:
            low, high = row["ci95"]
            goal.judge(row["ratio"] >= row["goal"], f"{row['ratio']:.2f} ({low:.2f}–{high:.2f})")
            if row["rival"] == "torch" and row["name"].startswith("resnet50"):
                ours = row["results"]["ours"]["about"].get("reserved_peak_bytes")
                theirs = row["results"]["torch"]["peak_bytes"]
                if ours and theirs:
                    shares.append((ours / theirs, row["name"]))
        else:
            goal.why(row["reason"])
        goals.append(goal)
    if not rows:
        goals.append(Goal("speed vs PyTorch and cuDNN", "").why("no gpu-peers.json"))
    # The most each allocator took from the driver, blocks kept for later included.
    memory = Goal("peak memory reserved, of PyTorch's max_memory_reserved", "≤ 1.00")
    if shares:
        share, name = max(shares)
        memory.judge(share <= 1, f"{share:.2f} at most ({name})")
    else:
        memory.why("no ResNet-50 vs PyTorch")
    return [*goals, memory]


def plan_goal(documents):
    """The tracked peak compared with the plan's, and what the driver saw, for which there is no goal."""
    goal = Goal("peak memory, off the plan", "≤ 5 %")
    off = []
    for document in documents:
        for point in document.get("benchmarks", []):
            memory = point.get("memory", {})
            if memory.get("peak_predicted"):
                off.append((abs(memory["peak_measured"] / memory["peak_predicted"] - 1), point["name"]))
    if not off:
        return goal.why("no point has a plan")
    worst, name = max(off)
    return goal.judge(worst <= 0.05, f"{worst:.1%} at most of {len(off)} points ({name})")


def sweep_goal(stage):
    """Of one that ran as a user types it, from its beginning to its end."""
    goal = Goal("a default batch sweep", "< 60 s")
    if stage is None or stage["status"] != "done" or stage["resumed"]:
        return goal.why("it did not run as a whole")
    return goal.judge(stage["seconds"] < 60, f"{stage['seconds']:.0f} s")


def table(goals):
    wide = max(len(goal.name) for goal in goals)
    lines = [f"{'goal':<{wide}}  {'target':<7}  {'':<12}  measured"]
    lines += [f"{goal.name:<{wide}}  {goal.target:<7}  {goal.verdict:<12}  {goal.measured}".rstrip() for goal in goals]
    counts = ", ".join(f"{sum(goal.verdict == verdict for goal in goals)} {verdict}"
                       for verdict in ("met", "missed", "not measured"))
    return "\n".join([*lines, f"{len(goals)} goals: {counts}"])


def measured(folder, stages):
    """All goals; `stages` are those of state.json."""
    goals = [*triad_goals(read(folder, "kernels-all-*.json")), *peer_goals(read(folder, "gpu-peers.json")),
             plan_goal(read(folder, "batch-*.json") + read(folder, "memory-*.json")), sweep_goal(stages.get("batch"))]
    write_whole(folder / "goals.json", json.dumps([vars(goal) for goal in goals], indent=1, ensure_ascii=False))
    return goals


if __name__ == "__main__":
    results = pathlib.Path(sys.argv[1])
    print(table(measured(results, json.loads((results / "state.json").read_text(encoding="utf-8"))["stages"])))
