// The host's processor as a device, computing through oneDNN with OpenMP threads.
#include <malloc.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "bench/component.h"
#include "bench/device.h"
#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/registry.h"
#include "kernels/backends/onednn/onednn.h"
#include "kernels/devices/cpu/condition.h"
#include "kernels/devices/cpu/memory.h"
#include "kernels/devices/cpu/peaks.h"
#include "kernels/devices/cpu/transfers.h"

namespace bench::kernels {
namespace {

constexpr const char* kId = "cpu";

constexpr int kReturnedFrom = 1 << 20;  // bytes: a freed block of this size goes back to the system at once

// OMP_NUM_THREADS may ask for fewer than the usable cores. Where it is not set OpenMP would count the
// machine's cores, whatever quota the process has.
int threads_of(const HostInfo& host) {
  return std::getenv("OMP_NUM_THREADS") == nullptr ? host.usable_cores
                                                   : std::min(host.usable_cores, omp_get_max_threads());
}

DeviceInfo describe_host() {
  const HostInfo host = host_info();
  std::map<std::string, std::string> details = {{"isa", onednn::instruction_set()},
                                                {"onednn", onednn::version()}};
  if (const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE); bytes > 0) {
    details["l3_bytes"] = fmt::format("{}", bytes);
  }
  // How OpenMP's threads wait at a barrier: it decides what other work on the cores costs.
  if (const char* const policy = std::getenv("OMP_WAIT_POLICY")) {
    details["omp_wait_policy"] = policy;
  }
  return {.id = kId,
          .kind = "cpu",
          .name = host.cpu.empty() ? "unnamed processor" : host.cpu,
          .memory_bytes = host.memory_bytes,
          .available_bytes = host.available_bytes,
          .compute_units = threads_of(host),
          .details = std::move(details)};
}

constexpr std::int64_t kMostOfAvailable = 95;  // percent of the memory free when the device was opened

class CpuDevice final : public Device, public CpuTransfers {
 public:
  CpuDevice() : info_(describe_host()) {
    omp_set_num_threads(info_.compute_units);
    // A fixed threshold: glibc raises its own with every large block freed, and then keeps such blocks, which
    // the system would go on counting as in use.
    mallopt(M_MMAP_THRESHOLD, kReturnedFrom);
  }

  const DeviceInfo& info() const override { return info_; }

  std::optional<std::string> unsupported(Dtype dtype) const override {
    switch (dtype) {
      case Dtype::fp32:
        return std::nullopt;
      case Dtype::bf16:
        return onednn::has_bf16_instructions()
                   ? std::nullopt
                   : std::optional(fmt::format("bf16 needs avx512_bf16 or amx_bf16; this processor has {}",
                                               onednn::instruction_set()));
      case Dtype::fp16:
        return has_fp16_ ? std::nullopt
                         : std::optional(fmt::format("oneDNN {} has no fp16 computation on this processor",
                                                     onednn::version()));
      case Dtype::tf32:
        return "tf32 is a GPU tensor-core format";
    }
    return "unknown dtype";
  }

  void upload(void* device_dst, const void* host_src, std::int64_t bytes) override {
    std::memcpy(device_dst, host_src, static_cast<std::size_t>(bytes));
  }
  void download(void* host_dst, const void* device_src, std::int64_t bytes) override {
    std::memcpy(host_dst, device_src, static_cast<std::size_t>(bytes));
  }
  void fill(void* device_dst, std::byte value, std::int64_t bytes) override {
    std::memset(device_dst, std::to_integer<int>(value), static_cast<std::size_t>(bytes));
  }

  bool host_accessible() const override { return true; }
  bool computes_on_host() const override { return true; }

  int limit_threads(int cores) override {
    const int threads = std::clamp(cores, 1, info_.compute_units);
    omp_set_num_threads(threads);  // of this thread; others keep theirs
    return threads;
  }

  void synchronize() override { onednn::synchronize(); }

  // By the processor's own clock, whatever clock the run has, as a card times a step by its own events.
  std::int64_t time(const std::function<void()>& step) override {
    synchronize();
    const auto begin = std::chrono::steady_clock::now();
    step();
    synchronize();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
        .count();
  }

