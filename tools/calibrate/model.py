"""The time of a network's step on a card, from the step's terms (features.py) and the card's data sheet.

    gpu  = Σ (flops·a + grads·g) / P  +  Σ bytes·b / (W·h)  +  tile·q·SMs / P  +  launches·launch
    host = launches·host_launch · (host_train in training)
    step = copy + (gpu^n + host^n)^(1/n)

P is what the card sustains: (peak^-8 + cap^-8)^(-1/8), cap = power / (joules·(process/12 nm)^shrink). W is the memory's
bandwidth, h depends on the memory's kind. Depthwise convolutions run on the fp32 cores in every dtype. `a`, `g` and `b` depend on
the class and on the layout. `host_launch` belongs to the machine, not to the card; so does `copy`, the time to copy the batch to
the card where the measurement includes it.
"""

import numpy

FLOPS = ("wino", "point", "dense", "stem", "group", "depth", "linear", "bmm", "attention")
BYTES = ("conv", "group", "depth", "matrix", "bn", "norm", "act", "move", "weights")
LAYOUTS = ("nchw", "nhwc")
LOCAL = {"a": ("wino", "point", "dense", "group", "depth"), "g": ("wino", "point", "dense", "group", "depth"),
         "b": ("conv", "group", "depth", "bn", "norm", "act", "move")}  # classes that differ between layouts
LANGUAGE_SOURCES = ("neusight", "mli")
SHARP = 4  # how suddenly power limits the peak
# Joules a byte: O'Connor et al., Fine-Grained DRAM (MICRO 2017), give 3.9 pJ a bit of HBM2; GDDR6 takes about 7.5 (Micron).
MEMORY_JOULES = {"hbm": 31e-12, "other": 60e-12}
TENSOR_DTYPES = {"amp": "fp16", "fp16": "fp16", "bf16": "bf16", "tf32": "tf32"}


class Terms:
    """Terms of many rows, as arrays. `steps`: a Step for each row."""

    def __init__(self, rows, steps):
        terms = [step.at(row.batch) for row, step in zip(rows, steps)]
        cards = [row.card for row in rows]
        column = lambda names, prefix: numpy.array([[term[prefix + name] for name in names] for term in terms], float)
        array = lambda values: numpy.array(list(values), float)
        self.rows = list(rows)
        self.flops, self.grads, self.bytes = column(FLOPS, "flops."), column(FLOPS, "grads."), column(BYTES, "bytes.")
        self.launches, self.tile = array(term["launches"] for term in terms), array(term["tile"] for term in terms)
        self.seconds = array(row.seconds for row in rows)
        self.multiprocessors = array(card.multiprocessors for card in cards)
        self.power, self.process = array(card.power_w for card in cards), array(card.process_nm for card in cards)
        self.core_power = array(compute_power(card) for card in cards)
        self.bandwidth = array(card.bytes_per_s for card in cards)
        self.peak32 = array(card.peak("fp32") for card in cards)
        self.peak = array(row.card.peak(TENSOR_DTYPES.get(row.dtype, row.dtype)) for row in rows)
        self.tensor = numpy.array([TENSOR_DTYPES.get(row.dtype) in row.card.flops_per_s for row in rows], bool)
        self.train = numpy.array([row.mode == "train" for row in rows], bool)
        self.nhwc = numpy.array([row.layout == "nhwc" for row in rows], bool)
        self.whole = numpy.array([row.dtype == "fp16" and not is_language(row) for row in rows], bool)
        self.blocking = numpy.array([row.framework == "tensorflow" for row in rows], bool)
        self.memory = numpy.array([memory_class(card) for card in cards])
        self.copied = array(copied_bytes(row) for row in rows)
        self.card = numpy.array([card.id for card in cards])
        self.chip = numpy.array([card.chip for card in cards])
        self.source = numpy.array([row.source for row in rows])

    def __len__(self):
        return len(self.rows)

    def where(self, mask):
        part = object.__new__(Terms)
        for name, value in self.__dict__.items():
            setattr(part, name, value[mask] if isinstance(value, numpy.ndarray)
                    else [row for row, keep in zip(value, mask) if keep])
        return part


