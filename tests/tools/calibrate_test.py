"""The calibration: terms of layers by hand, a fit that finds what made the times, families left out, memory, intervals."""

import dataclasses
import importlib.util
import json
import math
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TABLES = SOURCE / "tests" / "tools" / "tables"
sys.path.insert(0, str(SOURCE / "tools" / "calibrate"))

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
if HAS_NUMPY:
    import numpy

    import calibrate
    import compiled
    import evaluate
    import evidence
    import features
    import fit
    import leave_out
    import memory
    import model
    import networks
    import products
    import spreads
    import tables
    import transformers


def operation(kind, read, written, **fields):
    return networks.Operation(kind, read, written, **fields)


def convolution(channels, outputs, pixels, kernel=3, groups=1, stride=1):
    depth = channels // groups * kernel ** 2
    return operation("conv", channels * pixels * stride ** 2, outputs * pixels, weights=outputs * depth,
                     macs=pixels * outputs * depth, rows=pixels, columns=outputs // groups, depth=depth, groups=groups,
                     kernel=kernel, taps=kernel ** 2, stride=stride)


def network(*operations, parameters=0):
    return networks.Network("made up", 8, parameters, operations)


@unittest.skipUnless(HAS_NUMPY, "needs python3-numpy (tools/packages-calibrate.txt)")
class Terms(unittest.TestCase):
    def test_classes_of_products(self):
        cases = {"wino": convolution(64, 64, 49), "dense": convolution(64, 64, 49, stride=2),
                 "point": convolution(64, 64, 49, kernel=1), "stem": convolution(3, 64, 49, kernel=7, stride=2),
                 "group": convolution(64, 64, 49, groups=32), "depth": convolution(64, 64, 49, groups=64)}
        for name, product in cases.items():
            self.assertEqual(features.class_of(product), name)

    def test_a_convolution_in_fp32(self):
        step = features.step_of(network(convolution(16, 40, 100)), "infer", "fp32").at(2)
        self.assertEqual(step["flops.wino"], 2 * 2 * 100 * 64 * (16 * 9 + 8))  # 40 columns fill two tiles of 32
        self.assertEqual(step["bytes.conv"], 2 * 4 * (1600 + 4000))
        self.assertEqual(step["bytes.weights"], 4 * 40 * 144)
        self.assertEqual(step["launches"], 1)

    def test_training_adds_the_backward_pass(self):
        net = network(convolution(16, 32, 100), operation("bn", 3200, 3200), operation("relu_", 3200, 3200), parameters=5000)
        step = features.step_of(net, "train", "fp32").at(1)
        self.assertEqual(step["grads.wino"], step["flops.wino"])  # the first layer has no gradient of its input
        self.assertEqual(step["bytes.bn"], 4 * (2 + 6) * 3200)
        self.assertEqual(step["bytes.act"], 4 * (2 + 3) * 3200)
        self.assertEqual(step["bytes.weights"], 4 * 32 * 144 * 3 + 4 * 5000 * 10)
        self.assertEqual(step["launches"], (1 + 2 + 3) + (1 + 1 + 6) + (1 + 1))

    def test_training_under_autocast_casts_gradients_too(self):
        net = network(operation("ln", 8, 8), operation("linear", 8, 8), operation("dropout", 8, 8), operation("div", 8, 8))
        steps = {mode: features.step_of(net, mode, "amp").at(1) for mode in ("infer", "train")}
        dropped = 2 * 2 * 8 + 8  # in 16 bits, and a mask
        self.assertEqual(steps["infer"]["bytes.act"], 6 * 8 + dropped + 2 * 2 * 8)
        backward = 2 * (2 * 2 * 8)  # of dropout and of the quotient; the first product's input has no gradient
        self.assertEqual(steps["train"]["bytes.act"] - steps["infer"]["bytes.act"], backward)
        later = features.step_of(network(operation("linear", 8, 8), *net.operations), "train", "amp").at(1)
        self.assertEqual(later["bytes.act"] - steps["train"]["bytes.act"], 6 * 8 + 6 * 8)  # the gradient's; the first input's

    def test_training_ends_with_the_loss(self):
        loss = features.step_of(network(operation("linear", 8, 16)), "train", "amp").at(1)
        none = features.step_of(network(operation("linear", 8, 16), operation("ln", 16, 16)), "infer", "amp").at(1)
        self.assertEqual(loss["bytes.norm"], 16 * 16)
        self.assertEqual(loss["bytes.act"], none["bytes.act"] + 12 * 16)

    def test_autocast_widens_at_layer_norms(self):
        widths = features.Widths("amp")
        kinds = [operation("linear", 8, 8), operation("ln", 8, 8), operation("linear", 8, 8), operation("add", 16, 8)]
        self.assertEqual([widths.of(each) for each in kinds], [(4, 2), (2, 4), (4, 2), (2, 4)])

    def test_attention_is_fused_unless_a_sum_lies_between(self):
        scores = operation("bmm", 8, 16, macs=1, rows=4, columns=4, depth=2)
        values = operation("bmm", 20, 8, macs=1, rows=4, columns=2, depth=4)
        softmax = operation("_softmax", 16, 16)
        fused = networks.with_fused_attention(network(scores, softmax, values))
        self.assertEqual([(each.kind, each.read) for each in fused.operations], [("attention", 12)])
        apart = network(scores, operation("add", 32, 16), softmax, values)
        self.assertEqual(networks.with_fused_attention(apart), apart)

    def test_a_transformer_has_its_published_parameters(self):
        for name, millions in {"bert_large": 334, "gpt2_large": 772, "opt_13": 1311}.items():
            self.assertAlmostEqual(transformers.transformer(name, 16).parameters / 1e6 / millions, 1, delta=0.02)


