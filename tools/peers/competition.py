"""Processes that take turns: see peers.py."""

import json
import os
import random
import subprocess
import sys
import tempfile

from statistics_of_rounds import median


class Process:
    """A program that answers each line of its input with a line of JSON."""

    def __init__(self, name, command, environment):
        self.name = name
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"{self.name} ended with {self.process.wait()}: {said[-1] if said else 'no message'}")

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended: answer() says why
        return self.answer()

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Contestant:
    """Times steps when asked to. `ready` is what its process said of itself."""

    def __init__(self, process, ready):
        self.process = process
        self.name = process.name
        self.times = []  # one list of step times in ns a round
        self.peak_bytes = 0
        self.built_bytes = ready["built_bytes"]
        self.about = ready["about"]

    def go(self, steps):
        answer = self.process.ask(f"go {steps}")
        self.peak_bytes = answer["peak_bytes"]
        return answer["ns"]

    def end(self):
        self.process.end()

    def result(self):
        return {"median_ns": median([median(times) for times in self.times]), "rounds_ns": self.times,
                "built_bytes": self.built_bytes, "peak_bytes": self.peak_bytes, "about": self.about}


def contestant(process):
    """The contestant that a process is as a whole, once it is ready."""
    try:
        return Contestant(process, process.answer())
    except BaseException:
        process.end()
        raise


def compete(what, commands, options):
    """Results by name of all contestants, given as (name, command) pairs."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    starts = [lambda name=name, command=command: contestant(Process(name, command, environment))
              for name, command in commands]
    return take_turns(what, starts, options)


def take_turns(what, starts, options):
    """Results by name of the contestants that `starts` make, one after the other."""
    contestants = []
    try:
        for start in starts:
            contestants.append(start())
        steps = {}
        for one in contestants:
            steps[one.name] = max(3, int(options.turn * 1e9 / median(one.go(3))))
        order = random.Random(options.seed)
        for number in range(options.rounds):
            print(f"{what}: round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
            order.shuffle(contestants)
            for one in contestants:
                one.times.append(one.go(steps[one.name]))
        return {one.name: one.result() for one in sorted(contestants, key=lambda one: one.name)}
    finally:
        for one in contestants:
            one.end()
