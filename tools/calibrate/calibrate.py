"""Fits the model of eager PyTorch's step times and memory to published measurements, and writes results/calibration.json.

    calibrate.py FOLDER [--modern FOLDER] [--out FILE]

Run by hand when tables or the model change; evaluate.py says how far the result errs. The program reads the file alone.
"""

import argparse
import collections
import json
import pathlib

import compiled
import evaluate
import evidence
import fit
import leave_out
import memory
import model
import products
import spreads
import tables

OUT = pathlib.Path(__file__).resolve().parents[2] / "results" / "calibration.json"
DESCRIPTION = (
    "Coefficients of the model of eager PyTorch's step time and memory (docs/predict-model.md), fitted by tools/calibrate to published "
    "measurements. flops, grads: how many times longer than at the sustained peak; bytes: than at the memory's bandwidth, which is "
    "that of the data sheet times bandwidth. _s: seconds; joules: of an operation at 12 nm, above which power limits the peak. "
    "spread: deviations of the logarithm of predicted over measured time, for families of cards that the fit had not seen.")


def rounded(value):
    return float(f"{value:.4g}")


def by_layout(values, kind, names):
    return {layout: {name: rounded(model.coefficient(values, kind, layout, name)) for name in names}
            for layout in model.LAYOUTS}


def coefficients_of(values, host):
    return {
        "flops": by_layout(values, "a", model.FLOPS), "grads": by_layout(values, "g", model.FLOPS),
        "bytes": by_layout(values, "b", model.BYTES),
        "bandwidth": {"hbm": rounded(values["h.hbm"]), "gddr6x": rounded(values["h.gddr6x"]), "other": 1},
        "tile": rounded(values["tile"]), "launch_s": rounded(values["launch"]), "overlap": rounded(values["overlap"]),
        "joules": rounded(values["joules"]), "joules_fp32": rounded(values["joules_fp32"]), "shrink": rounded(values["shrink"]),
        "cast_whole": rounded(values.get("whole", 1)), "host_train": rounded(values["host_train"]),
        "host_launch_s": rounded(fit.typical_host(host, "pytorch")),
    }


def sources_of(rows):
    count = collections.Counter(row.source for row in rows if row.framework == "pytorch")
    return [{"source": name, "rows": count[name]} for name in sorted(count)]


def products_document(folder, modern):
    measured, large = products.read(folder, modern, tables.read_cards()), products.read_large()
    document = {"cards": sorted({each.card.id for unit in products.PRIORS for each in measured[unit]})}
    fitted, left_out, widths = {}, {}, {}
    for unit in products.PRIORS:
        each = measured[unit]
        fitted[unit], left_out[unit] = products.calibrate(each, unit), products.leave_cards_out(each, unit)
        widths[unit] = products.half_widths80(left_out[unit], fitted[unit])
        document[unit] = {"capabilities": sorted({one.card.compute_capability for one in each}), "coefficients": {
            name: rounded(value) for name, value in fitted[unit].items()},
            "half_width80": rounded(sum(widths[unit]) / len(widths[unit]))}
    document |= {"half_rate": rounded(products.factor_of(fitted["tensor"], large["half_rate"], "half_rate")),
                 "doubled": rounded(products.factor_of(fitted["cores"], large["doubled"], "doubled")),
                 "elsewhere_half_width80": rounded(max(widths["tensor"])),
                 "power_half_width80": rounded(products.power_half_width80(fitted["cores"], left_out["cores"],
                                                                           measured["before"])),
                 "tiles": [list(tile) for tile in products.TILES], "splits": list(products.SPLITS)}
    return document


def calibration(folder, modern):
    rows, layers = evaluate.measured(folder)
    document = {"schema": "bench-calibration/1", "description": DESCRIPTION, "sets": {}}
    left_out, fitted, by_set = {}, {}, {}
    for name, dtypes in evaluate.SETS.items():
        terms = leave_out.terms_of(evaluate.rows_of(rows, name), layers)
        values, host = fit.fit(terms.where(~terms.blocking), name)
        fitted[name], by_set[name] = values, terms
        left_out[name] = leave_out.leave_families_out(terms, name, ("host",))["host"]
        document["sets"][name] = {"dtypes": list(dtypes), "chips": sorted(set(terms.chip[~terms.blocking])),
                                  "capabilities": sorted({row.card.compute_capability for row in terms.rows}),
                                  "measured": sources_of(terms.rows), "coefficients": coefficients_of(values, host)}
    document["spread"] = {"host": rounded(spreads.HOST_SPREAD)}
    for name, language in (("image", False), ("language", True)):
        spread = spreads.spread_of(spreads.joined(left_out.values(), language))
        document["spread"][name] = {"card": rounded(spread.card), "rest": rounded(spread.rest), "scale": rounded(spread.scale),
                                    "ratio_half_width": rounded(spread.ratio)}
    tf32 = leave_out.terms_of(evaluate.tf32_rows(rows), layers)
    errors = evidence.unmeasured(by_set, evaluate.tf32_left_out(tf32, left_out["16bit"]).log_errors())
    rest = document["spread"]["image"]["rest"]
    document["spread"] |= {"power": rounded(evidence.power_spread(fitted["fp32"], by_set["fp32"])), "unmeasured": {
        dimension: rounded(evidence.deviation(each, rest)) for dimension, each in errors.items()}}
    document["kinds"] = evidence.kinds([*by_set.values(), tf32])
    terms = compiled.channels_last(leave_out.terms_of(compiled.rows_of(rows), layers))
    document["compiled"] = {"chips": sorted(set(terms.chip)), "measured": sources_of(terms.rows), "factors": {
        name: rounded(value) for name, value in compiled.calibrate(fitted["16bit"], terms).items()}}
    document["products"] = products_document(folder, modern)
    ceiling = memory.ceiling_rows(rows)
    slack, low, high = memory.calibrate(ceiling, layers)
    document["memory"] = {"rows": len(ceiling), "context_bytes": int(memory.CONTEXT_BYTES), "slack": rounded(slack),
                          "slack_low": rounded(low), "slack_high": rounded(high)}
    return document


def written(value, indent=""):
    """JSON in which a table of numbers stands on one line."""
    if isinstance(value, dict) and any(isinstance(each, (dict, list)) for each in value.values()):
        inner = indent + "  "
        fields = [f"{inner}{json.dumps(name)}: {written(each, inner)}" for name, each in value.items()]
        return "{\n" + ",\n".join(fields) + "\n" + indent + "}"
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        inner = indent + "  "
        return "[\n" + ",\n".join(inner + json.dumps(each) for each in value) + "\n" + indent + "]"
    return json.dumps(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="tables of published measurements")
    evaluate.add_modern(parser)
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    options = parser.parse_args()
    options.out.write_text(written(calibration(options.folder, evaluate.modern_of(options))) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
