"""How far predictions err: the model's intervals, whether they cover, and which of two cards is the faster.

The logarithm of predicted over measured time is a bias that the rows of one card share plus a rest. Families of cards that the
fit had not seen give the deviations of both; where the host's cost a launch is not known, its deviation counts by the share of
the step that the host takes. Two cards on one host share that, so a ratio has a spread of its own.
"""

import dataclasses
import itertools
import math

import numpy

import model

NORMAL_80 = 1.2816  # half-width of the normal distribution's central 80 %, in deviations
# Deviation of the logarithm of seconds a launch, between machines: the published ones lie between 21 and 57 µs; twice the slowest is
# taken for servers of slow clocks, small boards and old PyTorch. From 21 to 114 µs are 80 %.
HOST_SPREAD = math.log(114 / 21) / 2 / NORMAL_80
# Student's t at 0.9 over the normal's, by degrees of freedom from 1: few families tell a deviation badly.
STUDENT = (2.40, 1.47, 1.28, 1.20, 1.15, 1.12, 1.10)


@dataclasses.dataclass
class Errors:
    """Log errors of rows whose families the fit had not seen."""
    rows: list
    log: numpy.ndarray

    def __post_init__(self):
        self.chip = numpy.array([row.card.chip for row in self.rows])
        self.card = numpy.array([row.card.id for row in self.rows])

    def without(self, *chips):
        keep = ~numpy.isin(self.chip, chips)
        return Errors([row for row, kept in zip(self.rows, keep) if kept], self.log[keep])


def eager(rows, language=False):
    """Rows of eager PyTorch: of image networks, of language models, or (None) of both."""
    return numpy.array([row.framework == "pytorch" and language in (None, model.is_language(row)) for row in rows])


def joined(left_outs, language=False):
    """Errors of several LeftOut, of eager PyTorch alone."""
    rows, logs = [], []
    for left_out in left_outs:
        keep = eager(left_out.terms.rows, language)
        rows += [row for row, kept in zip(left_out.terms.rows, keep) if kept]
        logs.append(left_out.log_errors()[keep])
    return Errors(rows, numpy.concatenate(logs))


@dataclasses.dataclass
class Spread:
    """Of the logarithm of a step's time."""
    card: float    # deviation of a card's bias
    rest: float    # deviation of a network on a card
    scale: float   # makes 80 % of the rows lie in their intervals
    ratio: float   # half-width of the 80 % interval of two cards' ratio

    def half_width(self, host_share=0.0, host_known=True, power=0.0):
        """Of the 80 % interval. `power`: deviation of what power allows, times its share."""
        host = 0.0 if host_known else HOST_SPREAD * host_share
        return NORMAL_80 * math.hypot(self.scale * math.sqrt(self.card ** 2 + self.rest ** 2 + power ** 2), host)


def quantile_80(values, weights):
    order = numpy.argsort(values)
    share = numpy.cumsum(weights[order]) / weights.sum()
    return float(values[order][numpy.searchsorted(share, 0.8)])


def student(families):
    return STUDENT[min(max(families - 2, 0), len(STUDENT) - 1)]


def spread_of(errors):
    """Cards weigh equally, in each mode and dtype; so do pairs of cards."""
    names = numpy.array([f"{row.card.id} {row.mode} {row.dtype}" for row in errors.rows])
    biases, rests, weights = [], numpy.zeros(len(names)), numpy.zeros(len(names))
    for name in sorted(set(names)):
        pick = names == name
        biases.append(numpy.median(errors.log[pick]))
        rests[pick] = errors.log[pick] - biases[-1]
        weights[pick] = 1 / pick.sum()
    card = math.sqrt(numpy.mean(numpy.square(biases)))
    rest = quantile_80(abs(rests), weights) / NORMAL_80
    scale = quantile_80(abs(errors.log), weights) / (NORMAL_80 * math.sqrt(card ** 2 + rest ** 2))
    return Spread(card, rest, max(scale, 1) * student(len(set(errors.chip))), ratio_width(errors))


def pairs(errors):
    """Index pairs of rows of one network, batch and setting, on cards of different families."""
    cases = {}
    for place, row in enumerate(errors.rows):
        cases.setdefault((row.network, row.image, row.mode, row.dtype, row.layout, row.batch), []).append(place)
    for places in cases.values():
        for one, other in itertools.combinations(places, 2):
            if errors.chip[one] != errors.chip[other]:
                yield one, other


def ratio_width(errors):
    """80 % of the pairs' ratios err by less, as a logarithm."""
    found = {}
    for one, other in pairs(errors):
        found.setdefault(tuple(sorted((errors.card[one], errors.card[other]))), []).append(
            abs(errors.log[one] - errors.log[other]))
    if not found:
        return math.inf
    values = numpy.concatenate([numpy.array(each) for each in found.values()])
    weights = numpy.concatenate([numpy.full(len(each), 1 / len(each)) for each in found.values()])
    return quantile_80(values, weights)


def host_shares(values, terms):
    """Share of the host in each row's step: how far the step's logarithm moves with the host's."""
    host = model.host_seconds(values, terms, numpy.full(len(terms), 5e-5)) ** values["overlap"]
    return host / (host + model.gpu_seconds(values, terms) ** values["overlap"])


def coverage(left_out, known, host_known, language=False, power=0.0):
    """{card: (share covered, median half-width, rows)} of the 80 % intervals of `left_out`'s rows of eager PyTorch. A family's
    spread comes from the other families' errors in `known`, where the hosts were known; `power` from all."""
    errors, terms = left_out.log_errors(), left_out.terms
    counted = eager(terms.rows, language)
    out = {}
    for chip in sorted(set(terms.chip)):
        spread = spread_of(known.without(chip))
        for card in sorted(set(terms.card[(terms.chip == chip) & counted])):
            pick = (terms.card == card) & counted
            share = host_shares(left_out.fits[chip], terms.where(pick))
            limited = power * (1 - share) * model.power_shares(left_out.fits[chip], terms.where(pick))
            width = numpy.array([spread.half_width(*each) for each in zip(share, [host_known] * len(share), limited)])
            out[card] = (float(numpy.mean(abs(errors[pick]) <= width)), float(numpy.median(numpy.expm1(width))), int(pick.sum()))
    return out


def decide_pairs(errors, seconds):
    """(pairs, decided, right where decided): a pair is decided if the predicted ratio's 80 % interval excludes 1. `seconds`:
    measured."""
    widths = {}
    count = decided = right = 0
    for one, other in pairs(errors):
        chips = tuple(sorted((errors.chip[one], errors.chip[other])))
        if chips not in widths:
            rest = errors.without(*chips)
            widths[chips] = ratio_width(rest) * student(len(set(rest.chip)))
        measured = math.log(seconds[one] / seconds[other])
        ratio = measured + errors.log[one] - errors.log[other]
        count += 1
        if abs(ratio) > widths[chips]:
            decided += 1
            right += (ratio > 0) == (measured > 0)
    return count, decided, right
