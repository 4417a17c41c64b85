"""Compares the answers of onnx_answers with those of onnxruntime, on the same weights and inputs.

    answers.py PROGRAM FILE.onnx... [--inner 5] [--goal 1e-4]

A line for each network: the largest error over the range of the values, of the output and of the tensors inside,
and how far the answers to two inputs lie apart, over the same range: equal answers would prove nothing.
"""

import argparse
import pathlib
import sys
import tempfile

import numpy
import onnx
import onnxruntime

from fill import Refused, batch_axis, feed_of, filled, names_of, read

HIDDEN = -1e8  # scores of masked positions are below: how far, each runtime decides
SMALLEST_DIFFERENCE = 1e-3  # between two inputs' answers, over their range


def compare(program, path, inner):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        try:
            manifest, model = filled(program, path, folder, inner, 2)
        except Refused as reason:
            return {"failed": str(reason)}
        outputs = [info.name for info in model.graph.output]
        names = names_of(manifest, model)
        for name in names:
            if name not in outputs:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
        onnxruntime.set_default_logger_severity(3)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        copies = file_batch(model, manifest)
        shapes = [one["shape"] for one in manifest["answers"]]
        answers = [[of_one(answer, copies, shape) for answer, shape in zip(
            session.run(names, feed_of(model, manifest, [read(folder / sample)] * copies, folder)), shapes)]
                   for sample in manifest["samples"]]
        worst, apart = 0.0, []
        details = []
        for i, one in enumerate(manifest["answers"]):
            theirs = numpy.stack([answer[i].ravel() for answer in answers])
            ours = read(folder / one["file"]).astype(numpy.float64).reshape(theirs.shape)
            seen = theirs > HIDDEN
            if not numpy.array_equal(seen, ours > HIDDEN):
                return {"failed": f"other values of {names[i]} are hidden"}
            theirs, ours = numpy.where(seen, theirs, 0), numpy.where(seen, ours, 0)
            spread = theirs.max() - theirs.min()
            if not numpy.isfinite(spread) or spread == 0:
                return {"failed": f"the values of {names[i]} span {spread}"}
            error = float(numpy.abs(ours - theirs).max() / spread)
            worst = max(worst, error if numpy.isfinite(error) else float("inf"))
            apart.append(float(numpy.abs(theirs[0] - theirs[1]).max() / spread))
            details.append((names[i], error))
        return {"error": worst, "apart": apart[0], "tensors": len(names), "details": details,
                "turned": turned(session, model, manifest, folder, names, answers[0])}


def file_batch(model, manifest):
    """The batch that the file fixes; 1 where it is free."""
    shapes = {one["name"]: one["shape"] for one in manifest["inputs"]}
    return max((wanted.type.tensor_type.shape.dim[batch_axis(shapes[wanted.name])].dim_value
                for wanted in model.graph.input if "batch" in shapes[wanted.name]), default=1) or 1


def of_one(answer, copies, shape):
    """The first sample's part of some equal ones; `shape` is ours, as "2*batch x 3 x 4"."""
    answer = numpy.asarray(answer, dtype=numpy.float64)
    sizes = shape.split(" x ")
    at = [axis for axis, size in enumerate(sizes) if "batch" in size]
    if copies == 1 or not at:
        return answer
    parts = int(sizes[at[0]].split("*")[0]) if "*" in sizes[at[0]] else 1
    before = int(numpy.prod([int(size) for size in sizes[:at[0]]]))
    return answer.reshape(before, copies, parts, -1)[:, 0]


def turned(session, model, manifest, folder, names, answer):
    """How far onnxruntime's own answer moves, over its range, when each input moves by a millionth."""
    sample, copies = read(folder / manifest["samples"][0]), file_batch(model, manifest)
    if any(one["content"].startswith(("tokens", "seeded bytes")) for one in manifest["inputs"]):
        return 0.0
    noise = 1 + 1e-6 * numpy.random.default_rng(1).standard_normal(sample.shape)
    fed = feed_of(model, manifest, [(sample * noise).astype(numpy.float32)] * copies, folder)
    moved = [of_one(one, copies, of["shape"]) for one, of in zip(session.run(names, fed), manifest["answers"])]
    spreads = [float(numpy.ptp(one)) for one in answer]
    return max(float(numpy.nanmax(numpy.abs(a - b))) / spread
               for a, b, spread in zip(answer, moved, spreads) if 0 < spread < numpy.inf)


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
        if result["error"] > given.goal and result["turned"] > 0:
            print(f"    an input that moves by a millionth moves onnxruntime's own answers by {result['turned']:.1e}")
        if given.verbose or not good:
            for tensor, error in result["details"]:
                print(f"    {tensor}: {error:.1e}")
    print(f"{met} of {len(given.files)} networks agree with onnxruntime {onnxruntime.__version__} "
          f"to {given.goal:g} of the range")
    return 0 if met == len(given.files) else 1


if __name__ == "__main__":
    sys.exit(main())
