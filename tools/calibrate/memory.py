"""PyTorch's memory of a training step with SGD and momentum, from a network's operations.

    bytes(batch) = CONTEXT_BYTES + parameters · PARAMETER_BYTES + slack · batch · image

Autocast keeps 16-bit copies of the weights until the step ends. `image` is what one more image adds at the peak: the tensors
that autograd saved until then, and those that the operation at the peak reads and writes in its backward pass. A tensor is saved
once, however many operations save it. `slack` is what the allocator's blocks exceed their tensors by.

A batch is safe where the upper end of memory's interval fits: with the slack that all but a tenth of the networks stay below,
and the largest context.
"""

import dataclasses
import math

import features

# Whose backward pass reads what they read, and whose reads what they wrote.
SAVE_INPUT = {"gelu", "silu", "hardswish", "hardtanh", "hardsigmoid", "clamp_min", "pow", "sin", "cos", "bn", "ln",
              "native_group_norm", "norm", "max_pool2d_with_indices", "avg_pool2d", "addcmul", "div"}
SAVE_RESULT = {"relu", "sigmoid", "leaky_relu", "softmax"}
REMEMBERED = 40  # tensors among which an operation's input is looked for, the latest first
CONTEXT_BYTES = 0.9e9   # the driver's context, cuDNN's and cuBLAS's kernels and workspaces
MOST_CONTEXT_BYTES = 1.3 * 2 ** 30
PARAMETER_BYTES = {"fp32": 12, "tf32": 12, "amp": 14, "fp16": 6}  # weights, gradients, momentum, copies for autocast
RESERVED_BYTES = 308 << 20  # of 24 GiB, that the driver of an RTX 3090 keeps


@dataclasses.dataclass
class Tensor:
    elements: int
    width: int
    saved: bool = False


class Tape:
    """Tensors in the order in which they were written, and the bytes that autograd has saved of them."""

    def __init__(self, elements):
        self.tensors = [Tensor(elements, 4)]
        self.bytes = 0

    def find(self, elements):
        return next((tensor for tensor in self.tensors[:-REMEMBERED - 1:-1] if tensor.elements == elements), None)

    def save(self, tensor, elements, width):
        """Saves the tensor as it is; without one, or if another width is needed, a copy."""
        if tensor is None or tensor.width != width:
            self.bytes += elements * width
        elif not tensor.saved:
            tensor.saved = True
            self.bytes += tensor.elements * width


def record(tape, operation, widths):
    """Runs one operation on the tape; bytes that its backward pass reads and writes."""
    read_width, written_width = widths.of(operation)
    name = operation.name
    source = tape.find(operation.read)
    if source is None and operation.read > operation.written:  # two inputs, one of the result's size
        source = tape.find(operation.written)
    result = source if operation.in_place and source else Tensor(operation.written // features.results_of(operation),
                                                                   written_width)
    if operation.kind in features.PRODUCTS:
        matching = source if source and source.elements == operation.read else None
        tape.save(matching, operation.read, widths.narrow)
    elif operation.in_place and name in SAVE_INPUT:
        tape.bytes += operation.read * read_width  # what is overwritten is copied first
    elif name in SAVE_INPUT:
        wide = widths.autocast and name in features.WIDE
        tape.save(source, operation.written if operation.read > operation.written else operation.read,
                  4 if wide else read_width)
    elif name == "mul" and operation.read != operation.written:
        tape.save(source, operation.written, read_width)
        if operation.read >= 2 * operation.written:
            tape.bytes += operation.written * read_width  # the other factor
    if name.startswith("max_pool"):
        tape.bytes += operation.written // 2 * features.INDEX_BYTES  # half of what it writes are indices
    if name in SAVE_RESULT:
        tape.save(result, operation.written, result.width)
    if result is not source:
        tape.tensors.append(result)
    return operation.read * read_width + operation.written * written_width


def image_bytes(network, dtype):
    """What one more image adds at the peak of a training step."""
    widths = features.Widths(dtype)
    tape = Tape(network.operations[0].read)
    peak = 0
    for operation in network.operations:
        if operation.on_weights:
            continue
        in_use = record(tape, operation, widths)
        peak = max(peak, tape.bytes + in_use)
    peak = max(peak, tape.bytes + network.operations[-1].written * (tape.tensors[-1].width + 3 * 4))  # cross entropy
    return peak + 12 * network.image ** 2  # the images


def fixed_bytes(network, dtype):
    return CONTEXT_BYTES + network.parameters * PARAMETER_BYTES[dtype]


def largest_batch(network, dtype, memory_bytes, slack, slack_high):
    """That is safe, not rounded."""
    left = memory_bytes - fixed_bytes(network, dtype)
    beyond, context = slack_high / slack - 1, MOST_CONTEXT_BYTES - CONTEXT_BYTES
    # held + hypot(held · beyond, context) = left
    square = 1 - beyond ** 2
    held = (left - math.sqrt(left ** 2 - square * (left ** 2 - context ** 2))) / square
    return held / (slack * image_bytes(network, dtype))


NORMAL80 = 1.2816
RUNGS = (1024, 768, 512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1)
FIRST_RUNG = 512  # what timm tries first: larger batches were not tried


def usable_bytes(row):
    return row.card.memory_bytes - RESERVED_BYTES


def refused_batch(row):
    return RUNGS[RUNGS.index(row.batch) - 1]


def judge(rows, layers, slack, slack_high):
    """(in, above, below): whether the largest batch predicted is at least that measured, and below the rung that did not
    fit."""
    counts = [0, 0, 0]
    for row in rows:
        batch = largest_batch(layers[row.network, row.image], row.dtype, usable_bytes(row), slack, slack_high)
        refused = refused_batch(row)
        counts[0 if row.batch <= batch < refused else 1 if batch >= refused else 2] += 1
    return counts


def ceiling_rows(rows):
    """Training at a batch that was lowered until it fitted."""
    return [row for row in rows if row.source.startswith("timm") and row.mode == "train" and row.batch < FIRST_RUNG
            and not row.compiled]


def calibrate(rows, layers):
    """The slack that puts most rows in, where a batch that does not fit costs as much as four that are too small; and the
    ends of the interval that 80 % of the networks need."""
    ranges = []  # of each network's own, between the batch that ran and the one that did not
    for row in rows:
        network = layers[row.network, row.image]
        held = (usable_bytes(row) - fixed_bytes(network, row.dtype)) / image_bytes(network, row.dtype)
        ranges.append((math.log(held / refused_batch(row)), math.log(held / row.batch)))

    def cost(slack):
        return sum(4 * (math.log(slack) <= low) + (math.log(slack) > high) for low, high in ranges)

    def likelihood(normal):
        mean, deviation = normal
        below = [[0.5 * (1 + math.erf((end - mean) / deviation / math.sqrt(2))) for end in ends] for ends in ranges]
        return sum(math.log(max(high - low, 1e-12)) for low, high in below)

    mean, deviation = max(((mean / 400, deviation / 400) for mean in range(60) for deviation in range(2, 40)), key=likelihood)
    slack = min((1 + step / 200 for step in range(61)), key=cost)
    return slack, math.exp(mean - NORMAL80 * deviation), math.exp(mean + NORMAL80 * deviation)
