// Streams, events and page-locked memory with one owner. Destroying them never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

template <class Handle, int (Runtime::*kCreate)(Handle*&), int (Runtime::*kDestroy)(Handle*)>
class RuntimeHandle {
 public:
  RuntimeHandle(Runtime& runtime, const char* call) : runtime_(runtime) {
    runtime_.check((runtime_.*kCreate)(handle_), call);
  }
  RuntimeHandle(const RuntimeHandle&) = delete;
  RuntimeHandle& operator=(const RuntimeHandle&) = delete;
  ~RuntimeHandle() { (runtime_.*kDestroy)(handle_); }
  Handle* get() const { return handle_; }

 private:
  Runtime& runtime_;
  Handle* handle_ = nullptr;
};

struct CudaStream : RuntimeHandle<CUstream_st, &Runtime::create_stream, &Runtime::destroy_stream> {
  explicit CudaStream(Runtime& runtime) : RuntimeHandle(runtime, "cudaStreamCreateWithFlags") {}
};
struct CudaEvent : RuntimeHandle<CUevent_st, &Runtime::create_event, &Runtime::destroy_event> {
  explicit CudaEvent(Runtime& runtime) : RuntimeHandle(runtime, "cudaEventCreate") {}
};

// Page-locked host memory: the card copies from and to it by itself.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  // Throws OutOfMemory naming the bytes. The driver locks whole pages (4 KiB) and rounds up no further.
  PinnedBuffer(Runtime& runtime, std::int64_t bytes);

  std::byte* data() const { return data_.get(); }
  std::int64_t bytes() const { return data_ == nullptr ? 0 : bytes_; }
  void reset() { data_.reset(); }

 private:
  struct Free {
    Runtime* runtime;
    void operator()(std::byte* data) const { runtime->free_pinned(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::int64_t bytes_ = 0;
};

}  // namespace bench::kernels::cuda
