#!/usr/bin/env python3
"""How far is bench from what others measured? Scores predictions and answers on readings.

    score.py PROGRAM [--data results/field] [--extra="OPTIONS of predict and evaluate"] [--verbose]

Networks as bert-base@384 are made by graphs.py, which needs the package onnx; without it their rows count as skipped, and a
score counts only where nothing is skipped. README.md of the data says what its files and columns are.

Error: max(r, 1/r) - 1, where r = predicted / measured. held: the interval holds the truth; a refusal or an answer without
an interval does not. width: the median of sqrt(high / low) - 1. far: not held, and refused or off by more than 1.5.
"""

import argparse
import collections
import csv
import io
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
FILES = SOURCE / "tests/kernels/networks/onnx/data"
Answer = collections.namedtuple("Answer", "value low high problem", defaults=(None, None, None, ""))
PREDICTED = {  # a row's metric -> column of `predict --format csv` and what one of its units is in the metric's
    "step_ms": ("step_ms", 1), "samples_per_s": ("samples_per_s", 1), "peak_mib": ("peak_bytes", 2**-20),
    "largest_batch": ("largest_batch", 1)}
SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
GIBIBYTES = {"MiB": 2**-10, "GiB": 1, "GB": 1e9 / 2**30, "MB": 1e6 / 2**30}


class Bench:
    """The program, run in a folder of its own."""

    def __init__(self, options, folder):
        self.program, self.folder, self.graphs = os.path.abspath(options.program), folder, {}
        self.files = [options.data / "networks", FILES]
        self.extra = shlex.split(options.extra)

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        complaint = [line for line in done.stderr.splitlines() if line.startswith("bench: ")]
        return done.returncode, done.stdout, (complaint or done.stderr.splitlines() or [""])[-1]

    def network(self, spec):
        """Options that name a network; None where its file cannot be made."""
        if spec.endswith(".onnx"):
            return ["--onnx", next(str(folder / spec) for folder in self.files if (folder / spec).exists())]
        if "@" not in spec:
            return ["--workload", spec]
        if spec not in self.graphs:
            try:
                import graphs
                name, size = spec.split("@")
                self.graphs[spec] = ["--onnx", graphs.write(name, int(size), self.folder)]
            except ImportError:
                self.graphs[spec] = None
        return self.graphs[spec]


def options_of(row, network):
    training = ["--optimizer", row["optimizer"]] if row["mode"] == "train" and row["optimizer"] else []
    return [*network, "--mode", row["mode"], "--dtype", row["dtype"], *training]


def predict(bench, rows, network):
    """Rows of one card, network, mode, dtype and optimizer, in one command."""
    batches = ",".join(map(str, sorted({int(row["batch"] or 1) for row in rows})))
    code, out, complaint = bench.run("predict", "--gpu", rows[0]["gpu"], *options_of(rows[0], network),
                                     "--batch", batches, "--format", "csv", *bench.extra)
    answers = {int(line["batch"]): line for line in csv.DictReader(io.StringIO(out)) if line.get("batch")}
    for row in rows:
        column, unit = PREDICTED[row["metric"]]
        line = answers.get(int(row["batch"] or 1), {})
        names = [column, column + "_low", column + "_high"]
        row["answer"] = (Answer(problem=line.get("problem") or complaint or "no such batch") if code or not line.get(column)
                         else Answer(*(float(line[name]) * unit if line.get(name) else None for name in names)))


def evaluate(bench, rows, network):
    """Ratios: of several cards to one, or of a card to the one that the metric names."""
    first, is_scaling = rows[0], rows[0]["metric"] == "speedup"
    gpus = first["gpu"] if is_scaling else first["metric"].removeprefix("ratio_to_") + "," + first["gpu"]
    cards = ",".join(sorted((row["cards"] for row in rows), key=int))
    for link in first["link"].split("|"):
        several = ["--cards", cards, "--link", link] if is_scaling else []
        code, out, complaint = bench.run("evaluate", "--gpu", gpus, *options_of(first, network), "--batch", first["batch"],
                                         *several, "--no-plot", "--out", bench.folder, "--format", "json", *bench.extra)
        if code == 0:
            break
    devices = {device["label"]: device for device in json.loads(out)["devices"]} if code == 0 else {}
    for row in rows:
        device = devices.get(f"{row['cards']}×{row['gpu']}" if is_scaling else row["gpu"], {"curves": []})
        ratio = next((point["ratio"] for curve in device["curves"] for point in curve["points"] if point.get("ratio")), None)
        row["answer"] = (Answer(ratio["value"], *(ratio["interval"] or (None, None))) if ratio
                         else Answer(problem=complaint or "no ratio"))


