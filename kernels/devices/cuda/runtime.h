// The calls of the CUDA runtime that the device makes, so that its logic runs against a double on machines
// without CUDA. Plain numbers and pointers: needs no CUDA header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/devices/cuda/errors.h"

// The pointees of the runtime's handles: cudaStream_t, cudaEvent_t, cudaGraph_t and cudaGraphExec_t.
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace bench::kernels::cuda {

struct CardProperties {
  std::string name;
  std::string uuid;        // "GPU-6c5a…"
  std::string pci_bus_id;  // "0000:01:00.0"
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  int multiprocessors = 0;
  int major = 0;  // of the compute capability
  int minor = 0;
};

// Each call returns a cudaError_t (see errors.h) and leaves its results untouched where that is an error.
// Calls with a stream queue their work there.
class Runtime {
 public:
  virtual ~Runtime() = default;

  // 12080 is CUDA 12.8. The driver's is the newest it can serve, 0 without a driver.
  virtual int runtime_version(int& version) = 0;
  virtual int driver_version(int& version) = 0;

  virtual int device_count(int& count) = 0;
  virtual int properties(int device, CardProperties& properties) = 0;
  virtual int set_device(int device) = 0;  // of the calling thread

  virtual int allocate(void*& data, std::size_t bytes) = 0;
  virtual int free(void* data) = 0;
  virtual int allocate_pinned(void*& data, std::size_t bytes) = 0;
  virtual int free_pinned(void* data) = 0;
  virtual int register_pages(void* data, std::size_t bytes) = 0;  // the host's own memory, locked until then
  virtual int unregister_pages(void* data) = 0;
  virtual int memory_info(std::size_t& free_bytes, std::size_t& total_bytes) = 0;  // of the whole card

  virtual int create_stream(CUstream_st*& stream) = 0;  // one that waits for no other
  virtual int destroy_stream(CUstream_st* stream) = 0;
  virtual int synchronize(CUstream_st* stream) = 0;
  virtual int copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream) = 0;  // any direction
  virtual int fill(void* to, int value, std::size_t bytes, CUstream_st* stream) = 0;

  virtual int create_event(CUevent_st*& event) = 0;
  virtual int destroy_event(CUevent_st* event) = 0;
  virtual int record(CUevent_st* event, CUstream_st* stream) = 0;
  virtual int query(CUevent_st* event) = 0;                             // status::kNotReady before its time
  virtual int wait(CUevent_st* event) = 0;                              // the host waits
  virtual int stream_wait(CUstream_st* stream, CUevent_st* event) = 0;  // what is queued next waits
  virtual int elapsed_ms(float& milliseconds, CUevent_st* start, CUevent_st* stop) = 0;

  virtual int begin_capture(CUstream_st* stream) = 0;
  virtual int end_capture(CUgraph_st*& graph, CUstream_st* stream) = 0;
  virtual int is_capturing(bool& capturing, CUstream_st* stream) = 0;
  virtual int instantiate(CUgraphExec_st*& executable, CUgraph_st* graph) = 0;
  virtual int launch(CUgraphExec_st* executable, CUstream_st* stream) = 0;
  virtual int destroy_graph(CUgraph_st* graph) = 0;
  virtual int destroy_executable(CUgraphExec_st* executable) = 0;

  virtual int last_error() = 0;  // and clears it, unless it is sticky
  virtual std::string error_name(int error) = 0;
  virtual std::string error_text(int error) = 0;

  // The host calls the function when the stream comes to it, in a thread of the runtime's; what is queued
  // next waits for its end.
  virtual int call_host(CUstream_st* stream, void (*function)(void*), void* data) = 0;

  // Success passes; anything else is cleared, so that no later launch is blamed for it, and thrown: see
  // raise() in errors.h.
  void check(int error, std::string_view call, CallSite site = CallSite::current());

  // Whether the stream is being recorded into a CUDA graph: then nothing may be waited for.
  bool is_recording(CUstream_st* stream);
};

// The CUDA runtime itself; only in a program built with it.
Runtime& cuda_runtime();

}  // namespace bench::kernels::cuda
