"""Published measurements and the cards they were made on.

A folder of tables holds `*_networks.csv` (one row a measured network: card, source, framework, mode, dtype, layout, batch,
image size and rate), `layers.jsonl.gz` (networks.py) and tables of single operations (products.py). Columns are described by
the folder's SOURCES.md. Cards come from results/gpus.json by id or alias.
"""

import csv
import dataclasses
import json
import pathlib

CATALOGUE = pathlib.Path(__file__).resolve().parents[2] / "results" / "gpus.json"


@dataclasses.dataclass(frozen=True)
class Card:
    """What the model knows of a card. Rates in FLOP/s and bytes/s, power in W."""
    id: str
    chip: str  # cards of one chip are a family
    compute_capability: int
    process_nm: float
    multiprocessors: int
    flops_per_s: dict  # by dtype, products summed in fp32
    bytes_per_s: float
    power_w: float
    memory_kind: str
    memory_bytes: int
    l2_bytes: int
    halves_sums: bool = False  # tensor cores sum in fp32 at half the rate of sums in fp16

    def peak(self, dtype):
        """Of matrix products in `dtype`; a card without tensor cores multiplies 16-bit values in fp32."""
        return self.flops_per_s.get(dtype, self.flops_per_s["fp32"])


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement of a network's step."""
    card: Card
    source: str      # who measured, on one machine: pack and framework
    framework: str   # pytorch, tensorflow or mxnet
    version: tuple   # of PyTorch, (0, 0) if it is not known
    network: str
    mode: str        # infer, train
    dtype: str       # fp32, tf32, amp (autocast), fp16 (the network cast whole)
    layout: str      # nchw, nhwc
    compiled: bool
    batch: int
    image: int
    seconds: float   # a step


def halves_sums(entry):
    wide = entry["flops_per_s"].get("fp16")
    return wide is not None and entry.get("flops_per_s_16bit_sum", {}).get("fp16", 0) > 1.5 * wide


def read_cards(path=CATALOGUE):
    """The catalogue's cards by id and by alias."""
    cards = {}
    for entry in json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["gpus"]:
        fields = {field.name: entry[field.name] for field in dataclasses.fields(Card) if field.name != "halves_sums"}
        card = Card(**fields, halves_sums=halves_sums(entry))
        for name in [card.id, *entry.get("aliases", [])]:
            cards[name] = card
    return cards


def framework_of(text):
    """("pytorch", (1, 13)) of "pytorch1.13-cu117"."""
    name = text.split("-")[0].split(":")[0]
    if name.startswith("pytorch") and name[7:8].isdigit():
        return "pytorch", tuple(int(part) for part in name[7:].split(".")[:2])
    if name == "tf1":
        return "tensorflow", (0, 0)
    if name == "mxnet":
        return "mxnet", (0, 0)
    return "pytorch", (0, 0)  # NVIDIA's containers (ngc), and versions that the table does not say


def read_networks(folder, cards):
    """All rows of the folder's `*_networks.csv`."""
    rows = []
    for path in sorted(pathlib.Path(folder).glob("*_networks.csv")):
        with open(path, encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                name, version = framework_of(line["framework"])
                batch = int(line["batch"])
                rows.append(Row(cards[line["gpu"]], f"{line['source']} {line['framework']} {line['gpu']}", name, version,
                                line["network"], line["mode"], line["dtype"], line["layout"], line["compiled"] == "1",
                                batch, int(line["image"]), batch / float(line["samples_per_s"])))
    return rows
