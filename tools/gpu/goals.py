"""The goals of the CUDA device compared with what the check on a GPU measured.

    goals.py FOLDER

Reads the results in FOLDER's stages and prints a row for each goal: target, measured value, and met or missed; "reported"
for a figure that this card has no goal for. A goal without a result is "not measured", with the reason if it is known.
Writes goals.json into FOLDER.
"""

import itertools
import json
import math
import pathlib
import statistics
import sys

import gpu_peers
import stages
from machine import write_whole


class Goal:
    def __init__(self, name, target):
        self.name, self.target = name, target
        self.measured, self.verdict = "", "not measured"

    def judge(self, met, measured):
        self.measured, self.verdict = measured, "met" if met else "missed"
        return self

    def report(self, measured):
        self.measured, self.verdict = measured, "reported"
        return self

    def why(self, reason):
        self.measured = reason
        return self


def read(folder, pattern, stage="*"):
    """All documents of that name in the stages' folders, those that are no JSON left out."""
    documents = []
    for path in sorted(folder.glob(f"{stage}/{pattern}")):
        try:
            documents.append(json.loads(path.read_text(encoding="utf-8")))
        except ValueError:
            print(f"goals.py: {path} is not JSON", file=sys.stderr)
    return [document for document in documents if isinstance(document, dict)]


def bytes_of(point):
    return point["work"]["fixed_bytes"] + point["work"]["sample_bytes"]


def bandwidth(point):
    return bytes_of(point) / (point["stats"]["median_ns"] * 1e-9)


def rounds(point):
    """The samples of each round by session and round. The first version of the file has the rounds' sizes alone."""
    listed = point.get("rounds")
    if listed is None:
        sizes = point["stats"].get("round_sizes", [])
        listed = [{"session": 0, "round": number, "samples": size} for number, size in enumerate(sizes)]
    samples = iter(point.get("samples_ns", []))
    taken = {}
    for entry in listed:
        if values := list(itertools.islice(samples, entry["samples"])):
            taken.setdefault((entry["session"], entry["round"]), []).extend(values)
    return taken


def rate_to(point, other):
    """The point's bandwidth over the other's in the rounds that both have, each the median of these rounds' medians, and
    how many there are; None where there is none."""
    ours, theirs = rounds(point), rounds(other)
    common = [key for key in ours if key in theirs]
    if not common:
        return None
    ours_ns, theirs_ns = (statistics.median(statistics.median(of[key]) for key in common) for of in (ours, theirs))
    return bytes_of(point) / ours_ns / (bytes_of(other) / theirs_ns), len(common)


# The share of the datasheet's bandwidth that others reached on such a card by two reads and a write, as a triad has: the best of
# what they published, rounded down. A card without an entry has no goal: no DRAM gives all that its datasheet says, and how much
# differs by its kind. What only reads or only writes reaches more, an H200 89 to 95 %.
# H200, A100: BabelStream's triad of doubles on Azure's machines, github.com/Azure/AI-benchmarking-guide, Azure_Results; of the H200
#   4.15 TB/s with driver 560 and 4.18 with 570, in the copy github.com/samuel-bohman/AI-benchmarking-guide, which is newer. Another
#   H200 reached 84 % by a triad, 94 % by reading, 89 % by writing, 82 % by copying: github.com/tile-ai/TileOPs/pull/1993.
# T4: the sum of two arrays of 512 MiB, 1.61 GB in 6.272 ms, github.com/GPGPUCourse/GPGPUTasks2025/pull/177; 77 and 78 % in pulls
#   260 and 56 there. A copy reaches 75 %: github.com/router-gao/cuda-demo, cuda-samples/02-cuda-bandwidth.md.
REACHED = {
    "a100-80gb": (83, "BabelStream 1.70 TB/s, Azure ND A100 v4"),
    "h200": (87, "BabelStream 4.18 TB/s, Azure ND H200 v5"),
    "t4": (80, "0.257 TB/s by the sum of two arrays, GPGPUTasks2025"),
}


