"""`make peers` says that a goal is met only where the interval shows it."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "peers"))

import importing
import loading
import peers
import report
import ranked
import sampled


def rounds(*times):
    return {"rounds_ns": [[time] for time in times], "median_ns": sorted(times)[len(times) // 2], "peak_bytes": 1}


# Theirs over ours: 1.8 at the median, 1.2 at the worst. The goal next to eager PyTorch is 1.7.
UNSTEADY = rounds(180, 180, 120, 185, 125, 190, 180)
STEADY = rounds(180, 181, 179, 180, 182, 180, 181)


def next_to(theirs):
    results = {name: rounds(*[100] * 7) for name in ("ours-fp32", "ours-bf16")}
    for name in ("torch-eager-nchw", "torch-eager-channels-last", "torch-bf16-nchw", "torch-bf16-channels-last",
                 "torch-script", "bare-fp32", "bare-bf16"):
        results[name] = theirs
    return peers.compare(results)["speed"][0]


class Goals(unittest.TestCase):
    def test_a_median_beyond_the_goal_does_not_show_it(self):
        row = next_to(UNSTEADY)
        self.assertGreater(row["ratio"], row["goal"])
        self.assertLess(row["ci95"][0], row["goal"])
        self.assertFalse(row["met"])
        self.assertEqual(report.shown(row["met"]), "**not shown**")

    def test_an_interval_beyond_the_goal_does(self):
        row = next_to(STEADY)
        self.assertTrue(row["met"])
        self.assertEqual(report.shown(row["met"]), "yes")

    def test_loading_likewise(self):
        results = {name: rounds(*[100] * 7) for name in ("ours-2", f"ours-{max(loading.WORKERS)}", "bare-2")}
        for decoder in loading.DECODERS:
            results[f"torch-{decoder}-2"] = rounds(*[100 * (loading.DATA_GOAL + step) for step in
                                                     (0.2, 0.2, -0.4, 0.2, -0.4, 0.2, 0.2)])
        row = loading.compare(results, 2)[0]
        self.assertGreater(row["ratio"], row["goal"])
        self.assertFalse(row["met"])

    def test_an_imported_network_is_compared_with_the_faster_and_the_smaller(self):
        results = {"ours": rounds(*[100] * 7), "onnxruntime": rounds(*[130] * 7),
                   "openvino": rounds(98, 98, 96, 98, 96, 98, 98)}
        results["ours"]["peak_bytes"] = results["openvino"]["peak_bytes"] = 5
        results["onnxruntime"]["peak_bytes"] = 4
        row = importing.compare(results, importing.RUNTIMES["fp32"])
        self.assertEqual((row["theirs"], row["ratio"], row["ci95"][0]), ("openvino", 0.98, 0.96))
        self.assertEqual((row["met"], row["memory_met"], row["theirs_bytes"]), (False, False, 4))
        results["ours"]["peak_bytes"] = 3
        self.assertTrue(importing.compare(results, importing.RUNTIMES["fp32"])["memory_met"])

    def test_simulated_load_times_are_compared_at_each_count_and_at_the_knee(self):
        def result(*aus):
            return {"sweep": {"simulated": {"points": [{"workers": workers, "au": au, "au_ci95": [au - 0.01, au + 0.01]}
                                                       for workers, au in enumerate(aus)]}}}

        # With ready batches 0.98: the measured AU are 0.5, 0.9 and 1 of that.
        fed = {"ready": [0.98] * 7, "workers": {"0": [0.49] * 7, "1": [0.882] * 7, "2": [0.98] * 7}}
        good = sampled.compare(fed, result(0.52, 0.92, 0.99))
        self.assertEqual([row["met"] for row in good["au"]], [True] * 3)
        self.assertAlmostEqual(good["au"][0]["measured_au"], 0.5)
        self.assertAlmostEqual(good["au"][0]["error_points"], 2)
        self.assertEqual((good["measured_knee"], good["simulated_knee"], good["knee_met"]), (2, 2, True))
        bad = sampled.compare(fed, result(0.96, 0.97, 0.99))
        self.assertEqual([row["met"] for row in bad["au"]], [False, False, True])
        self.assertEqual((bad["simulated_knee"], bad["knee_met"]), (0, False))
        # Of a flat curve noise picks the knee: 4 reaches 95 % of the best, and 2 may.
        flat = [{"workers": workers, "measured_au": au, "measured_au_ci95": [au - 0.02, au + 0.02], "simulated_au": 0.39}
                for workers, au in ((1, 0.2), (2, 0.375), (3, 0.38), (4, 0.41))]
        flat[0]["simulated_au"] = 0.2
        self.assertEqual(sampled.knees(flat), {"measured_knee": 4, "measured_knee_from": 2, "simulated_knee": 2,
                                               "knee_met": True})
        flat[0]["simulated_au"] = 0.39
        self.assertTrue(sampled.knees(flat)["knee_met"])
        for row in flat:
            row["measured_au_ci95"] = [row["measured_au"]] * 2
        self.assertEqual(sampled.knees(flat)["measured_knee_from"], 4)
        self.assertFalse(sampled.knees(flat)["knee_met"])
        # An interval that ends beyond 5 points does not show it.
        fed["workers"]["1"] = [0.882, 0.85, 0.882, 0.85, 0.882, 0.882, 0.85]
        self.assertFalse(sampled.compare(fed, result(0.52, 0.92, 0.99))["au"][1]["met"])

    def test_two_ranks_are_judged_by_the_other_networks(self):
        def row(network, over):
            return {"network": network, "batch": 1, "over_replay": over}

        judged = ranked.judged([row("a", 1.1), row("a", 1.3), row("b", 1.0), row("b", 1.2), row("c", 1.1)])
        errors = [round(one["error"], 3) for one in judged["rows"]]
        self.assertEqual(errors, [0.0, 0.182, -0.091, 0.091, 0.0 - 0.043])
        self.assertEqual([one["covered"] for one in judged["rows"]], [True, False, False, True, True])
        self.assertAlmostEqual(judged["over_replay"]["likely"], 1.1)
        self.assertEqual([round(end, 9) for end in judged["over_replay"]["p05_p95"]], [1.02, 1.28])
        self.assertTrue(judged["met"])
        self.assertFalse(ranked.judged([row("a", 1.0), row("b", 1.5)])["met"])

    def test_what_two_ranks_did_not_measure_is_said_with_its_reason(self):
        def result(*points):
            return {"unmeasured": [{"params": {"batch": batch}, "reason": reason} for batch, reason in points]}

        missing = ranked.missing("net", [4, 8], result((8, "no time")), result((4, "no memory"), (8, "no time"), (8, "late")))
        self.assertEqual(missing, [{"network": "net", "batch": 4, "reasons": ["no memory"]},
                                   {"network": "net", "batch": 8, "reasons": ["late", "no time"]}])
        document = {**ranked.judged([{"network": name, "batch": 1, "over_replay": 1.1, "one_ns": 1, "two_ns": 2, "replay_ns": 2}
                                     for name in "ab"]),
                    "date": "", "rounds": 1, "turn_s": 1, "missing": missing,
                    "machine": {"processor": "", "threads": 2, "memory_bytes": 1, "kernel": ""},
                    "versions": {"bench": "", "torch": "", "onednn_of_torch": "", "torchvision": "", "compiler": ""}}
        page = report.cards_markdown(document)
        self.assertIn("not measured in both runs:\n\n- net at batch 4: no memory\n- net at batch 8: late; no time\n", page)
        del document["missing"]
        self.assertNotIn("not measured", report.cards_markdown(document))

    def test_the_mean_of_all_networks_is_geometric(self):
        cells = [{"theirs": "onnxruntime", "results": {"ours": rounds(*[100] * 7), "onnxruntime": rounds(*[time] * 7)}}
                 for time in (80, 180)]
        mean = importing.mean(cells)
        self.assertAlmostEqual(mean["ratio"], 1.2)
        self.assertTrue(mean["met"])
        cells[0]["results"]["onnxruntime"] = rounds(80, 80, 50, 80, 50, 80, 80)
        mean = importing.mean(cells)
        self.assertAlmostEqual(mean["ratio"], 1.2)
        self.assertFalse(mean["met"])

    def test_a_cost_of_the_harness_has_to_be_below_in_every_run(self):
        def run(overhead):
            return {"copy_bytes": 1 << 28, "copy_time_over_tuned": 1, "ns_per_sample": overhead, "dry_run_s": 0.05,
                    "file_write_s": 0.2, "file_read_s": 0.2, "ns_per_simulated_batch": 100,
                    "planning": [{"network": "unet", "mode": "infer", "slowest_batch": 2, "median_ms": 1, "max_ms": 9}]}

        goals = {goal["name"]: goal for goal in peers.harness_goals([run(900), run(950), run(1100)])}
        overhead = goals["overhead of a sample"]
        self.assertEqual((overhead["value"], overhead["ci95"]), (950, [900, 1100]))
        self.assertFalse(overhead["met"])
        self.assertTrue(goals["bench --dry-run"]["met"])
        self.assertEqual(goals["bench --dry-run"]["value"], 50)


if __name__ == "__main__":
    unittest.main()
