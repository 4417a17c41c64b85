"""What was measured, by what is asked: dtype, mode and what a network does most. And what a step costs of which none of its kind was
measured: the error of rows whose dtype, mode or kind of network was left out of the fit.
"""

import collections
import math

import numpy

import fit
import leave_out
import model
import spreads

ATTENTION_SHARE = 0.5  # of the forward FLOPs, from where a network is one of attention
LEAST_POWER_SHARE = 0.3  # of rows that tell of power
DEPTHWISE_SHARE = 0.1  # of the bytes, from where it is one of depthwise convolutions


def networks_of(terms):
    """What each row's network does most."""
    attention = terms.flops[:, [model.FLOPS.index(name) for name in ("linear", "bmm", "attention")]].sum(1)
    depthwise = terms.bytes[:, model.BYTES.index("depth")]
    return numpy.where(attention > ATTENTION_SHARE * terms.flops.sum(1), "attention",
                       numpy.where(depthwise > DEPTHWISE_SHARE * terms.bytes.sum(1), "depthwise", "convolutions"))


def dtypes_of(terms):
    return numpy.array([row.dtype for row in terms.rows])


def modes_of(terms):
    return numpy.where(terms.train, "train", "infer")


def kinds(every):
    """[{dtype, mode, network, chips, rows}] of lists of terms, of eager PyTorch."""
    chips, rows = collections.defaultdict(set), collections.Counter()
    for terms in every:
        for row, key in zip(terms.rows, zip(dtypes_of(terms), modes_of(terms), networks_of(terms))):
            if row.framework == "pytorch":
                chips[key].add(row.card.chip)
                rows[key] += 1
    return [{"dtype": str(dtype), "mode": str(mode), "network": str(network), "chips": sorted(chips[dtype, mode, network]),
             "rows": rows[dtype, mode, network]} for dtype, mode, network in sorted(chips)]


def left_out_errors(terms, name, values):
    """{value: log errors of the rows of this value by a fit of the others}. `values`: of each row. Hosts are known."""
    out = {}
    for value in sorted(set(values)):
        mine = (values == value) & ~terms.blocking
        others = (values != value) & ~terms.blocking
        if mine.any() and others.any():
            fitted, host = fit.fit(terms.where(others), name)
            target = terms.where(mine)
            out[str(value)] = numpy.log(leave_out.predict_family(fitted, host, target, "host") / target.seconds)
    return out


def unmeasured(by_set, tf32_errors):
    """{dimension: {what was left out: log errors}}. `by_set`: terms by the name of their set; `tf32_errors`: of tf32 by 16 bits."""
    out = {"dtype": {"tf32": tf32_errors}, "mode": {}, "network": {}}
    for name, terms in by_set.items():
        for dimension, values in (("dtype", dtypes_of(terms)), ("mode", modes_of(terms)), ("network", networks_of(terms))):
            for value, errors in left_out_errors(terms, name, values).items():
                if (dimension, value) != ("mode", "infer"):  # training alone tells little of inference, and nobody measured so
                    out[dimension][f"{name} {value}"] = errors
    return out


def deviation(errors, rest):
    """Of the logarithm, beyond the deviation `rest` of a network on a card: the mean over what was left out."""
    squares = [float(numpy.quantile(abs(each), 0.8) / spreads.NORMAL_80) ** 2 for each in errors.values()]
    return math.sqrt(max(numpy.mean(squares) - rest ** 2, 1e-6))


def power_spread(values, terms):
    """Deviation of what power allows: from two sources of one card, network and batch, whatever their framework."""
    cases = collections.defaultdict(list)
    for row, share in zip(terms.rows, model.power_shares(values, terms)):
        if (row.mode, row.dtype) == ("infer", "fp32"):
            cases[row.card.id, row.network, row.image, row.batch].append((row.seconds, share))
    cards = collections.defaultdict(list)
    for (card, *_), found in cases.items():
        if len(found) > 1:
            times = [seconds for seconds, _ in found]
            share = numpy.mean([share for _, share in found])
            if share >= LEAST_POWER_SHARE:
                cards[card].append(math.log(max(times) / min(times)) / 2 / share)
    return float(numpy.mean([numpy.median(each) for each in cards.values()]))
