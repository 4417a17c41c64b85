// A card as a device: one stream, events for time, a caching allocator. Its logic runs on the interface in
// runtime.h, so that it is tested without a card.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "kernels/devices/cuda/allocator.h"
#include "kernels/devices/cuda/architectures.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/devices/cuda/nvml.h"
#include "kernels/devices/cuda/runtime.h"
#include "kernels/devices/cuda/transfers.h"
#include "kernels/devices/queued_timing.h"

namespace bench::kernels::cuda {

class CudaDevice;

// The libraries and the build that a device uses.
struct Backend {
  Runtime& runtime;
  // For a card by its PCI bus id; nullptr where its condition cannot be read.
  std::function<std::unique_ptr<CardMonitor>(const std::string& pci_bus_id)> monitor;
  // Why the libraries cannot be used; empty where they can. Asked only where there is a card.
  std::function<std::string()> why_missing;
  // Keys: "cudnn", "cublas".
  std::function<std::map<std::string, std::string>()> versions;
  // FLOP/s of a product of two matrices of size × size with fp32 accumulation, inputs random. Throws
  // OutOfMemory.
  std::function<double(CudaDevice& device, Dtype dtype, std::int64_t size)> matmul_rate;
  // Queues a kernel that reads all of the card's memory at `from`, and may write some at `scratch`; both
  // addresses are aligned to 256 bytes.
  std::function<void(Device& device, std::byte* from, std::int64_t bytes, std::byte* scratch)> read_memory;
  // Queues multiply-adds on each of the elements at `data`, aligned to 256 bytes, and returns their FLOP: so
  // many `steps`, or in 16 bits products of tiles on tensor cores. The results lie behind the elements.
  std::function<double(Device& device, Dtype dtype, std::byte* data, std::int64_t elements,
                       std::int64_t steps)>
      multiply_add;
  // The architectures of our own kernels; empty where the build does not know.
  std::vector<Architecture> compiled_for{};
  // Links that were seen under load, by PCI bus id: a process that opens a card again does not ask again.
  std::shared_ptr<std::map<std::string, CardLink>> links =
      std::make_shared<std::map<std::string, CardLink>>();
};

// Holds a stream until the host has queued what the stream is to run.
class StreamHold {
 public:
  // A step that waits for the device waits so long at most.
  static constexpr std::chrono::milliseconds kLongest{20};

  // What is queued next waits. Once at a time; outlives the stream's work.
  void queue(Runtime& runtime, CUstream_st* stream);
  void release() { released_ = true; }

 private:
  static void wait(void* hold);

  std::atomic<bool> released_{true};
};

class CudaDevice final : public Device, public CudaTransfers, public CardDevice, public QueuedTiming {
 public:
  // Throws runtime_error or DeviceLost where the card does not answer. The backend outlives the device.
  CudaDevice(const Backend& backend, int ordinal);
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }
  // By compute capability: fp16 from 7.0, bf16 and tf32 from 8.0. The environment's override of tf32 is not
  // considered: see tf32_override.h.
  std::optional<std::string> unsupported(Dtype dtype) const override;

  // Fills and copies within the card are queued.
  void upload(void* device_dst, const void* host_src, std::int64_t bytes) override;
  void download(void* host_dst, const void* device_src, std::int64_t bytes) override;
  void fill(void* device_dst, std::byte value, std::int64_t bytes) override;
  void copy_within(void* to, const void* from, std::int64_t bytes) override;

  void synchronize() override;
  // Between two events on the stream, which the card stamps as it comes to them: the host's waiting is left
  // out, the gaps in which the card waits for the host's next launch are not. Resolution about 0.5 µs.
  std::int64_t time(const std::function<void()>& step) override;
  // The same, with the stream held until the step has been queued.
  std::int64_t time_queued(const std::function<void()>& step) override;
  bool first_step_tunes() const override { return true; }
  // Choices hold for cards of this name, compute capability and number of SMs, with this driver and these
  // versions of cuDNN and cuBLASLt.
  void keep_choices(const std::string& file) override;
  void take_first_algorithms() override { card_.take_first_algorithms(); }
  std::optional<std::string> cannot_record() const override { return std::nullopt; }
  std::unique_ptr<RecordedStep> record(const std::function<void()>& step) override;

  // What comes next is another workload.
  void drop_caches() override;
  // By overwriting twice the L2 cache's size, then reading as much elsewhere: written lines left in the cache
  // would be written back within the next step. The block for both stays allocated, unseen by the tracker.
  void flush_caches() override;
  // cudaMemGetInfo's value for the whole card: every process, each one's context (some hundred MB), loaded
  // kernels, and segments that the allocator keeps. Only differences within a run belong to a workload.
  std::int64_t driver_used() const override;
  // Read during the steps as well: throttling may be over when they end.
  DeviceState state() const override;
  // By kernels of our own, medians of five: multiply-adds on 4 MiB, and a copy of 32 MiB within the card.
  // They take their memory for that time only, unseen by the tracker.
  std::optional<Calibration> calibrate() override;
  Peaks peaks(Dtype dtype) override;
  Peaks refresh_peaks(Dtype dtype) override;

  Card& card() const override { return card_; }
  CUstream_st* stream() const { return card_.stream(); }
  PinnedBuffer allocate_pinned(std::int64_t bytes) { return {backend_.runtime, bytes}; }
  CachingAllocator& allocator() { return card_.allocator(); }

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override;
  void raw_free(std::byte* data, std::int64_t bytes) noexcept override;
  Runtime& runtime() const override { return backend_.runtime; }
  CUstream_st* main_stream() const override { return stream(); }
  void make_current() const override { use(); }
  std::string pci_bus_id() const override { return properties_.pci_bus_id; }

 private:
  void use() const { card_.use(); }
  std::int64_t time_between_events(const std::function<void()>& step);
  void describe_link();
  std::optional<CardLink> link_under_load();
  std::optional<CardLink> see_link();

  Backend backend_;
  CardProperties properties_;
  mutable Card card_;                     // the libraries' objects are no state of the device
  std::unique_ptr<CardMonitor> monitor_;  // may be nullptr
  mutable ConditionWatch watch_;          // reading it resets it
  CudaEvent start_;
  CudaEvent stop_;
  StreamHold hold_;
  std::optional<UntrackedBlock> eviction_;
  DeviceInfo info_;
  std::map<Dtype, Peaks> peaks_;
};

// See CudaDevice::peaks(): a large matrix product in `dtype` by cuBLASLt, or multiply-adds by a kernel of our
// own where they are faster, and a copy within the card between buffers far larger than its L2 cache, bytes
// read plus bytes written. Rates that a full card leaves no memory for are 0. Its memory is seen by no
// tracker and given back to the driver.
Peaks measure_peaks(CudaDevice& device, const Backend& backend, Dtype dtype);

}  // namespace bench::kernels::cuda
