// A device and a workload for tests of the harness: time is what the test says it is.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/sweep.h"
#include "bench/workload.h"
#include "tests/bench/support/manual_clock.h"

namespace bench::testing {

class FakeDevice : public Device {
 public:
  FakeDevice() {
    info_.id = "fake";
    info_.kind = "fake";
    info_.name = "a device of the tests";
    info_.memory_bytes = 1 << 30;
    info_.available_bytes = 1 << 30;
    info_.compute_units = 1;
  }
  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return dtype == Dtype::fp16 ? std::optional<std::string>("no fp16 here") : std::nullopt;
  }
  void upload(void* to, const void* from, std::int64_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::int64_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* to, std::byte value, std::int64_t bytes) override {
    std::memset(to, std::to_integer<int>(value), bytes);
  }
  void synchronize() override {}
  // The step runs, and took what next_ns() says.
  std::int64_t time(const std::function<void()>& step) override {
    step();
    const std::int64_t ns = next_ns();
    if (clock != nullptr) {
      clock->advance(ns);
    }
    return ns;
  }
  bool first_step_tunes() const override { return tunes; }
  std::int64_t driver_used() const override { return memory_used; }
  DeviceState state() const override { return state_now; }
  Peaks peaks(Dtype /*dtype*/) override { return peaks_now; }
  Peaks refresh_peaks(Dtype /*dtype*/) override {
    peaks_now.flops_per_s = std::max(peaks_now.flops_per_s, peaks_when_quiet.flops_per_s);
    return peaks_now;
  }

  std::function<std::int64_t()> next_ns = [] { return 1000; };
  ManualClock* clock = nullptr;  // that the steps move on
  std::int64_t memory_used = 0;
  bool tunes = false;
  DeviceState state_now;
  Peaks peaks_now;
  Peaks peaks_when_quiet;

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override { return static_cast<std::byte*>(std::malloc(bytes)); }
  void raw_free(std::byte* data, std::int64_t /*bytes*/) noexcept override { std::free(data); }

 private:
  DeviceInfo info_;
};

// Holds 100 B and 10 B a sample.
class FakeWorkload : public Workload {
 public:
  FakeWorkload(const WorkloadSpec& spec, Device& device)
      : spec_(spec),
        weights_(device.allocate(100, MemoryCategory::weights)),
        activations_(device.allocate(10 * spec.batch, MemoryCategory::activations)) {}
  void step() override {
    if (on_step) {
      on_step(spec_);
    }
  }
  Verification verify() override {
    if (on_verify) {
      on_verify();
    }
    const bool passed = verdict && not_checked.empty();
    return {passed, passed ? 0.0 : 0.5, 0.1, "row 0", not_checked};
  }
  void shorten_verification() override { ++shortened; }
  Work work() const override { return {static_cast<double>(spec_.batch), 1e3, 100, 10, 1}; }

  static inline std::function<void(const WorkloadSpec&)> on_step;
  static inline std::function<void()> on_verify;
  static inline bool verdict = true;
  static inline int shortened = 0;
  static inline std::string not_checked;

 private:
  WorkloadSpec spec_;
  Buffer weights_;
  Buffer activations_;
};

class FakeConfigured : public ConfiguredWorkload {
 public:
  explicit FakeConfigured(WorkloadSpec of) : spec(std::move(of)) {}
  std::optional<std::string> unsupported(Device& device) const override {
    return device.unsupported(spec.dtype);
  }
  MemoryPlan plan(Device& /*device*/) const override {
    if (on_plan) {
      on_plan();
    }
    MemoryPlan plan;
    plan.at_peak[MemoryCategory::weights] = 100;
    plan.at_peak[MemoryCategory::activations] = 10 * spec.batch;
    plan.peak = plan.at_peak.total();
    plan.library = library;
    return plan;
  }
  std::unique_ptr<Workload> make(Device& device) const override {
    if (on_make) {
      on_make();
    }
    return std::make_unique<FakeWorkload>(spec, device);
  }
  PointCost least_cost() const override { return least; }

  WorkloadSpec spec;
  PointCost least;
  std::int64_t library = 0;  // bytes
  std::function<void()> on_plan;
  std::function<void()> on_make;
};

inline WorkloadType fake_type() {
  WorkloadType type;
  type.name = "fake";
  type.kind = "operation";
  type.modes = {"infer"};
  type.configure = [](const WorkloadSpec& spec) { return std::make_shared<FakeConfigured>(spec); };
  return type;
}

inline SweepPlan fake_plan(const std::vector<std::int64_t>& batches, bool open_ended = false) {
  SweepPlan plan;
  plan.open_ended = open_ended;
  for (const std::int64_t batch : batches) {
    SweepPoint point;
    point.name = "fake/batch:" + std::to_string(batch);
    point.params = {{"batch", batch}, {"dtype", "fp32"}};
    point.spec.mode = "infer";
    point.spec.batch = batch;
    point.series = "fp32";
    point.workload = std::make_shared<FakeConfigured>(point.spec);
    plan.points.push_back(point);
  }
  return plan;
}

// For tests that change what a planned point says of itself.
inline FakeConfigured& configured(SweepPoint& point) {
  auto changed = std::make_shared<FakeConfigured>(point.spec);
  point.workload = changed;
  return *changed;
}

}  // namespace bench::testing
