#!/usr/bin/env python3
"""How often the intervals of a run cover the median of another run of the same sweep.

    between_runs.py RESULT.json…        in the order in which they ran, each with the history of those before it

A pair is a point of a run from the fourth on, and the same point of any other run. Goal: the interval between runs covers the
other median in 75 % of the pairs; one that is not known covers nothing. Exit codes: 0 met, 1 not met, 2 unreadable.
"""

import json
import statistics
import sys

FIRST = 4  # earlier runs know too few others
GOAL = 0.75


class Coverage:
    """Of one kind of interval."""

    def __init__(self):
        self.hits = []
        self.half_widths = []  # relative to the median
        self.unknown = 0  # points without an interval

    def add(self, interval, median, others):
        if interval is None:
            self.unknown += 1
            self.hits.extend(False for _ in others)
            return
        low, high = interval
        self.half_widths.append((high - low) / 2 / median)
        self.hits.extend(low <= other <= high for other in others)

    def share(self):
        return statistics.fmean(self.hits) if self.hits else 0.0

    def line(self, name):
        if not self.half_widths:
            return f"{name}: none is known"
        unknown = f"; {self.unknown} have none" if self.unknown else ""
        return (f"{name}: covers another run's median in {100 * self.share():.1f} % of {len(self.hits)} pairs, median width "
                f"±{100 * statistics.median(self.half_widths):.1f} %{unknown}")


def stats_by_point(path):
    with open(path, encoding="utf-8") as file:
        return {point["name"]: point["stats"] for point in json.load(file)["benchmarks"]}


def cover(runs):
    """Of runs, each {point: stats}: the coverage of the two intervals."""
    between, within = Coverage(), Coverage()
    for at, run in enumerate(runs[FIRST - 1:], FIRST - 1):
        for name, stats in run.items():
            others = [other[name]["median_ns"] for place, other in enumerate(runs) if place != at and name in other]
            between.add(stats["ci95_between_ns"], stats["median_ns"], others)
            within.add(stats["ci95_ns"], stats["median_ns"], others)
    return between, within


def spreads(runs):
    """Of each point that all runs have: the largest median over the smallest, less one."""
    names = set.intersection(*(set(run) for run in runs))
    medians = [[run[name]["median_ns"] for run in runs] for name in names]
    return sorted(max(values) / min(values) - 1 for values in medians)


def main(paths):
    if len(paths) <= FIRST:
        print(f"between_runs: {len(paths)} files were given; give {FIRST + 1} or more results, in their order", file=sys.stderr)
        return 2
    try:
        runs = [stats_by_point(path) for path in paths]
        between, within = cover(runs)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"between_runs: not a result of version 2: {error}", file=sys.stderr)
        return 2
    spread = spreads(runs)
    if spread:
        print(f"{len(runs)} runs, {len(spread)} points: a point's medians span {100 * spread[0]:.1f} to {100 * spread[-1]:.1f} %, "
              f"half of them {100 * statistics.median(spread):.1f} % or more")
    print(within.line(f"ci95_ns, runs {FIRST} to {len(runs)}"))
    print(between.line(f"ci95_between_ns, runs {FIRST} to {len(runs)}"))
    met = between.share() >= GOAL
    print(f"Goal, ci95_between_ns in {100 * GOAL:.0f} % of the pairs: {'met' if met else 'not met'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