def products(bench, rows, _):
    """Rates of matrix products of one card: the best size, as the measurements are."""
    for row in rows:
        code, out, complaint = bench.run("--sweep", "kernels", "--workload", "gemm", "--device", row["gpu"],
                                         "--dtype", row["dtype"], "--no-plot", "--no-cache", "--out", bench.folder,
                                         "--format", "csv")
        rates = []
        for line in csv.DictReader(io.StringIO(out)):
            if line.get("items_per_s") and line["dtype"] == row["dtype"]:
                work = 2e-12 * float(line["inner"]) * float(line["columns"])
                rates.append([work * float(line[key]) for key in ("items_per_s", "items_per_s_low", "items_per_s_high")])
        row["answer"] = Answer(*max(rates)) if rates and code == 0 else Answer(problem=complaint or "no rate")


def score_rows(bench, rows):
    """Gives each row its "answer": None where the row is skipped."""
    groups = collections.defaultdict(list)
    for row in rows:
        ask = products if row["kind"] == "gemm_rate" else predict if row["metric"] in PREDICTED else evaluate
        further = ("metric", "batch", "link") if ask is evaluate else ()
        key = [row[name] for name in ("gpu", "network", "mode", "dtype", "optimizer", *further)]
        groups[ask, *key].append(row)
    for (ask, *_), members in groups.items():
        network = bench.network(members[0]["network"]) if ask is not products else []
        for row in members:
            row["answer"] = None
        if network is not None:
            ask(bench, members, network)


def error_of(row):
    """max(r, 1/r) - 1; None where nothing was predicted, or nothing fits in truth."""
    value, truth = row["answer"].value, float(row["truth"])
    return max(value / truth, truth / value) - 1 if value and truth else None


def has_interval(row):
    return row["answer"].low is not None and row["answer"].low > 0


def holds(row):
    """Whether the interval holds the truth; a refusal and an answer without an interval do not."""
    answer = row["answer"]
    return answer.value is not None and answer.low is not None and answer.low <= float(row["truth"]) <= answer.high


def share(flags):
    return f"{sum(flags)}/{len(flags)} {100 * sum(flags) / len(flags):3.0f} %" if flags else "–"


def print_rows(rows, is_verbose):
    if is_verbose:
        for row in rows:
            answer = row["answer"]
            what = ("skipped" if answer is None else answer.problem if answer.value is None else
                    f"{answer.value:.4g}" + (f" ({answer.low:.4g} to {answer.high:.4g})" if answer.low is not None else ""))
            error = error_of(row) if answer and answer.value is not None else None
            print(f"{row['id']:44} measured {float(row['truth']):.5g} {row['unit']}, predicted {what}"
                  + ("" if error is None else f", {100 * error:.0f} % off"))
        print()
    print(f"{'kind':14} {'rows':>4} {'answered':>8} {'held':>14} {'width':>6} {'median':>7} {'p90':>7} {'>1.5x':>14} "
          f"{'far':>12} refused skipped")
    for kind in [*dict.fromkeys(row["kind"] for row in rows), "all"]:
        members = [row for row in rows if kind in ("all", row["kind"])]
        asked = [row for row in members if row["answer"] is not None]
        answered = [row for row in asked if row["answer"].value is not None]
        errors = sorted(error for error in map(error_of, answered) if error is not None)
        held = [holds(row) for row in asked]
        widths = [math.sqrt(row["answer"].high / row["answer"].low) - 1 for row in answered if has_interval(row)]
        far = [not holds(row) and (row["answer"].value is None or (error_of(row) or 0) > 0.5) for row in asked]
        middle, tail, width = (f"{100 * value:.0f} %" if values else "–" for value, values in (
            (errors and statistics.median(errors), errors), (errors and errors[math.ceil(0.9 * len(errors)) - 1], errors),
            (widths and statistics.median(widths), widths)))
        print(f"{kind:14} {len(members):4} {len(answered):8} {share(held):>14} {width:>6} {middle:>7} {tail:>7} "
              f"{share([error > 0.5 for error in errors]):>14} {share(far):>12} {len(asked) - len(answered):7} "
              f"{len(members) - len(asked):7}")
    limits = [(row["answer"], re.search(r"dies_at=(\d+)", row["tolerance_note"])) for row in rows]
    deaths = [answer.value >= int(limit[1]) for answer, limit in limits if limit and answer and answer.value is not None]
    print(f"Predicted largest batch would have run out of memory: {share(deaths)}")


