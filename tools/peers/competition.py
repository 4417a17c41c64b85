"""Processes that take turns: see peers.py."""

import json
import os
import random
import subprocess
import sys
import tempfile

from statistics_of_rounds import median


class Contestant:
    """A process that times steps when asked to."""

    def __init__(self, name, command, environment):
        self.name = name
        self.times = []  # one list of step times in ns a round
        self.peak_bytes = 0
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        ready = self.answer()
        self.built_bytes = ready["built_bytes"]
        self.about = ready["about"]

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"{self.name} ended with {self.process.wait()}: {said[-1] if said else 'no message'}")

    def go(self, steps):
        self.process.stdin.write(f"go {steps}\n")
        self.process.stdin.flush()
        answer = self.answer()
        self.peak_bytes = answer["peak_bytes"]
        return answer["ns"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def result(self):
        return {"median_ns": median([median(times) for times in self.times]), "rounds_ns": self.times,
                "built_bytes": self.built_bytes, "peak_bytes": self.peak_bytes, "about": self.about}


def compete(what, commands, options):
    """Results by name of all contestants, given as (name, command) pairs."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    contestants = []
    try:
        for name, command in commands:
            contestants.append(Contestant(name, command, environment))
        steps = {}
        for contestant in contestants:
            steps[contestant.name] = max(3, int(options.turn * 1e9 / median(contestant.go(3))))
        order = random.Random(options.seed)
        for number in range(options.rounds):
            print(f"{what}: round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
            order.shuffle(contestants)
            for contestant in contestants:
                contestant.times.append(contestant.go(steps[contestant.name]))
        return {contestant.name: contestant.result() for contestant in sorted(contestants, key=lambda c: c.name)}
    finally:
        for contestant in contestants:
            contestant.end()
