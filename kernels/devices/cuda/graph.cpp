#include "kernels/devices/cuda/graph.h"

namespace bench::kernels::cuda {
namespace {

// The recorded launches, needed only until they have been made executable.
class Capture {
 public:
  Capture(Runtime& runtime, CUstream_st* stream, const std::function<void()>& step) : runtime_(runtime) {
    runtime_.check(runtime_.begin_capture(stream), "cudaStreamBeginCapture");
    try {
      step();
    } catch (...) {
      // The step's error is the one to report, not the recording that it broke off.
      runtime_.end_capture(graph_, stream);
      runtime_.last_error();
      destroy();
      throw;
    }
    runtime_.check(runtime_.end_capture(graph_, stream), "cudaStreamEndCapture");
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() { destroy(); }
  CUgraph_st* get() const { return graph_; }

 private:
  void destroy() {
    if (graph_ != nullptr) {
      runtime_.destroy_graph(graph_);
    }
  }

  Runtime& runtime_;
  CUgraph_st* graph_ = nullptr;
};

}  // namespace

RecordedGraph::RecordedGraph(Runtime& runtime, CUstream_st* stream, const std::function<void()>& step)
    : runtime_(runtime), stream_(stream) {
  const Capture graph(runtime, stream, step);
  runtime_.check(runtime_.instantiate(executable_, graph.get()), "cudaGraphInstantiate");
}

void RecordedGraph::replay() {
  runtime_.check(runtime_.launch(executable_, stream_), "cudaGraphLaunch");
}

}  // namespace bench::kernels::cuda
