// A device and a workload whose memory is known: `fixed` bytes and `a_sample` bytes a sample.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"

namespace bench {

class MemoryMachine : public Device {
 public:
  MemoryMachine() {
    info_.id = "machine";
    info_.available_bytes = 1'000'000'000;
  }
  const DeviceInfo& info() const override { return info_; }
  DeviceInfo& edit() { return info_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return dtype == Dtype::fp16 ? std::optional<std::string>("not here") : std::nullopt;
  }
  void upload(void*, const void*, std::int64_t) override {}
  void download(void*, const void*, std::int64_t) override {}
  void fill(void*, std::byte, std::int64_t) override {
    if (on_fill) {
      on_fill();
    }
  }
  void synchronize() override {}
  std::int64_t time(const std::function<void()>& step) override {
    step();
    return 1000;
  }
  std::int64_t driver_used() const override { return used_ + leaked; }
  DeviceState state() const override { return {}; }
  Peaks peaks(Dtype) override { return {}; }

  std::int64_t leaked = 0;  // bytes that the system sees and nobody tracks
  int allocations = 0;
  std::function<void()> on_fill;

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override {
    ++allocations;
    used_ += bytes;
    return static_cast<std::byte*>(std::malloc(1));
  }
  void raw_free(std::byte* data, std::int64_t bytes) noexcept override {
    used_ -= bytes;
    std::free(data);
  }

 private:
  DeviceInfo info_;
  std::int64_t used_ = 0;
};

struct MachineNumbers {
  std::int64_t fixed = 1000;
  std::int64_t a_sample = 100;
  std::int64_t leak_a_step = 0;      // outside the tracked memory
  std::int64_t unplanned = 0;        // bytes the workload takes and its plan does not know of
  std::int64_t smallest = 1;         // smaller batches are unsupported
  std::int64_t largest = 0;          // and larger ones; 0: none is
  std::int64_t most_taken = 0;       // larger batches are wrong usage, as of a tensor's size; 0: none is
  std::int64_t loses_device_at = 0;  // making this batch or a larger one loses the device; 0: none does
  std::function<std::int64_t(std::int64_t batch)> more{};  // bytes beyond the line; grow with the batch
  std::function<void()> on_plan{};
  std::function<void()> on_made{};
  MemoryCategory of_samples = MemoryCategory::activations;
};

inline std::int64_t activations(std::int64_t batch, const MachineNumbers& numbers) {
  return batch * numbers.a_sample + (numbers.more ? numbers.more(batch) : 0);
}

class MachineWorkload : public Workload {
 public:
  MachineWorkload(const WorkloadSpec& spec, const MachineNumbers& numbers, MemoryMachine& machine)
      : machine_(machine), leak_(numbers.leak_a_step) {
    buffers_.push_back(machine.allocate(numbers.fixed, MemoryCategory::weights));
    buffers_.push_back(
        machine.allocate(activations(spec.batch, numbers) + numbers.unplanned, MemoryCategory::activations));
  }
  void step() override { machine_.leaked += leak_; }
  Verification verify() override { return {true, 0, 0, ""}; }
  Work work() const override { return {}; }

 private:
  MemoryMachine& machine_;
  std::int64_t leak_;
  std::vector<Buffer> buffers_;
};

class ConfiguredMachine : public ConfiguredWorkload {
 public:
  ConfiguredMachine(WorkloadSpec spec, const MachineNumbers& numbers)
      : spec_(std::move(spec)), numbers_(numbers) {}
  std::optional<std::string> unsupported(Device& device) const override {
    return device.unsupported(spec_.dtype);
  }
  MemoryPlan plan(Device& /*device*/) const override {
    if (numbers_.on_plan) {
      numbers_.on_plan();
    }
    if (spec_.batch < numbers_.smallest) {
      throw Unsupported("too few samples");
    }
    if (numbers_.largest > 0 && spec_.batch > numbers_.largest) {
      throw Unsupported("the kernels count to 2147483647");
    }
    if (spec_.batch > (std::int64_t{1} << 40)) {
      throw OutOfMemory("too many to count", spec_.batch);
    }
    MemoryPlan plan;
    plan.at_peak[MemoryCategory::weights] = numbers_.fixed;
    plan.at_peak[numbers_.of_samples] = activations(spec_.batch, numbers_);
    plan.in_step = plan.at_peak;
    plan.peak = plan.at_peak.total();
    plan.peak_at = "forward middle";
    return plan;
  }
  std::vector<MemoryMoment> timeline(Device& /*device*/) const override {
    MemoryMoment moment{"forward middle", {}};
    moment.bytes[MemoryCategory::activations] = spec_.batch;
    return {moment, moment};
  }
  std::unique_ptr<Workload> make(Device& device) const override {
    if (numbers_.loses_device_at > 0 && spec_.batch >= numbers_.loses_device_at) {
      throw DeviceLost("it fell off the bus");
    }
    if (numbers_.largest > 0 && spec_.batch > numbers_.largest) {
      throw Unsupported("the kernels count to 2147483647");
    }
    auto made = std::make_unique<MachineWorkload>(spec_, numbers_, dynamic_cast<MemoryMachine&>(device));
    if (numbers_.on_made) {
      numbers_.on_made();
    }
    return made;
  }

 private:
  WorkloadSpec spec_;
  MachineNumbers numbers_;
};

inline WorkloadType machine_workload(const MachineNumbers& numbers) {
  WorkloadType type;
  type.name = "known";
  type.modes = {"infer", "train"};
  type.options = {{"image-size", "32", ""},
                  {"optimizer", "sgd", "", "train"},
                  {"accumulate", "1", "", "train"},
                  {"recompute", "no", "", "train"}};
  type.configure = [numbers](const WorkloadSpec& spec) {
    if (numbers.most_taken > 0 && spec.batch > numbers.most_taken) {
      throw UsageError("--batch makes too many elements");
    }
    return std::make_shared<ConfiguredMachine>(spec, numbers);
  };
  return type;
}

inline Point measured_point(const SweepPoint& point, Device& device) {
  const MemoryPlan plan = point.workload->plan(device);
  Point measured;
  measured.name = point.name;
  measured.params = point.params;
  measured.items_per_step = static_cast<double>(point.spec.batch);
  measured.stats.median_ns = 1000.0 * static_cast<double>(point.spec.batch);
  measured.stats.ci95_ns = {measured.stats.median_ns, measured.stats.median_ns};
  measured.stats.rounds = 3;
  measured.memory.by_category = plan.at_peak;
  measured.memory.peak_predicted = plan.peak;
  measured.memory.peak_measured = plan.peak;
  measured.memory.driver_used = plan.peak;
  measured.plan = PlannedMemory{.peak_at = plan.peak_at,
                                .setup_peak = plan.setup_peak,
                                .step_peak = plan.in_step.total(),
                                .library = plan.library,
                                .feature_maps = plan.feature_maps};
  return measured;
}

}  // namespace bench