def quantities(text, unit):
    """All numbers of a text that have this unit, or one of its kind."""
    scale = next((units for units in (SECONDS, GIBIBYTES) if unit in units), {unit: 1})
    for number, found in re.findall(r"(\d[\d,]*\.?\d*) ?(ms|µs|s|min|h|[MG]i?B|×|%)(?![A-Za-z/])", text):
        if found in scale:
            yield float(number.replace(",", "")) * scale[found] / scale[unit]


def stated(text, advice):
    """Where a quantity counts as said: the first 12 lines, and the changes advised."""
    return "\n".join([*text.splitlines()[:12], json.dumps(advice.get("changes", []), ensure_ascii=False)])


def judge(check, text, advice):
    """right, wrong or undecided, and what was found."""
    match = re.search(check["line"], text, re.M) if "line" in check else None
    if "right" in check:  # a name: the bottleneck's, or a word of a line
        found = match[1] if match else advice.get("bottleneck")
        is_open = found in [None, *check["undecided"]]
        return "right" if found in check["right"] else "undecided" if is_open else "wrong", found
    if "unit" in check:  # a quantity in the answer
        found = [value for value in quantities(stated(text, advice), check["unit"]) if check["low"] <= value <= check["high"]]
        return "right" if found else "undecided", found
    if "line" in check:
        is_right = match and check["low"] <= float(match[1]) <= check["high"]
        return "right" if is_right else "wrong" if match else "undecided", match and match[1]
    if "gain_at_most" in check:  # changes advised; one that is a bound by its own words promises nothing
        found = [change["speedup"] for change in advice["changes"] if change["speedup"] > check["gain_at_most"]]
        bounds = [change for change in advice["changes"] if change.get("at_most")]
        return "right" if not found else "undecided" if len(bounds) == len(advice["changes"]) else "wrong", found
    found = []  # "batch": the columns of a table of batches that begin with this word, in the rows of one card
    for rows in (table["rows"] for table in advice.get("tables", [])):
        columns = [index for index, name in enumerate(rows[0]) if name.startswith(check["batch"])]
        found += [int(row[index]) for row in rows[1:] for index in columns
                  if row[0].startswith(check["card"]) and row[index].isdigit()]
    is_right = all(check["low"] <= value < check["dies_at"] for value in found)
    return "undecided" if not found else "right" if is_right else "wrong", found


def score_readings(bench, data, is_verbose):
    verdicts = collections.Counter()
    for name, expected in json.loads((data / "expectations.json").read_text(encoding="utf-8")).items():
        path = str(data / "readings" / expected["file"])
        command = expected.get("command", ["advise", "--observed", "{file}"])
        command = [path if word == "{file}" else word for word in command]
        code, text, complaint = bench.run(*command)
        has_advice = code == 0 and command[0] == "advise"
        advice = json.loads(bench.run(*command, "--format", "json")[1]) if has_advice else {}
        for check in expected["checks"]:
            verdict, found = judge(check, text, advice) if code == 0 else ("undecided", complaint)
            verdicts[verdict] += 1
            if is_verbose:
                print(f"{name:30} {verdict:9} {check['asks']}: {found}")
    print(f"\nReadings: {verdicts.total()} checks, {verdicts['right']} right, {verdicts['wrong']} wrong with confidence, "
          f"{verdicts['undecided']} undecided or not said")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/bench")
    parser.add_argument("--data", type=lambda path: Path(path).resolve(), default=SOURCE / "results/field")
    parser.add_argument("--extra", default="")
    parser.add_argument("--verbose", action="store_true", help="each row and each check")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    with open(options.data / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, folder)
        score_rows(bench, rows)
        print_rows(rows, options.verbose)
        score_readings(bench, options.data, options.verbose)


if __name__ == "__main__":
    main()
