"""How far the model errs on cards and networks that it has not seen: the table of docs/predict-model.md.

    evaluate.py FOLDER [--modern FOLDER] [--cards] [--networks]

FOLDER holds the tables of published measurements (tables.py). Each row leaves a family of cards out (all cards of a chip): the
mean of the error's size over the rows of a card, then over the cards. Takes a minute.
"""

import argparse
import dataclasses
import pathlib
import re

import numpy

import compiled
import evidence
import fit
import leave_out
import memory
import model
import networks
import products
import spreads
import tables
import transformers

SETS = {"fp32": ("fp32",), "16bit": ("amp", "fp16")}
KNOWN = {"nothing": "host and copy unknown", "copy": "host unknown", "host": "host known"}
REFERENCE = ("resnet50", "tv_resnet50")  # at 224 pixels: the one measurement on the target


@dataclasses.dataclass
class Line:
    what: str
    rows: int
    cards: int
    value: str
    goal: str = ""


def measured(folder):
    """(rows with known layers, layers)."""
    layers = networks.read_layers(folder)
    cards = tables.read_cards()
    rows = (tables.read_networks(folder, cards) + transformers.read(folder, cards, layers)
            + transformers.read_layers(cards, layers))
    return [row for row in rows if (row.network, row.image) in layers], layers


def rows_of(rows, name):
    """Those that a set of coefficients is for. Before tensor cores 16 bits are another arithmetic; other frameworks fuse."""
    wanted = [row for row in rows if row.dtype in SETS[name] and not row.compiled]
    if name == "fp32":
        return wanted
    return [row for row in wanted if row.card.compute_capability >= 70 and row.framework == "pytorch"]


def by_card(rows, errors):
    """{card id: mean of the relative error's size} of log errors."""
    names = numpy.array([row.card.id for row in rows])
    return {name: float(numpy.mean(abs(numpy.expm1(errors[names == name])))) for name in sorted(set(names))}


def chosen(left_out, mode, dtype, language=False):
    """Rows of image networks, or of language models."""
    return numpy.array([row.mode == mode and row.dtype == dtype and model.is_language(row) == language
                        for row in left_out.terms.rows])


def error_line(what, left_out, mode, dtype, goal="", language=False):
    pick = chosen(left_out, mode, dtype, language)
    rows = [row for row, keep in zip(left_out.terms.rows, pick) if keep]
    cards = by_card(rows, left_out.log_errors()[pick])
    values = list(cards.values())
    return Line(what, len(rows), len(cards),
                f"{100 * numpy.mean(values):.1f} % ({100 * min(values):.0f} to {100 * max(values):.0f})", goal)


def roofline_errors(terms):
    """Of the larger of FLOPs at the data sheet's peak and bytes at its bandwidth."""
    seconds = numpy.maximum((terms.flops + terms.grads).sum(1) / terms.peak, terms.bytes.sum(1) / terms.bandwidth)
    return numpy.log(seconds / terms.seconds)


def after_one_measurement(left_out, mode, dtype):
    """(rows, log errors) once the same machine's ResNet-50, in the same layout, has scaled its card's predictions."""
    terms, errors = left_out.terms, left_out.log_errors()
    rows, out = [], []
    for row, error in zip(terms.rows, errors):
        if (row.mode, row.dtype) != (mode, dtype) or row.network in REFERENCE:
            continue
        seen = [errors[place] for place, other in enumerate(terms.rows)
                if other.network in REFERENCE and other.image == 224 and other.source == row.source
                and (other.mode, other.dtype, other.layout) == (mode, dtype, row.layout)]
        if seen:
            rows.append(row)
            out.append(error - numpy.mean(seen))
    return rows, numpy.array(out)


def saturation(left_out):
    """(curves, those whose first batch of 95 % of the best throughput is predicted within one power of two)."""
    curves = {}
    for row, seconds in zip(left_out.terms.rows, left_out.seconds):
        if row.framework == "pytorch":
            curves.setdefault((row.source, row.network, row.mode, row.dtype), []).append(
                (row.batch, row.batch / row.seconds, row.batch / seconds))
    curves = [sorted(curve) for curve in curves.values() if len(curve) > 5 and len({batch for batch, *_ in curve}) == len(curve)]

    def first(curve, column):
        best = max(point[column] for point in curve)
        return next(point[0] for point in curve if point[column] >= 0.95 * best)

    close = sum(0.5 <= first(curve, 1) / first(curve, 2) <= 2 for curve in curves)
    return len(curves), close


