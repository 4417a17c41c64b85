"""Fits the speed of text generation to published measurements, and writes results/generation.json.

    generation.py FOLDER [--out FILE]      FOLDER: decode.csv and shapes.csv, as its SOURCES.md describes them
    generation.py FOLDER --errors          how far the model errs where a chip, a card, a model or a source is left out

A step of decoding takes

    (memory^4 + products^4)^(1/4) + layers · fixed        memory = bytes read / (data sheet's bandwidth · share)
                                                          products = operations / rate
and the prompt the same with all its tokens. share, fixed and rate are those of an engine, a kind of memory (gddr, hbm, shared) and a
class of weights (16, 8 or 4 bits). rate follows the card's peak, bandwidth, power and fp32 rate, with exponents that are fitted.
Everything is a sum of logarithms with a prior each: what was not measured keeps its prior's width, and the interval shows it. A
chip has a factor of its own, and so has a source (build, host, way of measuring); one that is not known widens the interval.
"""

import argparse
import collections
import csv
import dataclasses
import json
import math
import pathlib
import statistics

import numpy

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "results"
DESCRIPTION = (
    "Coefficients of the speed of text generation (docs/generate.md), fitted by tools/calibrate/generation.py to published "
    "measurements. For an engine, a kind of memory and a class of weights: logarithms of the share of the bandwidth, of the fixed "
    "seconds a layer, and of the FLOP/s of products on the reference card, of a prompt and of a decoding step, and their covariance. "
    "Deviations are of logarithms of time.")

ENGINES = {  # a table's engine -> ours, and how several cards share a network
    "llama.cpp": ("llama.cpp", "layers"), "ollama": ("llama.cpp", "layers"), "llama.cpp-vulkan": ("llama.cpp-vulkan", "layers"),
    "vllm": ("vllm", "tensors"), "vllm-eager": ("vllm-eager", "tensors"), "tensorrt-llm": ("tensorrt-llm", "tensors"),
    "sglang": ("sglang", "tensors"), "transformers": ("pytorch", "layers"), "gpt-fast": ("gpt-fast", "tensors"),
    "torchao": ("gpt-fast", "tensors"), "mlc": ("mlc", "tensors"), "exllamav2": ("exllamav2", "layers"),
    "autoawq": ("autoawq", "layers")}
OFFERED = ("llama.cpp", "vllm", "tensorrt-llm", "sglang", "pytorch")  # by the program
KINDS, CLASSES = ("gddr", "hbm", "shared"), (16, 8, 4)
HOST_BOUND = ("pytorch", "vllm-eager")  # no graphs: each operation is launched by the host
REFERENCE = {"peak": 150e12, "bandwidth": 1e12, "power": 300, "fp32": 50e12}
EXPONENTS = {"peak": (0.4, 0.15), "bandwidth": (0.2, 0.15), "power": (0.2, 0.15), "fp32": (0.2, 0.15)}
CHIP, SOURCE, HOST, ENGINE_HOST = 0.09, 0.06, 0.25, 0.5
RATE_CHIP, RATE_SOURCE = 0.18, 0.25
FEW, MANY = 32, 512  # sequences whose products have the rate of a step, and that of a prompt
CARDS_MISSING = {  # of which the catalogue has none
    "gtx1080": {"chip": "GP104", "bytes_per_s": 320e9, "memory_kind": "gddr5x", "power_w": 180, "flops_per_s": {"fp32": 8.87e12}},
    "rtx4060-laptop": {"chip": "AD107", "bytes_per_s": 256e9, "memory_kind": "gddr6", "power_w": 115,
                       "flops_per_s": {"fp32": 15.1e12, "fp16": 30.2e12}, "flops_per_s_16bit_sum": {"fp16": 60.4e12}}}


def number(text):
    return float(text) if text else None


def class_of(bits):
    return 16 if bits > 10 else 8 if bits > 7 else 4


def head_bits(name, bits):
    """Of a weight of the output matrix."""
    if name == "q8_0":
        return 8.5
    if name.startswith("q") or name == "iq4_xs":
        return 6.56
    return 6 if name == "exl2" else 16


