"""What the check on a GPU asks of the machine: its clock, programs with a time limit, and files written whole.

The tests have a double whose clock they move.
"""

import ctypes
import os
import pathlib
import signal
import subprocess
import time
import typing

PR_SET_PDEATHSIG = 1  # of linux/prctl.h


class Ended(typing.NamedTuple):
    code: int
    cut: bool  # it still ran when its time was over


class Machine:
    GRACE = 10  # seconds between the interrupt that ends a program and the signal that kills it

    now = staticmethod(time.monotonic)

    def output(self, command, environment):
        """What it writes to standard output."""
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, timeout=60, check=False).stdout

    def run(self, command, limit, log, environment):
        """Runs a program for `limit` seconds at most, and appends what it says to the file `log`.

        A program that still runs then is interrupted as by Ctrl-C, so that it saves what it has. It is killed when this
        process is killed.
        """
        prctl = ctypes.CDLL(None).prctl

        def in_child():
            os.setpgid(0, 0)  # its helpers are interrupted with it
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

        with open(log, "ab") as said:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                                       stderr=subprocess.STDOUT, preexec_fn=in_child)
            try:
                return Ended(process.wait(limit), False)
            except subprocess.TimeoutExpired:
                return Ended(self.stop(process), True)
            except KeyboardInterrupt:
                self.stop(process)
                raise

    def stop(self, process):
        os.killpg(process.pid, signal.SIGINT)
        try:
            return process.wait(self.GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait()


def write_whole(path, text):
    """Replaces the file at once: whoever reads it, and whenever this process is killed, it is the old one or the new one."""
    path = pathlib.Path(path)
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)
