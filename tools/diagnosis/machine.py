"""The machine: its loader's speed, the images and networks of the situations, noise, and a memory limit."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import situations
from tiny_network import tiny_network


class NotPossible(Exception):
    """This system cannot make the situation."""


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(("model name", "Hardware")):
            return line.split(":", 1)[1].strip()
    return "unknown processor"


def cores():
    return len(os.sched_getaffinity(0))


def slug():
    return re.sub("[^a-z0-9]+", "-", f"{processor()} {cores()} threads".lower()).strip("-")


class Machine:
    def __init__(self, build):
        self.bench = (build / "bench").resolve()
        self.programs = (build / "tools" / "diagnosis").resolve()
        self.cores = cores()
        self.known = {}
        for program in (self.bench, self.programs / "diagnosis_images", self.slow_calls["LD_PRELOAD"]):
            if not pathlib.Path(program).exists():
                raise SystemExit(f"{program} is missing; build it with `make diagnosis`")

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="diagnosis-data-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    # ---------- what is measured once

    def measure(self, known):
        """`known`: of an earlier run, whose cases it goes on with."""
        self.known = known or {"processor": processor(), "cores": self.cores, "images": self.loader("synthetic"),
                               "uneven_images": self.loader("synthetic:heavy"), "peaks": self.peaks()}
        return self.known

    def result(self, *words):
        with tempfile.TemporaryDirectory() as out:
            done = subprocess.run([str(self.bench), *words, "--device", "cpu", "--no-plot", "--out", out], capture_output=True,
                                  text=True, check=False)
            if done.returncode not in (0, 3):  # 3: a point failed, which others may do without
                raise SystemExit(f"bench {' '.join(words)}: {done.stderr.strip()[-400:]}")
            return json.loads(next(pathlib.Path(out).glob("*.json")).read_text(encoding="utf-8"))

    def loader(self, data):
        sweep = self.result("--sweep", "workers", "--data", data, "--consumer", "1ms", "--batch", str(situations.BATCH),
                            "--workers", "1", "--time-budget", "20s")["sweep"]
        return {"ms": 1e3 / sweep["profile"]["law"]["images_per_s_one"], "bytes": sweep["loader"]["mean_encoded_bytes"]}

    def peaks(self):
        points = self.result("--sweep", "batch", *situations.NETWORK, "--dtype", "fp32", "--batch", "4,8", "--time-budget",
                             "20s")["benchmarks"]
        return {str(point["params"]["batch"]): {"allocated": point["memory"]["peak_measured"],
                                                "used": max(point["memory"]["peak_measured"], point["memory"]["driver_used"])}
                for point in points}

    @property
    def image_ms(self):
        return self.known["images"]["ms"]

    @property
    def image_bytes(self):
        return self.known["images"]["bytes"]

    @property
    def uneven_image_ms(self):
        return self.known["uneven_images"]["ms"]

    def peak(self, batch, kind):
        """Bytes of a step of `situations.NETWORK`: "allocated", or "used" as the system sees it."""
        return self.known["peaks"][str(batch)][kind]

    # ---------- what is made

    @property
    def slow_calls(self):
        return {"LD_PRELOAD": str(self.programs / "libdiagnosis_slow_calls.so")}

    def images_of(self, area):
        folder = self.folder / f"images-{area}"
        if not folder.exists():
            subprocess.run([self.programs / "diagnosis_images", folder, "64", str(area)], check=True)
        return str(folder)

    def tiny_network(self, layers):
        file = self.folder / f"tiny-{layers}.onnx"
        file.write_bytes(tiny_network(layers, channels=8, pixels=8))
        return str(file)


class Noise:
    """Processes that use so many cores on average, a tenth of a second at a time."""

    PROGRAM = ("import sys, time\nwhile True:\n end = time.monotonic() + 0.1 * float(sys.argv[1])\n"
               " while time.monotonic() < end: pass\n time.sleep(0.1 * (1 - float(sys.argv[1])))")

    def __init__(self, busy):
        self.processes = []
        while busy > 0.01:
            self.processes.append(subprocess.Popen([sys.executable, "-c", self.PROGRAM, f"{min(busy, 0.5):.3f}"]))
            busy -= 0.5

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


class MemoryGroup:
    """A control group whose processes may use so many bytes; of version 1 or 2."""

    def __init__(self, limit):
        lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()]
        own = {name: path.lstrip("/") for _, names, path in lines for name in names.split(",")}
        root = pathlib.Path("/sys/fs/cgroup")
        first = "memory" in own
        self.folder = root / (f"memory/{own['memory']}" if first else own.get("", "")) / f"diagnosis-{os.getpid()}"
        try:
            self.folder.mkdir()
            (self.folder / ("memory.limit_in_bytes" if first else "memory.max")).write_text(str(limit), encoding="ascii")
        except OSError as error:
            self.end()
            raise NotPossible(f"a control group with a memory limit cannot be made: {error}") from error

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")

    def end(self):
        for _ in range(50):  # until its processes are gone
            try:
                self.folder.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.1)
