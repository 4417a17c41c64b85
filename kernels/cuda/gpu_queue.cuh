// Launches kernel bodies on a CUDA device's stream, and registers operations made of them. For .cu files
// only; comes before every body.
#pragma once

#include "kernels/cuda/gpu.cuh"
// gpu.cuh first
#include "bench/device.h"
#include "kernels/cuda/kernel_operation.h"
#include "kernels/device/cuda/stream.h"

namespace bench::kernels::cuda {

class StreamQueue {
 public:
  explicit StreamQueue(CUstream_st* stream) : stream_(stream) {}

  // Queues `blocks` blocks of Kernel::kThreads threads; none where there are none.
  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    if (blocks == 0) {
      return;
    }
    run_on_gpu<<<grid_of(blocks, Kernel::kName), Kernel::kThreads, 0, stream_>>>(kernel);
    check(cudaGetLastError(), Kernel::kName);
  }

 private:
  CUstream_st* stream_;
};

class GpuQueue {
 public:
  explicit GpuQueue(Device& device) : device_(&device) {}

  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    StreamQueue(stream_of(*device_)).launch(kernel, blocks);
  }

  int multiprocessors() const { return multiprocessors_of(*device_); }

 private:
  Device* device_;
};

struct Gpu {
  using Memory = GpuMemory;
  using Fp32 = GpuFp32;
  using Fp16 = GpuFp16;
  using Bf16 = GpuBf16;
  using Queue = GpuQueue;

  static constexpr const char* kImplementation = "cuda";
  static constexpr const char* kDeviceKind = "cuda";
  static constexpr int kPreference = 10;
  static std::optional<std::string> unsupported(const Device& device, Dtype dtype) {
    return device.unsupported(dtype);
  }
};

}  // namespace bench::kernels::cuda
