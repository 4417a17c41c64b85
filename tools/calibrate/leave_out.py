"""Predictions of each family of cards (all cards of one chip) by a fit that saw none of the family."""

import dataclasses

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
