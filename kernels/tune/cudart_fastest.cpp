#include <cuda_runtime_api.h>

#include "kernels/device/cuda/stream.h"
#include "kernels/tune/fastest.h"

namespace bench::kernels::cuda {
namespace {

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
  return fastest_of(ways, [&](std::size_t way) -> std::optional<float> {
    start.record(stream);
    const bool queued = run(way);
    stop.record(stream);
    stop.wait();
    return queued ? std::optional(stop.milliseconds_since(start)) : std::nullopt;
  });
}

bool recording(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace bench::kernels::cuda
