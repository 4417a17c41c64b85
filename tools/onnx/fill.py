"""Gives an ONNX network the weights and inputs of onnx_answers, so that another program can compute the same.

    fill.py PROGRAM FILE FOLDER [--batch 8]

FOLDER gets network.onnx, whose weights are in network.weights and whose batch is fixed; inputs.npz; and answer.npy, what
PROGRAM (onnx_answers) computed.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx

NUMPY_TYPES = {1: numpy.float32, 2: numpy.uint8, 3: numpy.int8, 6: numpy.int32, 7: numpy.int64, 9: numpy.bool_, 10: numpy.float16, 11: numpy.float64}


def read(path):
    return numpy.fromfile(path, dtype="<f4")


def dims_of(text, batch):
    return [batch if part == "batch" else int(part) for part in re.findall(r"batch|\d+", text)]


def batch_axis(text):
    return re.findall(r"batch|\d+", text).index("batch")


def sample_first(text, batch):
    dims = re.findall(r"batch|\d+", text)
    return [batch] + [int(part) for part in dims if part != "batch"]


def set_parameters(model, manifest, folder):
    """Puts our parameters in place of the initializers; returns the names of those that got none."""
    graph = model.graph
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for parameter in manifest.get("parameters", []):
        name = parameter["name"]
        values = read(folder / parameter["file"])
        tensor = tensors.pop(name, None)
        if tensor is None:  # computed from initializers: the node's result becomes one
            made = [node for node in graph.node if name in node.output]
            if not made:
                continue
            declared = [info for info in graph.value_info if info.name == name]
            held = [attribute.t.dims for attribute in made[0].attribute if attribute.name == "value"]
            dims = [d.dim_value for d in declared[0].type.tensor_type.shape.dim] if declared else (
                list(held[0]) if held else [values.size])
            for node in made:
                node.output[list(node.output).index(name)] = name + "_as_the_file_has_it"
            graph.initializer.append(onnx.numpy_helper.from_array(values.reshape(dims), name))
            continue
        dims = list(tensor.dims)
        if parameter["transposed"]:
            values = values.reshape(dims[::-1]).T
        kept = onnx.numpy_helper.from_array(
            numpy.ascontiguousarray(values.reshape(dims)).astype(NUMPY_TYPES[tensor.data_type]), name)
        tensor.CopyFrom(kept)
    used = {name for node in graph.node for name in node.input}
    missing = []
    for name, tensor in tensors.items():
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            dtype = NUMPY_TYPES[tensor.data_type]
            if name in used and not numpy.issubdtype(dtype, numpy.integer) and dtype != numpy.bool_:
                missing.append(name)
            value = numpy.full(list(tensor.dims), dtype == numpy.bool_, dtype)
            tensor.CopyFrom(onnx.numpy_helper.from_array(value, name))
    return missing


def fill_constant_nodes(model, manifest, folder):
    """Old files have their weights as ConstantOfShape; ours replace those too."""
    ours = {parameter["name"]: parameter for parameter in manifest.get("parameters", [])}
    shapes = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer
              if tensor.data_type == onnx.TensorProto.INT64 and tensor.data_location != onnx.TensorProto.EXTERNAL}
    kept = []
    for node in model.graph.node:
        name = node.output[0] if node.output else ""
        if node.op_type == "ConstantOfShape" and name in ours and node.input[0] in shapes:
            dims = [int(size) for size in shapes[node.input[0]]]
            values = read(folder / ours[name]["file"])
            values = values.reshape(dims[::-1]).T if ours[name]["transposed"] else values.reshape(dims)
            model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ascontiguousarray(values), name))
            del ours[name]
        else:
            kept.append(node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    manifest["parameters"] = [p for p in manifest.get("parameters", []) if p["name"] in ours]


def feed_of(model, manifest, samples, folder):
    """The model's inputs by name, for a batch of samples."""
    feed = {}
    inputs = {one["name"]: one for one in manifest["inputs"]}
    parameters = {one["name"]: one for one in manifest.get("parameters", [])}
    for wanted in model.graph.input:
        one = inputs[wanted.name]
        dims = dims_of(one["shape"], len(samples))
        made_up = one if "file" in one else parameters.get(wanted.name)
        if made_up:
            of_one = read(folder / made_up["file"]).reshape(dims_of(one["shape"], 1))
            values = numpy.broadcast_to(of_one, dims)
        elif "same for every sample" in one["content"]:  # no layer reads it
            values = numpy.zeros(dims)
        else:
            values = numpy.moveaxis(numpy.stack(samples).reshape(sample_first(one["shape"], len(samples))), 0,
                                    batch_axis(one["shape"]))
        dtype = NUMPY_TYPES[wanted.type.tensor_type.elem_type]
        feed[wanted.name] = numpy.ascontiguousarray(values).astype(dtype)
    return feed


