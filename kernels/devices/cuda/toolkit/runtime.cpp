// The CUDA runtime, and what a failed call says about the card. Linked statically: the runtime looks for the
// driver at its first call, so that the program starts without one.
#include <cuda_runtime_api.h>

#include <array>

#include <fmt/format.h>

#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda {
namespace {

static_assert(status::kSuccess == cudaSuccess && status::kMemoryAllocation == cudaErrorMemoryAllocation &&
              status::kInsufficientDriver == cudaErrorInsufficientDriver &&
              status::kNoDevice == cudaErrorNoDevice && status::kNotReady == cudaErrorNotReady &&
              status::kIllegalAddress == cudaErrorIllegalAddress &&
              status::kLaunchFailure == cudaErrorLaunchFailure);

DeviceAnswer ask_device() {
  DeviceAnswer answer{.error = cudaDeviceSynchronize(), .stays_set = false, .free_bytes = std::nullopt};
  cudaGetLastError();  // it is this failure's, not the next call's
  answer.stays_set = cudaGetLastError() != cudaSuccess;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (answer.error == cudaSuccess && cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess) {
    answer.free_bytes = static_cast<std::int64_t>(free_bytes);
  }
  cudaGetLastError();
  return answer;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const bool starts_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", starts_group ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

class CudaRuntime final : public Runtime {
 public:
  int runtime_version(int& version) override { return cudaRuntimeGetVersion(&version); }
  int driver_version(int& version) override { return cudaDriverGetVersion(&version); }

  int device_count(int& count) override { return cudaGetDeviceCount(&count); }

  int properties(int device, CardProperties& properties) override {
    cudaDeviceProp found{};
    if (const cudaError_t error = cudaGetDeviceProperties(&found, device); error != cudaSuccess) {
      return error;
    }
    constexpr int kLongestId = 32;
    std::array<char, kLongestId> pci{};
    if (const cudaError_t error = cudaDeviceGetPCIBusId(pci.data(), kLongestId, device);
        error != cudaSuccess) {
      return error;
    }
    properties = {.name = static_cast<const char*>(found.name),
                  .uuid = uuid_text(found.uuid),
                  .pci_bus_id = pci.data(),
                  .memory_bytes = static_cast<std::int64_t>(found.totalGlobalMem),
                  .l2_bytes = found.l2CacheSize,
                  .multiprocessors = found.multiProcessorCount,
                  .major = found.major,
                  .minor = found.minor};
    return cudaSuccess;
  }

  int set_device(int device) override { return cudaSetDevice(device); }

  int allocate(void*& data, std::size_t bytes) override { return cudaMalloc(&data, bytes); }
  int free(void* data) override { return cudaFree(data); }
  int allocate_pinned(void*& data, std::size_t bytes) override {
    return cudaHostAlloc(&data, bytes, cudaHostAllocDefault);
  }
  int free_pinned(void* data) override { return cudaFreeHost(data); }
  int register_pages(void* data, std::size_t bytes) override {
    return cudaHostRegister(data, bytes, cudaHostRegisterDefault);
  }
  int unregister_pages(void* data) override { return cudaHostUnregister(data); }
  int memory_info(std::size_t& free_bytes, std::size_t& total_bytes) override {
    return cudaMemGetInfo(&free_bytes, &total_bytes);
  }

  int create_stream(CUstream_st*& stream) override {
    return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }
  int destroy_stream(CUstream_st* stream) override { return cudaStreamDestroy(stream); }
  int synchronize(CUstream_st* stream) override { return cudaStreamSynchronize(stream); }
  int copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream) override {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
  }
  int fill(void* to, int value, std::size_t bytes, CUstream_st* stream) override {
    return cudaMemsetAsync(to, value, bytes, stream);
  }

  int create_event(CUevent_st*& event) override { return cudaEventCreate(&event); }
  int destroy_event(CUevent_st* event) override { return cudaEventDestroy(event); }
  int record(CUevent_st* event, CUstream_st* stream) override { return cudaEventRecord(event, stream); }
  int query(CUevent_st* event) override {
    const cudaError_t error = cudaEventQuery(event);
    if (error == cudaErrorNotReady) {
      cudaGetLastError();  // it is no failure of a later call
    }
    return error;
  }
  int wait(CUevent_st* event) override { return cudaEventSynchronize(event); }
  int stream_wait(CUstream_st* stream, CUevent_st* event) override {
    return cudaStreamWaitEvent(stream, event, 0);
  }
  int elapsed_ms(float& milliseconds, CUevent_st* start, CUevent_st* stop) override {
    return cudaEventElapsedTime(&milliseconds, start, stop);
  }

  int call_host(CUstream_st* stream, void (*function)(void*), void* data) override {
    return cudaLaunchHostFunc(stream, function, data);
  }

  // Thread-local: other threads may go on calling the runtime while this one records.
  int begin_capture(CUstream_st* stream) override {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  }
  int end_capture(CUgraph_st*& graph, CUstream_st* stream) override {
    return cudaStreamEndCapture(stream, &graph);
  }
  int is_capturing(bool& capturing, CUstream_st* stream) override {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream, &status);
    capturing = error == cudaSuccess && status != cudaStreamCaptureStatusNone;
    return error;
  }
  int instantiate(CUgraphExec_st*& executable, CUgraph_st* graph) override {
    return cudaGraphInstantiate(&executable, graph, 0);
  }
  int launch(CUgraphExec_st* executable, CUstream_st* stream) override {
    return cudaGraphLaunch(executable, stream);
  }
  int destroy_graph(CUgraph_st* graph) override { return cudaGraphDestroy(graph); }
  int destroy_executable(CUgraphExec_st* executable) override { return cudaGraphExecDestroy(executable); }

  int last_error() override { return cudaGetLastError(); }
  std::string error_name(int error) override { return cudaGetErrorName(static_cast<cudaError_t>(error)); }
  std::string error_text(int error) override { return cudaGetErrorString(static_cast<cudaError_t>(error)); }
};

}  // namespace

Runtime& cuda_runtime() {
  static CudaRuntime runtime;
  return runtime;
}

void check(int error, const char* call, CallSite site) {
  cuda_runtime().check(error, call, site);
}

void library_failed(const std::string& what, bool out_of_memory) {
  raise_library(what, out_of_memory, ask_device());
}

void library_refused(const std::string& what, bool out_of_memory) {
  raise_device(what, out_of_memory, ask_device());
}

}  // namespace bench::kernels::cuda
