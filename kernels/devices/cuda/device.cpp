#include "kernels/devices/cuda/device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/compiled_plans_folder.h"
#include "kernels/devices/cuda/compiled_plans.h"
#include "kernels/devices/cuda/describe.h"

namespace bench::kernels::cuda {
namespace {

CardProperties properties_of(Runtime& runtime, int ordinal) {
  runtime.check(runtime.set_device(ordinal), fmt::format("cudaSetDevice({})", ordinal));
  CardProperties card;
  runtime.check(runtime.properties(ordinal, card), fmt::format("cudaGetDeviceProperties({})", ordinal));
  return card;
}

std::string shown(const CardLink& link) {
  return fmt::format("gen{} x{}", link.generation, link.width);
}

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

// A step recorded as a CUDA graph: all its launches become one.
class RecordedGraph final : public RecordedStep {
 public:
  // Records what `step` queues on `stream`; nothing of it runs. Leaves the stream as it was also where the
  // step throws.
  RecordedGraph(Runtime& runtime, CUstream_st* stream, const std::function<void()>& step)
      : runtime_(runtime), stream_(stream) {
    const Capture graph(runtime, stream, step);
    runtime_.check(runtime_.instantiate(executable_, graph.get()), "cudaGraphInstantiate");
  }
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;
  ~RecordedGraph() override { runtime_.destroy_executable(executable_); }

  void replay() override { runtime_.check(runtime_.launch(executable_, stream_), "cudaGraphLaunch"); }

