"""The side of the comparison that a contestant's process has, as in contestant.h."""

import json
import sys


def status_bytes(key):
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {key}")


class Memory:
    """Highest resident memory since this was made, less what was resident then."""

    def __init__(self):
        with open("/proc/self/clear_refs", "w", encoding="ascii") as clear:
            clear.write("5\n")
        self.before = status_bytes("VmRSS")

    def growth(self):
        return status_bytes("VmHWM") - self.before


def serve(memory, about, warm_up, step):
    """Warms up and answers until standard input ends. `step` returns its time in ns."""
    for _ in range(warm_up):
        step()
    print(json.dumps({"ready": True, "built_bytes": memory.growth(), "about": about}), flush=True)
    for line in sys.stdin:
        verb, count = line.split()
        if verb != "go":
            raise ValueError(f"expected 'go N', got {line!r}")
        step()
        samples = [step() for _ in range(int(count))]
        print(json.dumps({"ns": samples, "peak_bytes": memory.growth()}), flush=True)