def memory_line(rows, layers):
    """Each half of the networks with the slack of the other."""
    ceiling = memory.ceiling_rows(rows)
    names = sorted({row.network for row in ceiling})
    counts = numpy.zeros(3, int)
    for side in (0, 1):
        mine = [row for row in ceiling if names.index(row.network) % 2 == side]
        slack, _, high = memory.calibrate([row for row in ceiling if names.index(row.network) % 2 != side], layers)
        counts += memory.judge(mine, layers, slack, high)
    inside, above, below = 100 * counts / counts.sum()
    return Line("largest safe training batch on 24 GB: in [batch, next rung) / above / below", len(ceiling), 1,
                f"{inside:.0f} / {above:.1f} / {below:.0f} %", "≥ 85 % in, ≤ 2 % above")


def interval_line(what, fitted, known, host_known, power, language=False):
    shares, widths, rows = zip(*(line for left_out in fitted
                                 for line in spreads.coverage(left_out, known, host_known, language, power).values()))
    return Line(what, sum(rows), len(shares), f"{100 * numpy.mean(shares):.0f} / {100 * min(shares):.0f} %; "
                f"±{100 * numpy.median(widths):.0f} %", "75–90 / ≥ 60 %; ≤ 30 %" if host_known else "reported")


def pair_line(what, known):
    count, decided, right = spreads.decide_pairs(known, numpy.array([row.seconds for row in known.rows]))
    return Line(what, count, len(set(known.card)), f"{100 * decided / count:.0f} / {100 * right / max(decided, 1):.1f} %",
                "≥ 50 / ≥ 95 %")


UNSEEN = (("fp32", "infer", "fp32", "fp32 inference"), ("fp32", "train", "fp32", "fp32 training"),
          ("16bit", "infer", "amp", "autocast inference"), ("16bit", "train", "fp16", "16-bit training, cast whole"),
          ("16bit", "train", "amp", "16-bit training, autocast"))


def unseen_lines(unseen):
    """Neither the card's family seen, nor the network's. `unseen`: LeftOut by set."""
    return [error_line(f"{what}, no network of the family seen either, host known", unseen[name], mode, dtype, "reported")
            for name, mode, dtype, what in UNSEEN]


def networks_table(unseen):
    """The families of networks that err most."""
    out = []
    for name, mode, dtype, what in UNSEEN:
        pick = chosen(unseen[name], mode, dtype)
        rows = [row for row, keep in zip(unseen[name].terms.rows, pick) if keep]
        families = {}
        for row, error in zip(rows, unseen[name].log_errors()[pick]):
            families.setdefault(leave_out.network_family(row), []).append(100 * abs(numpy.expm1(error)))
        worst = sorted(families, key=lambda family: -numpy.mean(families[family]))[:8]
        out.append(f"{what}: " + ", ".join(f"{family} {numpy.mean(families[family]):.0f} %" for family in worst))
    return "\n".join(out)


def tf32_rows(rows):
    return [row for row in rows if row.dtype == "tf32" and row.framework == "pytorch" and not row.compiled]


def tf32_left_out(terms, half):
    """By the coefficients of 16 bits, whose fit has seen no row of tf32."""
    seconds = numpy.zeros(len(terms))
    for chip in sorted(set(terms.chip)):
        pick = terms.chip == chip
        seconds[pick] = leave_out.predict_family(half.fits[chip], fit.Host({}, {}), terms.where(pick), "host")
    return leave_out.LeftOut(terms, seconds, half.fits)


def tf32_lines(rows, layers, half):
    left_out = tf32_left_out(leave_out.terms_of(tf32_rows(rows), layers), half)
    return [error_line(f"tf32 {what}, host known", left_out, mode, "tf32", "reported")
            for what, mode in (("inference", "infer"), ("training", "train"))]


