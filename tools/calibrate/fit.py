"""Fits the model's coefficients: least squares of the logarithm of predicted over measured time.

Each coefficient is positive and has a prior, a value and a deviation of its logarithm: coefficients that the rows say little of
stay near what hardware explains. Cards weigh equally, however many rows they have. Rows far off count less (soft L1).
"""

import collections
import math

import numpy

import model

SPREAD = 0.12       # deviation of a row that the fit is content with
CARD_ROWS = 50      # rows that a card counts for
ROW_MOST = 1.5      # that a row of a card with few of them counts for
FP32_JOULES = 12.6e-12  # of 13,000 products on V100, T4 and A100 (products.py): networks were measured on cards that power seldom limits
HOST = {"pytorch": (5e-5, 0.3), "tensorflow": (3e-5, 0.3), "mxnet": (3e-5, 0.3)}  # seconds a launch
COPY = (2.5e-10, 0.7)  # seconds a byte, pageable

# What hardware explains, by class: times the work at the sustained peak, or the bytes at the bandwidth. A direct convolution of 3x3
# does 2.25 times the multiplications of Winograd's algorithm. Tensor cores want nhwc: nchw is transposed before and after.
# Gradients of depthwise weights are sums over the batch with few multiply-adds each.
FLOPS = {
    "cores": dict(wino=0.65, point=1.15, dense=1.2, stem=1.8, group=2, depth=3, linear=1.2, bmm=1.3, attention=1.5),
    "tensor": dict(wino=1.3, point=1.3, dense=1.4, stem=3, group=3, depth=1.5, linear=1.2, bmm=1.5, attention=1.5)}
GRADS = {
    "cores": dict(wino=0.9, point=1.3, dense=1.3, stem=2, group=3, depth=4, linear=1.2, bmm=1.3, attention=2),
    "tensor": dict(wino=1.5, point=1.5, dense=1.6, stem=3, group=5, depth=8, linear=1.3, bmm=1.5, attention=2)}
BYTES = dict(depth=1.5, matrix=0.5, bn=1.2, norm=1.7, act=1.15, move=1.4, weights=1)
CONVOLUTION_BYTES = {("cores", "nchw"): 1.0, ("tensor", "nchw"): 2.5, ("tensor", "nhwc"): 1.2}


def deviation_of(unit, kind, name):
    """Of a coefficient's logarithm: how little is known of it beforehand."""
    if kind == "b":
        return 0.1 if name in ("act", "norm") else 0.3
    if (unit, kind) == ("tensor", "g") and name in ("group", "depth"):
        return 0.8 if name == "group" else 1.0
    return 0.6 if name in ("group", "depth", "stem") else 0.3


def priors(dtype):
    """{coefficient: (value, deviation of its logarithm)} for rows of "fp32", or of 16 bits."""
    unit = "cores" if dtype == "fp32" else "tensor"
    out = {}
    for (of, layout), convolution in CONVOLUTION_BYTES.items():
        moved = BYTES | {"conv": convolution, "group": convolution}
        for kind, table in (("a", FLOPS[unit]), ("g", GRADS[unit]), ("b", moved)) if of == unit else ():
            for name, value in table.items():
                if layout == "nchw" or name in model.LOCAL[kind]:
                    out[f"{kind}.{layout}.{name}"] = (value, deviation_of(unit, kind, name))
    out |= {"tile": (0.25, 0.5), "launch": (4e-6, 0.3), "overlap": (5, 0.3), "host_train": (0.8, 0.2),
            "h.hbm": (1.15, 0.03), "h.gddr6x": (1.15, 0.05), "shrink": (1.3, 0.15),
            "joules": (2.3e-12, 0.15), "joules_fp32": (FP32_JOULES, 0.05) if unit == "cores" else (16e-12, 0.1)}
    if unit == "tensor":
        out["whole"] = (1.1, 0.15)
    return out


