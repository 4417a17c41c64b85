"""The answers of all cases as figures, and as a page."""

import math
import statistics

RIGHT_GOAL = 0.95
FEWEST_CHANGES = 60
ERROR_GOAL = 0.10
COVERAGE_GOAL = 0.85
WIDTH_GOAL = 0.20


def changes_of(cases):
    return [change for case in cases for change in case["changes"]]


def gains(changes):
    """Of predicted step times: the median error, the part of intervals that cover, their median half width."""
    errors = [abs(change["predicted_ns"] / change["measured_ns"] - 1) for change in changes]
    known = [change for change in changes if change["interval90_ns"]]
    covered = [change["interval90_ns"][0] <= change["measured_ns"] <= change["interval90_ns"][1] for change in known]
    widths = [(change["interval90_ns"][1] - change["interval90_ns"][0]) / 2 / change["predicted_ns"] for change in known]
    return {"changes": len(changes), "error": statistics.median(errors), "coverage": sum(covered) / len(changes),
            "half_width": statistics.median(widths) if widths else math.inf}


def share_right(cases):
    return sum(case["right"] for case in cases) / len(cases)


def split(cases):
    """Looked at while building, and not."""
    return [case for case in cases if case["number"] % 2 == 0], [case for case in cases if case["number"] % 2 == 1]


def diagnosed(report):
    """Cases whose diagnosis counts: as many of each situation."""
    return [case for case in report["cases"] if not case.get("further")]


def goals(report):
    """(what, figure, whether it is met); each only where there is something to tell."""
    cases = diagnosed(report)
    sick = [case for case in cases if case["expected"] != "none"]
    healthy = [case for case in cases if case["expected"] == "none"]
    lines = []
    for name, group in (("right diagnosis", sick), ("right diagnosis, not looked at", split(sick)[1])):
        if group:
            lines.append((f"{name}: at least {RIGHT_GOAL:.0%}", f"{share_right(group):.0%} of {len(group)}",
                          share_right(group) >= RIGHT_GOAL))
    if healthy:
        blamed = sum(not case["right"] for case in healthy)
        lines.append(("healthy, and something blamed: none", f"{blamed} of {len(healthy)}", blamed == 0))
    made = changes_of(report["cases"])
    advised = [change for change in made if change["advised"]]
    if made:
        lines.append((f"advised changes made and measured: at least {FEWEST_CHANGES}", str(len(advised)),
                      len(advised) >= FEWEST_CHANGES))
    if advised:
        found = gains(advised)
        lines += [(f"their step time off: at most {ERROR_GOAL:.0%}, median", f"{found['error']:.1%}",
                   found["error"] <= ERROR_GOAL),
                  (f"90 % interval covers: at least {COVERAGE_GOAL:.0%}", f"{found['coverage']:.0%}",
                   found["coverage"] >= COVERAGE_GOAL),
                  (f"its half width: at most {WIDTH_GOAL:.0%}, median", f"{found['half_width']:.1%}",
                   found["half_width"] <= WIDTH_GOAL)]
    return lines


def of_others(report):
    """A sentence about the changes that were tried and do not pay; empty where none was made."""
    others = [change for change in changes_of(report["cases"]) if not change["advised"]]
    if not others:
        return ""
    found = gains(others)
    return (f"Of {found['changes']} changes that `bench advise` says do not pay, made too: step time off by {found['error']:.1%} "
            f"(median), {found['coverage']:.0%} within the 90 % interval, half width {found['half_width']:.1%}.")


def met(report):
    return bool(report["cases"]) and all(is_met for _, _, is_met in goals(report))


def summary(report):
    return "\n".join(f"{what}: {figure}, {'met' if is_met else 'not met'}" for what, figure, is_met in goals(report))


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def counted(cases):
    return f"{sum(case['right'] for case in cases)} of {len(cases)}" if cases else "–"


def situations_of(cases):
    names = dict.fromkeys(case["situation"] for case in cases)
    return {name: [case for case in cases if case["situation"] == name] for name in names}


def page(report):
    cases = report["cases"]
    spent = sum(case["seconds"] for case in cases) / 60
    lines = [f"# Does `bench advise` name what is wrong? {report['machine']['processor']}, {report['machine']['cores']} cores",
             "", f"{len(cases)} cases in {spent:.0f} min, written by `make diagnosis`.", "",
             "| goal | figure | |", "| --- | ---: | --- |",
             *(row(what, figure, "met" if is_met else "**not met**") for what, figure, is_met in goals(report)), "",
             *([others, ""] if (others := of_others(report)) else []),
             "Right diagnoses, and the changes that were made, advised and not: error of the predicted step time (median), how "
             "many of the 90 % intervals cover the measured one.", "",
             "| situation | wrong in it | looked at | not looked at | advised | error | cover | not advised | error | cover |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, own in situations_of(cases).items():
        seen, unseen = split([case for case in own if not case.get("further")])
        figures = []
        for advised in (True, False):
            changes = [change for change in changes_of(own) if change["advised"] == advised]
            found = gains(changes) if changes else None
            figures += [str(len(changes)), *(("–", "–") if found is None else (f"{found['error']:.1%}", f"{found['coverage']:.0%}"))]
        lines.append(row(name, own[0]["expected"], counted(seen), counted(unseen), *figures))
    if wrong := [case for case in diagnosed(report) if not case["right"]]:
        lines += ["", "| wrong diagnosis | strength | named | because |", "| --- | --- | --- | --- |",
                  *(row(case["situation"], cell(case["what"]), case["named"], cell(case["reason"])) for case in wrong)]
    if changes := changes_of(cases):
        lines += ["", "| change | predicted | 90 % | measured | error |", "| --- | ---: | ---: | ---: | ---: |"]
        for case in cases:
            for change in case["changes"]:
                low, high = change["interval90_ns"] or (math.nan, math.nan)
                lines.append(row(f"{case['situation']}: {cell(change['what'])}", f"{change['predicted_ns'] / 1e6:.4g} ms",
                                 f"{low / 1e6:.4g}–{high / 1e6:.4g} ms", f"{change['measured_ns'] / 1e6:.4g} ms",
                                 f"{100 * (change['predicted_ns'] / change['measured_ns'] - 1):+.1f} %"))
    return "\n".join(lines) + "\n"