def triad_goals(kernels):
    sheet = Goal("stream triad, of the datasheet's bandwidth", "as others")
    copy = Goal("stream triad, of a copy within the card", "≥ 1.00")
    if not kernels:
        return [sheet.why("no result of the sweep kernels"), copy.why("no result of the sweep kernels")]
    document = kernels[0]
    triads, copies = ({point["params"]["elements"]: point for point in document.get("benchmarks", [])
                       if point["params"].get("workload") == "stream" and point["params"].get("mode") == mode
                       and point["params"].get("caches") == "cold"} for mode in ("triad", "copy"))
    if not triads:
        return [sheet.why("no cold triad was measured"), copy.why("no cold triad was measured")]
    triad = triads[max(triads)]
    rate = bandwidth(triad)
    device = document.get("context", {}).get("device", {})
    datasheet = device.get("datasheet") or {}
    if known := datasheet.get("bytes_per_s"):
        measured = f"{rate / known:.1%} ({rate / 1e12:.2f} of {known / 1e12:.2f} TB/s)"
        if datasheet.get("id") in REACHED:
            percent, source = REACHED[datasheet["id"]]
            sheet.target = f"≥ {percent} %"
            sheet.judge(100 * rate >= percent * known, f"{measured}; {source}")
        else:
            sheet.report(measured)
    else:
        sheet.why(f"{rate / 1e12:.2f} TB/s; results/gpus.json has no such card")
    # Arrays of the same size, in the same rounds, median against median.
    same = copies.get(max(triads))
    ratio = rate_to(triad, same) if same else None
    if ratio:
        copy.judge(ratio[0] >= 1, f"{ratio[0]:.3f} (common rounds: {ratio[1]})")
    else:
        copy.why("it has no round with the triad's" if same else "no cold copy of the triad's size was measured")
    return [sheet, copy]


def peer_goals(peers):
    """A goal for each ratio, and one for the memory of all of them."""
    rows = peers[0].get("rows", []) if peers else []
    goals = []
    shares = []
    for row in rows:
        by_interval = row.get("by_interval", False)
        goal = Goal(f"{row['name']} vs {row['rival']}", gpu_peers.target(row) + (" in the interval" if by_interval else ""))
        if "ratio" in row:
            low, high = row["ci95"]
            measured = f"{row['ratio']:.2f} ({low:.2f}–{high:.2f})"
            if row["goal"] is None:
                goal.report(f"{measured}, {row['instead']}")
            else:
                goal.judge((high if by_interval else row["ratio"]) >= row["goal"], measured)
            if row["rival"] == "torch" and row["name"].startswith("resnet50") and row["goal"] is not None:
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


# Of a step: each of GPT-2 small's 12 layers has attention forward and backward.
ATTENTION_PASSES = 24


def attention_goal(documents):
    """Which engine computed the attention of gpt_small's steps: cuDNN's fused kernels, which need compute capability 8.0, or
    products of cuBLASLt. Met if cuDNN's computed every pass of every point."""
    goal = Goal("attention of gpt_small train fp16", f"{ATTENTION_PASSES} passes fused")
    points = [point for document in documents for point in document.get("benchmarks", [])]
    if not points:
        reasons = {point["reason"] for document in documents for point in document.get("unmeasured", []) if point.get("reason")}
        return goal.why("; ".join(sorted(reasons)) or f"no point of the stage {stages.ATTENTION}")
    recorded = [point["algorithms"] for point in points if point.get("algorithms")]
    if not recorded:
        return goal.why("its points record no algorithms")
    fused = [{name: count for name, count in algorithms.items() if name.startswith("fused attention")} for algorithms in recorded]
    fewest = min(fused, key=lambda engines: sum(engines.values()))
    passes = sum(fewest.values())
    device = documents[0].get("context", {}).get("device", {})
    if not passes and float(device.get("compute_capability", 0)) < 8:
        return goal.report("by products, as compute capability 8.0 is needed")
    engines = ", ".join(f"{count} × {name}" for name, count in fewest.items())
    if passes < ATTENTION_PASSES:
        return goal.judge(False, f"{passes} of {ATTENTION_PASSES} passes: {engines}" if passes else "by products")
    if len(recorded) < len(points):
        return goal.why(f"{len(points) - len(recorded)} of {len(points)} points record no algorithms")
    return goal.judge(True, engines)


