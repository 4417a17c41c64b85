"""Predictions of each family of cards (all cards of one chip) by a fit that saw none of the family, nor, if asked for, any network
of the predicted one's family."""

import dataclasses
import re

import numpy

import features
import fit
import model
import networks


@dataclasses.dataclass
class LeftOut:
    terms: model.Terms
    seconds: numpy.ndarray  # predicted
    fits: dict  # coefficients by the family left out

    def log_errors(self):
        return numpy.log(self.seconds / self.terms.seconds)


def terms_of(rows, layers):
    """Terms of rows; their networks' layers must be known."""
    steps = {}
    for row in rows:
        key = (row.network, row.image, row.mode, row.dtype, fused(row), row.source.startswith("timm"))
        if key not in steps:
            network = layers[row.network, row.image]
            network = networks.with_fused_attention(network) if key[4] else network
            steps[key] = features.step_of(network, row.mode, row.dtype, optimizer=key[5])
    return model.Terms(rows, [steps[row.network, row.image, row.mode, row.dtype, fused(row), row.source.startswith("timm")]
                              for row in rows])


def fused(row):
    """timm uses PyTorch's fused attention where there is one."""
    return row.source.startswith("timm") and row.version >= (2, 0)


def halves(terms):
    """Two groups of a machine's rows, by network and batch in turn: its host is fitted on one to predict the other."""
    side = {}
    for source in sorted(set(terms.source)):
        cases = sorted({(row.network, row.batch) for row in terms.rows if row.source == source})
        side |= {(source, *case): place % 2 for place, case in enumerate(cases)}
    return numpy.array([side[row.source, row.network, row.batch] for row in terms.rows])


def predict_family(values, host, terms, known):
    """Seconds of a family's rows. `known`: "nothing" of their host, "copy" or "host" (and the copy): fitted on the other half
    of the machine's rows."""
    launch = {source: fit.typical_host(host, source) for source in set(terms.source)}
    copy = float(numpy.exp(numpy.mean(numpy.log(list(host.copy.values()) or [fit.COPY[0]]))))
    seconds = numpy.zeros(len(terms))
    half = halves(terms)
    for side in (0, 1):
        pick = half == side
        if not pick.any():
            continue
        each = fit.Host(dict(launch), {source: copy for source in launch})
        others = terms.where(~pick)
        if known != "nothing" and len(others):
            own = fit.fit(others, None, fixed=values, loose_host=True,
                          launches=None if known == "host" else {source: launch[source] for source in set(others.source)})[1]
            each.launch |= own.launch
            each.copy |= own.copy
        seconds[pick] = model.step_seconds(values, terms.where(pick), *each.arrays(terms.where(pick)))
    return seconds


def leave_families_out(terms, dtype, known=("nothing", "copy", "host")):
    """{known: LeftOut}."""
    out = {name: numpy.zeros(len(terms)) for name in known}
    fits = {}
    for chip in sorted(set(terms.chip)):
        family = terms.chip == chip
        values, host = fit.fit(terms.where(~family & ~terms.blocking), dtype)
        fits[chip] = values
        for name in known:
            out[name][family] = predict_family(values, host, terms.where(family), name)
    return {name: LeftOut(terms, seconds, fits) for name, seconds in out.items()}


FOLDS = 6


def network_family(row):
    """resnet, vgg, …: the letters of the network's name, without what marks its origin."""
    return re.match(r"[a-z]+", re.sub(r"^((tv|tf|dm|legacy|wide|ese)_)+", "", row.network)).group()


def network_folds(terms):
    """Networks in groups, families whole."""
    names = [network_family(row) for row in terms.rows]
    order = {name: place for place, name in enumerate(sorted(set(names)))}
    return numpy.array([order[name] % FOLDS for name in names])


def leave_families_and_networks_out(terms, dtype):
    """As `leave_families_out`. A machine's host is fitted on its other networks."""
    fold = network_folds(terms)
    seconds = numpy.zeros(len(terms))
    for chip in sorted(set(terms.chip)):
        for group in range(FOLDS):
            family, alike = terms.chip == chip, fold == group
            if not (family & alike).any():
                continue
            values, host = fit.fit(terms.where(~family & ~alike & ~terms.blocking), dtype)
            target, others = terms.where(family & alike), terms.where(family & ~alike)
            each = fit.Host({source: fit.typical_host(host, source) for source in set(target.source)},
                            {source: fit.COPY[0] for source in set(target.source)})
            if len(others):
                own = fit.fit(others, None, fixed=values, loose_host=True)[1]
                each.launch |= own.launch
                each.copy |= own.copy
            seconds[family & alike] = model.step_seconds(values, target, *each.arrays(target))
    return LeftOut(terms, seconds, {})