def catalogue():
    cards = dict(CARDS_MISSING)
    for card in json.loads((RESULTS / "gpus.json").read_text(encoding="utf-8"))["gpus"]:
        for name in [card["id"], *card.get("aliases", [])]:
            cards[name] = card
    return cards


def kind_of(card):
    kind = card["memory_kind"]
    return "hbm" if kind.startswith("hbm") else "shared" if kind.startswith("lpddr") else "gddr"


class Shape:
    """Of a language model, as shapes.csv has it."""

    def __init__(self, row):
        self.layers, self.heads, self.kv_heads, self.head = (int(row[name]) for name in ("layers", "heads", "kv_heads", "head_dim"))
        matrix = int(row["vocab"]) * int(row["d_model"])
        self.body = float(row["params_total"]) - matrix * (1 if row["tied"] == "1" else 2)
        self.matrix = matrix
        self.experts, self.taken = int(row["experts"] or 0), int(row["experts_active"] or 0)
        self.expert = 3 * int(row["d_model"]) * int(row["expert_ffn"] or 0) * self.layers  # parameters, in all layers
        if self.experts and row["model"].startswith("gpt_oss"):
            self.body = float(row["params_total"]) - 2 * matrix
        self.window = int(row["window"] or 0)
        local, whole = (int(part) for part in (row["window_pattern"] or "0:1").split(":"))
        self.local_layers = self.layers - self.layers * whole // (local + whole)
        self.is_plain = not (self.experts or self.window)

    def taken_parameters(self, tokens):
        """Of the body that a step of so many tokens reads."""
        if not self.experts:
            return self.body
        shared = self.body - self.experts * self.expert
        return shared + self.expert * self.experts * (1 - (1 - self.taken / self.experts) ** tokens)

    def products(self):
        """Parameters that a token is multiplied by."""
        return self.body - (self.experts - self.taken) * self.expert if self.experts else self.body

    def kv_bytes(self, context):
        """Of one sequence of so many tokens, in 16 bits."""
        seen = min(context, self.window) if self.window else context
        return 4 * self.kv_heads * self.head * (self.local_layers * seen + (self.layers - self.local_layers) * context)


@dataclasses.dataclass
class Row:
    engine: str
    shares: str  # how cards share: "tensors" or "layers"
    card: dict
    cards: int
    shape: Shape
    model: str
    source: str
    version: str
    gpu: str
    bits: float
    batch: float
    prompt: float
    generated: float
    context: float
    seconds: float  # a step; or the prompt
    is_prompt: bool
    with_prompt: bool  # the prompt's time is in `seconds`, over the generated tokens
    head_bits: float
    deviation: float

    @property
    def kind(self):
        return kind_of(self.card)

    @property
    def chip(self):
        return self.card["chip"]

    def bytes_of(self, tokens):
        return (self.shape.taken_parameters(tokens) * self.bits + self.shape.matrix * self.head_bits) / 8


