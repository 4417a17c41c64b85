"""A ReFrame test: a smoke sweep whose points become performance figures.

    reframe -c docs/ci/reframe_bench.py -r -S bench=/opt/bench/bin/bench -S device=cuda:0

Give the figures that a system must reach as `reference`, in a class derived from this one or on the command line's settings.
"""

import json
import pathlib

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class BenchSweep(rfm.RunOnlyRegressionTest):
    descr = "Throughput of a network by batch"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    time_limit = "10m"

    bench = variable(str, value="bench")
    device = variable(str, value="auto")
    workload = variable(str, value="resnet18")
    batch = variable(str, value="1,4,16")
    time_budget = variable(str, value="20s")
    more = variable(str, value="--image-size 96")  # options of the sweep

    @run_before("run")
    def give_the_command(self):
        self.executable = self.bench
        self.executable_opts = ["--sweep batch", f"--workload {self.workload}", f"--batch {self.batch}",
                                f"--device {self.device}", f"--time-budget {self.time_budget}", self.more,
                                "--no-plot", "--out results"]

    def result(self):
        (file,) = pathlib.Path(self.stagedir, "results").glob("*.json")
        return json.loads(file.read_text(encoding="utf-8"))

    @sanity_function
    def it_ended_with_every_point_measured(self):
        return sn.all([sn.assert_eq(self.job.exitcode, 0), sn.assert_eq(self.points_in_error(), [])])

    @sn.deferrable
    def points_in_error(self):
        return [point["name"] for point in self.result()["unmeasured"] if point["status"] == "error"]

    @run_before("performance")
    def a_figure_for_each_point(self):
        for point in self.result()["benchmarks"]:
            name = "{dtype}_batch_{batch}".format(**point["params"])
            self.perf_variables[name] = sn.make_performance_function(sn.defer(point["items_per_second"]), "samples/s")
