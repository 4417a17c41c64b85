"""Medians and ratios of contestants that took turns, round by round."""

import math
import random
import statistics

median = statistics.median


def ratio(theirs, ours, resamples=10_000, seed=1):
    """How many times longer they take: the median over rounds, and its 95 % interval.

    Both are lists of rounds, each a list of step times. A round's ratio is of the medians of its two turns,
    minutes apart at most, so that the machine's drift cancels out. The interval is a percentile bootstrap
    over whole rounds: steps of one turn are not independent of each other.
    """
    if len(theirs) != len(ours) or not ours:
        raise ValueError("both need the same number of rounds, at least one")
    rounds = [median(other) / median(own) for other, own in zip(theirs, ours)]
    source = random.Random(seed)
    means = sorted(median(source.choices(rounds, k=len(rounds))) for _ in range(resamples))
    return median(rounds), means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1]


def mean_ratio(pairs, resamples=10_000, seed=1):
    """The geometric mean of several ratios, given as (theirs, ours) pairs, and its 95 % interval."""
    cells = [[median(other) / median(own) for other, own in zip(theirs, ours)] for theirs, ours in pairs]
    source = random.Random(seed)

    def mean(rounds):
        return math.exp(sum(math.log(median(cell)) for cell in rounds) / len(rounds))

    means = sorted(mean([source.choices(cell, k=len(cell)) for cell in cells]) for _ in range(resamples))
    return mean(cells), means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1]