def evidence_lines(terms, tf32_errors):
    """What was left out of the fit, with the other chips in it: the error of what nobody measured."""
    out = []
    for dimension, each in evidence.unmeasured(terms, tf32_errors).items():
        errors = {what: 100 * float(numpy.quantile(numpy.expm1(abs(logs)), 0.8)) for what, logs in each.items()}
        out.append(Line(f"{dimension} left out of the fit, host known: 80 % err by less than", sum(map(len, each.values())),
                        len(each), ", ".join(f"{what} {error:.0f} %" for what, error in errors.items()), "reported"))
    return out


def compiled_line(rows, layers, terms):
    """`terms`: of 16 bits, eager; their fit has seen the card."""
    eager = fit.fit(terms, "16bit")[0]
    left_out = compiled.leave_networks_out(eager, compiled.channels_last(leave_out.terms_of(compiled.rows_of(rows), layers)))
    return error_line("autocast inference, compiled; the card was seen, no network of the family", left_out, "infer", "amp",
                      "reported")


def percent(values):
    return f"{100 * numpy.mean(list(values)):.1f} %"


def network_lines(full, half):
    """Errors of steps: `full` and `half` are fp32's and 16 bits' LeftOut by what is known of the host."""
    out = [error_line(f"fp32 inference, {KNOWN[known]}", full[known], "infer", "fp32", goal)
           for known, goal in (("nothing", ""), ("copy", "≤ 14 %"), ("host", "≤ 12 %"))]
    out.append(error_line("autocast inference, host unknown", half["copy"], "infer", "amp", "≤ 15 %"))
    out += [error_line(f"fp32 training, {KNOWN[known]}", full[known], "train", "fp32", "≤ 14 %") for known in ("copy", "host")]
    out += [error_line(f"16-bit training, cast whole, {KNOWN[known]}", half[known], "train", "fp16", "≤ 18 %")
            for known in ("copy", "host")]
    out.append(error_line("16-bit training, autocast, host unknown", half["copy"], "train", "amp", "reported"))
    out.append(error_line("16-bit inference, cast whole, host known", half["host"], "infer", "fp16", "reported"))
    out += [error_line(f"fp32 {what} of language models, host unknown", full["copy"], mode, "fp32", "reported", True)
            for what, mode in (("inference", "infer"), ("training", "train"))]
    for what, fitted, dtype, goal in (("fp32", full["copy"], "fp32", "≤ 8 %"), ("autocast", half["copy"], "amp", "≤ 10 %")):
        seen, errors = after_one_measurement(fitted, "infer", dtype)
        cards = by_card(seen, errors)
        out.append(Line(f"{what} inference, ResNet-50 measured on the target", len(seen), len(cards), percent(cards.values()),
                        goal))
    return out


def comparison_lines(left_out):
    """Of fp32 inference: the data sheet's roofline, and two sources of one card, network and batch."""
    pick = chosen(left_out, "infer", "fp32")
    rows = [row for row, keep in zip(left_out.terms.rows, pick) if keep]
    cards = by_card(rows, roofline_errors(left_out.terms)[pick])
    times = {}
    for row in rows:
        times.setdefault((row.card.id, row.network, row.batch), []).append(row.seconds)
    apart = {}
    for (card, *_), seconds in times.items():
        if len(seconds) > 1:
            apart.setdefault(card, []).append(max(seconds) / min(seconds))
    return [Line("roofline alone, fp32 inference", len(rows), len(cards), percent(cards.values()), "for comparison"),
            Line("two sources of one card, network and batch, fp32 inference: ratio of their times",
                 sum(map(len, apart.values())), len(apart),
                 ", ".join(f"{card} {numpy.median(ratios):.2f}" for card, ratios in apart.items()), "the noise floor")]


def product_lines(folder, modern):
    measured, out = products.read(folder, modern, tables.read_cards()), []
    for unit, what, goal in (("tensor", "16-bit products", "≤ 6 %"), ("cores", "fp32 products, Volta to A100", "reported")):
        left_out = products.leave_cards_out(measured[unit], unit)
        errors = [float(numpy.median(abs(ratios - 1))) for _, ratios in left_out]
        out.append(Line(f"{what}, median", sum(len(ratios) for _, ratios in left_out), len({each.card.id for each, _ in left_out}),
                        f"{percent(errors)} ({100 * min(errors):.1f} to {100 * max(errors):.1f})", goal))
    return out


