"""A network's operations, as eager PyTorch runs them for one image (`layers.jsonl`, `layers.jsonl.gz`)."""

import dataclasses
import gzip
import json
import pathlib


@dataclasses.dataclass(frozen=True)
class Operation:
    kind: str     # PyTorch's name, shortened: conv, linear, bmm, attention, bn, ln, relu_, add, …; `_` at its end: in place
    read: int     # elements of activations read, an image
    written: int  # elements written, an image
    weights: int = 0
    macs: int = 0     # multiply-adds, an image
    rows: int = 0     # of the product, an image: a convolution's output pixels
    columns: int = 0  # of one group
    depth: int = 0    # of its reduction, in one group
    groups: int = 1   # a convolution's; of a batched product, how many an image
    kernel: int = 1   # a convolution's, in pixels of its longer side
    taps: int = 1     # and of both
    stride: int = 1
    on_weights: bool = False  # works on weights, whatever the batch

    @property
    def in_place(self):
        return self.kind.endswith("_")

    @property
    def name(self):
        """Its kind, in place or not."""
        return self.kind.strip("_")


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    image: int  # pixels of a side
    parameters: int
    operations: tuple


def operation_of(entry, on_weights):
    common = {"kind": entry["op"], "read": entry["ein"], "written": entry["eout"], "weights": entry.get("ew", 0),
              "on_weights": on_weights}
    if entry["op"] == "conv":
        groups = entry["groups"]
        rows, columns = entry["oh"] * entry["ow"], entry["k"] // groups
        depth = entry["c"] // groups * entry["r"] * entry["s"]
        return Operation(**common, macs=rows * columns * depth * groups, rows=rows, columns=columns, depth=depth,
                         groups=groups, kernel=max(entry["r"], entry["s"]), taps=entry["r"] * entry["s"],
                         stride=entry["stride"])
    if entry["op"] in ("linear", "bmm"):
        count = entry.get("b", 1)
        return Operation(**common, macs=count * entry["m"] * entry["n"] * entry["k"], rows=entry["m"],
                         columns=entry["n"], depth=entry["k"], groups=count)
    return Operation(**common)


def works_on_weights(entries, place):
    """Whether the operation standardises the next convolution's weights, or scales them before that."""
    following = [entry for entry in entries[place + 1:place + 3]]
    if entries[place]["op"] == "bn":
        return bool(following) and following[0].get("ew") == entries[place]["ein"]
    return (entries[place]["op"] == "mul" and len(following) == 2 and following[0]["op"] == "bn"
            and following[1].get("ew") == following[0]["ein"] > entries[place]["ein"])


def read_layers(folder):
    """Networks by (name, image size)."""
    networks = {}
    path = pathlib.Path(folder) / "layers.jsonl"
    with open(path, encoding="utf-8") if path.exists() else gzip.open(f"{path}.gz", "rt", encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            entries = entry["ops"]
            operations = tuple(operation_of(each, works_on_weights(entries, place)) for place, each in enumerate(entries))
            networks[entry["name"], entry["img"]] = Network(entry["name"], entry["img"], entry["params"], operations)
    return networks


def with_fused_attention(network):
    """The network with each product - softmax - product made one operation, as PyTorch has had since 2.0: the scores stay on
    the chip. A sum between the products (a bias by position) keeps them apart."""
    out, place, operations = [], 0, network.operations
    while place < len(operations):
        first, end = operations[place], place + 1
        while first.kind == "bmm" and end < len(operations) and operations[end].kind in ("clone", "mul", "div"):
            end += 1
        if first.kind == "bmm" and end + 1 < len(operations) and operations[end].kind == "_softmax":
            end += 1
            while end < len(operations) - 1 and operations[end].kind in ("clone", "mul"):
                end += 1
            last = operations[end]
            if last.kind == "bmm":
                out.append(Operation("attention", first.read + last.read - first.written, last.written,
                                     macs=first.macs + last.macs, rows=first.rows, columns=first.columns,
                                     depth=2 * first.depth, groups=first.groups))
                place = end + 1
                continue
        out.append(first)
        place += 1
    return dataclasses.replace(network, operations=tuple(out))
