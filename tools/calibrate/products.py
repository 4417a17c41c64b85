"""The time of one matrix product: tiles, waves of tiles, memory.

    time = launch + (compute^r + memory^r)^(1/r)
    compute = min over tiles and splits of  2·tm·tn·(k/split + ends) · waves / (reach·P/SMs · 1/(1 + edge·(1/tm + 1/tn)))  (+ split)

P is what the card sustains (model.py). Waves count tiles over multiprocessors, rounded up by the share `whole`. Splitting the
reduction adds a launch and a pass over fp32 partial sums, through the L2 cache at `cache` times the memory's bandwidth.

There is a set of coefficients for tensor cores and one for the fp32 cores. Two more facts decide:
    half_rate   cards that halve sums in fp32 (GeForce) feed their tensor cores at half the rate: half the edge, times `half_rate`
    doubled     chips with twice the fp32 cores a scheduler (compute capability 8.6, 8.9, 12) reach this share of the others' rate
tf32 takes TF32_JOULES times the energy of an operation in 16 bits.
"""

import collections
import csv
import dataclasses
import gzip
import math
import pathlib

import numpy

import fit
import model
import tables

TILES = ((256, 128), (128, 256), (128, 128), (256, 64), (64, 256), (128, 64), (64, 128), (64, 64), (64, 32), (32, 64))
SPLITS = (2, 4, 8)
PRIORS = {
    "tensor": {"joules": (1.65e-12, 0.1), "shrink": (1.3, 0.1), "reach": (1, 0.05), "edge": (20, 0.5), "ends": (30, 0.5),
               "whole": (0.4, 0.3), "bandwidth": (0.85, 0.05), "launch": (4e-6, 0.5), "norm": (2.5, 0.3), "cache": (5, 0.5),
               "split": (2e-6, 0.5)},
    "cores": {"joules": (14e-12, 0.2), "shrink": (1.465, 0.03), "reach": (1, 0.03), "edge": (8, 0.5), "ends": (8, 0.5),
              "whole": (0.4, 0.3), "bandwidth": (0.85, 0.05), "launch": (1e-5, 0.5), "norm": (2.5, 0.3), "cache": (5, 0.5),
              "split": (2e-6, 0.5)}}
TF32_JOULES = 2
DOUBLED = (86, 89, 120)  # compute capabilities
ROWS = 250         # of a card and table that are fitted: neighbours in m tell the same
SPREAD = 0.08      # deviation of a row that the fit is content with
CARD_ROWS = 200    # rows that a card and table count for
FIRST_FP32 = 70    # compute capability: before it cuBLAS took slow kernels for many shapes of the table
LEAST_FP32 = 5e-4  # seconds: shorter ones are launches in this table
NARROWEST_FP32 = 256
LARGE = pathlib.Path(__file__).with_name("large_products.csv")


@dataclasses.dataclass
class Products:
    """Products m x n x k of one card in one dtype, and their measured seconds."""
    card: tables.Card
    dtype: str
    m: numpy.ndarray
    n: numpy.ndarray
    k: numpy.ndarray
    seconds: numpy.ndarray

    @classmethod
    def of(cls, card, dtype, rows):
        """`rows`: (m, n, k, seconds)."""
        return cls(card, dtype, *(numpy.array(column, float) for column in zip(*rows)))

    def thinned(self, count):
        places = numpy.unique(numpy.linspace(0, len(self.m) - 1, min(count, len(self.m))).astype(int))
        return Products(self.card, self.dtype, self.m[places], self.n[places], self.k[places], self.seconds[places])


def by_card(lines, cards, dtype):
    """`lines`: (card's name, (m, n, k, seconds))."""
    rows = collections.defaultdict(list)
    for name, row in lines:
        rows[name].append(row)
    return [Products.of(cards[name], dtype, rows[name]) for name in sorted(rows)]


def read_fp16(folder, cards):
    with open(pathlib.Path(folder) / "vidur_fp16_gemm.csv", encoding="utf-8", newline="") as file:
        return by_card(((line["gpu"], (line["m"], line["n"], line["k"], float(line["latency_ms"]) * 1e-3))
                        for line in csv.DictReader(file) if line["op"] == "gemm"), cards, "fp16")


def read_bf16(folder, cards):
    """Without those whose data may lie in the L2 cache."""
    with gzip.open(pathlib.Path(folder) / "gemm.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return by_card(((line["gpu"].removesuffix("-server"), (line["m"], line["n"], line["k"], float(line["time_us"]) * 1e-6))
                        for line in csv.DictReader(file) if line["dtype"] == "bf16" and line["maybe_warm"] == "0"), cards, "bf16")