def is_language(row):
    """A language model, or a layer of one: its image's size is a count of tokens."""
    return row.source.startswith(LANGUAGE_SOURCES)


def memory_class(card):
    """HBM since Volta and GDDR6X reach more of their bandwidth than other memories."""
    if card.memory_kind.startswith("hbm"):
        return "hbm" if card.compute_capability >= 70 else "other"
    return "gddr6x" if card.memory_kind in ("gddr6x", "gddr7") else "other"


def compute_power(card):
    """Watts that the memory leaves at its full bandwidth."""
    return card.power_w - card.bytes_per_s * MEMORY_JOULES["hbm" if card.memory_kind.startswith("hbm") else "other"]


def copied_bytes(row):
    """Of the batch, where the measured step copies it to the card."""
    pixels = 3 * row.batch * row.image ** 2
    return pixels * (2 if row.dtype == "fp16" else 4) if row.source.startswith("ryujaehun") else 0


def coefficient(values, kind, layout, name):
    return values.get(f"{kind}.{layout}.{name}", values[f"{kind}.nchw.{name}"])


def sustained(peak, power, process, joules, shrink):
    """`power`: what the memory leaves."""
    cap = power / (joules * (process / 12) ** shrink)
    return (peak ** -SHARP + cap ** -SHARP) ** (-1 / SHARP)


def gpu_seconds(values, terms):
    """Of each row. `values`: coefficients by name."""
    cores = sustained(terms.peak32, terms.core_power, terms.process, values["joules_fp32"], values["shrink"])
    tensor = sustained(terms.peak, terms.power, terms.process, values["joules"], values["shrink"])
    fast = numpy.where(terms.tensor, tensor, cores)
    bandwidth = terms.bandwidth * numpy.where(terms.memory == "hbm", values["h.hbm"],
                                              numpy.where(terms.memory == "gddr6x", values["h.gddr6x"], 1))
    seconds = numpy.zeros(len(terms))
    depth = FLOPS.index("depth")
    for layout in LAYOUTS:
        pick = terms.nhwc == (layout == "nhwc")
        if not pick.any():
            continue
        work = (terms.flops[pick] * [coefficient(values, "a", layout, name) for name in FLOPS]
                + terms.grads[pick] * [coefficient(values, "g", layout, name) for name in FLOPS])
        moved = terms.bytes[pick] @ numpy.array([coefficient(values, "b", layout, name) for name in BYTES])
        seconds[pick] = (work.sum(1) - work[:, depth]) / fast[pick] + work[:, depth] / cores[pick] + moved / bandwidth[pick]
    seconds += terms.tile * values["tile"] * terms.multiprocessors / fast + terms.launches * values["launch"]
    return seconds * numpy.where(terms.whole, values.get("whole", 1), 1)


def power_shares(values, terms):
    """How far the logarithm of each row's GPU time moves with that of what power allows: a card that it limits clocks lower as a
    whole."""
    peak = numpy.where(terms.tensor, terms.peak, terms.peak32)
    power = numpy.where(terms.tensor, terms.power, terms.core_power)
    joules = numpy.where(terms.tensor, values["joules"], values["joules_fp32"])
    cap = power / (joules * (terms.process / 12) ** values["shrink"])
    return (sustained(peak, power, terms.process, joules, values["shrink"]) / cap) ** SHARP


def host_seconds(values, terms, host):
    """`host`: seconds a launch of each row's machine."""
    return terms.launches * host * numpy.where(terms.train, values["host_train"], 1)


def step_seconds(values, terms, host, copy):
    """`copy`: seconds a byte."""
    power = numpy.where(terms.blocking, 1.0, values["overlap"])
    gpu, cpu = gpu_seconds(values, terms), host_seconds(values, terms, host)
    return terms.copied * copy + (gpu ** power + cpu ** power) ** (1 / power)
