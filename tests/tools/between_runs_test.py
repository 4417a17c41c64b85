"""The evaluation of tools/gate/ten_runs.sh counts pairs of runs: covered, missed, and without an interval."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "gate"))

import between_runs


def run(median, between, within=(0, 1)):
    return {"point": {"median_ns": median, "ci95_ns": list(within), "ci95_between_ns": between}}


class BetweenRuns(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def ended(self, runs):
        paths = []
        for number, points in enumerate(runs, 1):
            paths.append(self.folder / f"{number}.json")
            paths[-1].write_text(json.dumps({"benchmarks": [{"name": name, "stats": stats} for name, stats in points.items()]}))
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = between_runs.main(paths)
        return code, said.getvalue()

    def test_pairs_are_those_of_the_fourth_run_on_with_every_other(self):
        runs = [run(100, None), run(110, None), run(90, None), run(100, [95, 105]), run(100, [80, 120])]
        between, within = between_runs.cover(runs)
        self.assertEqual(between.hits, [True, False, False, True] + [True] * 4)
        self.assertEqual(between.half_widths, [0.05, 0.2])
        self.assertEqual(within.share(), 0)
        self.assertEqual(self.ended(runs)[0], 0)

    def test_an_interval_that_is_not_known_covers_nothing(self):
        runs = [run(100, None)] * 4 + [run(100, [90, 110])]
        between, _ = between_runs.cover(runs)
        self.assertEqual(between.share(), 0.5)
        self.assertEqual(between.unknown, 1)
        code, said = self.ended(runs)
        self.assertEqual(code, 1)
        self.assertIn("1 have none", said)

    def test_a_point_that_another_run_lacks_makes_no_pair_with_it(self):
        runs = [run(100, None), {}, run(100, None), run(100, [90, 110]), run(100, [90, 110])]
        self.assertEqual(len(between_runs.cover(runs)[0].hits), 6)

    def test_narrow_intervals_do_not_meet_the_goal(self):
        code, said = self.ended([run(100 + number, [99 + number, 101 + number]) for number in range(10)])
        self.assertEqual(code, 1)
        self.assertIn("a point's medians span 9.0 to 9.0 %", said)
        self.assertIn("not met", said)

    def test_what_cannot_be_read_is_one_sentence(self):
        self.assertEqual(self.ended([run(100, None)] * 4)[0], 2)
        runs = [run(100, None)] * 4 + [{"point": {"median_ns": 100}}]
        code, said = self.ended(runs)
        self.assertEqual(code, 2)
        self.assertEqual(said.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