def decision_lines(fits):
    """Intervals, pairs of cards and saturation batches."""
    known = [fitted["host"] for fitted in fits.values()]
    full = fits["fp32"]["host"]
    power = evidence.power_spread(next(iter(full.fits.values())), full.terms)
    image, every = spreads.joined(known), spreads.joined(known, None)
    cover, decided = "80 % intervals, {}: cover, mean / worst card; median half-width", "pairs of cards of different families{}: " \
        "decided / right where decided"
    out = [interval_line(cover.format(KNOWN[host]), [fitted[host] for fitted in fits.values()], image, host == "host", power)
           for host in ("copy", "host")]
    out.append(interval_line(cover.format("host known, language models too"), known, every, True, power, None))
    out += [pair_line(decided.format(""), image), pair_line(decided.format(", language models too"), every)]
    curves = [saturation(fitted["copy"]) for fitted in fits.values()]
    count = sum(number for number, _ in curves)
    out.append(Line("saturation batch within one power of two", count, 2, f"{sum(close for _, close in curves)} of {count}",
                    "all"))
    return out


def lines_of(folder, modern):
    """(table's lines, LeftOut by set and by what is known of the host, LeftOut by set of families and networks)."""
    rows, layers = measured(folder)
    terms = {name: leave_out.terms_of(rows_of(rows, name), layers) for name in SETS}
    fits = {name: leave_out.leave_families_out(terms[name], name) for name in SETS}
    lines = network_lines(fits["fp32"], fits["16bit"]) + tf32_lines(rows, layers, fits["16bit"]["host"])
    unseen = {name: leave_out.leave_families_and_networks_out(terms[name], name) for name in SETS}
    lines.append(compiled_line(rows, layers, terms["16bit"]))
    tf32 = tf32_left_out(leave_out.terms_of(tf32_rows(rows), layers), fits["16bit"]["host"])
    lines += evidence_lines(terms, tf32.log_errors())
    lines += unseen_lines(unseen) + comparison_lines(fits["fp32"]["host"])
    return lines + [*product_lines(folder, modern), *decision_lines(fits), memory_line(rows, layers)], fits, unseen


def misses(value, goal):
    """Whether a figure lies beyond its bound: both stand in the same order. What is in brackets has none."""
    figures = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", re.sub(r"\(.*?\)", "", value))]
    if goal == "all":
        return figures[0] < figures[1]
    bounds = re.findall(r"(≤|≥|\d+–)\s*(\d+)", goal)
    return any(figure < float(bound) if sign == "≥" else
               figure > float(bound) or (sign != "≤" and figure < float(sign[:-1]))
               for figure, (sign, bound) in zip(figures, bounds))


def table(lines):
    head = ["| what | rows | cards | measured | goal |", "| --- | --- | --- | --- | --- |"]
    return "\n".join(head + [f"| {line.what} | {line.rows} | {line.cards} | {line.value} | {line.goal}"
                             f"{', missed' if misses(line.value, line.goal) else ''} |" for line in lines])


def cards_table(fits):
    out = ["| card | set | mode, dtype | rows | error | bias |", "| --- | --- | --- | --- | --- | --- |"]
    for name, fitted in fits.items():
        rows, errors = fitted["host"].terms.rows, fitted["host"].log_errors()
        keys = numpy.array([f"{row.card.id} | {name} | {row.mode}, {row.dtype}" for row in rows])
        for key in sorted(set(keys)):
            pick = errors[keys == key]
            out.append(f"| {key} | {len(pick)} | {100 * numpy.mean(abs(numpy.expm1(pick))):.0f} % "
                       f"| {numpy.exp(numpy.median(pick)):.2f} |")
    return "\n".join(out)


def add_modern(parser):
    parser.add_argument("--modern", type=pathlib.Path, help="tables of products of current cards (default: modern next to the folder)")


def modern_of(options):
    return options.modern or options.folder.resolve().parent / "modern"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="tables of published measurements")
    add_modern(parser)
    parser.add_argument("--cards", action="store_true", help="each card's error too, host known")
    parser.add_argument("--networks", action="store_true", help="the families of networks that err most, unseen, too")
    options = parser.parse_args()
    lines, fits, unseen = lines_of(options.folder, modern_of(options))
    print(table(lines))
    if options.networks:
        print("\n" + networks_table(unseen))
    if options.cards:
        print("\n" + cards_table(fits))


if __name__ == "__main__":
    main()
