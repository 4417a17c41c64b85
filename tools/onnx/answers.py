"""Compares the answers of onnx_answers with those of onnxruntime, on the same weights and inputs.

    answers.py PROGRAM FILE.onnx... [--inner 5] [--goal 1e-4]

A line for each network: the largest error over the range of the values, of the output and of the tensors inside,
and how far the answers to two inputs lie apart, over the same range: equal answers would prove nothing.
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
import onnxruntime

SMALLEST_DIFFERENCE = 1e-3  # between two inputs' answers, over their range
NUMPY_TYPES = {1: numpy.float32, 6: numpy.int32, 7: numpy.int64, 9: numpy.bool_, 10: numpy.float16, 11: numpy.float64}


def read(path):
    return numpy.fromfile(path, dtype="<f4")


def dims_of(text, batch=1):
    return [batch if part == "batch" else int(part) for part in re.findall(r"batch|\d+", text)]


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
            dims = [d.dim_value for d in declared[0].type.tensor_type.shape.dim] if declared else [values.size]
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


def keep_needed(graph, names):
    """Drops nodes and outputs that the named tensors do not need."""
    wanted, kept = set(names), []
    for node in reversed(graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(name for name in node.input if name)
            for attribute in node.attribute:
                for inner in attribute.g.node:
                    wanted.update(inner.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    for output in [info for info in graph.output if info.name not in names]:
        graph.output.remove(output)


def feed_of(session, manifest, sample):
    feed = {}
    contents = {one["name"]: one for one in manifest["inputs"]}
    types = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32,
             "tensor(bool)": numpy.bool_, "tensor(float16)": numpy.float16}
    for wanted in session.get_inputs():
        one = contents[wanted.name]
        dims = dims_of(one["shape"])
        content = one["content"]
        if content.startswith(("seeded", "tokens")) and "same for every sample" not in content:
            values = sample.reshape(dims)
        elif content.startswith("positions"):
            values = numpy.broadcast_to(numpy.arange(dims[-1]), dims)
        elif content.startswith("ones"):
            values = numpy.ones(dims)
        elif content.startswith("zeros"):
            values = numpy.zeros(dims)
        else:
            raise ValueError(f"the content of the input {wanted.name!r} is not known: {content}")
        feed[wanted.name] = numpy.ascontiguousarray(values).astype(types[wanted.type])
    return feed


def compare(program, path, inner):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        made = subprocess.run([program, path, place, str(inner), "2"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return {"failed": (made.stderr.strip().splitlines() or [f"ended with {made.returncode}"])[-1]}
        manifest = json.loads((folder / "manifest.json").read_text())
        model = onnx.load(path, load_external_data=False)
        names = [one["name"] or model.graph.output[0].name for one in manifest["answers"]]
        keep_needed(model.graph, names)
        fill_constant_nodes(model, manifest, folder)
        missing = set_parameters(model, manifest, folder)
        if missing:
            return {"failed": f"no values for {len(missing)} initializers, as {missing[0]}"}
        # Before version 4 of the format, initializers had to be inputs too.
        model.ir_version = max(model.ir_version, 4)
        inputs = {one["name"] for one in manifest["inputs"]}
        for extra in [info for info in model.graph.input if info.name not in inputs]:
            model.graph.input.remove(extra)
        outputs = [info.name for info in model.graph.output]
        for name in names:
            if name not in outputs:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
        onnxruntime.set_default_logger_severity(3)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        answers = [session.run(names, feed_of(session, manifest, read(folder / sample)))
                   for sample in manifest["samples"]]
        worst, apart = 0.0, []
        details = []
        for i, one in enumerate(manifest["answers"]):
            theirs = numpy.stack([numpy.asarray(answer[i], dtype=numpy.float64).ravel() for answer in answers])
            ours = read(folder / one["file"]).astype(numpy.float64).reshape(theirs.shape)
            spread = theirs.max() - theirs.min()
            if not numpy.isfinite(spread) or spread == 0:
                return {"failed": f"the values of {names[i]} span {spread}"}
            error = float(numpy.abs(ours - theirs).max() / spread)
            worst = max(worst, error if numpy.isfinite(error) else float("inf"))
            apart.append(float(numpy.abs(theirs[0] - theirs[1]).max() / spread))
            details.append((names[i], error))
        return {"error": worst, "apart": apart[0], "tensors": len(names), "details": details,
                "turned": turned(session, manifest, read(folder / manifest["samples"][0]), names, answers[0])}


def turned(session, manifest, sample, names, answer):
    """How far onnxruntime's own answer moves, over its range, when each input moves by a millionth."""
    noise = 1 + 1e-6 * numpy.random.default_rng(1).standard_normal(sample.shape)
    moved = session.run(names, feed_of(session, manifest, (sample * noise).astype(numpy.float32)))
    spreads = [float(numpy.ptp(numpy.asarray(one, dtype=numpy.float64))) for one in answer]
    return max(float(numpy.abs(numpy.asarray(a, dtype=numpy.float64) - b).max()) / spread
               for a, b, spread in zip(answer, moved, spreads) if spread > 0)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("program")
    options.add_argument("files", nargs="+")
    options.add_argument("--inner", type=int, default=5)
    options.add_argument("--goal", type=float, default=1e-4)
    options.add_argument("--verbose", action="store_true")
    given = options.parse_args()
    met = 0
    for path in given.files:
        try:
            result = compare(given.program, path, given.inner)
        except Exception as error:  # onnxruntime raises its own kinds
            result = {"failed": str(error).splitlines()[0][:200]}
        name = pathlib.Path(path).stem
        if "failed" in result:
            print(f"{name:40} not compared: {result['failed']}", flush=True)
            continue
        good = result["error"] <= given.goal and result["apart"] >= SMALLEST_DIFFERENCE
        met += good
        print(f"{name:40} {'equal' if good else 'DIFFERS' if result['error'] > given.goal else 'PROVES NOTHING':8} "
              f"error {result['error']:.1e} of the range, {result['tensors']} tensors; "
              f"two inputs {result['apart']:.1e} apart", flush=True)
        if result["error"] > given.goal:
            print(f"    an input that moves by a millionth moves onnxruntime's own answers by {result['turned']:.1e}")
        if given.verbose or not good:
            for tensor, error in result["details"]:
                print(f"    {tensor}: {error:.1e}")
    print(f"{met} of {len(given.files)} networks agree with onnxruntime {onnxruntime.__version__} "
          f"to {given.goal:g} of the range")
    return 0 if met == len(given.files) else 1


if __name__ == "__main__":
    sys.exit(main())
