"""The time of one matrix product on tensor cores: tiles, waves of tiles, memory.

    time = launch + (compute^r + memory^r)^(1/r)
    compute = min over tiles and splits of  2·tm·tn·(k/split + ends) · waves / (P/SMs · 1/(1 + edge·(1/tm + 1/tn)))  (+ split)

P is what the card sustains (model.py). Waves count tiles over multiprocessors, rounded up by the share `whole`. Splitting the
reduction adds a launch and a pass over fp32 partial sums, through the L2 cache at `cache` times the memory's bandwidth.
"""

import csv
import math
import pathlib

import numpy

import fit
import model

TILES = ((256, 128), (128, 256), (128, 128), (256, 64), (64, 256), (128, 64), (64, 128), (64, 64), (64, 32), (32, 64))
SPLITS = (2, 4, 8)
PRIORS = {"joules": (2.3e-12, 0.15), "edge": (12, 0.5), "ends": (60, 0.5), "whole": (0.5, 0.3), "bandwidth": (0.87, 0.02),
          "launch": (3e-6, 0.5), "norm": (3, 0.3), "cache": (3, 0.5), "split": (2e-6, 0.5)}
SHRINK = 1.3
EVERY = 7  # rows of which one is fitted: neighbours in m tell the same


class Products:
    """Products m x n x k of one card, and their measured seconds."""

    def __init__(self, card, lines):
        self.card = card
        self.m, self.n, self.k = (numpy.array([float(line[name]) for line in lines]) for name in "mnk")
        self.seconds = numpy.array([float(line["latency_ms"]) * 1e-3 for line in lines])

    def every(self, step):
        part = object.__new__(Products)
        part.card = self.card
        for name in ("m", "n", "k", "seconds"):
            setattr(part, name, getattr(self, name)[::step])
        return part


def read(folder, cards):
    """{card id: Products} of the folder's fp16 products."""
    lines = {}
    with open(pathlib.Path(folder) / "vidur_fp16_gemm.csv", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["op"] == "gemm":
                lines.setdefault(cards[line["gpu"]].id, []).append(line)
    return {name: Products(cards[name], each) for name, each in lines.items()}


def seconds(values, products):
    card = products.card
    m, n, k = products.m, products.n, products.k
    rate = model.sustained(card.peak("fp16"), card.power_w, card.process_nm, values["joules"], SHRINK) / card.multiprocessors
    best = numpy.full(len(m), numpy.inf)
    for rows, columns in TILES:
        tiles = numpy.ceil(m / rows) * numpy.ceil(n / columns)
        slower = 1 + values["edge"] * (1 / rows + 1 / columns)
        for split in (1, *SPLITS):
            load = tiles * split / card.multiprocessors
            waves = values["whole"] * numpy.ceil(load) + (1 - values["whole"]) * load
            time = 2 * rows * columns * (k / split + values["ends"]) * waves * slower / rate
            if split > 1:
                time = time + split * 8 * m * n / (card.bytes_per_s * values["cache"]) + values["split"]
            best = numpy.minimum(best, time)
    memory = 2 * (m * k + n * k + m * n) / (card.bytes_per_s * values["bandwidth"])
    return values["launch"] + (best ** values["norm"] + memory ** values["norm"]) ** (1 / values["norm"])


def calibrate(measured):
    """Coefficients from a list of Products."""
    names = list(PRIORS)
    centre = numpy.array([math.log(PRIORS[name][0]) for name in names])
    deviation = numpy.array([PRIORS[name][1] for name in names])
    few = [each.every(EVERY) for each in measured]

    def residuals(point):
        values = dict(zip(names, numpy.exp(point)))
        parts = []
        for each in few:
            errors = numpy.log(seconds(values, each) / each.seconds) / 0.06
            parts.append(fit.soft(errors) * math.sqrt(300 / len(errors)))
        return numpy.concatenate([*parts, (point - centre) / deviation])

    return {name: float(value) for name, value in zip(names, numpy.exp(fit.solve(residuals, centre, 25)))}


def leave_cards_out(measured):
    """{card id: predicted over measured seconds}, each by a fit of the others."""
    return {name: seconds(calibrate([other for other in measured.values() if other.card.chip != each.card.chip]), each)
            / each.seconds for name, each in measured.items()}


def half_width80(ratios):
    """Of the logarithm of a left-out card's ratios: holds 80 % of each card's; the mean over cards."""
    return float(numpy.mean([numpy.quantile(abs(numpy.log(each)), 0.8) for each in ratios.values()]))
