"""Fits the model of eager PyTorch's step times and memory to published measurements, and writes results/calibration.json.

    calibrate.py FOLDER [--out FILE]

Run by hand when tables or the model change; evaluate.py says how far the result errs. The program reads the file alone.
"""

import argparse
import collections
import json
import pathlib

import compiled
import evaluate
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


def calibration(folder):
    rows, layers = evaluate.measured(folder)
    document = {"schema": "bench-calibration/1", "description": DESCRIPTION, "sets": {}}
    left_out, fitted = [], {}
    for name, dtypes in evaluate.SETS.items():
        terms = leave_out.terms_of(evaluate.rows_of(rows, name), layers)
        values, host = fit.fit(terms.where(~terms.blocking), name)
        fitted[name] = values
        left_out.append(leave_out.leave_families_out(terms, name, ("host",))["host"])
        document["sets"][name] = {"dtypes": list(dtypes), "chips": sorted(set(terms.chip[~terms.blocking])),
                                  "measured": sources_of(terms.rows), "coefficients": coefficients_of(values, host)}
    document["spread"] = {"host": spreads.HOST_SPREAD}
    for name, language in (("image", False), ("language", True)):
        spread = spreads.spread_of(spreads.joined(left_out, language))
        document["spread"][name] = {"card": rounded(spread.card), "rest": rounded(spread.rest), "scale": rounded(spread.scale),
                                    "ratio_half_width": rounded(spread.ratio)}
    terms = compiled.channels_last(leave_out.terms_of(compiled.rows_of(rows), layers))
    document["compiled"] = {"chips": sorted(set(terms.chip)), "measured": sources_of(terms.rows), "factors": {
        name: rounded(value) for name, value in compiled.calibrate(fitted["16bit"], terms).items()}}
    measured = products.read(folder, tables.read_cards())
    values = products.calibrate(list(measured.values()))
    document["products"] = {"cards": sorted(measured), "coefficients": {
        **{name: rounded(value) for name, value in values.items()}, "shrink": products.SHRINK},
        "half_width80": rounded(products.half_width80(products.leave_cards_out(measured))),
        "tiles": [list(tile) for tile in products.TILES], "splits": list(products.SPLITS)}
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
        return "[\n" + ",\n".join(inner + written(each, inner) for each in value) + "\n" + indent + "]"
    return json.dumps(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, help="tables of published measurements")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    options = parser.parse_args()
    options.out.write_text(written(calibration(options.folder)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
