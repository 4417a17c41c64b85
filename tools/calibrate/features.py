"""What a network's step costs, whatever the card: FLOPs and bytes by class, and how many operations the host launches.

A step costs `per_image · batch + per_step` of each term:

    flops.CLASS   of products, forward: wino, point, dense, stem, group, depth, linear, bmm, attention
    grads.CLASS   the same of the backward pass: gradients of inputs and of weights
    bytes.CLASS   moved: conv, group, depth and matrix (by products), bn, norm, act, move, weights
    tile          FLOPs of one tile of each product, the least that a multiprocessor does of it
    launches      operations that the host launches

Eager PyTorch's operations each read their inputs from memory and write their result there.
"""

import collections

PRODUCTS = {"conv", "linear", "bmm", "attention"}
ACTIVATIONS = {"relu", "silu", "gelu", "sigmoid", "hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "clamp_min", "sin",
               "cos", "pow", "tanh", "bitwise_not", "add", "mul", "sub", "div", "addcmul", "dropout"}
NORMS = {"ln", "native_group_norm", "softmax", "norm"}
WIDE = NORMS | {"sum", "cumsum", "pow"}  # under autocast these compute, and answer, in fp32
MOVED_BY = {"group": "group", "depth": "depth", "linear": "matrix", "bmm": "matrix", "attention": "matrix"}
INDEX_BYTES = 8  # of a maximum's place
MASK_BYTES = 1   # of a value that is dropped or not
STEM_CHANNELS = 4  # inputs of so few channels fill no vector


def class_of(operation):
    """The class of a product."""
    if operation.kind != "conv":
        return operation.kind
    if operation.groups > 1:
        return "depth" if operation.depth == operation.taps else "group"
    if operation.kernel == 1:
        return "point"
    if operation.depth <= STEM_CHANNELS * operation.taps:
        return "stem"
    return "wino" if (operation.kernel, operation.taps, operation.stride) == (3, 9, 1) else "dense"