def read(folder):
    cards = catalogue()
    with open(folder / "shapes.csv", encoding="utf-8", newline="") as file:
        shapes = {row["model"]: Shape(row) for row in csv.DictReader(file)}
    rows = []
    with open(folder / "decode.csv", encoding="utf-8", newline="") as file:
        for each in csv.DictReader(file):
            if each["model"] not in shapes or each["model"].startswith(("deepseek_v3", "qwen3_next", "qwen3_5", "llama4", "gemma4")):
                continue
            engine, shares = ENGINES[each["engine"]]
            batch, prompt, generated, depth = (number(each[name]) for name in ("batch", "prompt", "generated", "depth"))
            common = {"engine": engine, "shares": shares, "card": cards[each["gpu"]], "cards": int(each["gpus"]),
                      "shape": shapes[each["model"]], "model": each["model"], "source": each["source"], "version": each["version"],
                      "gpu": each["gpu"], "bits": float(each["weight_bits"]),
                      "head_bits": head_bits(each["weight_format"], float(each["weight_bits"]))}
            decode, tpot, prefill = (number(each[name]) for name in ("decode_tok_s", "tpot_ms", "prefill_tok_s"))
            is_open = bool(each["request_rate"])
            seconds = tpot / 1e3 if is_open and tpot else batch / decode if batch and decode and not is_open else None
            generated = generated or 128
            context = (depth if depth is not None else prompt or 0) + generated / 2
            if seconds and each["what"] != "prefill_alone":
                rows.append(Row(**common, batch=batch or 1, prompt=prompt or 0, generated=generated, context=context, seconds=seconds,
                                is_prompt=False, with_prompt=each["includes_prefill"] == "1" and not is_open and bool(prompt),
                                deviation=0.12 if (batch or 1) > 1 else 0.06 if each["what"] == "decode_alone" else 0.08))
            # A prompt of a few tokens measures launches, and AutoAWQ's goes through its kernel for single tokens.
            if prefill and prompt and prompt >= 128 and engine != "autoawq":
                rows.append(Row(**common, batch=1, prompt=prompt, generated=0, context=prompt / 2, seconds=prompt / prefill, is_prompt=True,
                                with_prompt=False, deviation=0.12))
    return rows


def logs_of(card, engine):
    rates = card["flops_per_s"]
    peak = max(rates.get("fp16", 0), rates["fp32"])
    if engine in ("llama.cpp", "llama.cpp-vulkan", "exllamav2"):  # products summed in fp16, where that is faster
        peak = max(peak, card.get("flops_per_s_16bit_sum", {}).get("fp16", 0))
    values = {"peak": peak, "bandwidth": card["bytes_per_s"], "power": card["power_w"], "fp32": rates["fp32"]}
    return {name: math.log(values[name] / REFERENCE[name]) for name in EXPONENTS}


class Names:
    """Parameters and their priors, as (mean, deviation)."""

    def __init__(self):
        self.priors = {f"exponent {name}": prior for name, prior in EXPONENTS.items()}

    def of(self, name, mean, deviation):
        self.priors.setdefault(name, (mean, deviation))
        return name

    def share(self, engine, kind, width):
        of = self.of
        return [of("share", math.log(0.70), 0.3), of(f"share {engine}", 0, 0.15), of(f"share {kind}", 0, 0.2), of(f"share {width}", 0, 0.15),
                of(f"share {engine} {kind}", 0, 0.15), of(f"share {engine} {width}", 0, 0.1), of(f"share {kind} {width}", 0, 0.1)]

    def fixed(self, engine, kind, width):
        of = self.of
        return [of("fixed", math.log(60e-6), 0.7), of(f"fixed {engine}", 0, 0.7), of(f"fixed {kind}", 0, 0.4), of(f"fixed {width}", 0, 0.3),
                of(f"fixed {engine} {width}", 0, 0.3), of(f"fixed {engine} {kind}", 0, 0.3)]

    def rate(self, engine, width, has_cores):
        of = self.of
        cores = "cores" if has_cores else "no cores"
        return [of("rate", math.log(0.45 * REFERENCE["peak"]), 0.3), of(f"rate {engine}", 0, 0.3), of(f"rate {width}", 0, 0.2),
                of(f"rate {cores}", 0, 0.3), of(f"rate {engine} {width}", 0, 0.2)]


def has_cores(card):
    return "fp16" in card["flops_per_s"]


def groups_of(row, names):
    """The parameters that add up to each of the row's logarithms: share, fixed, rate of the prompt, rate of a step, factor."""
    engine, kind, width = row.engine, row.kind, class_of(row.bits)
    of, host = names.of, ENGINE_HOST if row.engine in HOST_BOUND else HOST
    build = f"{engine} {row.source} {row.version}"
    rate = [*names.rate(engine, width, has_cores(row.card)), of(f"rate chip {row.chip}", 0, RATE_CHIP),
            of(f"rate source {row.source}", 0, RATE_SOURCE)]
    factor = [] if row.is_prompt else [of(f"chip {row.chip}", 0, CHIP), of(f"source {build}", 0, SOURCE)]
    if not row.shape.is_plain:
        factor.append(of("experts" if row.shape.experts else "window", 0, 0.3))
    cards = [of(f"cards {row.shares}", math.log(25e-6), 0.7)] if row.cards > 1 else []
    return [names.share(engine, kind, width), [*names.fixed(engine, kind, width), of(f"fixed source {build}", 0, host)], rate,
            [*rate, of("rate step", math.log(0.3), 0.3), of(f"rate step {engine}", 0, 0.3)], factor, cards]


