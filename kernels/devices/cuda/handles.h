// Streams, events and page-locked memory with one owner. Destroying them never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {

class CudaStream {
 public:
  explicit CudaStream(Runtime& runtime) : runtime_(runtime) {
    runtime_.check(runtime_.create_stream(stream_), "cudaStreamCreateWithFlags");
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() { runtime_.destroy_stream(stream_); }
  CUstream_st* get() const { return stream_; }

 private:
  Runtime& runtime_;
  CUstream_st* stream_ = nullptr;
};

class CudaEvent {
 public:
  explicit CudaEvent(Runtime& runtime) : runtime_(runtime) {
    runtime_.check(runtime_.create_event(event_), "cudaEventCreate");
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() { runtime_.destroy_event(event_); }
  CUevent_st* get() const { return event_; }

 private:
  Runtime& runtime_;
  CUevent_st* event_ = nullptr;
};

// Page-locked host memory: the card copies from and to it by itself.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  // Throws OutOfMemory naming the bytes. The driver locks whole pages (4 KiB) and rounds up no further.
  PinnedBuffer(Runtime& runtime, std::int64_t bytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept { *this = std::move(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept;
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { reset(); }

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void reset() noexcept;

 private:
  Runtime* runtime_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace bench::kernels::cuda