def read_fp32(folder, cards):
    lines = []
    with open(pathlib.Path(folder) / "neusight_linear.csv", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            m, n, k, seconds = int(line["b"]) * int(line["m"]), int(line["n"]), int(line["k"]), float(line["latency_ms"]) * 1e-3
            if seconds >= LEAST_FP32 and min(m, n, k) >= NARROWEST_FP32:
                lines.append((line["gpu"], (m, n, k, seconds)))
    return by_card(lines, cards, "fp32")


def read(folder, modern, cards):
    """{"tensor", "cores": lists of Products; "before": those of fp32 cores that are not fitted}. `modern`: the folder of products of
    current cards."""
    fp32 = read_fp32(folder, cards)
    return {"tensor": read_fp16(folder, cards) + read_bf16(modern, cards),
            "cores": [each for each in fp32 if each.card.compute_capability >= FIRST_FP32],
            "before": [each for each in fp32 if each.card.compute_capability < FIRST_FP32]}


def read_large(path=LARGE):
    """Large square products that several people published, one a row: lists of Products by what they tell."""
    out = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(row for row in file if not row.startswith("#")):
            peaks = {"fp32": float(line["fp32"]) * 1e12, line["dtype"]: float(line["peak"]) * 1e12}
            card = tables.Card(
                id=line["card"], chip=line["chip"], compute_capability=int(line["compute_capability"]),
                process_nm=float(line["process_nm"]), multiprocessors=int(line["multiprocessors"]), flops_per_s=peaks,
                bytes_per_s=float(line["gb_per_s"]) * 1e9, power_w=float(line["power_w"]), memory_kind=line["memory_kind"],
                memory_bytes=0, l2_bytes=0, halves_sums=line["halves_sums"] == "1")
            size = float(line["size"])
            seconds = 2 * size ** 3 / (float(line["tflop_per_s"]) * 1e12)
            kind = ("doubled" if line["dtype"] == "fp32" and card.compute_capability in DOUBLED else
                    "half_rate" if card.halves_sums and line["dtype"] != "fp32" else "other")
            out[kind].append(Products.of(card, line["dtype"], [(size, size, size, seconds)]))
    return dict(out)


def unit_of(card, dtype):
    return "tensor" if dtype != "fp32" and dtype in card.flops_per_s else "cores"


def seconds(values, products, half_rate=1.0, doubled=1.0):
    """`values`: a set of coefficients, of the unit that computes the products."""
    card, m, n, k = products.card, products.m, products.n, products.k
    tensor = unit_of(card, products.dtype) == "tensor"
    halves = tensor and card.halves_sums
    factor = half_rate if halves else doubled if not tensor and card.compute_capability in DOUBLED else 1
    rate = values["reach"] * sustained(values, card, products.dtype, factor) / card.multiprocessors
    edge = values["edge"] * (0.5 if halves else 1)
    best = numpy.full(len(m), numpy.inf)
    for rows, columns in TILES:
        tiles = numpy.ceil(m / rows) * numpy.ceil(n / columns)
        slower = 1 + edge * (1 / rows + 1 / columns)
        for split in (1, *SPLITS):
            load = tiles * split / card.multiprocessors
            waves = values["whole"] * numpy.ceil(load) + (1 - values["whole"]) * load
            time = 2 * rows * columns * (k / split + values["ends"]) * waves * slower / rate
            if split > 1:
                time = time + split * 8 * m * n / (card.bytes_per_s * values["cache"]) + values["split"]
            best = numpy.minimum(best, time)
    width = 4 if products.dtype in ("fp32", "tf32") else 2
    memory = width * (m * k + n * k + m * n) / (card.bytes_per_s * values["bandwidth"])
    return values["launch"] + (best ** values["norm"] + memory ** values["norm"]) ** (1 / values["norm"])


def calibrate(measured, unit):
    """Coefficients of one unit from a list of Products."""
    priors = PRIORS[unit]
    names = list(priors)
    centre = numpy.array([math.log(priors[name][0]) for name in names])
    deviation = numpy.array([priors[name][1] for name in names])
    few = [each.thinned(ROWS) for each in measured]

    def residuals(point):
        values = dict(zip(names, numpy.exp(point)))
        parts = []
        for each in few:
            errors = numpy.log(seconds(values, each) / each.seconds) / SPREAD
            parts.append(fit.soft(errors) * math.sqrt(CARD_ROWS / len(errors)))
        return numpy.concatenate([*parts, (point - centre) / deviation])

    return {name: float(value) for name, value in zip(names, numpy.exp(fit.solve(residuals, centre, 25)))}


def factor_of(values, large, name):
    """The factor on the rate that makes the large products' times right in the mean."""
    point = 1.0
    for _ in range(20):
        errors = [numpy.log(seconds(values, each, **{name: point}) / each.seconds) for each in large]
        point *= math.exp(float(numpy.mean(numpy.concatenate(errors))))
    return point


def leave_cards_out(measured, unit):
    """[(Products, predicted over measured seconds)], each by a fit of the other chips."""
    out = []
    for chip in sorted({each.card.chip for each in measured}):
        values = calibrate([each for each in measured if each.card.chip != chip], unit)
        out += [(each, seconds(values, each) / each.seconds) for each in measured if each.card.chip == chip]
    return out


def sustained(values, card, dtype, factor=1.0):
    joules = values["joules"] * (TF32_JOULES if dtype == "tf32" else 1)
    return model.sustained(card.peak(dtype) * factor, model.compute_power(card), card.process_nm, joules, values["shrink"])


def power_share(values, card, dtype):
    """How far the rate's logarithm moves with that of what power allows: 0 to 1."""
    cap = model.compute_power(card) / (values["joules"] * (card.process_nm / 12) ** values["shrink"])
    return (sustained(values, card, dtype) / cap) ** model.SHARP


def half_widths80(left_out, values):
    """Of the logarithm of a left-out card's ratios: holds 80 % of each card's, but for what its power decides."""
    out = []
    for each, ratios in left_out:
        logs = numpy.log(ratios)
        rest = logs - numpy.median(logs) * power_share(values, each.card, each.dtype)
        out.append(float(numpy.quantile(abs(rest), 0.8)))
    return out


def power_half_width80(values, left_out, before):
    """Of what power allows: from the biases of the cards that it limits, those of `before` as the fit has them."""
    biases = [(each, math.log(numpy.median(ratios))) for each, ratios in left_out]
    biases += [(each, math.log(numpy.median(seconds(values, each) / each.seconds))) for each in before]
    limited = [bias / share for each, bias in biases if (share := power_share(values, each.card, each.dtype)) > 0.5]
    return 1.2816 * math.sqrt(numpy.mean(numpy.square(limited)))