@unittest.skipUnless(HAS_NUMPY, "needs python3-numpy (tools/packages-calibrate.txt)")
class Model(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cards = tables.read_cards()
        cls.layers = networks.read_layers(TABLES)
        cls.rows = tables.read_networks(TABLES, cls.cards)
        cls.values = {name: value for name, (value, _) in fit.priors("fp32").items()}

    def row(self, **fields):
        return dataclasses.replace(self.rows[0], **fields)

    def seconds(self, host=0.0, **fields):
        terms = leave_out.terms_of([self.row(**fields)], self.layers)
        return float(model.step_seconds(self.values, terms, numpy.array([host]), numpy.array([0.0]))[0])

    def test_rows_name_cards_by_alias(self):
        self.assertEqual(len(self.rows), 24)
        self.assertEqual(self.cards["p100-pcie-16gb"].id, "p100")
        self.assertEqual(tables.framework_of("pytorch1.13-cu117"), ("pytorch", (1, 13)))
        self.assertEqual(tables.framework_of("tf1-ngc20.06"), ("tensorflow", (0, 0)))

    def test_power_limits_a_small_card(self):
        unlimited = dataclasses.replace(self.cards["t4"], power_w=1000)
        self.assertGreater(self.seconds(card=self.cards["t4"]), 1.5 * self.seconds(card=unlimited))

    def test_launches_bound_a_step_from_below(self):
        launches = leave_out.terms_of([self.row(batch=1)], self.layers).launches[0]
        self.assertAlmostEqual(self.seconds(batch=1, host=1e-3) / (launches * 1e-3), 1, delta=0.01)
        self.assertLess(self.seconds(batch=1, host=1e-3) / self.seconds(batch=2, host=1e-3), 1.001)

    def test_the_fit_finds_what_made_the_times(self):
        made = dict(self.values, **{"a.nchw.wino": 0.9, "b.nchw.act": 1.4})
        terms = leave_out.terms_of(self.rows, self.layers)
        hosts = numpy.array([6e-5 if source.endswith("titanv") else 3e-5 for source in terms.source])
        terms.seconds = model.step_seconds(made, terms, hosts, numpy.full(len(terms), 3e-10))
        values, host = fit.fit(terms, "fp32")
        again = model.step_seconds(values, terms, *host.arrays(terms))
        self.assertLess(numpy.max(abs(again / terms.seconds - 1)), 0.05)
        before = model.step_seconds(self.values, terms, hosts, numpy.full(len(terms), 3e-10))
        self.assertGreater(numpy.max(abs(before / terms.seconds - 1)), 0.15)

    def test_a_family_that_is_left_out_has_no_say(self):
        plain = leave_out.leave_families_out(leave_out.terms_of(self.rows, self.layers), "fp32", ("nothing",))["nothing"]
        slower = [dataclasses.replace(row, seconds=row.seconds * (5 if row.card.chip == "GP102" else 1)) for row in self.rows]
        other = leave_out.leave_families_out(leave_out.terms_of(slower, self.layers), "fp32", ("nothing",))["nothing"]
        family = plain.terms.chip == "GP102"
        self.assertTrue(numpy.array_equal(plain.seconds[family], other.seconds[family]))
        self.assertGreater(numpy.min(abs(other.seconds[~family] / plain.seconds[~family] - 1)), 0.01)

    def test_a_compiler_that_changes_nothing_leaves_the_gpus_time(self):
        terms = leave_out.terms_of(self.rows, self.layers)
        factors = dict.fromkeys(compiled.PRIORS, 1.0) | {"launch": self.values["launch"]}
        eager = model.gpu_seconds(self.values, terms)
        self.assertTrue(numpy.allclose(compiled.seconds(self.values, factors, terms), eager))
        self.assertTrue(numpy.all(compiled.seconds(self.values, factors | {"act": 0.1}, terms) < eager))

    def product_seconds(self, card, dtype, size, **factors):
        values = {name: value for name, (value, _) in products.PRIORS[products.unit_of(card, dtype)].items()}
        return float(products.seconds(values, products.Products.of(card, dtype, [(*size, 1)]), **factors)[0])

    def test_large_products_reach_what_the_card_sustains(self):
        time = lambda m: self.product_seconds(self.cards["a100-80gb"], "fp16", (m, 8192, 8192))
        self.assertLess(2 * 4096 * 8192 ** 2 / time(4096), 312e12)
        self.assertGreater(2 * 4096 * 8192 ** 2 / time(4096), 0.6 * 312e12)
        self.assertAlmostEqual(time(1), 2 * 8192 ** 2 / (2039e9 * 0.85), delta=2e-5)  # one row reads the weights

    def test_products_by_kind_of_sums_and_cores(self):
        cube = (8192, 8192, 8192)
        halves, whole = self.cards["rtx3090"], dataclasses.replace(self.cards["rtx3090"], halves_sums=False)
        self.assertTrue(halves.halves_sums)
        self.assertFalse(self.cards["a6000"].halves_sums)
        self.assertLess(self.product_seconds(halves, "fp16", cube), self.product_seconds(whole, "fp16", cube))
        self.assertGreater(self.product_seconds(halves, "fp32", cube, doubled=0.7), 1.2 * self.product_seconds(halves, "fp32", cube))
        self.assertEqual(self.product_seconds(self.cards["titanrtx"], "fp32", cube, doubled=0.7),
                         self.product_seconds(self.cards["titanrtx"], "fp32", cube))

    def test_the_factor_makes_large_products_right(self):
        large = products.read_large()
        values = {name: value for name, (value, _) in products.PRIORS["cores"].items()}
        factor = products.factor_of(values, large["doubled"], "doubled")
        errors = [math.log(products.seconds(values, each, doubled=factor)[0] / each.seconds[0]) for each in large["doubled"]]
        self.assertAlmostEqual(sum(errors) / len(errors), 0, places=3)
        self.assertEqual({each.card.id for each in large["half_rate"]}, {"rtx3090ti", "rtx5060ti"})

    def test_kinds_count_chips_by_what_is_asked(self):
        terms = leave_out.terms_of(self.rows, self.layers)
        kinds = evidence.kinds([terms])
        self.assertEqual(sum(kind["rows"] for kind in kinds), len(self.rows))
        self.assertEqual({kind["dtype"] for kind in kinds}, {"fp32"})
        self.assertEqual({kind["mode"] for kind in kinds}, {row.mode for row in self.rows})
        attention = leave_out.terms_of([tables.Row(self.cards["t4"], "mli t4", "pytorch", (1, 13), transformers.LAYER, "infer", "fp16",
                                                   "nchw", False, 8, 16, 1.0)],
                                       {(transformers.LAYER, 16): transformers.layer(16)})
        self.assertEqual(list(evidence.networks_of(attention)), ["attention"])

    def test_what_was_left_out_is_beyond_the_rest(self):
        errors = {"a": numpy.array([0.3, -0.3, 0.3]), "b": numpy.array([0.3, 0.3, -0.3])}
        self.assertAlmostEqual(evidence.deviation(errors, 0.0), 0.3 / spreads.NORMAL_80)
        self.assertLess(evidence.deviation(errors, 0.2), 0.3 / spreads.NORMAL_80)

    def test_power_decides_on_small_cards(self):
        terms = leave_out.terms_of([self.row(card=self.cards["t4"], batch=64), self.row(card=self.cards["titanv"], batch=64)], self.layers)
        small, large = model.power_shares(self.values, terms)
        self.assertGreater(small, 0.3)
        self.assertLess(large, 0.5 * small)


@unittest.skipUnless(HAS_NUMPY, "needs python3-numpy (tools/packages-calibrate.txt)")
class Memory(unittest.TestCase):
    def test_a_rectifier_in_place_is_saved_once(self):
        layers = [convolution(4, 64, 100), operation("bn", 6400, 6400), operation("relu_", 6400, 6400),
                  convolution(64, 64, 100)]
        # fp32: the images' 400, the first result (read by bn), bn's own (the rectifier's, read by the next convolution);
        # at the peak the loss: the result, the logarithm of its softmax, and the gradients of both. 12 · 8²: the images in fp32.
        self.assertEqual(memory.image_bytes(network(*layers), "fp32"), 4 * (400 + 2 * 6400) + 4 * 4 * 6400 + 12 * 64)

    def test_what_is_overwritten_is_copied_first(self):
        kept = memory.image_bytes(network(convolution(4, 64, 100), operation("silu_", 6400, 6400)), "fp32")
        free = memory.image_bytes(network(convolution(4, 64, 100), operation("relu_", 6400, 6400)), "fp32")
        self.assertEqual(kept, free)  # both hold one tensor of it: a copy of the input, or the result
        after = memory.image_bytes(network(convolution(4, 64, 100), operation("silu_", 6400, 6400),
                                           convolution(64, 64, 100)), "fp32")
        self.assertEqual(after - kept, 4 * 6400)  # the next layer saves the result as well

    def test_pooling_saves_indices(self):
        pool = operation("max_pool2d_with_indices", 6400, 2 * 1600)
        with_pool = memory.image_bytes(network(convolution(4, 64, 100), pool, operation("add", 1600, 1600)), "fp32")
        self.assertEqual(with_pool, 4 * 400 + 4 * 6400 + 8 * 1600 + 4 * (6400 + 3200) + 12 * 64)


@unittest.skipUnless(HAS_NUMPY, "needs python3-numpy (tools/packages-calibrate.txt)")
class Spreads(unittest.TestCase):
    def setUp(self):
        cards = tables.read_cards()
        row = tables.read_networks(TABLES, cards)[0]
        self.rows = [dataclasses.replace(row, card=cards[card], network=f"n{place}", seconds=1.0)
                     for card in ("gtx1080ti", "titanv", "titanrtx") for place in range(10)]

    def errors(self, *by_card):
        return spreads.Errors(self.rows, numpy.concatenate([numpy.asarray(each, float) for each in by_card]))

    def test_a_bias_of_cards_is_told_from_the_rest(self):
        rest = numpy.linspace(-0.09, 0.09, 10)
        spread = spreads.spread_of(self.errors(0.2 + rest, -0.2 + rest, 0.2 + rest))
        self.assertAlmostEqual(spread.card, 0.2, places=2)
        self.assertAlmostEqual(spread.rest, 0.07 / spreads.NORMAL_80, places=2)

    def test_an_unknown_host_widens_by_its_share(self):
        spread = spreads.Spread(card=0.06, rest=0.08, scale=1, ratio=0.2)
        self.assertAlmostEqual(spread.half_width(), 1.2816 * 0.1, places=6)
        self.assertAlmostEqual(spread.half_width(1.0, False), 1.2816 * math.hypot(0.1, spreads.HOST_SPREAD), places=6)
        self.assertEqual(spread.half_width(0.0, False), spread.half_width())
        self.assertAlmostEqual(spread.half_width(power=0.3), 1.2816 * math.hypot(0.1, 0.3), places=6)

    def test_errors_that_cards_share_decide_no_less(self):
        shared = self.errors(numpy.full(10, 0.5), numpy.full(10, 0.5), numpy.full(10, 0.5))
        self.assertAlmostEqual(spreads.ratio_width(shared), 0, places=9)
        self.assertAlmostEqual(spreads.ratio_width(self.errors(numpy.full(10, 0.3), numpy.zeros(10), numpy.zeros(10))), 0.3)

    def test_pairs_are_of_different_families(self):
        self.assertEqual(len(list(spreads.pairs(self.errors(*[numpy.zeros(10)] * 3)))), 30)


class Shipped(unittest.TestCase):
    def test_the_file_fits_the_catalogue(self):
        document = json.loads((SOURCE / "results" / "calibration.json").read_text(encoding="utf-8"))
        chips = {gpu["chip"] for gpu in json.loads((SOURCE / "results" / "gpus.json").read_text(encoding="utf-8"))["gpus"]}
        self.assertEqual(document["schema"], "bench-calibration/1")
        for each in document["sets"].values():
            self.assertLessEqual(set(each["chips"]), chips)
            values = each["coefficients"]
            for kind in ("flops", "grads", "bytes"):
                self.assertEqual(set(values[kind]), {"nchw", "nhwc"})
                for layout in values[kind].values():
                    self.assertTrue(all(0.3 < value < 30 for value in layout.values()))
            self.assertTrue(1e-5 < values["host_launch_s"] < 1e-4)

    @unittest.skipUnless(HAS_NUMPY, "needs python3-numpy (tools/packages-calibrate.txt)")
    def test_tables_of_numbers_are_written_on_a_line(self):
        text = calibrate.written({"a": {"b": {"c": 1, "d": [1, 2]}}})
        self.assertEqual(json.loads(text), {"a": {"b": {"c": 1, "d": [1, 2]}}})


@unittest.skipUnless(HAS_NUMPY, "needs python3-numpy (tools/packages-calibrate.txt)")
class Goals(unittest.TestCase):
    def test_a_figure_beyond_its_bound_misses(self):
        self.assertTrue(evaluate.misses("27.7 % (10 to 52)", "≤ 18 %"))
        self.assertFalse(evaluate.misses("12.9 % (11 to 46)", "≤ 18 %"))
        self.assertTrue(evaluate.misses("91 / 72 %; ±23 %", "75–90 / ≥ 60 %; ≤ 30 %"))
        self.assertTrue(evaluate.misses("89 / 38 %; ±25 %", "75–90 / ≥ 60 %; ≤ 30 %"))
        self.assertFalse(evaluate.misses("89 / 72 %; ±25 %", "75–90 / ≥ 60 %; ≤ 30 %"))
        self.assertFalse(evaluate.misses("88 / 0.7 / 11 %", "≥ 85 % in, ≤ 2 % above"))
        self.assertTrue(evaluate.misses("3 of 4", "all"))
        self.assertFalse(evaluate.misses("58.5 %", "for comparison"))

    def test_the_page_says_which_goals_are_missed(self):
        page = (SOURCE / "docs" / "predict-model.md").read_text()
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
        judged = [(value, goal) for _, _, _, value, goal in (row for row in rows if len(row) == 5) if goal[:1] in "≤≥7a"]
        self.assertGreater(len(judged), 10)
        for value, goal in judged:
            bare = goal.removesuffix(", missed")
            self.assertEqual(goal != bare, evaluate.misses(value, bare), (value, goal))


if __name__ == "__main__":
    unittest.main()
