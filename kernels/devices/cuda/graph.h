// A step recorded as a CUDA graph: all its launches become one.
#pragma once

#include <functional>

#include "bench/device.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

class RecordedGraph final : public RecordedStep {
 public:
  // Records what `step` queues on `stream`; nothing of it runs. Leaves the stream as it was also where the
  // step throws.
  RecordedGraph(Runtime& runtime, CUstream_st* stream, const std::function<void()>& step);
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;
  ~RecordedGraph() override { runtime_.destroy_executable(executable_); }

  void replay() override;

 private:
  Runtime& runtime_;
  CUstream_st* stream_;
  CUgraphExec_st* executable_ = nullptr;
};

}  // namespace bench::kernels::cuda
