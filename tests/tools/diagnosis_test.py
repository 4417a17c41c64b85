"""The table of `make diagnosis`: counts, gains, and which goals they meet; its situations; its ONNX file."""

import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "diagnosis"))

import situations
import table
from tiny_network import tiny_network, varint


def case(number, right=True, expected="storage", changes=()):
    return {"situation": f"situation {number // 5}", "number": number, "what": "a | b", "expected": expected,
            "named": expected if right else "bus", "reason": "so", "right": right, "seconds": 30, "changes": list(changes)}


def change(predicted, low, high, measured):
    return {"what": "workers 0 → 1", "advised": True, "predicted_ns": predicted, "interval90_ns": [low, high],
            "measured_ns": measured}


def report(cases):
    return {"machine": {"processor": "Example CPU", "cores": 2}, "cases": cases}


def met_by_goal(cases):
    return {what.split(":")[0]: is_met for what, _, is_met in table.goals(report(cases))}


class Table(unittest.TestCase):
    def test_gains_are_medians_over_the_changes(self):
        found = table.gains([change(110, 90, 130, 100), change(100, 95, 105, 100), change(100, 90, 110, 125)])
        self.assertAlmostEqual(found["error"], 0.1)
        self.assertAlmostEqual(found["coverage"], 2 / 3)
        self.assertAlmostEqual(found["half_width"], 0.1)

    def test_one_wrong_of_twenty_meets_the_goal_and_two_do_not(self):
        cases = [case(number, right=number > 0) for number in range(20)]
        self.assertTrue(met_by_goal(cases)["right diagnosis"])
        cases[2]["right"] = False
        self.assertFalse(met_by_goal(cases)["right diagnosis"])
        self.assertTrue(met_by_goal(cases)["right diagnosis, not looked at"])

    def test_further_cases_count_by_their_changes_alone(self):
        further = {**case(100, right=False, changes=[change(100, 80, 120, 105)] * 60), "further": True}
        found = met_by_goal([case(0), further])
        self.assertTrue(found["right diagnosis"])
        self.assertTrue(found["advised changes made and measured"])

    def test_a_healthy_case_that_is_blamed_fails_its_goal_alone(self):
        found = met_by_goal([case(0), case(5, right=False, expected="none")])
        self.assertTrue(found["right diagnosis"])
        self.assertFalse(found["healthy, and something blamed"])

    def test_sixty_advised_changes_are_needed(self):
        one = change(100, 80, 120, 105)
        tried = {**one, "advised": False}
        self.assertFalse(met_by_goal([case(0, changes=[one] * 59 + [tried] * 9)])["advised changes made and measured"])
        self.assertTrue(all(met_by_goal([case(0, changes=[one] * 60)]).values()))

    def test_the_page_has_a_row_for_each_situation_and_names_the_wrong_ones(self):
        page = table.page(report([case(0), case(1, right=False), case(5, changes=[change(100, 80, 120, 105)])]))
        self.assertIn("| situation 0 | storage | 1 of 1 | 0 of 1 | 0 | – | – | 0 | – | – |", page)
        self.assertIn("| situation 1 | storage | – | 1 of 1 | 1 | 4.8% | 100% | 0 | – | – |", page)
        self.assertIn("| situation 0 | a \\| b | bus | so |", page)
        self.assertIn("| situation 1: workers 0 → 1 | 0.0001 ms |", page)


class Situations(unittest.TestCase):
    MACHINE = types.SimpleNamespace(image_ms=2, image_bytes=110_000, uneven_image_ms=2.2, cores=2, slow_calls={"LD_PRELOAD": "x"},
                                    images_of=str, tiny_network=str, peak=lambda batch, kind: 100e6 + 10e6 * batch)

    def test_twenty_have_names_of_their_own(self):
        self.assertEqual(len({one.name for one in situations.SITUATIONS}), 20)

    def test_each_measures_the_settings_that_it_advises_on(self):
        for situation in situations.SITUATIONS:
            for strength in (0, 0.5, 1):
                with self.subTest(situation.name, strength=strength):
                    made = situation.make(strength, self.MACHINE)
                    if made.loader:
                        batch = made.loader[made.loader.index("--batch") + 1]
                        self.assertEqual(str(made.current["batch"]), batch)
                        self.assertTrue(made.current["workers"] in made.workers or made.host_memory)
                    else:
                        self.assertIn(made.current["batch"], made.batches)

    def test_strengths_make_different_cases(self):
        for situation in situations.SITUATIONS:
            with self.subTest(situation.name):
                self.assertNotEqual(situation.make(0, self.MACHINE), situation.make(1, self.MACHINE))


class TinyNetwork(unittest.TestCase):
    def test_numbers_have_seven_bits_a_byte(self):
        self.assertEqual(varint(300), bytes([0xAC, 0x02]))

    def test_each_layer_adds_a_convolution(self):
        self.assertEqual(tiny_network(3, channels=8, pixels=8).count(b"Conv"), 3)


if __name__ == "__main__":
    unittest.main()