def uncached_goal(stage):
    """Of the default batch sweep with an empty cache of choices, from its beginning to its end."""
    budget, point = stages.Sweep.DEFAULT_BUDGET, stages.Sweep.OVERRUN
    goal = Goal("default batch sweep, choices not cached: its end", f"≤ {budget + point} s")
    if stage is None or stage["resumed"] or (stage["status"] != "done" and stage["seconds"] < budget + point):
        return goal.why("it did not run as a whole")
    return goal.judge(stage["status"] == "done" and stage["seconds"] <= budget + point, f"{stage['seconds']:.0f} s")


def imprecise_batches(document, finding):
    """Batches of the finding's dtype up to its saturation batch (all of them where that may lie beyond) without a precise
    value; those that do not fit or are not supported are none of them."""
    dtype = finding["name"].partition("/")[2]  # none of a single one
    last = finding["value"] if finding["value"] and not finding["details"]["may_lie_beyond"] else math.inf
    points = [point for point in document["benchmarks"] + document.get("unmeasured", [])
              if dtype in ("", point["params"]["dtype"]) and point["params"]["batch"] <= last]
    return sorted(point["params"]["batch"] for point in points if point.get("status") in ("skipped", "error")
                  or {"noisy", "few_rounds"} & set(point.get("validity", {}).get("flags", [])))


def cached_goal(folder, stage, uncached):
    """Of the same sweep with 60 s and the choices that the first one made."""
    goal = Goal("default batch sweep, choices cached: every batch up to saturation precise", "≤ 60 s")
    documents = read(folder, "batch-*.json", stages.CACHED)
    if stage is None or stage["status"] != "done" or stage["resumed"] or not documents:
        return goal.why("it did not run as a whole")
    if uncached is None or uncached["status"] != "done":
        return goal.why("the sweep that makes the choices did not run as a whole")
    saturations = [finding for finding in documents[0].get("findings", [])
                   if finding["name"].split("/")[0] == "ceiling_batch"]
    misses = [] if saturations else ["no saturation batch was found"]
    for finding in saturations:
        if batches := imprecise_batches(documents[0], finding):
            misses.append(f"{finding['name']}: batch {', '.join(map(str, batches))} not precise")
        elif finding["value"] is None:
            misses.append(f"{finding['name']} is unknown")
    return goal.judge(not misses, "; ".join(misses) or f"{len(documents[0]['benchmarks'])} points")


def table(goals):
    wide = max(len(goal.name) for goal in goals)
    targets = max(len(goal.target) for goal in goals)
    lines = [f"{'goal':<{wide}}  {'target':<{targets}}  {'':<12}  measured"]
    lines += [f"{goal.name:<{wide}}  {goal.target:<{targets}}  {goal.verdict:<12}  {goal.measured}".rstrip()
              for goal in goals]
    counts = ", ".join(f"{sum(goal.verdict == verdict for goal in goals)} {verdict}"
                       for verdict in ("met", "missed", "reported", "not measured"))
    return "\n".join([*lines, f"{len(goals)} goals: {counts}"])


def measured(folder, entries):
    """All goals; `entries` are the stages of state.json."""
    goals = [*triad_goals(read(folder, "kernels-all-*.json")), *peer_goals(read(folder, "gpu-peers.json")),
             plan_goal(read(folder, "batch-*.json") + read(folder, "memory-*.json")),
             attention_goal(read(folder, "batch-*.json", stages.ATTENTION)),
             uncached_goal(entries.get(stages.UNCACHED)),
             cached_goal(folder, entries.get(stages.CACHED), entries.get(stages.UNCACHED))]
    write_whole(folder / "goals.json", json.dumps([vars(goal) for goal in goals], indent=1, ensure_ascii=False))
    return goals


if __name__ == "__main__":
    results = pathlib.Path(sys.argv[1])
    print(table(measured(results, json.loads((results / "state.json").read_text(encoding="utf-8"))["stages"])))
