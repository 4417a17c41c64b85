"""onnxruntime's and OpenVINO's contestant: a network of tools/onnx/fill.py on the CPU, as contestant.h says."""

import argparse
import pathlib
import time

import numpy
from onnx import TensorProto, helper

from contestant import Memory, serve

CLOSE = {"fp32": 1e-3, "bf16": 6e-2}  # an error over the range of the values


def tiny_network():
    """A matrix product, as a file's bytes."""
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 8]) for name in "ab"]
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "a"], ["b"])], "tiny", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


class Onnxruntime:
    def __init__(self, threads, dtype):
        import onnxruntime

        if dtype != "fp32":
            raise ValueError(f"onnxruntime has no {dtype} on a CPU")
        self.library = onnxruntime
        self.about = {"version": onnxruntime.__version__}
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1

    def build(self, model, feed):
        """A step, and what reads its answer."""
        session = self.library.InferenceSession(model, self.options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, values in feed.items():
            binding.bind_cpu_input(name, values)
        binding.bind_output(session.get_outputs()[0].name, "cpu")
        return lambda: session.run_with_iobinding(binding), lambda: binding.get_outputs()[0].numpy()


class Openvino:
    def __init__(self, threads, dtype):
        import openvino

        self.library = openvino
        self.about = {"version": openvino.__version__}
        self.core = openvino.Core()
        self.config = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(threads),
                       "INFERENCE_PRECISION_HINT": {"fp32": "f32", "bf16": "bf16"}[dtype]}

    def build(self, model, feed):
        network = self.core.read_model(model) if isinstance(model, str) else self.core.read_model(model, b"")
        compiled = self.core.compile_model(network, "CPU", self.config)
        request = compiled.create_infer_request()
        for name, values in feed.items():
            request.set_tensor(name, self.library.Tensor(values, shared_memory=True))
        return request.infer, lambda: request.get_output_tensor(0).data


RUNTIMES = {"onnxruntime": Onnxruntime, "openvino": Openvino}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runtime", choices=RUNTIMES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("dtype", choices=CLOSE)
    parser.add_argument("warm_up", type=int)
    parser.add_argument("threads", type=int)
    options = parser.parse_args()

    runtime = RUNTIMES[options.runtime](options.threads, options.dtype)
    expected = numpy.load(options.folder / "answer.npy")
    # Plugin, thread pool and allocator are there before memory counts, as in every process.
    runtime.build(tiny_network(), {"a": numpy.ones((8, 8), numpy.float32)})[0]()
    memory = Memory()
    feed = dict(numpy.load(options.folder / "inputs.npz"))
    run, answer = runtime.build(str(options.folder / "network.onnx"), feed)

    def step():
        start = time.perf_counter_ns()
        run()
        return time.perf_counter_ns() - start

    step()
    error = float(numpy.abs(answer().ravel() - expected).max() / (expected.max() - expected.min()))
    if not error <= CLOSE[options.dtype]:
        raise RuntimeError(f"{options.runtime}'s answer is {error:.1e} of the range away from ours")
    serve(memory, dict(runtime.about, error=error), options.warm_up, step)


if __name__ == "__main__":
    main()
