"""What the check on a GPU says of its goals, from result files. Every number here is invented."""

import json
import pathlib
import tempfile
import unittest

from fake_card import SOURCE, stream_point  # finds the module that follows
import goals


class Goals(unittest.TestCase):
    def test_goals_that_are_missed_of_files_that_hold_little(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            stage = folder / "stage"
            stage.mkdir()
            little = {"context": {"device": {}}, "benchmarks": [
                stream_point(mode, "cold", 9, size, 1000)
                for mode, size in (("triad", 460000), ("copy", 500000))]}
            memory = {"benchmarks": [{"name": "off", "memory": {"peak_predicted": 100, "peak_measured": 106}},
                                     {"name": "none", "memory": {}}]}
            peers = {"rows": [{"name": "resnet50 x", "rival": "torch", "goal": 1, "status": "measured", "ratio": 0.9,
                               "ci95": [0.8, 1.1], "results": {"ours": {"about": {"reserved_peak_bytes": 12}},
                                                               "torch": {"peak_bytes": 10}}},
                              {"name": "gemm y", "rival": "torch", "goal": 1, "status": "error", "reason": "it broke"},
                              {"name": "gemm z", "rival": "torch", "goal": 1, "by_interval": True, "status": "measured",
                               "ratio": 0.97, "ci95": [0.94, 1.01]}]}
            for name, document in (("kernels-all-cuda-0", little), ("memory-x-cuda-0", memory), ("gpu-peers", peers)):
                (stage / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
            (stage / "batch-x-cuda-0.json").write_text("no JSON", encoding="utf-8")
            judged = {goal.name: (goal.verdict, goal.measured) for goal in goals.measured(folder, {})}
        self.assertEqual(judged, {
            "stream triad, of the datasheet's bandwidth": ("not measured", "0.46 TB/s; results/gpus.json has no such card"),
            "stream triad, of a copy within the card": ("missed", "0.920 (common rounds: 1)"),
            "resnet50 x vs torch": ("missed", "0.90 (0.80–1.10)"),
            "gemm y vs torch": ("not measured", "it broke"),
            "gemm z vs torch": ("met", "0.97 (0.94–1.01)"),
            "peak memory reserved, of PyTorch's max_memory_reserved": ("missed", "1.20 at most (resnet50 x)"),
            "peak memory, off the plan": ("missed", "6.0% at most of 1 points (off)"),
            "attention of gpt_small train fp16": ("not measured", "no point of the stage attention"),
            "default batch sweep, choices not cached: its end": ("not measured", "it did not run as a whole"),
            "default batch sweep, choices cached: every batch up to saturation precise":
                ("not measured", "it did not run as a whole")})

    @staticmethod
    def attention(capability, *algorithms, unmeasured=()):
        """The verdict on points of these algorithms; None: the point records none."""
        goal = goals.attention_goal([{"context": {"device": {"compute_capability": capability}},
                                      "benchmarks": [{} if of is None else {"algorithms": of} for of in algorithms],
                                      "unmeasured": [{"status": "oom", "reason": reason} for reason in unmeasured]}])
        return goal.verdict, goal.measured

    def test_attention_is_fused_where_the_card_can(self):
        fused = {"fused attention eng6_k24=1": 12, "fused attention eng2": 12, "eng41_k2=28": 3}
        self.assertEqual(self.attention("9.0", fused), ("met", "12 × fused attention eng6_k24=1, 12 × fused attention eng2"))
        self.assertEqual(self.attention("10.0", {"cublasLt": 30}), ("missed", "by products"))
        self.assertEqual(self.attention("7.5", {"cublasLt": 30}),
                         ("reported", "by products, as compute capability 8.0 is needed"))

    def test_attention_is_fused_only_if_every_pass_is(self):
        fused = {"fused attention eng6_k24=1": 12, "fused attention eng2": 12}
        forward = {"fused attention eng6_k24=1": 12, "cublasLt": 42}
        missed = ("missed", "12 of 24 passes: 12 × fused attention eng6_k24=1")
        self.assertEqual(self.attention("9.0", forward), missed)
        self.assertEqual(self.attention("9.0", fused, forward), missed)
        self.assertEqual(self.attention("9.0", None, forward), missed)

    def test_attention_of_points_that_record_no_algorithms_is_unknown(self):
        fused = {"fused attention eng6_k24=1": 24}
        for none in (None, {}):
            self.assertEqual(self.attention("9.0", none), ("not measured", "its points record no algorithms"))
            self.assertEqual(self.attention("9.0", none, fused), ("not measured", "1 of 2 points record no algorithms"))

    def test_attention_without_points_has_all_their_reasons(self):
        self.assertEqual(self.attention("9.0", unmeasured=("it needs 9 GB", "it broke", "it needs 9 GB")),
                         ("not measured", "it broke; it needs 9 GB"))
        self.assertEqual(self.attention("9.0"), ("not measured", "no point of the stage attention"))

    def test_the_triads_goal_is_what_others_reached_on_such_a_card(self):
        def sheet_goal(card, size):
            context = {"device": {"datasheet": {"id": card, "bytes_per_s": 1e9}}}
            return goals.triad_goals([{"context": context, "benchmarks": [stream_point("triad", "cold", 9, size, 1000)]}])[0]
        for card, size, verdict in (("t4", 802, "met"), ("t4", 795, "missed"), ("h200", 871, "met"), ("h200", 865, "missed"),
                                    ("rtx9999", 990, "reported"), ("rtx9999", 10, "reported")):
            with self.subTest(card=card, size=size):
                self.assertEqual(sheet_goal(card, size).verdict, verdict)
        self.assertEqual(sheet_goal("h200", 871).target, "≥ 87 %")
        self.assertEqual(sheet_goal("t4", 802).target, "≥ 80 %")
        self.assertEqual(sheet_goal("h200", 871).measured,
                         "87.1% (0.00 of 0.00 TB/s); BabelStream 4.18 TB/s, Azure ND H200 v5")
        known = {gpu["id"] for gpu in json.loads((SOURCE / "results/gpus.json").read_text(encoding="utf-8"))["gpus"]}
        self.assertLessEqual(set(goals.REACHED), known)

    @staticmethod
    def in_rounds(mode, values, version):
        """A point of these rounds' samples; an empty round is one that the point was not in."""
        point = stream_point(mode, "cold", 9, 1000, 1)
        sizes = [len(samples) for samples in values]
        point["samples_ns"] = [ns for samples in values for ns in samples]
        if version == 1:
            del point["rounds"]
            point["stats"]["round_sizes"] = sizes
        else:  # rounds before and after --resume
            point["rounds"] = [{"samples": size, "session": number // 2, "round": number % 2}
                               for number, size in enumerate(sizes)]
        return point

    def test_triad_and_copy_are_compared_in_their_common_rounds(self):
        # The triad is precise after two rounds; then the card runs slower, and the copy goes on.
        triad = [[100, 100, 900], [100]]
        slower = [[105], [105, 105], [140], [140, 140]]
        for version in (1, 2):
            def copy_goal(ours, theirs, version=version):
                return goals.triad_goals([{"benchmarks": [self.in_rounds("triad", ours, version),
                                                          self.in_rounds("copy", theirs, version)]}])[1]
            with self.subTest(version=version):
                level = copy_goal(triad, slower)  # 1.225 by whole medians
                self.assertEqual((level.verdict, level.measured), ("met", "1.050 (common rounds: 2)"))
                # In its own rounds the copy is faster, in those of the triad as well; later it is held back.
                missed = copy_goal(triad, [[80], [80], [120], [120], [120]])
                self.assertEqual((missed.verdict, missed.measured), ("missed", "0.800 (common rounds: 2)"))
                apart = copy_goal([[100], []], [[], [80]])
                self.assertEqual((apart.verdict, apart.measured), ("not measured", "it has no round with the triad's"))

    def test_a_ratio_is_judged_by_its_interval_where_the_goal_is_to_be_level(self):
        def verdict(by_interval, high):
            row = {"name": "gemm", "rival": "torch", "goal": 1.0, "by_interval": by_interval, "status": "measured",
                   "ratio": 0.97, "ci95": [0.94, high]}
            return goals.peer_goals([{"rows": [row]}])[0].verdict

        self.assertEqual([verdict(True, 1.0), verdict(True, 0.99), verdict(False, 1.01)], ["met", "missed", "missed"])

    def test_the_first_default_sweep_ends_with_its_budget_and_a_point(self):
        def verdict(status, seconds, resumed=False):
            return goals.uncached_goal({"status": status, "seconds": seconds, "resumed": resumed}).verdict

        self.assertEqual(verdict("done", 124), "met")
        self.assertEqual(verdict("cut", 125), "missed")  # it was interrupted by its limit
        self.assertEqual(verdict("cut", 50), "not measured")  # by somebody
        self.assertEqual(verdict("done", 60, resumed=True), "not measured")
        self.assertEqual(goals.uncached_goal(None).verdict, "not measured")

    def test_the_second_default_sweep_is_precise_up_to_saturation_in_every_dtype(self):
        def point(dtype, batch, *flags):
            return {"params": {"dtype": dtype, "batch": batch}, "validity": {"flags": list(flags)}}

        def left(dtype, batch, status):
            return {"params": {"dtype": dtype, "batch": batch}, "status": status}

        def saturation(dtype, value, beyond=False):
            return {"name": f"ceiling_batch/{dtype}", "value": value, "details": {"may_lie_beyond": beyond}}

        def judged(points, unmeasured, *findings, first="done"):
            with tempfile.TemporaryDirectory() as scratch:
                stage = pathlib.Path(scratch) / "batch-cached"
                stage.mkdir()
                (stage / "batch-all-cuda-0.json").write_text(json.dumps(
                    {"benchmarks": points, "unmeasured": unmeasured, "findings": findings}), encoding="utf-8")
                done = {"status": "done", "resumed": False}
                goal = goals.cached_goal(pathlib.Path(scratch), done, {"status": first})
            return goal.verdict, goal.measured

        even = [point("fp32", 1), point("fp16", 1, "above_peak"), point("fp16", 2)]
        both = [saturation("fp32", 1), saturation("fp16", 2)]
        self.assertEqual(judged([*even, point("fp16", 4, "noisy")], [left("fp32", 2, "skipped")], *both), ("met", "4 points"))
        self.assertEqual(judged([point("fp32", 1, "noisy"), *even[1:]], [left("fp16", 1, "skipped")], *both),
                         ("missed", "ceiling_batch/fp32: batch 1 not precise; ceiling_batch/fp16: batch 1 not precise"))
        # Where it may lie beyond the largest batch that was measured, only the card's memory may end the sweep.
        beyond = [saturation("fp16", 2, beyond=True)]
        self.assertEqual(judged(even, [left("fp16", 4, "oom")], *beyond)[0], "met")
        self.assertEqual(judged(even, [left("fp16", 4, "skipped")], *beyond),
                         ("missed", "ceiling_batch/fp16: batch 4 not precise"))
        self.assertEqual(judged(even, [], saturation("fp16", None)), ("missed", "ceiling_batch/fp16 is unknown"))
        self.assertEqual(judged(even, [])[0], "missed")
        self.assertEqual(judged(even, [], *both, first="cut"),
                         ("not measured", "the sweep that makes the choices did not run as a whole"))


if __name__ == "__main__":
    unittest.main()
