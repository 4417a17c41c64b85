#!/usr/bin/env python3
"""Runs on a machine with a GPU: tests, sweeps, and comparisons with PyTorch and cuDNN, in stages.

FOLDER is a build folder or an unpacked bundle. The stages run in the order below until the time is over; another call does
what is missing or failed, and continues what was cut. A rebuilt program counts as not yet run. The check
compares with PyTorch if the Python that runs it has it installed.

Exit codes: 0 no stage failed, all of them done or not · 1 a stage failed · 2 there is no such GPU, or wrong usage ·
130 interrupted; what was measured is saved.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

if sys.version_info < (3, 9):  # what follows would fail in its own ways; this file is to be read by Python 3.6
    print("gpu-check: it needs Python 3.9 or later, this is {}.{}; take a newer python3".format(*sys.version_info),
          file=sys.stderr)
    sys.exit(2)

import look
from machine import Machine
from session import ARCHIVE, CHOICES, Session
from stages import STAGES, Settings

ROOT = pathlib.Path(__file__).resolve().parents[2]  # the checkout's or the bundle's
BUNDLED = (ROOT / "bench").is_file()


def seconds(text):
    """"9min", "540s"."""
    matched = re.fullmatch(r"([0-9.]+)(s|min)", text)
    try:
        return float(matched[1]) * {"s": 1, "min": 60}[matched[2]]
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(f"'{text}' is no time; give one such as 9min or 540s") from None


def named(text):
    """Stages by name, in the order of the check."""
    names = text.split(",")
    unknown = set(names) - {stage.name for stage in STAGES}
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no stage '{min(unknown)}'; accepted are "
                                         f"{', '.join(stage.name for stage in STAGES)}")
    return [stage for stage in STAGES if stage.name in names]


def card_number(text):
    if not re.fullmatch(r"cuda:[0-9]+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no GPU; give cuda:N, as `bench --list` numbers them")
    return int(text.removeprefix("cuda:"))


def parsed(arguments):
    stages = "\n".join(f"  {stage.name:<18} {stage.limit:>4} s at most" for stage in STAGES)
    parser = argparse.ArgumentParser(prog="check.py", description=__doc__, epilog=f"stages:\n{stages}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, metavar="FOLDER",
                        default=ROOT if BUNDLED else ROOT / "build" / "release",
                        help="default: the bundle that this is part of, or build/release")
    parser.add_argument("--device", type=card_number, default=0, metavar="cuda:N", help="default: cuda:0")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="for results; default: results/reference/<card> of the checkout, of a bundle gpu-check-<card>")
    parser.add_argument("--for", dest="limit", type=seconds, default=540, metavar="TIME",
                        help="ends within that time, such as 9min or 540s; default 9min")
    parser.add_argument("--only", type=named, metavar="STAGE,…", help="these stages, also if they are done")
    parser.add_argument("--fresh", action="store_true", help="forget what was done before (of --only, if it is given)")
    return parser.parse_args(arguments)


def card_of(machine, folder, libraries, number):
    """The name of the card, and None or why it cannot be used."""
    environment = dict(os.environ, **({"LD_LIBRARY_PATH": libraries} if libraries else {}))
    try:
        listing = machine.output([str(folder / "bench"), "--list", "--benchmark_format=json"], environment)
        devices = json.loads(listing)["devices"]
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return "", f"{folder}/bench does not run: {error}"
    for device in devices:
        if device["id"] == f"cuda:{number}" and device["missing"] is None:
            return device["description"].split(",")[0], None
    reasons = [f"{device['id']}: {device['missing'] or device['description']}" for device in devices]
    return "", "\n".join([f"cuda:{number} cannot be used here:", *reasons,
                          f"libraries are looked for in {libraries or 'the folders that the program was built with'}"])


def visible(number):
    """The card's name for CUDA_VISIBLE_DEVICES: it becomes cuda:0, and the only one for tests and PyTorch too."""
    chosen = [one for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one]
    return chosen[number] if number < len(chosen) else str(number)


def output_folder(given, card):
    if given:
        return given.resolve()
    name = re.sub(r"[^a-z0-9]+", "-", card.lower()).strip("-")
    return pathlib.Path.cwd() / f"gpu-check-{name}" if BUNDLED else ROOT / "results" / "reference" / name


def main(arguments=None, machine=Machine()):
    begin = machine.now()
    options = parsed(arguments)
    end = begin + options.limit
    folder = options.folder.resolve()
    libraries = look.libraries(folder)
    card, problem = "", look.old_system(folder)
    if problem is None:
        card, problem = card_of(machine, folder, libraries, options.device)
    if problem:
        print(f"gpu-check: {problem}", file=sys.stderr)
        return 2
    out = output_folder(options.out, card)
    # Autotuning's choices lie with the results, so that a later call has them where only those are kept.
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES=visible(options.device), XDG_CACHE_HOME=str(out / CHOICES))
    settings = Settings(folder, libraries, environment, "cuda:0", shutil.which("gnuplot") is not None)
    try:
        session = Session(STAGES, settings, out, card, machine, end)
    except OSError as error:
        print(f"gpu-check: {error}", file=sys.stderr)
        return 2
    print(f"gpu-check: cuda:{options.device} {card}; results go to {out}", flush=True)
    if options.fresh:
        session.forget(options.only or STAGES)
    if options.only:
        session.forget([stage for stage in options.only if session.status(stage) == "done"])
    try:
        session.run(options.only or session.to_do())
    except KeyboardInterrupt:
        print("gpu-check: interrupted; call it again to go on", file=sys.stderr)
        return 130
    return concluded(session)


def concluded(session):
    """Prints the goals and what is left, and returns the exit code."""
    print(f"\n{session.goals()}\n")
    failed = [stage.name for stage in STAGES if session.status(stage) == "failed"]
    left = [stage.name for stage in STAGES if session.status(stage) not in ("done", "failed")]
    done = len(STAGES) - len(failed) - len(left)
    print(f"gpu-check: {done} of {len(STAGES)} stages are done; send back {session.out / ARCHIVE}")
    if left:
        print(f"gpu-check: call it again for {', '.join(left)}")
    if failed:
        print(f"gpu-check: failed: {', '.join(failed)}; their folders in {session.out} have the logs", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    # Whoever ends it, by Ctrl-C, by `timeout`, in the background: what runs is interrupted and saves what it has.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
