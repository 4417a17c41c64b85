"""Runs stages one after the other within a time limit, and remembers in the output folder what was done.

    state.json            the card; status, seconds and build of each stage
    <stage>/              its result files and its log
    cache/                choices of autotuning: without them a later call would tune again
    goals.json            target, measured value and verdict of each goal
    summary.txt           the stages' tables and the goals
    gpu-check.tar.gz      all of it in one file

Each file is replaced as a whole after each stage, so that a kill loses no more than the stage that runs.
"""

import json
import os
import shutil
import sys
import tarfile

import goals
from machine import write_whole
from stages import Call, read

CLOSING = 3  # seconds for tables, goals and packing at the end
ARCHIVE = "gpu-check.tar.gz"
CHOICES = "cache"  # XDG_CACHE_HOME of the stages


def attempted(make):
    """A text for people; a result that it cannot be made from stops nothing."""
    try:
        return make()
    except Exception as error:
        return f"no table: {error!r}"


class Session:
    def __init__(self, stages, settings, out, card, machine, end):
        """`end`: by the machine's clock. Raises OSError where `out` cannot be written or is of another card."""
        self.stages = stages
        self.settings = settings
        self.out = out
        self.card = card
        self.machine = machine
        self.end = end
        out.mkdir(parents=True, exist_ok=True)
        before = read(out / "state.json") or {"card": card, "stages": {}}
        if before["card"] != card:
            raise OSError(f"{out} holds results of another card, {before['card']}; give another --out")
        self.state = before["stages"]
        self.save()

    def save(self):
        write_whole(self.out / "state.json", json.dumps({"card": self.card, "stages": self.state}, indent=1))

    def status(self, stage):
        """done, failed or cut; running where an earlier call was killed; waiting before, and for a rebuilt program."""
        entry = self.state.get(stage.name)
        return entry["status"] if entry and entry["build"] == stage.build(self.settings) else "waiting"

    def to_do(self):
        """What is missing or failed. Stages that were begun before come behind the others: one that hangs each time holds up
        none but those that are to come last."""
        left = [stage for stage in self.stages if self.status(stage) != "done"]
        return sorted(left, key=lambda stage: (stage.last, self.status(stage) != "waiting"))

    def forget(self, stages):
        for stage in stages:
            self.state.pop(stage.name, None)
            shutil.rmtree(self.out / stage.name, ignore_errors=True)
        self.save()

    def run(self, stages):
        """Returns the stages for which no time was left. One that was cut is continued if there is time in the end."""
        queue = list(stages)
        begun, left_out = set(), []
        while queue:
            stage = queue.pop(0)
            left = self.end - self.machine.now() - self.machine.GRACE - CLOSING
            if left < stage.least:
                left_out.append(stage)
                continue
            self.perform(stage, min(stage.limit, left))
            if self.status(stage) == "cut" and stage.name not in begun:
                queue = sorted([*queue, stage], key=lambda one: one.last)
            begun.add(stage.name)
        return left_out

    def perform(self, stage, limit):
        status = self.status(stage)
        resume = status in ("cut", "running") or (status == "failed" and stage.in_parts)
        if not resume:
            self.forget([stage])
        folder = self.out / stage.name
        folder.mkdir(exist_ok=True)
        print(f"\ngpu-check: {stage.name}, {limit:.0f} s at most", flush=True)
        before = self.state.get(stage.name, {"seconds": 0})["seconds"]
        begin = self.machine.now()

        def note(status, why=""):
            self.state[stage.name] = {"status": status, "why": why, "seconds": before + self.machine.now() - begin,
                                      "resumed": resume, "build": stage.build(self.settings)}
            self.save()

        note("running")
        try:
            note(*stage.run(Call(self.settings, self.machine, folder, limit, resume)))
        except KeyboardInterrupt:
            note("cut", "it was interrupted")
            self.pack()
            raise
        except Exception as error:
            note("failed", repr(error))  # whatever it was, the other stages go on
        print(self.report(stage), flush=True)
        if self.status(stage) == "failed" and (folder / "log.txt").exists():
            log = (folder / "log.txt").read_text(encoding="utf-8", errors="replace")
            print(*log.splitlines()[-15:], sep="\n", file=sys.stderr)
        self.pack()

    def report(self, stage):
        entry = self.state[stage.name]
        head = f"{stage.name}: {entry['status']}{': ' if entry['why'] else ''}{entry['why']} ({entry['seconds']:.0f} s)"
        return f"{head}\n{attempted(lambda: stage.table(self.out / stage.name))}"

    def goals(self):
        return attempted(lambda: goals.table(goals.measured(self.out, self.state)))

    def pack(self):
        begun = [stage for stage in self.stages if stage.name in self.state]
        write_whole(self.out / "summary.txt", "\n\n".join([*map(self.report, begun), self.goals()]) + "\n")
        new = self.out / f".{ARCHIVE}.new"
        with tarfile.open(new, "w:gz") as archive:
            for path in sorted(self.out.iterdir()):
                if path.name in ("state.json", "goals.json", "summary.txt", CHOICES, *self.state):
                    # Compiled plans are code for this card, of no use elsewhere.
                    archive.add(path, f"{self.out.name}/{path.name}",
                                filter=lambda member: None if member.name.endswith((".plan", ".tried")) else member)
        os.replace(new, self.out / ARCHIVE)
