"""What torch.compile changes: factors on an eager step's bytes, for elementwise operations join others in one kernel.

    gpu = gpu · (the eager GPU time with bytes·factor, channels-last, without launches) + launches·launch

One card was measured compiled, in autocast inference; its host's part is not in the measurements, whose batches are large.
"""

import math

import numpy

import fit
import leave_out
import model

# (value, deviation of its logarithm)
PRIORS = {"act": (0.5, 0.5), "bn": (0.4, 0.5), "norm": (0.6, 0.5), "move": (0.6, 0.5), "conv": (1, 0.3), "depth": (1, 0.3),
          "matrix": (1, 0.3), "gpu": (1, 0.1), "launch": (2e-6, 0.5)}
CARD_ROWS = 100  # rows that the card counts for


def rows_of(rows):
    return [row for row in rows if row.compiled and row.framework == "pytorch" and (row.mode, row.dtype) == ("infer", "amp")]


def channels_last(terms):
    """The compiler lays convolutions out channels-last."""
    terms = terms.where(numpy.ones(len(terms), bool))
    terms.nhwc[:] = True
    return terms


def seconds(eager, factors, terms):
    values = dict(eager, launch=0)
    for name in ("act", "bn", "norm", "move", "conv", "depth", "matrix"):
        for layout in model.LAYOUTS:
            values[f"b.{layout}.{name}"] = model.coefficient(eager, "b", layout, name) * factors[name]
    return factors["gpu"] * model.gpu_seconds(values, terms) + factors["launch"] * terms.launches


def calibrate(eager, terms):
    names = list(PRIORS)
    centre = numpy.array([math.log(PRIORS[name][0]) for name in names])
    deviation = numpy.array([PRIORS[name][1] for name in names])

    def residuals(point):
        errors = numpy.log(seconds(eager, dict(zip(names, numpy.exp(point))), terms) / terms.seconds) / fit.SPREAD
        return numpy.concatenate([fit.soft(errors) * math.sqrt(CARD_ROWS / len(errors)), (point - centre) / deviation])

    return {name: float(value) for name, value in zip(names, numpy.exp(fit.solve(residuals, centre)))}


def leave_networks_out(eager, terms):
    """Each network by factors from those of other families. The card was seen."""
    fold = leave_out.network_folds(terms)
    out = numpy.zeros(len(terms))
    for group in sorted(set(fold)):
        factors = calibrate(eager, terms.where(fold != group))
        out[fold == group] = seconds(eager, factors, terms.where(fold == group))
    return leave_out.LeftOut(terms, out, {})
