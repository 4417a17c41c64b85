"""The check on a GPU with programs that take as long as real ones, on a clock of their own: what a call reaches, what a cut
loses, and what the next call does."""

import contextlib
import io
import json
import math
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
from unittest import mock

from fake_card import ALL_SUITES, SOURCE, SUITES, FakeCard, Killed  # also finds the modules that follow

import check
import gpu_peers
import torch_contestants
from session import CLOSING
from stages import STAGES

CALL = 600  # seconds that a call may take
ALL = [stage.name for stage in STAGES]


class GpuCheck(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name) / "results"
        self.card = FakeCard(pathlib.Path(scratch.name) / "build")
        self.said = self.warned = ""

    def check(self, *options):
        """One call's exit code; what it said in self.said and self.warned."""
        said, warned = io.StringIO(), io.StringIO()
        self.card.calls.clear()
        self.began = self.card.time
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(warned):
                return check.main([str(self.card.programs), "--out", str(self.out), *options], self.card)
        finally:
            self.said, self.warned = said.getvalue(), warned.getvalue()

    def killed(self, after=math.inf, within=None):
        """A call that is killed after so many seconds, or 8 s after the stage began; itself and all."""
        self.card.killed_at, self.card.killed_in = self.card.time + after, within
        with self.assertRaises(Killed):
            self.check()
        self.card.killed_at, self.card.killed_in = math.inf, None

    def took(self):
        return self.card.time - self.began

    def read(self, name):
        return json.loads((self.out / name).read_text(encoding="utf-8"))

    def statuses(self):
        return {name: entry["status"] for name, entry in self.read("state.json")["stages"].items()}

    def rows(self):
        return {row["name"]: row for row in self.read("peers/gpu-peers.json")["rows"]}

    def measured(self):
        return [name for name, row in self.rows().items() if row["status"] == "measured"]

    def ran(self, program):
        return [options for _, name, options in self.card.calls if name == program]

    def until_done(self):
        calls = 1
        while self.check() == 0 and "call it again" in self.said:
            calls += 1
            self.assertLess(calls, 6, self.said)
        return calls

    # What a call reaches.

    def test_training_next_to_pytorch_is_reached_within_the_first_minutes(self):
        self.killed(150)
        self.assertEqual(self.measured()[0], "resnet50 train fp16 batch 64")
        self.assertEqual(self.statuses(), {"tests-device": "done", "tests-operations": "done", "peers": "running"})

    def test_training_is_reached_by_a_call_of_ten_minutes_though_all_tests_hang(self):
        self.card.hangs = set(ALL_SUITES)
        self.check()
        self.assertLessEqual({"resnet50 train fp16 batch 64", "resnet50 train fp16 batch 256", "resnet50 infer fp16 batch 64"},
                             set(self.measured()))
        self.assertLess(self.took(), CALL)

    def three_calls(self):
        """The names of what each leaves."""
        left = []
        for _ in range(3):
            self.assertEqual(self.check(), 0)
            self.assertLess(self.took(), 540)
            left.append([name for name in ALL if self.statuses().get(name) != "done"])
        return left

    def test_three_calls_do_everything_the_first_one_what_is_worth_most(self):
        first, second, third = self.three_calls()
        self.assertEqual(first[0], "peers")  # which has cases left
        self.assertFalse({"kernels", "batch-train"} & set(first))
        self.assertEqual((second, third), (["peers", "tests-all"], []))
        self.assertEqual(len(self.measured()), 16)
        self.assertEqual(self.check(), 0)
        self.assertEqual(self.card.calls, [])
        self.assertIn(f"{len(ALL)} of {len(ALL)} stages are done", self.said)

    def test_the_first_call_measures_training_and_inference_next_to_pytorch(self):
        cases = [f"resnet50 {mode} fp16 batch {batch}" for batch in (64, 256) for mode in ("train", "infer")]
        self.check()
        self.assertEqual(self.measured()[:4], cases)
        self.assertIn("call it again for peers, ", self.said)  # which has cases left

    def test_on_a_card_that_is_ten_times_slower_too(self):  # a T4
        self.card.slower = 10
        self.check()
        self.assertEqual(self.measured()[:3], [f"resnet50 {case}" for case in
                                               ("train fp16 batch 64", "infer fp16 batch 64", "train fp16 batch 256")])
        self.assertEqual(self.three_calls()[-1], [])

    def test_limits_leave_each_stage_its_call(self):
        """Whatever the stages before it take of their limits, one belongs to its call."""
        room = 540 - self.card.GRACE - CLOSING
        second = ALL.index("batch-infer")
        self.assertLessEqual(sum(stage.limit for stage in STAGES[:second]), room)
        self.assertLessEqual(sum(stage.limit for stage in STAGES[second:-1]), room)
        self.card.hangs = ALL_SUITES | {"gpu_peers", "batch", "kernels", "memory", "transfer", "workers"}
        self.check()
        self.assertLessEqual(set(ALL[:second]), set(self.statuses()))
        self.check()
        self.assertLessEqual(set(ALL[:-1]), set(self.statuses()))

    def test_cases_that_are_left_come_before_the_long_tests(self):
        self.check()
        self.check("--for", "60min")
        begun = [name for _, name, _ in self.card.calls]
        self.assertLess(max(at for at, name in enumerate(begun) if name == "gpu_peers"), begun.index("tests_gpu"))
        self.assertEqual(set(self.statuses().values()), {"done"})

    def test_the_largest_suite_gets_what_the_others_leave(self):
        self.card.suite_s = {"All/CudnnConv2d": 180}  # 60 s of few plans, of the stage's 100 s
        self.check("--only", "tests-operations")
        self.assertEqual(self.statuses(), {"tests-operations": "done"})

    def test_a_later_call_tunes_nothing_that_an_earlier_one_tuned(self):
        self.check("--only", "peers", "--for", "215s")
        measured = len(self.measured())
        before = self.card.time
        self.check("--only", "peers", "--fresh", "--for", "215s")
        self.assertGreater(len(self.measured()), measured)
        self.assertLess(self.card.time - before, 215)

    def test_it_ends_within_its_time_whatever_runs(self):
        everything = ALL_SUITES | {"gpu_peers", "batch", "kernels", "memory", "transfer", "workers"}
        for hangs in (set(), everything):
            for limit in ("40s", "100s", "5min", "9min", "540s"):
                with self.subTest(hangs=bool(hangs), limit=limit):
                    self.card.hangs, self.card.deaf = hangs, bool(hangs)
                    self.check("--fresh", "--for", limit)
                    self.assertLessEqual(self.took(), check.seconds(limit))

    def test_what_hangs_is_cut_and_the_other_stages_go_on(self):
        self.card.hangs = {"gpu_peers"}
        self.check()
        self.assertEqual(self.statuses()["peers"], "cut")
        self.assertEqual(self.statuses()["kernels"], "done")
        self.check()
        # It waits for the stages that have not run.
        self.assertEqual([name for _, name, _ in self.card.calls][0], "bench")

    # PyTorch.

    def test_pytorch_is_imported_once_for_all_its_cases(self):
        self.check("--only", "peers", "--for", "215s")
        self.assertEqual(self.card.started["torch"], 1)
        self.assertGreaterEqual(len(self.card.cases), 5)
        self.assertEqual(self.card.cases[0], "resnet50 train fp16 64")

    def test_each_case_is_written_when_it_ends_and_none_is_measured_twice(self):
        self.killed(240)
        before = self.measured()
        self.assertGreater(len(before), 3)
        cut = [name for name, row in self.rows().items() if row["status"] == "cut"]
        self.assertEqual(len(cut), 1)
        self.card.cases.clear()
        self.until_done()
        self.assertEqual(len(self.measured()), 16)
        again = [f"resnet50 {mode} fp16 batch {batch}" for mode, batch in
                 (case.split()[1::2] for case in self.card.cases if " fp16 " in case and "compiled" not in case)]
        self.assertFalse(set(before) & set(again) - set(cut))

    def test_a_case_without_memory_is_an_answer_and_one_that_fails_is_tried_again(self):
        self.card.torch_failures = {"resnet50 train fp16 256": "out of memory: 80 GiB", "gemm bf16 8192": "illegal address"}
        self.assertEqual(self.check("--only", "peers", "--for", "20min"), 0)
        self.check("--only", "peers", "--for", "20min")
        self.assertEqual(self.check("--only", "peers", "--for", "20min"), 1)
        self.assertEqual(self.statuses(), {"peers": "failed"})
        rows = self.rows()
        self.assertEqual(rows["resnet50 train fp16 batch 256"]["status"], "oom")
        self.assertEqual(rows["gemm bf16 8192"]["reason"], "torch ended with 1: illegal address")
        self.assertEqual(rows["implicit_gemm fp16"]["status"], "measured")
        self.card.torch_failures, self.card.cases = {}, []
        self.assertEqual(self.check("--only", "peers"), 0)
        self.assertEqual(self.card.cases, ["gemm bf16 8192"])
        self.assertEqual(self.statuses(), {"peers": "done"})

    def test_what_is_not_compiled_here_is_missing_and_training_has_its_note(self):
        self.card.torch_failures = {"resnet50 infer fp16 64 compiled": "torch.compile: RuntimeError: no C compiler"}
        self.check("--only", "peers", "--for", "20min")
        self.assertEqual(self.check("--only", "peers", "--for", "20min"), 0)
        statuses = {name: row["status"] for name, row in self.rows().items()}
        self.assertEqual(statuses.pop("resnet50 infer fp16 batch 64 compiled"), "missing")
        self.assertEqual(set(statuses.values()), {"measured"})
        self.assertIn("missing: torch.compile: RuntimeError: no C compiler", self.said)
        self.assertEqual(self.said.count("PyTorch's step also updates batch norm's running statistics"), 1)

    def test_inference_is_compared_with_pytorch_twice_eager_and_compiled(self):
        compiled = [case for case in gpu_peers.CASES if "compiled" in case.theirs]
        self.assertEqual([case.name for case in compiled], ["resnet50 infer fp16 batch 64 compiled"])
        eager = next(case for case in gpu_peers.CASES if case.name == "resnet50 infer fp16 batch 64")
        self.assertEqual(compiled[0].theirs, [*eager.theirs, "compiled"])
        self.assertEqual((compiled[0].rival, compiled[0].ours), (eager.rival, eager.ours))
        self.check("--only", "peers", "--for", "20min")
        self.check("--only", "peers", "--for", "20min")
        for case in ("resnet50 infer fp16 64", "resnet50 infer fp16 64 compiled"):
            self.assertEqual(self.card.cases.count(case), 1, case)
        row = self.rows()[compiled[0].name]
        self.assertEqual((row["status"], row["goal"], row["instead"]), ("measured", None, "no goal: compiled, PyTorch fuses too"))
        goal = next(goal for goal in self.read("goals.json") if goal["name"] == f"{compiled[0].name} vs torch")
        self.assertEqual((goal["verdict"], goal["target"]), ("reported", "–"))

    @staticmethod
    def inference(torch, *how):
        """The model in 16 bits, and its step."""
        torchvision = mock.MagicMock()
        with mock.patch.dict(sys.modules, torchvision=torchvision):
            step = torch_contestants.resnet50(torch, "infer", "fp16", "64", *how)
        made = torchvision.models.resnet50.return_value
        made.train.assert_called_once_with(False)
        return made.train.return_value.cuda.return_value.to.return_value.to.return_value, step

    def test_pytorch_runs_what_torch_compile_made_of_the_same_model(self):
        torch = mock.MagicMock()
        model, step = self.inference(torch)
        step()
        torch.compile.assert_not_called()
        model.assert_called_once()

        model, step = self.inference(torch, "compiled")
        torch.compile.assert_called_once_with(model)
        compiled = torch.compile.return_value
        self.assertEqual(compiled.call_count, 1)  # which compiles it, before anything is timed
        step()
        self.assertEqual(compiled.call_count, 2)
        self.assertEqual(compiled.call_args_list[0], compiled.call_args_list[1])  # for the same images
        model.assert_not_called()

    def test_pytorch_that_does_not_compile_says_so_and_runs_nothing_else(self):
        torch = mock.MagicMock()
        torch.cuda.OutOfMemoryError = MemoryError
        torch.compile.return_value.side_effect = RuntimeError("no C compiler\nand more")
        said = []
        with mock.patch.dict(sys.modules, torchvision=mock.MagicMock()):
            torch_contestants.serve(torch, ["case resnet50 infer fp16 64 compiled"], said.append)
        self.assertEqual(said, [{"missing": "torch.compile: RuntimeError: no C compiler"}])

    def test_pytorch_multiplies_the_operands_that_ours_does(self):
        torch = mock.MagicMock()
        left, right = mock.MagicMock(), mock.MagicMock()
        torch.rand.return_value.__mul__.return_value.__sub__.return_value.to.side_effect = [left, right]
        torch_contestants.gemm(torch, "bf16", "8192")()
        torch.mm.assert_called_once_with(left, right.t.return_value, out=torch.empty.return_value)

    def test_pytorch_warms_up_as_ours_does(self):
        torch = mock.MagicMock()
        for ms, steps in ((0.1, 200), (1.0, 50), (300.0, 2)):
            torch.cuda.Event.return_value.elapsed_time.return_value = ms
            torch.mm.reset_mock()
            torch_contestants.Case(torch, "gemm", "fp16", "8")
            self.assertEqual(torch.mm.call_count, steps)

    def test_without_pytorch_the_rest_is_compared(self):
        self.card.torch_says = {"missing": "ImportError: no torch"}
        self.assertEqual(self.check("--only", "peers"), 0)
        self.assertEqual(self.measured(), ["implicit_gemm fp32", "implicit_gemm fp16"])
        self.assertEqual(self.card.started["torch"], 1)
        self.assertEqual(self.statuses(), {"peers": "done"})
        self.assertIn("not measured  ImportError: no torch", self.said)

    # What a cut loses.

    def test_a_kill_within_a_stage_loses_that_stage_only(self):
        for stage in ("kernels", "memory", "tests-operations"):
            with self.subTest(stage):
                self.killed(within=stage)
                self.assertEqual(self.statuses()[stage], "running")
                before = self.read("state.json")["stages"]
                done = {name: entry for name, entry in before.items() if entry["status"] == "done"}
                self.assertGreaterEqual(len(done), ALL.index(stage) - 1)  # peers has cases left
                self.until_done()
                after = self.read("state.json")["stages"]
                self.assertEqual({entry["status"] for entry in after.values()}, {"done"})
                self.assertEqual({name: after[name] for name in done}, done)
                self.check("--fresh", "--for", "20s")  # for none

    def test_a_second_call_runs_nothing_that_is_done(self):
        self.check()
        done = {name for name, status in self.statuses().items() if status == "done"}
        self.check()
        ran = {pathlib.Path(options[options.index("--out") + 1]).name for options in self.ran("bench")}
        self.assertTrue(ran)
        self.assertFalse(ran & done)
        self.assertEqual(self.ran("tests_gpu_device"), [])

    def test_a_sweep_that_was_cut_is_resumed_and_its_table_shows_what_it_had(self):
        self.card.hangs = {"kernels"}
        self.check("--only", "kernels", "--for", "110s")
        self.assertEqual(self.statuses(), {"kernels": "cut"})
        self.assertIn("* The sweep kernels found 1 points.", self.said)
        self.assertIn("kernels/point:0", self.said)
        self.assertIn("kernels/point:0", (self.out / "summary.txt").read_text(encoding="utf-8"))
        self.card.hangs = set()
        self.assertEqual(self.check("--only", "kernels"), 0)
        self.assertIn("--resume", self.ran("bench")[0])
        self.assertEqual(self.statuses(), {"kernels": "done"})
        self.assertGreater(len(self.read("kernels/kernels-all-cuda-0.json")["benchmarks"]), 10)

    def test_a_sweep_with_less_than_its_time_budget_gets_the_rest_later(self):
        self.check("--only", "kernels", "--for", "70s")
        self.assertEqual(self.statuses(), {"kernels": "cut"})
        self.assertIn("it had 35 s of its 60 s", self.said)
        self.check("--only", "kernels")
        self.assertEqual(self.statuses(), {"kernels": "done"})

    def test_a_suite_that_crashes_or_fails_or_hangs_loses_only_itself(self):
        for trouble, status in (({"crashes": {"All/OwnKernels"}}, "crashed"), ({"failing": {"AreRight/fp32"}}, "failed"),
                                ({"hangs": {"All/OwnKernels"}}, "cut")):
            with self.subTest(status):
                self.card.crashes, self.card.failing, self.card.hangs = set(), set(), set()
                vars(self.card).update(trouble)
                code = self.check("--only", "tests-operations", "--fresh", "--for", "3min")
                suites = {suite["name"]: suite["status"] for suite in self.read("tests-operations/tests.json")["suites"]}
                self.assertEqual(suites, dict.fromkeys(SUITES["tests_gpu"], "passed") | {"All/OwnKernels": status})
                self.assertEqual(code, 0 if status == "cut" else 1)
                self.card.crashes, self.card.failing, self.card.hangs = set(), set(), set()
                self.assertEqual(self.check("--only", "tests-operations"), 0)
                filters = [option for options in self.ran("tests_gpu") for option in options if "filter" in option]
                self.assertEqual(filters, ["--gtest_filter=All/OwnKernels.*"])
                self.assertEqual(self.statuses(), {"tests-operations": "done"})

    def test_a_failing_test_is_named_in_the_table(self):
        self.card.failing = {"AreRight/fp32"}
        self.assertEqual(self.check("--only", "tests-operations"), 1)
        self.assertIn("tests-operations: failed: All/OwnKernels", self.said)
        self.assertIn("    AreRight/fp32: off by one in x.cpp", self.said)
        self.assertIn("failed: tests-operations; their folders", self.warned)

    def test_tests_that_are_all_skipped_are_no_success(self):
        self.card.skips = True
        self.assertEqual(self.check("--only", "tests-device"), 1)
        self.assertIn("tests-device: failed: every test was skipped; its log says why", self.said)

    # What is done again.

    def test_a_failed_sweep_starts_again(self):
        self.card.sweep_code = 3
        self.assertEqual(self.check("--only", "transfer"), 1)
        self.card.sweep_code = 0
        self.assertEqual(self.check("--only", "transfer"), 0)
        self.assertNotIn("--resume", self.ran("bench")[0])

    def test_only_runs_what_is_done_again_and_nothing_else(self):
        self.check("--only", "transfer,memory")
        self.assertEqual(set(self.statuses()), {"transfer", "memory"})
        before = self.read("state.json")
        self.check("--only", "transfer")
        self.assertEqual(len(self.ran("bench")), 1)
        self.assertNotIn("--resume", self.ran("bench")[0])
        self.assertEqual(self.read("state.json")["stages"]["memory"], before["stages"]["memory"])

    def test_fresh_forgets_what_was_done_and_keeps_what_is_not_of_the_check(self):
        self.check("--only", "transfer,memory")
        (self.out / "note.txt").write_text("mine", encoding="utf-8")
        self.check("--fresh", "--for", "40s")
        self.assertEqual(set(self.statuses()), {"tests-device"})
        self.assertFalse((self.out / "transfer").exists())
        self.assertTrue((self.out / "note.txt").exists())

    def test_another_build_of_a_program_runs_again(self):
        self.check("--only", "tests-device,transfer")
        (self.card.programs / "bench").write_text("the second build", encoding="utf-8")
        self.check("--for", "40s")
        self.assertEqual(self.ran("tests_gpu_device"), [])  # it is the same
        self.check("--only", "transfer")
        self.assertNotIn("--resume", self.ran("bench")[0])

    def test_results_of_another_card_are_left_alone(self):
        self.check("--only", "transfer")
        state = self.read("state.json")
        (self.out / "state.json").write_text(json.dumps(dict(state, card="NVIDIA Other")), encoding="utf-8")
        self.assertEqual(self.check(), 2)
        self.assertIn("holds results of another card, NVIDIA Other; give another --out", self.warned)
        self.assertEqual(self.card.calls, [])

    def test_ctrl_c_saves_what_was_done(self):
        run, count = self.card.run, [0]

        def interrupted(*given):
            count[0] += 1
            if count[0] == 3:
                raise KeyboardInterrupt
            return run(*given)

        self.card.run = interrupted
        self.assertEqual(self.check("--only", "transfer,workers,memory"), 130)
        self.assertEqual(self.statuses(), {"memory": "done", "transfer": "done", "workers": "cut"})
        self.assertIn("call it again to go on", self.warned)

    def test_the_second_default_sweep_gets_the_choices_of_the_first_and_no_other_stage_does(self):
        run, folders = self.card.run, {}

        def noted(command, limit, log, environment):
            folders[pathlib.Path(log).parent.name] = environment.get("XDG_CACHE_HOME")
            return run(command, limit, log, environment)

        self.card.run = noted
        self.check("--only", "transfer,batch,batch-cached")
        cache = str(self.out / "batch" / "cache")
        self.assertEqual(folders, {"transfer": str(self.out / "cache"), "batch": cache, "batch-cached": cache})

    # What is sent back.

    def test_one_file_holds_everything(self):
        self.check("--only", "transfer")
        with tarfile.open(self.out / "gpu-check.tar.gz") as archive:
            names = set(archive.getnames())
        self.assertLessEqual({"results/state.json", "results/summary.txt", "results/goals.json",
                              "results/transfer/transfer-all-cuda-0.json", "results/transfer/log.txt"}, names)

    def test_what_is_sent_back_goes_on_elsewhere_with_its_choices(self):
        self.check("--only", "peers", "--for", "215s")
        before = self.measured()
        with tarfile.open(self.out / "gpu-check.tar.gz") as archive:
            self.assertIn("results/cache/bench/autotune.json", archive.getnames())
            elsewhere = self.out.parent / "elsewhere"
            archive.extractall(elsewhere)
        self.out = elsewhere / "results"
        self.card.started.clear()
        self.check("--only", "peers", "--for", "215s")
        self.assertEqual(self.measured()[:len(before)], before)
        self.assertGreater(len(self.measured()), len(before))

    def test_a_result_that_no_table_can_be_made_of_stops_nothing(self):
        sweep = self.card.sweep

        def odd(name, options, environment):
            code = sweep(name, options, environment)
            out = pathlib.Path(options[options.index("--out") + 1])
            (out / "transfer-all-cuda-0.json").write_text('{"benchmarks": [{}]}', encoding="utf-8")
            return code

        self.card.sweep = odd
        self.assertEqual(self.check("--only", "transfer,workers"), 0)
        self.assertIn("no table: KeyError", self.said)
        self.assertEqual(self.statuses(), {"transfer": "done", "workers": "done"})

    def test_a_program_that_does_not_start_fails_its_stage_only(self):
        run = self.card.run

        def missing(command, *given):
            if str(command[0]).endswith("tests_gpu_device"):
                raise FileNotFoundError("no such file: tests_gpu_device")
            return run(command, *given)

        self.card.run = missing
        self.assertEqual(self.check("--only", "tests-device,transfer"), 1)
        self.assertEqual(self.statuses(), {"tests-device": "failed", "transfer": "done"})

    def test_the_page_names_every_stage(self):
        page = (SOURCE / "docs" / "cuda.md").read_text(encoding="utf-8")
        for stage in STAGES:
            self.assertIn(f"`{stage.name}`", page)
            self.assertIn(f"{stage.limit} s", page)

    # What is asked for wrongly.

    def test_wrong_usage_is_named_with_what_is_accepted(self):
        for options, words in ((("--for", "soon"), "'soon' is no time; give one such as 9min or 540s"),
                               (("--only", "kernel"), "there is no stage 'kernel'; accepted are tests-device, "),
                               (("--device", "cpu"), "'cpu' is no GPU; give cuda:N")):
            with self.subTest(options), self.assertRaises(SystemExit) as ended:
                self.check(*options)
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(words, self.warned)
        self.assertEqual(self.card.calls, [])


if __name__ == "__main__":
    unittest.main()