def joined(memory, products):
    return (memory ** 4 + products ** 4) ** 0.25


def seconds_of(row, logs, exponent):
    share, fixed, rate, step_rate, factor, cards = logs
    parts = row.cards if row.shares == "tensors" else 1
    bandwidth, shape = row.card["bytes_per_s"] * math.exp(share) * parts, row.shape
    scale = math.exp(exponent) * parts
    overhead = shape.layers * (math.exp(fixed) + (math.exp(cards) if row.cards > 1 else 0))

    def prompt_s():
        tokens = row.prompt
        work = 2 * tokens * shape.products() + 2 * shape.layers * shape.heads * shape.head * tokens ** 2 + 2 * shape.matrix
        return joined(row.bytes_of(tokens) / bandwidth, work * row.batch / (math.exp(rate) * scale)) + overhead

    if row.is_prompt:
        return prompt_s() * math.exp(factor)
    work = row.batch * (2 * (shape.products() + shape.matrix) + 4 * shape.layers * shape.heads * shape.head * row.context)
    read_bytes = row.bytes_of(row.batch) + row.batch * shape.kv_bytes(row.context)
    prompts = min(1, max(0, math.log(row.batch / FEW) / math.log(MANY / FEW)))
    step = (joined(read_bytes / bandwidth, work / (math.exp(step_rate + prompts * (rate - step_rate)) * scale)) + overhead) * math.exp(factor)
    return step + (prompt_s() / row.generated if row.with_prompt else 0)


def linearised(row, groups, values, known=None):
    """The logarithm of the row's seconds, and its derivative by each parameter. known: parameters that count; others are 0."""
    exponent_logs = logs_of(row.card, row.engine)
    exponent = sum(values[f"exponent {name}"] * log for name, log in exponent_logs.items())
    logs = [sum(values[name] for name in group if known is None or name in known) for group in groups]
    base = math.log(seconds_of(row, logs, exponent))
    slopes = collections.Counter()
    for index, group in enumerate(groups):
        moved = [log + (1e-4 if at == index else 0) for at, log in enumerate(logs)]
        slope = (math.log(seconds_of(row, moved, exponent)) - base) / 1e-4 if group else 0
        for name in group:
            slopes[name] += slope
    slope = (math.log(seconds_of(row, logs, exponent + 1e-4)) - base) / 1e-4
    for name, log in exponent_logs.items():
        slopes[f"exponent {name}"] += slope * log
    return base, slopes


