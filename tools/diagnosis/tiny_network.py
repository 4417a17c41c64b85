"""An ONNX file of many tiny layers: a chain of 1x1 convolutions over a small image, each of a few microseconds."""


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field of a protocol buffer: a whole number, text, bytes, or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*fields):
    return b"".join(field(number, value) for number, value in fields)


FLOAT, INT, INTS = 1, 2, 7  # TensorProto.DataType and AttributeProto.AttributeType


def ints(name, *values):
    return message((1, name), *((8, value) for value in values), (20, INTS))


def node(kind, inputs, output, *attributes):
    return message(*((1, name) for name in inputs), (2, output), (4, kind), *((5, one) for one in attributes))


def weights(name, *sizes):
    count = 1
    for size in sizes:
        count *= size
    return message(*((1, size) for size in sizes), (2, FLOAT), (8, name), (9, bytes(4 * count)))


def tensor(name, *sizes):
    shape = message(*((1, message((1, size))) for size in sizes))
    return message((1, name), (2, message((1, message((1, FLOAT), (2, shape))))))


def tiny_network(layers, channels, pixels):
    """The file's bytes. `pixels`: of a side of the image."""
    nodes = [node("Conv", ["images", "w0"], "x0", ints("kernel_shape", 1, 1))]
    initial = [weights("w0", channels, 3, 1, 1)]
    for layer in range(1, layers):
        nodes += [node("Relu", [f"x{layer - 1}"], f"r{layer}"),
                  node("Conv", [f"r{layer}", f"w{layer}"], f"x{layer}", ints("kernel_shape", 1, 1))]
        initial.append(weights(f"w{layer}", channels, channels, 1, 1))
    nodes += [node("GlobalAveragePool", [f"x{layers - 1}"], "pooled"), node("Flatten", ["pooled"], "flat"),
              node("Gemm", ["flat", "w", "b"], "logits", message((1, "transB"), (3, 1), (20, INT)))]
    initial += [weights("w", 10, channels), weights("b", 10)]
    graph = message(*((1, one) for one in nodes), (2, "tiny"), *((5, one) for one in initial),
                    (11, tensor("images", 1, 3, pixels, pixels)), (12, tensor("logits", 1, 10)))
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 13))))