 private:
  Runtime& runtime_;
  CUstream_st* stream_;
  CUgraphExec_st* executable_ = nullptr;
};

}  // namespace

CudaDevice::CudaDevice(const Backend& backend, int ordinal)
    : backend_(backend),
      properties_(properties_of(backend.runtime, ordinal)),
      card_(backend.runtime, properties_, ordinal),
      monitor_(backend.monitor(properties_.pci_bus_id)),
      watch_(monitor_.get()),
      start_(backend.runtime),
      stop_(backend.runtime),
      info_(describe(backend.runtime, properties_, ordinal, monitor_.get(), backend.versions())) {
  describe_link();
}

// The card releases its own while it is idle. After a sticky error every call fails, and the failures
// are ignored.
CudaDevice::~CudaDevice() {
  backend_.runtime.set_device(card_.ordinal());
  backend_.runtime.synchronize(stream());
}

std::optional<std::string> CudaDevice::unsupported(Dtype dtype) const {
  const int capability = card_.compute_capability();
  const int needed = dtype == Dtype::fp32 ? 0 : dtype == Dtype::fp16 ? 70 : 80;
  if (capability >= needed) {
    return std::nullopt;
  }
  return fmt::format("{} needs a card of compute capability {}.0; {} has {}.{}", name_of(dtype), needed / 10,
                     properties_.name, properties_.major, properties_.minor);
}

void CudaDevice::upload(void* device_dst, const void* host_src, std::int64_t bytes) {
  use();
  backend_.runtime.check(
      backend_.runtime.copy(device_dst, host_src, static_cast<std::size_t>(bytes), stream()),
      fmt::format("cudaMemcpyAsync of {} B to the card", bytes));
  synchronize();
}

void CudaDevice::download(void* host_dst, const void* device_src, std::int64_t bytes) {
  use();
  backend_.runtime.check(
      backend_.runtime.copy(host_dst, device_src, static_cast<std::size_t>(bytes), stream()),
      fmt::format("cudaMemcpyAsync of {} B from the card", bytes));
  synchronize();
}

void CudaDevice::copy_within(void* to, const void* from, std::int64_t bytes) {
  backend_.runtime.check(backend_.runtime.copy(to, from, static_cast<std::size_t>(bytes), stream()),
                         fmt::format("cudaMemcpyAsync of {} B within the card", bytes));
}

void CudaDevice::fill(void* device_dst, std::byte value, std::int64_t bytes) {
  use();
  backend_.runtime.check(backend_.runtime.fill(device_dst, std::to_integer<int>(value),
                                               static_cast<std::size_t>(bytes), stream()),
                         fmt::format("cudaMemsetAsync of {} B", bytes));
}

void CudaDevice::synchronize() {
  backend_.runtime.check(backend_.runtime.synchronize(stream()), "cudaStreamSynchronize");
}

void StreamHold::queue(Runtime& runtime, CUstream_st* stream) {
  released_ = false;
  runtime.check(runtime.call_host(stream, wait, this), "cudaLaunchHostFunc in front of a step");
}

// By a thread of the runtime's, which may call nothing of the runtime.
void StreamHold::wait(void* hold) {
  const auto& released = static_cast<const StreamHold*>(hold)->released_;
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (!released && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

// The card is idle when a sample starts: work still running would hide the first launches.
std::int64_t CudaDevice::time(const std::function<void()>& step) {
  use();
  synchronize();
  return time_between_events(step);
}

std::int64_t CudaDevice::time_queued(const std::function<void()>& step) {
  const struct Release {
    StreamHold& hold;
    ~Release() { hold.release(); }
  } release_in_any_case{hold_};
  use();
  synchronize();
  hold_.queue(backend_.runtime, stream());
  return time_between_events(step);
}

std::int64_t CudaDevice::time_between_events(const std::function<void()>& step) {
  Runtime& runtime = backend_.runtime;
  runtime.check(runtime.record(start_.get(), stream()), "cudaEventRecord at the start of a step");
  step();
  runtime.check(runtime.record(stop_.get(), stream()), "cudaEventRecord at the end of a step");
  hold_.release();
  // After the event, so that the reading is in no step's time.
  watch_.while_working(std::chrono::steady_clock::now());
  runtime.check(runtime.wait(stop_.get()), "cudaEventSynchronize at the end of a step");
  float milliseconds = 0;
  runtime.check(runtime.elapsed_ms(milliseconds, start_.get(), stop_.get()), "cudaEventElapsedTime");
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

void CudaDevice::keep_choices(const std::string& file) {
  std::string machine =
      fmt::format("{}, compute capability {}.{}, {} SMs, driver {}", properties_.name, properties_.major,
                  properties_.minor, properties_.multiprocessors, info_.details.at("driver"));
  for (const auto& [library, version] : backend_.versions()) {
    machine += fmt::format(", {} {}", library, version);
  }
  card_.keep_choices(AutotunedChoices(file, machine));
  card_.keep<CompiledPlans>()->keep_in(compiled_plans_folder(file), machine);
}

std::unique_ptr<RecordedStep> CudaDevice::record(const std::function<void()>& step) {
  use();
  step();  // kernels are loaded and libraries set up at their first use, which must not happen in a recording
  synchronize();
  return card_.with_memory([&] { return std::make_unique<RecordedGraph>(backend_.runtime, stream(), step); });
}

void CudaDevice::drop_caches() {
  card_.begin_workload();
  use();
  allocator().release_cached();
}

void CudaDevice::flush_caches() {
  constexpr std::int64_t kUnknown = std::int64_t{64} << 20;
  const std::int64_t bytes = properties_.l2_bytes > 0 ? 2 * properties_.l2_bytes : kUnknown;
  use();
  if (!eviction_) {
    eviction_.emplace(allocator(), 2 * bytes);
  }
  fill(eviction_->data(), std::byte{1}, bytes);
  backend_.read_memory(*this, eviction_->data() + bytes, bytes, eviction_->data());
  synchronize();
}

std::int64_t CudaDevice::driver_used() const {
  use();
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  backend_.runtime.check(backend_.runtime.memory_info(free_bytes, total_bytes), "cudaMemGetInfo");
  return static_cast<std::int64_t>(total_bytes) - static_cast<std::int64_t>(free_bytes);
}

DeviceState CudaDevice::state() const {
  return watch_.take();
}

std::optional<Calibration> CudaDevice::calibrate() {
  constexpr std::int64_t kElements = std::int64_t{1} << 20;
  constexpr std::int64_t kSteps = 1024;
  constexpr std::int64_t kCopied = std::int64_t{32} << 20;  // bytes
  constexpr std::size_t kRuns = 5;
  const auto median_ns = [this](const auto& step) {
    std::array<std::int64_t, kRuns> times{};
    std::ranges::generate(times, [&] { return time(step); });
    std::ranges::nth_element(times, times.begin() + kRuns / 2);
    return static_cast<double>(times[kRuns / 2]);
  };
  use();
  try {
    const UntrackedBlock block(allocator(), 2 * kCopied);
    fill(block.data(), std::byte{0}, 2 * kCopied);
    return Calibration{
        .arithmetic_ns =
            median_ns([&] { backend_.multiply_add(*this, Dtype::fp32, block.data(), kElements, kSteps); }),
        .copy_ns = median_ns([&] { copy_within(block.data() + kCopied, block.data(), kCopied); })};
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

Peaks CudaDevice::peaks(Dtype dtype) {
  if (unsupported(dtype)) {
    return {};
  }
  const auto known = peaks_.find(dtype);
  return known != peaks_.end() ? known->second
                               : peaks_.emplace(dtype, measure_peaks(*this, backend_, dtype)).first->second;
}

Peaks CudaDevice::refresh_peaks(Dtype dtype) {
  Peaks known = peaks(dtype);
  if (unsupported(dtype)) {
    return known;
  }
  const Peaks again = measure_peaks(*this, backend_, dtype);
  known.flops_per_s = std::max(known.flops_per_s, again.flops_per_s);
  known.bytes_per_s = std::max(known.bytes_per_s, again.bytes_per_s);
  return peaks_[dtype] = known;
}

std::byte* CudaDevice::raw_allocate(std::int64_t bytes) {
  use();
  return allocator().allocate(bytes);
}

void CudaDevice::raw_free(std::byte* data, std::int64_t /*bytes*/) noexcept {
  allocator().free(data);
}

void CudaDevice::describe_link() {
  if (const auto link = link_under_load()) {
    info_.details["pcie"] = shown(*link);
  }
  if (const auto best = monitor_ ? monitor_->best_link() : std::nullopt) {
    info_.details["pcie_best"] = shown(*best);
  }
}

std::optional<CardLink> CudaDevice::link_under_load() {
  if (!monitor_ || !monitor_->link()) {
    return std::nullopt;
  }
  if (const auto known = backend_.links->find(pci_bus_id()); known != backend_.links->end()) {
    return known->second;
  }
  const auto seen = see_link();
  if (seen) {
    backend_.links->emplace(pci_bus_id(), *seen);
  }
  return seen;
}

// An idle card runs its link at a lower generation and takes some milliseconds to raise it: it is asked while
// copies are under way, until it has reached its best or all copies have been made.
std::optional<CardLink> CudaDevice::see_link() {
  constexpr std::int64_t kBytes = std::int64_t{8} << 20;
  constexpr int kCopies = 32;
  const auto best = monitor_->best_link();
  std::optional<CardLink> seen;
  try {
    const PinnedBuffer host = allocate_pinned(kBytes);
    const UntrackedBlock block(allocator(), kBytes);
    for (int i = 0; i < kCopies; ++i) {
      copy_within(block.data(), host.data(), kBytes);
      const auto now = monitor_->link();
      seen = now && (!seen || now->generation > seen->generation) ? now : seen;
      if (best && seen && seen->generation >= best->generation) {
        break;
      }
    }
    synchronize();
  } catch (const OutOfMemory&) {  // the card is full already
    return std::nullopt;
  }
  allocator().release_cached();
  return seen;
}

}  // namespace bench::kernels::cuda