class Fit:
    """Maximum a posteriori, rows that err much counting less (Student's t with 5 degrees of freedom)."""

    def __init__(self, rows):
        self.names, self.rows = Names(), rows
        groups = [groups_of(row, self.names) for row in rows]
        self.index = {name: at for at, name in enumerate(self.names.priors)}
        mean, deviation = (numpy.array(column) for column in zip(*self.names.priors.values()))
        values = mean.astype(float)
        measured, deviations = numpy.log([row.seconds for row in rows]), numpy.array([row.deviation for row in rows])
        for _ in range(60):
            by_name = dict(zip(self.index, values))
            slopes, rests = numpy.zeros((len(rows), len(values))), numpy.zeros(len(rows))
            for at, (row, group) in enumerate(zip(rows, groups)):
                base, derivative = linearised(row, group, by_name)
                rests[at] = measured[at] - base
                for name, slope in derivative.items():
                    slopes[at, self.index[name]] = slope
            weights = 6 / (5 + (rests / deviations) ** 2) / deviations ** 2
            normal = slopes.T @ (weights[:, None] * slopes) + numpy.diag(deviation ** -2.0)
            step = numpy.linalg.solve(normal, slopes.T @ (weights * rests) - (values - mean) / deviation ** 2)
            largest = numpy.abs(step).max()
            values += step * min(1, 0.7 / largest)
            if largest < 1e-4:
                break
        self.values, self.covariance = dict(zip(self.index, values)), numpy.linalg.inv(normal)

    def value(self, name):
        return self.values.get(name, self.names.priors[name][0])

    def deviation_of(self, slopes):
        """Of a sum of parameters, those that no row has at their priors' deviations."""
        known, unknown = numpy.zeros(len(self.index)), 0.0
        for name, slope in slopes.items():
            if name in self.index:
                known[self.index[name]] += slope
            else:
                unknown += (slope * self.names.priors[name][1]) ** 2
        return math.sqrt(known @ self.covariance @ known + unknown)

    def predict(self, row):
        """As the program does: the source is not known. Returns the logarithm of the seconds and its deviation."""
        groups = groups_of(row, self.names)
        groups = [[name.replace(f" {row.source}", " not known") if "source" in name else name for name in group] for group in groups]
        for group in groups:
            for name in group:
                self.names.of(name, 0, RATE_SOURCE if name.startswith("rate") else (ENGINE_HOST if row.engine in HOST_BOUND else HOST)
                              if name.startswith("fixed") else SOURCE)
        values = collections.defaultdict(float, {name: self.value(name) for group in groups for name in group} |
                                         {f"exponent {name}": self.value(f"exponent {name}") for name in EXPONENTS})
        base, slopes = linearised(row, groups, values)
        return base, math.hypot(self.deviation_of(slopes), row.deviation)


def combination(fit, engine, kind, width, cores):
    """Logarithms of share, fixed, rate of a prompt and of a step; and their covariance."""
    lists = [fit.names.share(engine, kind, width), fit.names.fixed(engine, kind, width), fit.names.rate(engine, width, cores)]
    lists.append([*lists[2], "rate step", fit.names.of(f"rate step {engine}", 0, 0.3)])
    means = [sum(fit.value(name) for name in each) for each in lists]
    size = len(lists)
    covariance = numpy.zeros((size, size))
    for one in range(size):
        for two in range(one + 1):
            counts = [collections.Counter(lists[at]) for at in (one, two)]
            total = sum(fit.covariance[fit.index[a], fit.index[b]] for a in counts[0] for b in counts[1] if a in fit.index and b in fit.index)
            total += sum(fit.names.priors[a][1] ** 2 for a in counts[0] if a in counts[1] and a not in fit.index)
            covariance[one, two] = covariance[two, one] = total
    return means, covariance


def rounded(value):
    return float(f"{value:.4g}")


def document(rows):
    fit = Fit(rows)
    combinations = []
    for engine in OFFERED:
        for kind in KINDS:
            for width in CLASSES:
                measured = [row for row in rows if (row.engine, row.kind, class_of(row.bits)) == (engine, kind, width)]
                for cores in (True, False) if kind == "gddr" else (True,):
                    means, covariance = combination(fit, engine, kind, width, cores)
                    combinations.append({
                        "engine": engine, "memory": kind, "bits": width, "tensor_cores": cores,
                        "rows": sum(has_cores(row.card) == cores for row in measured),
                        "logs": [rounded(value) for value in means],
                        "covariance": [[rounded(value) for value in line] for line in covariance]})
    chips = {}
    for chip in sorted({row.chip for row in rows if not row.is_prompt}):
        name = f"chip {chip}"
        chips[chip] = {"log": rounded(fit.value(name)), "deviation": rounded(fit.deviation_of({name: 1}))}
        name = f"rate chip {chip}"
        chips[chip] |= {"rate_log": rounded(fit.value(name)) if name in fit.index else 0,
                        "rate_deviation": rounded(fit.deviation_of({name: 1})) if name in fit.index else RATE_CHIP}
    counts = collections.Counter(row.source for row in rows)
    return {"schema": "bench-generation/1", "description": DESCRIPTION,
            "sources": [{"source": source, "rows": counts[source]} for source in sorted(counts)],
            "reference": REFERENCE, "exponents": {name: rounded(fit.value(f"exponent {name}")) for name in EXPONENTS},
            "deviations": {"chip": CHIP, "rate_chip": RATE_CHIP, "source": SOURCE, "rate_source": RATE_SOURCE, "host": HOST,
                           "host_without_graphs": ENGINE_HOST, "rest": 0.08, "rest_batches": 0.12, "rest_prompt": 0.12},
            "experts": {"log": rounded(fit.value("experts")), "deviation": rounded(fit.deviation_of({"experts": 1}))},
            "window": {"log": rounded(fit.value("window")), "deviation": rounded(fit.deviation_of({"window": 1}))},
            "cards_log": {shares: rounded(fit.values.get(f"cards {shares}", math.log(25e-6))) for shares in ("tensors", "layers")},
            "chips": chips, "combinations": combinations}


