"""Layers of the transformers that `neusight_transformers.csv` measures, from their published sizes, as Hugging Face's eager
PyTorch runs them for one sequence."""

import csv
import pathlib

import networks
import tables

Operation = networks.Operation

# layers, width, heads, vocabulary, and the architecture
SIZES = {
    "bert_large": (24, 1024, 16, 30522, "bert"), "gpt2_large": (36, 1280, 20, 50257, "gpt"),
    "gpt3_xl": (24, 3072, 24, 50257, "gpt"), "gpt3_27": (32, 2560, 32, 50257, "gpt"), "opt_13": (24, 2048, 32, 50272, "opt"),
}


def linear(rows, columns, depth):
    return Operation("linear", rows * depth, rows * columns, weights=columns * depth, macs=rows * columns * depth,
                     rows=rows, columns=columns, depth=depth)


def products(count, rows, columns, depth):
    return Operation("bmm", count * (rows + columns) * depth, count * rows * columns, macs=count * rows * columns * depth,
                     rows=rows, columns=columns, depth=depth, groups=count)


def one(kind, elements):
    return Operation(kind, elements, elements)


def two(kind, elements):
    return Operation(kind, 2 * elements, elements)


def attention(tokens, width, heads, family, drops=False):
    """`drops`: with dropout, and without a mask."""
    head, scores = width // heads, heads * tokens * tokens
    project = [linear(tokens, 3 * width, width)] if family == "gpt" else [linear(tokens, width, width)] * 3
    scale = [one("mul", tokens * width)] if family == "opt" else [one("div", scores)]
    mask = [] if drops else [Operation("where", scores, scores)] if family == "gpt" else [one("add", scores)]
    drop = (lambda elements: [one("dropout", elements)]) if drops else (lambda _: [])
    split = [one("clone", tokens * width)] * 3
    return [*project, *split, products(heads, tokens, tokens, head), *scale, *mask, one("_softmax", scores), *drop(scores),
            products(heads, tokens, head, tokens), one("clone", tokens * width), linear(tokens, width, width),
            *drop(tokens * width), two("add", tokens * width)]


def activation(elements, family):
    if family == "gpt":  # 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))), an operation each
        return [one("pow", elements), one("mul", elements), two("add", elements), one("mul", elements), one("tanh", elements),
                one("add", elements), one("mul", elements), two("mul", elements)]
    return [one("gelu" if family == "bert" else "relu", elements)]


def transformer(name, tokens):
    layers, width, heads, vocabulary, family = SIZES[name]
    norm = [one("ln", tokens * width)]
    block = attention(tokens, width, heads, family) + norm
    block += [linear(tokens, 4 * width, width), *activation(4 * tokens * width, family), linear(tokens, width, 4 * width),
              two("add", tokens * width)] + norm
    head = [linear(tokens, width, width), one("gelu", tokens * width), *norm] if family == "bert" else []
    embed = [Operation("embedding", tokens * width, tokens * width)] * 2 + [two("add", tokens * width)]
    operations = (*embed, *norm, *(block * layers), *head, linear(tokens, vocabulary, width))
    parameters = layers * 12 * width ** 2 + vocabulary * width
    return networks.Network(name, tokens, parameters, operations)


LAYER = "bert_layer"  # of BERT-large
LAYER_BATCH, LAYER_TOKENS = 128, 128
LAYERS = pathlib.Path(__file__).with_name("transformer_layers.csv")


def layer(tokens):
    """One of BERT-large."""
    width, heads = SIZES["bert_large"][1:3]
    block = [*attention(tokens, width, heads, "bert", drops=True), one("ln", tokens * width), linear(tokens, 4 * width, width),
             *activation(4 * tokens * width, "bert"), linear(tokens, width, 4 * width), one("dropout", tokens * width),
             two("add", tokens * width), one("ln", tokens * width)]
    return networks.Network(LAYER, tokens, 12 * width ** 2, tuple(block))


def read_layers(cards, layers, path=LAYERS):
    """Rows of single layers; adds the layer to `layers`."""
    width, out = SIZES["bert_large"][1], []
    layers.setdefault((LAYER, LAYER_TOKENS), layer(LAYER_TOKENS))
    flops = LAYER_BATCH * (24 * LAYER_TOKENS * width ** 2 + 4 * width * LAYER_TOKENS ** 2)
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(row for row in file if not row.startswith("#")):
            for mode, times, column in (("infer", 1, "forward"), ("train", 3, "both")):
                out.append(tables.Row(cards[line["gpu"]], f"mli {line['gpu']}", "pytorch", (1, 13), LAYER, mode, "fp16", "nchw",
                                      False, LAYER_BATCH, LAYER_TOKENS, times * flops / (float(line[column]) * 1e12)))
    return out


def read(folder, cards, layers):
    """Rows of the folder's table; adds the networks to `layers`. A row's image size is its sequence's length."""
    rows = []
    with open(pathlib.Path(folder) / "neusight_transformers.csv", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            tokens = int(line["seq"])
            layers.setdefault((line["network"], tokens), transformer(line["network"], tokens))
            mode = "train" if line["mode"] == "train" else "infer"
            rows.append(tables.Row(cards[line["gpu"]], f"neusight {line['gpu']}", "pytorch", (2, 1), line["network"], mode,
                                   line["dtype"], "nchw", False, int(line["batch"]), tokens, float(line["e2e_ms"]) * 1e-3))
    return rows