def ceil_to(value, step):
    return -(-value // step) * step


def padded_flops(operation, name, tensor_cores):
    """FLOPs with the tile's columns and the ends of its reduction that are computed for nothing."""
    if name in ("group", "depth", "stem"):
        return 2.0 * operation.macs
    rows, columns = operation.rows, ceil_to(operation.columns, 64 if tensor_cores else 32)
    if name in ("bmm", "attention"):
        rows, columns = ceil_to(rows, 64), ceil_to(operation.columns, 64)
    return 2.0 * rows * columns * (operation.depth + (32 if tensor_cores else 8)) * operation.groups


def tile_flops(operation):
    return 2.0 * 64 * min(128, max(operation.columns, 16)) * operation.depth


class Widths:
    """Bytes of an element, operation by operation: fp32 4, a network cast whole 2, autocast by PyTorch's lists."""

    def __init__(self, dtype):
        self.autocast = dtype == "amp"
        self.narrow = 2 if dtype in ("amp", "fp16", "bf16") else 4
        self.now = 4 if self.autocast else self.narrow  # of the tensor that the next operation reads
        self.stream = self.narrow  # of residual sums: fp32 from the first layer norm on
        self.gate = False  # the tensor before is a gate: a sigmoid's result

    def of(self, operation):
        """(bytes of an element read, of one written); the next operation reads the latter."""
        if not self.autocast or operation.on_weights:
            return self.narrow, self.narrow
        read, name = self.now, operation.name
        if operation.kind in PRODUCTS or name == "bn":
            self.now = 2
        elif name in WIDE:
            self.now = 4
            if name in ("ln", "native_group_norm"):
                self.stream = 4
        elif name == "addcmul":
            self.now = self.stream = 4
        elif operation.read >= 2 * operation.written:
            self.now = max(self.now, self.stream)
        elif name == "mul" and operation.read > operation.written and not self.gate:
            self.now = 4  # scaled by an fp32 parameter
        self.gate = name in ("sigmoid", "hardsigmoid")
        return read, self.now


def backward_passes(operation):
    """Elements that training moves beyond the forward pass of inference, an image; of an operation that is no product."""
    name, read, written = operation.name, operation.read, operation.written
    if name == "bn":
        return 6 * written  # the batch's mean; sums of two tensors; the gradient from two
    if name in NORMS:
        return 5 * written
    if name == "add":
        return 3 * written if read >= 2 * written else 0  # the gradients of both uses are summed
    if name == "dropout" or (name in ("mul", "div") and read <= written):  # by a number
        return 2 * written
    if name in ("mul", "div", "addcmul"):
        return 6 * written
    if name in ACTIVATIONS or name in ("cat", "stack"):
        return 3 * written
    if name.startswith("max_pool"):
        return 2 * read + 3 * written // 2
    if name in ("mean", "sum"):
        return read
    return read + written


def results_of(operation):
    """A pooling writes an index for each maximum."""
    return 2 if operation.name.startswith("max_pool") else 1


class Step:
    """The terms of a network's step in one mode and dtype."""

    def __init__(self):
        self.per_image = collections.Counter()
        self.per_step = collections.Counter()

    def at(self, batch):
        terms = collections.Counter(self.per_step)
        for name, value in self.per_image.items():
            terms[name] += value * batch
        return terms


def add_product(step, operation, widths, read_width, train, first):
    name, narrow = class_of(operation), widths.narrow
    flops = padded_flops(operation, name, narrow == 2)
    moved = "bytes." + MOVED_BY.get(name, "conv")
    elements = operation.read + operation.written
    step.per_image["flops." + name] += flops
    step.per_image[moved] += elements * narrow
    step.per_step["bytes.weights"] += operation.weights * narrow
    step.per_step["launches"] += 1
    if name != "depth":
        step.per_step["tile"] += tile_flops(operation) * (3 if train else 1)
    if widths.autocast:
        if read_width == 4:  # cast first
            casts = 2 if train and not first else 1  # the gradient's
            step.per_image["bytes.act"] += operation.read * 6 * casts
            step.per_step["launches"] += casts
        if operation.weights:
            step.per_step["bytes.weights"] += operation.weights * (12 if train else 6)
            step.per_step["launches"] += 1
    if train:
        step.per_image["grads." + name] += flops * (1 if first else 2)
        step.per_image[moved] += 2 * elements * narrow
        step.per_step["bytes.weights"] += 2 * operation.weights * narrow
        step.per_step["launches"] += 2 + (3 if operation.weights else 0)  # 3: zeroing and adding a parameter's gradient


def add_other(step, operation, widths, read_width, written_width, train):
    name = operation.name
    term = "bytes." + ("bn" if name == "bn" else "norm" if name in NORMS else "act" if name in ACTIVATIONS else "move")
    moved = operation.read * read_width + operation.written * written_width
    if results_of(operation) == 2:
        moved += operation.written // 2 * (INDEX_BYTES - written_width)
    if name == "dropout":
        moved += operation.written * MASK_BYTES
    if train:
        moved += backward_passes(operation) * written_width
    if operation.on_weights:
        step.per_step["bytes.weights"] += moved
    else:
        step.per_image[term] += moved
    step.per_step["launches"] += 1
    if train:
        step.per_step["launches"] += 1 + (6 if name in ("bn", "ln", "native_group_norm") else 0)


def add_loss(step, results, width):
    """Cross entropy in fp32: the logarithm of the softmax, the chosen ones, and their gradients."""
    step.per_image["bytes.norm"] += 16 * results
    step.per_image["bytes.act"] += 12 * results if width < 4 else 0
    step.per_step["launches"] += 6 if width < 4 else 4


def step_of(network, mode, dtype, optimizer=True):
    """The terms of one step; with `optimizer`, SGD with momentum ends a training step."""
    step, widths, train, first = Step(), Widths(dtype), mode == "train", True
    for operation in network.operations:
        read_width, written_width = widths.of(operation)
        if operation.kind in PRODUCTS:
            add_product(step, operation, widths, read_width, train, first)
            first = False
        else:
            add_other(step, operation, widths, read_width, written_width, train)
    if train:
        if network.operations[-1].kind == "linear":
            add_loss(step, network.operations[-1].written, widths.narrow)
        # Gradients are zeroed and added to; then weights, gradients and momentum are read, two of them written.
        step.per_step["bytes.weights"] += network.parameters * 4 * (4 + (6 if optimizer else 0))
    return step
