#!/usr/bin/env python3
"""How often `bench advise` names the right bottleneck, and how right the gains are that it promises.

Twenty situations are made on the CPU device, each at five strengths drawn from a seed, or at seven where a change always pays;
of the further two only the changes count. In each, short sweeps run, `bench
advise` reads their results, and changes that it advises are made and measured. Cases with an even number were looked at while
`advise` was built, those with an odd one were not. An interrupted run goes on where it was.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import machine as machines
import table
from situations import SITUATIONS

SEED = 22
STRENGTHS = 5
FURTHER = 2  # strengths where a change always pays: there are too few such changes otherwise
MOST_CHANGES = 2  # of a case, that are made and measured


class Failed(Exception):
    pass


class Runner:
    """Runs `bench` as a case wants it run, in a folder of its own."""

    def __init__(self, machine, case, folder):
        self.machine, self.case, self.folder = machine, case, folder
        self.commands = []
        self.group = None

    def __enter__(self):
        self.group = machines.MemoryGroup(self.case.host_memory) if self.case.host_memory else None
        self.noise = machines.Noise(self.case.noise)
        return self

    def __exit__(self, *_):
        self.noise.end()
        if self.group:
            self.group.end()

    def sweep(self, name, words, budget_s):
        out = self.folder / f"{len(self.commands)}-{name}"
        options = ["--sweep", name, "--device", "cpu", *words, "--time-budget", f"{budget_s:g}s", "--no-plot"]
        command = [str(self.machine.bench), *options, "--out", str(out)]
        self.commands.append(" ".join(["bench", *(pathlib.Path(word).name if word.startswith("/") else word for word in options)]))
        # OpenMP's threads spin while they wait for each other, which other programs on their cores make slow. Workers are such
        # programs, and their effect is to be seen; the machine's other programs are not.
        calm = {} if self.case.loader else {"OMP_WAIT_POLICY": "passive"}
        environment = {**calm, **os.environ, **self.case.environment}
        done = subprocess.run(command, capture_output=True, text=True, env=environment,
                              preexec_fn=self.group.enter if self.group else None, check=False)
        files = sorted(out.glob("*.json"))
        if done.returncode not in (0, 3) or len(files) != 1:
            raise Failed(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
        return files[0]

    def loader(self, workers, budget_s, prefetch):
        return self.sweep("workers", [*self.case.loader, "--workers", ",".join(map(str, workers)),
                                      "--prefetch", str(prefetch)], budget_s)

    def device(self, batches, budget_s, dtype="fp32"):
        return self.sweep("batch", [*self.case.device, "--dtype", dtype, "--batch", ",".join(map(str, batches))], budget_s)


def advice_of(machine, files, current):
    command = [str(machine.bench), "advise", *map(str, files), "--format", "json",
               "--current", ",".join(f"{key}={value}" for key, value in current.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def points_of(file):
    return json.loads(file.read_text(encoding="utf-8"))["benchmarks"]


def measured_step(runner, after, budget_s):
    """In ns, with these settings; None where such a point was not measured."""
    if runner.case.loader:
        workers = after["workers"]
        for point in points_of(runner.loader([workers], budget_s, after["prefetch"])):
            if point["params"]["loader"] == "pool" and point["params"]["workers"] == workers:
                return point["real_time"] * after["batch"] / point["items_per_step"]
        return None
    for point in points_of(runner.device([after["batch"]], budget_s, after["dtype"])):
        if point["params"]["batch"] == after["batch"]:
            return point["real_time"]
    return None


def make_changes(runner, advice, budget_s):
    """Those that are advised, then those that were tried and do not pay: their times are predicted too."""
    made = []
    for change in [*advice["changes"], *advice["tried"]][:MOST_CHANGES]:
        measured = measured_step(runner, change["after"], budget_s)
        if measured:
            made.append({"what": change["what"], "advised": change in advice["changes"], "predicted_ns": change["step_ns"], "interval90_ns": change["step90_ns"],
                         "measured_ns": measured})
    return made


def run_case(machine, situation, number, options):
    seed = f"{SEED}/{situation.name}/{number}"
    strength = random.Random(seed).random()
    case = situation.make(strength, machine)
    begun = time.monotonic()
    result = {"situation": situation.name, "number": number, "seed": seed, "strength": round(strength, 4), "what": case.what,
              "expected": situation.bottleneck, "further": number >= STRENGTHS * len(SITUATIONS)}
    with tempfile.TemporaryDirectory(prefix="diagnosis-") as folder:
        folder = options.keep / f"{number}-{situation.name.replace(' ', '-').replace(':', '')}" if options.keep else pathlib.Path(folder)
        if options.keep and folder.exists():
            shutil.rmtree(folder)
        try:
            with Runner(machine, case, folder) as runner:
                files = []
                budget = options.budget * case.longer
                if case.loader:
                    files.append(runner.loader(sorted({*case.workers}), budget, case.prefetch))
                if case.device:
                    files.append(runner.device(case.batches, budget))
                if case.memory:
                    files.append(runner.sweep("memory", [*case.device, "--optimizer", "sgd", "--dtype", "fp32"],
                                              budget / 3))
                advice = advice_of(machine, files, case.current)
                result |= {"named": advice["bottleneck"], "reason": advice["reason"], "step_ns": advice["step_ns"],
                           "advised": [change["what"] for change in advice["changes"]],
                           "changes": make_changes(runner, advice, budget / 3)}
                result["right"] = result["named"] in (situation.bottleneck, *case.accepted)
                result["commands"] = runner.commands
        except (Failed, machines.NotPossible) as error:
            result |= {"named": "failed" if isinstance(error, Failed) else "not possible here", "reason": str(error),
                       "right": False, "changes": []}
    result["seconds"] = round(time.monotonic() - begun, 1)
    return result


def cases(options):
    """One strength of every situation after the other, so that a short run has seen all situations."""
    numbered = [(situation, STRENGTHS * at + round_) for round_ in range(STRENGTHS) for at, situation in enumerate(SITUATIONS)]
    paying = [situation for situation in SITUATIONS if situation.pays]
    numbered += [(paying[at % len(paying)], STRENGTHS * len(SITUATIONS) + at) for at in range(FURTHER * len(paying))]
    for situation, number in numbered:
        wanted = options.which == "all" or (number % 2 == 1) == (options.which == "odd")
        if wanted and (not options.only or options.only in situation.name):
            yield situation, number


def write(path, text):
    draft = path.with_suffix(path.suffix + ".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results/reference"))
    parser.add_argument("--which", choices=("all", "even", "odd"), default="all", help="cases by their number")
    parser.add_argument("--only", help="situations whose name contains this")
    parser.add_argument("--budget", type=float, default=15, help="seconds of a case's first sweeps (default: 15)")
    parser.add_argument("--again", action="store_true", help="forget the cases of an earlier run")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for every result file")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what a case started ends with it

    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"diagnosis-{machines.slug()}"
    file = stem.with_suffix(".json")
    report = {"schema": "bench-diagnosis/1", "seed": SEED, "cases": []}
    if file.exists() and not options.again:
        report = json.loads(file.read_text(encoding="utf-8"))
    with machines.Machine(options.build) as machine:
        report["machine"] = machine.measure(report.get("machine"))
        write(file, json.dumps(report, indent=1) + "\n")
        done = {case["number"] for case in report["cases"]}
        left = [one for one in cases(options) if one[1] not in done]
        for at, (situation, number) in enumerate(left):
            result = run_case(machine, situation, number, options)
            report["cases"] = sorted([*report["cases"], result], key=lambda case: case["number"])
            write(file, json.dumps(report, indent=1) + "\n")
            write(stem.with_suffix(".md"), table.page(report))
            spent = [case["seconds"] for case in report["cases"]]
            eta = sum(spent) / len(spent) * (len(left) - at - 1) / 60
            print(f"{at + 1}/{len(left)} {situation.name} ({result['what']}): {result['named']}, "
                  f"{'right' if result['right'] else 'WRONG, ' + situation.bottleneck}; {len(result['changes'])} changes; "
                  f"{result['seconds']:.0f} s; {eta:.0f} min left", flush=True)
            for change in result["changes"]:
                print(f"    {change['what']}: {change['predicted_ns'] / 1e6:.2f} ms, measured "
                      f"{change['measured_ns'] / 1e6:.2f} ms", flush=True)
    print(table.summary(report))
    return 0 if table.met(report) else 1


if __name__ == "__main__":
    sys.exit(main())