def text_of(result):
    """JSON, a chip and a combination a line."""
    lines = []
    for key, value in result.items():
        if key == "combinations" or key == "sources":
            lines.append(f'  "{key}": [\n' + ",\n".join("    " + json.dumps(each) for each in value) + "\n  ]")
        elif key == "chips":
            lines.append(f'  "{key}": {{\n' + ",\n".join(f"    {json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()) + "\n  }")
        else:
            lines.append(f'  "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def errors_table(rows):
    def says(row, is_prompt=False, batched=False, kind=None, engine=None):
        return (row.is_prompt == is_prompt and (is_prompt or (row.batch > 1) == batched) and (kind is None or row.kind == kind) and
                (engine is None or row.engine in engine))

    what = [("decoding, batch 1, plain networks, GDDR", dict(kind="gddr")), ("the same, llama.cpp", dict(kind="gddr", engine=("llama.cpp",))),
            ("decoding, batch 1, plain networks, HBM", dict(kind="hbm")), ("the same, llama.cpp", dict(kind="hbm", engine=("llama.cpp",))),
            ("the same, engines with graphs", dict(kind="hbm", engine=("vllm", "sglang", "tensorrt-llm", "gpt-fast"))),
            ("the same, eager", dict(kind="hbm", engine=HOST_BOUND)), ("decoding, shared memory", dict(kind="shared")),
            ("decoding, batches", dict(batched=True)), ("prompts", dict(is_prompt=True))]
    print("| left out | what | rows | error, median / p90 | 80 % intervals hold | half-width |\n| --- | --- | --- | --- | --- | --- |")
    for title, key in (("chip", lambda row: row.chip), ("card", lambda row: row.gpu), ("model", lambda row: row.model),
                       ("source", lambda row: row.source)):
        answers = []
        for value in sorted({key(row) for row in rows}):
            fit = Fit([row for row in rows if key(row) != value])
            answers += [(row, *fit.predict(row)) for row in rows if key(row) == value]
        for label, filters in what:
            chosen = [(base - math.log(row.seconds), deviation) for row, base, deviation in answers
                      if says(row, **filters) and row.cards == 1 and (row.shape.is_plain or filters.get("batched") or filters.get("is_prompt"))]
            if not chosen:
                continue
            off = sorted(math.exp(abs(error)) - 1 for error, _ in chosen)
            held = sum(abs(error) < 1.2816 * deviation for error, deviation in chosen)
            width = math.exp(1.2816 * statistics.median(deviation for _, deviation in chosen)) - 1
            print(f"| {title} | {label} | {len(chosen)} | {100 * statistics.median(off):.1f} / {100 * off[math.ceil(0.9 * len(off)) - 1]:.0f} % "
                  f"| {100 * held / len(chosen):.0f} % | {100 * width:.0f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS / "generation.json")
    parser.add_argument("--errors", action="store_true")
    options = parser.parse_args()
    rows = read(options.folder)
    if options.errors:
        errors_table(rows)
    else:
        options.out.write_text(text_of(document(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