  void drop_caches() override {
    onednn::clear_query_caches();
    const int capacity = dnnl::get_primitive_cache_capacity();
    dnnl::set_primitive_cache_capacity(0);
    dnnl::set_primitive_cache_capacity(capacity);
  }

  // Writes more than the caches hold, on every core, which evicts everything else.
  void flush_caches() override {
    if (!eviction_) {
      eviction_ = cpu_block(bytes_beyond_caches());
    }
    const std::int64_t bytes = eviction_.get_deleter().bytes;
    const std::int64_t parts = omp_get_max_threads();
#pragma omp parallel for schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = bytes * part / parts;
      const std::int64_t end = bytes * (part + 1) / parts;
      std::memset(eviction_.get() + begin, 1, static_cast<std::size_t>(end - begin));
    }
  }

  // As a card's driver counts: what was allocated is in use, written or not. oneDNN books scratch that it
  // never writes, up to a tenth of a small network, for which the system would count nothing.
  std::int64_t driver_used() const override {
    {
      const std::scoped_lock lock(mapped_mutex_);
      for (const auto& [data, bytes] : mapped_) {
        give_pages(data, bytes);
      }
    }
    return resident_bytes();
  }
  DeviceState state() const override {
    return condition_.read();
  }

  Peaks peaks(Dtype dtype) override {
    if (unsupported(dtype)) {
      return {};
    }
    const auto known = peaks_.find(dtype);
    return known != peaks_.end()
               ? known->second
               : peaks_.emplace(dtype, measure_cpu_peaks(*this, dtype, host_info().available_bytes))
                     .first->second;
  }

  Peaks refresh_peaks(Dtype dtype) override {
    Peaks known = peaks(dtype);
    if (unsupported(dtype)) {
      return known;
    }
    const Peaks again = measure_cpu_peaks(*this, dtype, host_info().available_bytes);
    known.flops_per_s = std::max(known.flops_per_s, again.flops_per_s);
    known.bytes_per_s = std::max(known.bytes_per_s, again.bytes_per_s);
    return peaks_[dtype] = known;
  }

 protected:
  // Linux promises memory it does not have and kills who touches it.
  std::byte* raw_allocate(std::int64_t bytes) override {
    const std::int64_t most = info_.available_bytes / 100 * kMostOfAvailable;  // `bytes` are counted as live
    std::byte* const data = memory().live().total() > most ? nullptr : cpu_allocate(bytes);
    if (data != nullptr && bytes >= kMappedFrom) {
      const std::scoped_lock lock(mapped_mutex_);
      mapped_.emplace(data, bytes);
    }
    return data;
  }
  void raw_free(std::byte* data, std::int64_t bytes) noexcept override {
    {
      const std::scoped_lock lock(mapped_mutex_);
      mapped_.erase(data);
    }
    cpu_free(data, bytes);
  }

 private:
  DeviceInfo info_;
  bool has_fp16_ = onednn::has_fp16();
  CpuBlock eviction_;
  mutable std::mutex mapped_mutex_;
  std::map<std::byte*, std::int64_t> mapped_;  // bytes of the blocks that are mapped by themselves
  mutable CpuCondition condition_;             // remembers the last reading, to tell what has changed since
  std::map<Dtype, Peaks> peaks_;
};

std::vector<DeviceKind::Listing> list() {
  const DeviceInfo info = describe_host();
  return {{.id = kId,
           .description = fmt::format("{}, {} core{}, {:.1f} GiB, oneDNN {} ({})", info.name,
                                      info.compute_units, info.compute_units == 1 ? "" : "s",
                                      static_cast<double>(info.memory_bytes) / 0x1p30,
                                      info.details.at("onednn"), info.details.at("isa")),
           .missing = ""}};
}

std::unique_ptr<Device> open(const std::string& id) {
  if (id != kId) {
    throw UsageError(fmt::format("device \"{}\" is not a processor; accepted: {}", id, kId));
  }
  return std::make_unique<CpuDevice>();
}

const Registration<DeviceKind> BENCH_REGISTERED{{.name = "cpu", .preference = 0, .list = list, .open = open}};
const Registration<Component> onednn_library{{.name = "oneDNN", .describe = onednn::version}};

}  // namespace
}  // namespace bench::kernels
