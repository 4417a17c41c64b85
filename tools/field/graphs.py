"""Networks as ONNX files without weights, for score.py: kilobytes each, written in seconds.

Every initializer of more than 64 elements lies in a sparse file of zeros, zeros.bin, beside the graph. The nodes are
those of a TorchScript export: attention as MatMul, Div, Softmax, MatMul; batch norms are not folded. Left out of
transformers, as less than 1 % of the work: embeddings of positions and token types, masks, dropout, BERT's pooler.
"""

import math
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TRANSFORMERS = {  # layers, width, heads, inner width, vocabulary, outputs a token, norms before the blocks
    "bert-base": (12, 768, 12, 3072, 30522, 2, False),
    "bert-large": (24, 1024, 16, 4096, 30522, 2, False),
    "gpt2": (12, 768, 12, 3072, 50257, 50257, True),
}
CONVOLUTIONS = {  # bottleneck blocks of each stage, groups, channels of a group in the first stage
    "resnext50": ((3, 4, 6, 3), 32, 4),
    "resnet101": ((3, 4, 23, 3), 1, 64),
    "resnet152": ((3, 8, 36, 3), 1, 64),
}


class Graph:
    """Collects nodes and initializers; every method returns the name of a tensor."""

    def __init__(self):
        self.nodes, self.initializers, self.count = [], [], 0

    def weight(self, name, *shape):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape)
        size = 4 * math.prod(shape)
        if size <= 256:
            tensor.raw_data = bytes(size)
        else:
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "zeros.bin"), ("offset", "0"), ("length", str(size))):
                tensor.external_data.add(key=key, value=value)
        self.initializers.append(tensor)
        return name

    def constant(self, value):
        self.count += 1
        self.initializers.append(numpy_helper.from_array(np.asarray(value), f"c{self.count}"))
        return f"c{self.count}"

    def add(self, kind, *inputs, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(kind, inputs, [f"v{self.count}"], **attributes))
        return f"v{self.count}"

    def linear(self, x, name, inputs, outputs):
        product = self.add("MatMul", x, self.weight(name + ".w", inputs, outputs))
        return self.add("Add", product, self.weight(name + ".b", outputs))

    def norm(self, x, name, width):
        return self.add("LayerNormalization", x, self.weight(name + ".g", width), self.weight(name + ".b", width),
                        axis=-1, epsilon=1e-5)

    def gelu(self, x):
        y = self.add("Erf", self.add("Div", x, self.constant(np.float32(math.sqrt(2)))))
        y = self.add("Mul", x, self.add("Add", y, self.constant(np.float32(1))))
        return self.add("Mul", y, self.constant(np.float32(0.5)))

    def attention(self, x, name, width, heads):
        size = width // heads

        def split(part, order):
            y = self.linear(x, f"{name}.{part}", width, width)
            y = self.add("Reshape", y, self.constant(np.array([0, -1, heads, size], np.int64)))
            return self.add("Transpose", y, perm=order)

        scores = self.add("MatMul", split("q", [0, 2, 1, 3]), split("k", [0, 2, 3, 1]))
        scores = self.add("Div", scores, self.constant(np.float32(math.sqrt(size))))
        y = self.add("MatMul", self.add("Softmax", scores, axis=-1), split("v", [0, 2, 1, 3]))
        y = self.add("Reshape", self.add("Transpose", y, perm=[0, 2, 1, 3]),
                     self.constant(np.array([0, -1, width], np.int64)))
        return self.linear(y, name + ".o", width, width)


    def convolution(self, x, name, inputs, outputs, size, stride=1, groups=1):
        """Convolution and batch norm."""
        y = self.add("Conv", x, self.weight(name + ".w", outputs, inputs // groups, size, size), group=groups,
                     kernel_shape=[size, size], strides=[stride, stride], pads=[size // 2] * 4)
        return self.add("BatchNormalization", y, *(self.weight(f"{name}.{part}", outputs) for part in "gbmv"))


def transformer(graph, layers, width, heads, inner, vocabulary, outputs, is_norm_first):
    x = graph.add("Gather", graph.weight("words", vocabulary, width), "input_ids", axis=0)
    if not is_norm_first:
        x = graph.norm(x, "n", width)
    for layer in range(layers):
        for block in ("attention", "mlp"):
            label = f"{layer}.{block}"
            y = graph.norm(x, label + ".n", width) if is_norm_first else x
            if block == "attention":
                y = graph.attention(y, label, width, heads)
            else:
                y = graph.linear(graph.gelu(graph.linear(y, label + ".1", width, inner)), label + ".2", inner, width)
            x = graph.add("Add", x, y)
            if not is_norm_first:
                x = graph.norm(x, label + ".n", width)
    if is_norm_first:
        x = graph.norm(x, "n", width)
    graph.linear(x, "head", width, outputs)


def residual(graph, stages, groups, channels):
    x = graph.add("Relu", graph.convolution("images", "stem", 3, 64, 7, 2))
    x = graph.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for stage, blocks in enumerate(stages):
        inner, outputs = groups * channels << stage, 256 << stage
        for block in range(blocks):
            label, stride = f"{stage}.{block}", 2 if stage and not block else 1
            y = graph.add("Relu", graph.convolution(x, label + ".1", inputs, inner, 1))
            y = graph.add("Relu", graph.convolution(y, label + ".2", inner, inner, 3, stride, groups))
            y = graph.convolution(y, label + ".3", inner, outputs, 1)
            if not block:
                x = graph.convolution(x, label + ".0", inputs, outputs, 1, stride)
            x, inputs = graph.add("Relu", graph.add("Add", y, x)), outputs
    x = graph.add("Flatten", graph.add("GlobalAveragePool", x), axis=1)
    graph.add("Gemm", x, graph.weight("head.w", 1000, inputs), graph.weight("head.b", 1000), transB=1)


def write(name, size, folder):
    """Writes a network of the lists above for so many tokens, or pixels a side; returns the file's path."""
    graph = Graph()
    if name in TRANSFORMERS:
        transformer(graph, *TRANSFORMERS[name])
        source = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", size])
        shape = ["batch", size, TRANSFORMERS[name][5]]
    else:
        residual(graph, *CONVOLUTIONS[name])
        source = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, size, size])
        shape = ["batch", 1000]
    graph.nodes[-1].output[0] = "out"
    target = helper.make_tensor_value_info("out", TensorProto.FLOAT, shape)
    model = helper.make_model(helper.make_graph(graph.nodes, name, [source], [target], graph.initializers),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = os.path.join(folder, f"{name}-{size}.onnx")
    onnx.save(model, path)
    with open(os.path.join(folder, "zeros.bin"), "wb") as zeros:
        zeros.truncate(640 << 20)
    return path
