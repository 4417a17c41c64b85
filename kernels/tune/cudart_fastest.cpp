#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>

#include "kernels/device/cuda/stream.h"
#include "kernels/tune/fastest.h"

namespace bench::kernels::cuda {
namespace {

constexpr int kRuns = 5;

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(CUstream_st* stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void wait() { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }
  float milliseconds_since(const Event& start) const {
    float elapsed = 0;
    check(cudaEventElapsedTime(&elapsed, start.event_, event_), "cudaEventElapsedTime");
    return elapsed;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

std::optional<std::size_t> fastest(CUstream_st* stream, std::size_t ways,
                                   const std::function<bool(std::size_t)>& run) {
  Event start;
  Event stop;
  std::optional<std::size_t> best;
  float best_milliseconds = std::numeric_limits<float>::infinity();
  for (std::size_t way = 0; way < ways; ++way) {
    if (!run(way)) {
      continue;
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    for (int i = 0; i < kRuns; ++i) {
      start.record(stream);
      run(way);
      stop.record(stream);
      stop.wait();
      const float elapsed = stop.milliseconds_since(start);
      if (!best || elapsed < best_milliseconds) {
        best = way;
        best_milliseconds = elapsed;
      } else if (elapsed > 2 * best_milliseconds) {
        break;  // no noise makes up for that
      }
    }
  }
  return best;
}

bool recording(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace bench::kernels::cuda
