// Streams and events with one owner. Destroying them never throws.
#pragma once

#include "kernels/device/cuda/runtime.h"

namespace bench::kernels::cuda {

class Stream {
 public:
  explicit Stream(Runtime& runtime) : runtime_(runtime) {
    runtime_.check(runtime_.create_stream(stream_), "cudaStreamCreateWithFlags");
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { runtime_.destroy_stream(stream_); }
  CUstream_st* get() const { return stream_; }

 private:
  Runtime& runtime_;
  CUstream_st* stream_ = nullptr;
};

class Event {
 public:
  explicit Event(Runtime& runtime) : runtime_(runtime) {
    runtime_.check(runtime_.create_event(event_), "cudaEventCreate");
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { runtime_.destroy_event(event_); }
  CUevent_st* get() const { return event_; }

 private:
  Runtime& runtime_;
  CUevent_st* event_ = nullptr;
};

}  // namespace bench::kernels::cuda