def solve(residuals, start, iterations=30):
    """Levenberg and Marquardt's method, on differences."""
    point, errors, damping = start.copy(), residuals(start), 1e-2
    for _ in range(iterations):
        slopes = numpy.empty((len(errors), len(point)))
        for place in range(len(point)):
            moved = point.copy()
            moved[place] += 1e-4
            slopes[:, place] = (residuals(moved) - errors) / 1e-4
        normal, gradient = slopes.T @ slopes, slopes.T @ errors
        gain = 0
        for _ in range(6):
            step = -numpy.linalg.solve(normal + damping * numpy.diag(numpy.diag(normal) + 1e-9), gradient)
            after = residuals(point + numpy.clip(step, -0.7, 0.7))
            if after @ after < errors @ errors:
                gain = 1 - (after @ after) / (errors @ errors)
                point, errors, damping = point + numpy.clip(step, -0.7, 0.7), after, max(damping / 5, 1e-6)
                break
            damping *= 5
        if gain < 1e-5:
            break
    return point


def soft(errors):
    """Errors whose squares sum to the soft L1 loss."""
    return numpy.sign(errors) * numpy.sqrt(2 * (numpy.sqrt(1 + errors * errors) - 1))


def weights_of(terms):
    """Square roots of the rows' weights."""
    rows = collections.Counter(terms.card)
    return numpy.array([math.sqrt(min(CARD_ROWS / rows[card], ROW_MOST)) for card in terms.card])


def host_prior(source, loose):
    framework = "tensorflow" if " tf1" in source else "mxnet" if " mxnet" in source else "pytorch"
    value, deviation = HOST[framework]
    return value, 1.5 if loose else deviation


class Host:
    """Seconds a launch and seconds a copied byte, by source."""

    def __init__(self, launch, copy):
        self.launch, self.copy = launch, copy

    def arrays(self, terms):
        return (numpy.array([self.launch[source] for source in terms.source]),
                numpy.array([self.copy.get(source, 0) for source in terms.source]))


def fit(terms, dtype, fixed=None, loose_host=False, launches=None):
    """(coefficients, Host). With `fixed` coefficients the rows' hosts alone are fitted; with `launches` ({source: seconds}) too,
    their copies."""
    table = {} if fixed else priors(dtype)
    sources = sorted(set(terms.source))
    copying = sorted(set(terms.source[terms.copied > 0]))
    if launches is None:
        table |= {"host " + source: host_prior(source, loose_host) for source in sources}
    table |= {"copy " + source: COPY for source in copying}
    names = list(table)
    centre = numpy.array([math.log(table[name][0]) for name in names])
    deviation = numpy.array([table[name][1] for name in names])
    weights = weights_of(terms)
    index = [sources.index(source) for source in terms.source]

    def unpacked(point):
        values = dict(zip(names, numpy.exp(point)))
        launch = launches or {source: values["host " + source] for source in sources}
        return fixed or values, Host(launch, {source: values["copy " + source] for source in copying})

    def residuals(point):
        values, host = unpacked(point)
        launch = numpy.array([host.launch[source] for source in sources])[index]
        copy = numpy.array([host.copy.get(source, 0) for source in sources])[index]
        errors = numpy.log(model.step_seconds(values, terms, launch, copy) / terms.seconds) / SPREAD
        return numpy.concatenate([soft(errors) * weights, (point - centre) / deviation])

    values, host = unpacked(solve(residuals, centre) if names else centre)
    return {name: float(value) for name, value in values.items() if not name.startswith(("host ", "copy "))}, host


def typical_host(host, source):
    """Seconds a launch on a machine that nobody measured: the others' mean of logarithms, and the prior's."""
    prior = host_prior(source, False)[0]
    alike = [value for name, value in host.launch.items() if host_prior(name, False)[0] == prior]
    return math.exp(sum(map(math.log, [*alike, prior])) / (len(alike) + 1))