def names_of(manifest, model):
    """Of the tensors that were answered; the network's output has no name there."""
    return [one["name"] or model.graph.output[0].name for one in manifest["answers"]]


def keep_needed(graph, names):
    """Leaves out what the named tensors do not need: nodes, initializers and other outputs."""
    needed, kept = set(names), []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            needed.update(node.input)
            for attribute in node.attribute:
                for inner in attribute.g.node:
                    needed.update(inner.input)
            kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    initializers = [tensor for tensor in graph.initializer if tensor.name in needed]
    del graph.initializer[:]
    graph.initializer.extend(initializers)
    for output in [info for info in graph.output if info.name not in names]:
        graph.output.remove(output)


class Refused(Exception):
    """Why a network cannot be given its weights, in a sentence."""


def filled(program, path, folder, inner, batch):
    """What onnx_answers wrote into the folder, and the network with those weights."""
    made = subprocess.run([program, path, str(folder), str(inner), str(batch)], capture_output=True, text=True,
                          check=False)
    if made.returncode != 0:
        raise Refused((made.stderr.strip().splitlines() or [f"ended with {made.returncode}"])[-1])
    manifest = json.loads((folder / "manifest.json").read_text())
    model = onnx.load(path, load_external_data=False)
    keep_needed(model.graph, names_of(manifest, model))
    fill_constant_nodes(model, manifest, folder)
    missing = set_parameters(model, manifest, folder)
    if missing:
        raise Refused(f"no values for {len(missing)} initializers, as {missing[0]}")
    # Before version 4 an initializer was an input too.
    model.ir_version = max(model.ir_version, 4)
    inputs = {one["name"] for one in manifest["inputs"]}
    for extra in [info for info in model.graph.input if info.name not in inputs]:
        model.graph.input.remove(extra)
    return manifest, model


def fix_batch(model, feed):
    """Inputs have the feed's sizes. What was inferred for another batch goes."""
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        for dim, size in zip(dims, feed[info.name].shape):
            dim.dim_value = size
    del model.graph.value_info[:]
    for info in model.graph.output:
        info.type.tensor_type.ClearField("shape")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("file")
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--batch", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        scratch = pathlib.Path(place)
        manifest, model = filled(given.program, given.file, scratch, 0, given.batch)
        feed = feed_of(model, manifest, [read(scratch / sample) for sample in manifest["samples"]], scratch)
        numpy.savez(given.folder / "inputs.npz", **feed)
        numpy.save(given.folder / "answer.npy", read(scratch / manifest["answers"][0]["file"]))
    fix_batch(model, feed)
    weights = "network.weights"
    (given.folder / weights).unlink(missing_ok=True)  # onnx would write after what is there
    onnx.save(model, given.folder / "network.onnx", save_as_external_data=True, location=weights)


if __name__ == "__main__":
    try:
        main()
    except Refused as reason:
        sys.exit(f"fill.py: {reason}")
