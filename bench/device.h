// Where work runs: memory, copies and timing of one device. Implemented in kernels/devices/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/dtype.h"
#include "bench/memory.h"
#include "bench/registry.h"
#include "bench/result/calibration.h"

namespace bench {

class Device;
class GpuModel;

// Device memory with one owner. Contents are unspecified after allocation. Freeing never throws.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { reset(); }

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  void reset() noexcept;

 private:
  friend class Device;
  Buffer(Device& device, std::byte* data, std::int64_t bytes, MemoryCategory category)
      : device_(&device), data_(data), bytes_(bytes), category_(category) {}
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  MemoryCategory category_ = MemoryCategory::other;
};

struct DeviceInfo {
  std::string id;                    // "cpu", "cuda:0"
  std::string kind;                  // "cpu", "cuda"
  std::string name;                  // as its maker calls it
  std::int64_t memory_bytes = 0;     // what this process may use at most (cgroup limit counted)
  std::int64_t available_bytes = 0;  // free when the device was opened
  int compute_units = 0;             // usable cores, or SMs
  // Further facts: "isa", "compute_capability", "uuid", "driver", …
  std::map<std::string, std::string> details;
};

// Peak rates, from a short measurement or a datasheet; `source` says which.
struct Peaks {
  double flops_per_s = 0;  // dense matrix product in the dtype asked for, fp32 accumulate; 0: unknown
  double bytes_per_s = 0;  // memory bandwidth, bytes read plus bytes written; 0: unknown
  std::string source;      // "measured: oneDNN matmul 1024x1024x1024; copy of 256 MiB"
};

// The device's clock, temperature and power around a repetition; empty where it reports none.
struct DeviceState {
  std::optional<double> clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::vector<std::string> throttle_reasons;  // since the last reading: "sw_power_cap", "cpu_contention", …
};

// Work that was queued once and is started again as a whole.
class RecordedStep {
 public:
  RecordedStep() = default;
  RecordedStep(const RecordedStep&) = delete;
  RecordedStep& operator=(const RecordedStep&) = delete;
  virtual ~RecordedStep() = default;
  // Queues it, on the same memory as when it was recorded.
  virtual void replay() = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual const DeviceInfo& info() const = 0;

  // Of a device that is not here: it allocates and runs nothing, and a run predicts instead. nullptr: it is
  // here.
  virtual const GpuModel* model() const { return nullptr; }

  // Why the device cannot compute in `dtype`; nullopt where it can.
  virtual std::optional<std::string> unsupported(Dtype dtype) const = 0;

  // Throws OutOfMemory naming the bytes asked for. Alignment: at least 64 bytes, on a card 256.
  // Zero bytes give an empty buffer.
  Buffer allocate(std::int64_t bytes, MemoryCategory category);
  MemoryTracker& memory() { return tracker_; }

  // Blocking copies between pageable host memory and device memory.
  virtual void upload(void* device_dst, const void* host_src, std::int64_t bytes) = 0;
  virtual void download(void* host_dst, const void* device_src, std::int64_t bytes) = 0;
  virtual void fill(void* device_dst, std::byte value, std::int64_t bytes) = 0;
  // Within the device's memory.
  virtual void copy_within(void* to, const void* from, std::int64_t bytes) { upload(to, from, bytes); }
  // Fills `bytes` of device memory at `data` with repetitions of their first `period`, without the host.
  void repeat(void* data, std::int64_t period, std::int64_t bytes);

  // Whether the host may write device memory directly, so that nothing needs a copy on its way there.
  virtual bool host_accessible() const { return false; }

  // Whether steps are computed on the host's own cores, and so share them with the program's threads.
  virtual bool computes_on_host() const { return false; }
  // Sets how many host cores the calling thread's steps use. Returns the number they use; 0 if the device
  // does not compute on the host.
  virtual int limit_threads(int /*cores*/) { return 0; }

  virtual void synchronize() = 0;
  // Runs `step` and returns how long the device took, in nanoseconds. Work queued before does not count.
  virtual std::int64_t time(const std::function<void()>& step) = 0;

  // Whether libraries time candidate algorithms during a workload's first step, so that its time is no
  // estimate for the next steps.
  virtual bool first_step_tunes() const { return false; }

  // Keeps in this file which algorithms libraries chose by timing them, and takes choices from it from now
  // on. A file that is missing or cannot be read counts as empty; one that cannot be written is left as it
  // is.
  virtual void keep_choices(const std::string& /*file*/) {}
  // From now on libraries take the first algorithm that runs and time none. For work whose answer is compared
  // and whose speed is not.
  virtual void take_first_algorithms() {}

  // Why steps cannot be recorded here; nullopt where they can.
  virtual std::optional<std::string> cannot_record() const;
  // Runs `step` once, so that nothing is left to be made ready, then records what it queues without running
  // it. The step must queue the same work each time, and neither wait nor allocate. Throws Unsupported.
  virtual std::unique_ptr<RecordedStep> record(const std::function<void()>& step);

  // Frees what libraries keep for later, such as compiled code, so that what the system sees of the next
  // workload is all its own.
  virtual void drop_caches() {}
  // Empties the processor's caches of data, so that the next step reads memory; synchronous.
  virtual void flush_caches() {}
  // Bytes the operating system or driver says are in use: the process's resident memory on a CPU.
  virtual std::int64_t driver_used() const = 0;
  virtual DeviceState state() const = 0;
  // The times of two small fixed kernels on the device, together about 1 ms: always the same work, whatever
  // library is installed. nullopt where its work runs on the host's cores, which are calibrated without it,
  // and where it has no memory left for them.
  virtual std::optional<Calibration> calibrate() { return std::nullopt; }
  // Takes up to about a second the first time; cached per dtype.
  virtual Peaks peaks(Dtype dtype) = 0;
  // Measures again and keeps the higher rates: a point above the peak may only show that the peak was
  // measured while other work held the device.
  virtual Peaks refresh_peaks(Dtype dtype) { return peaks(dtype); }

 protected:
  Device() = default;
  // Return nullptr when there is no memory left.
  virtual std::byte* raw_allocate(std::int64_t bytes) = 0;
  virtual void raw_free(std::byte* data, std::int64_t bytes) noexcept = 0;

 private:
  friend class Buffer;
  MemoryTracker tracker_;
};

// One kind of device, registered where it is implemented.
struct DeviceKind {
  struct Listing {
    std::string id;           // "cuda:0"; for a kind with no device here, the kind's name
    std::string description;  // one line: name, memory, cores
    std::string missing;      // why it cannot be used here; empty where it can
  };
  std::string name;    // "cpu"
  int preference = 0;  // `--device auto` takes the usable listing of the highest preference
  std::function<std::vector<Listing>()> list;
  // Throws UsageError when `id` is not one of list()'s usable ids.
  std::function<std::unique_ptr<Device>(const std::string& id)> open;
};

}  // namespace bench
