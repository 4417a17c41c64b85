// The transfer sweep's studies end with the time budget, by a clock that only they move.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/transfers.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"

namespace bench::sweeps {
namespace {

using testing::ManualClock;

constexpr double kMs = 1e6;
constexpr double kRoundNs = 1000 * kMs;  // one step alone, and three for each of three kinds

class SlowMemory : public HostMemory {
 public:
  SlowMemory(ManualClock& clock, std::int64_t bytes) : bytes_(bytes) { clock.advance(50'000'000); }
  std::byte* data() const override { return &some_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  mutable std::byte some_{};
  std::int64_t bytes_;
};

class SlowQueue : public CopyQueue {
 public:
  explicit SlowQueue(ManualClock& clock) : clock_(clock) {}
  void start(const Copy&) override { clock_.advance(100'000'000); }
  void wait() override {}

 private:
  ManualClock& clock_;
};

// Every allocation takes 50 ms, every copy and every step 100; each timing is a nanosecond longer than the
// one before, so that samples tell their order.
class SlowDevice : public bench::testing::FakeDevice, public Transfers {
 public:
  explicit SlowDevice(ManualClock& clock) : FakeDevice({Dtype::fp32}), clock_(clock) {}
  std::int64_t time(const std::function<void()>& work) override {
    work();
    clock_.advance(100'000'000);
    return 100'000'000 + ++timings_;
  }
  bool crosses_bus() const override { return true; }
  std::vector<int> nodes() const override { return {0}; }
  std::optional<std::string> cannot_hold(const HostMemoryRequest&) const override { return std::nullopt; }
  std::unique_ptr<HostMemory> host_memory(const HostMemoryRequest& request) override {
    return std::make_unique<SlowMemory>(clock_, request.bytes);
  }
  void copy(std::span<const Copy>) override {}
  std::unique_ptr<CopyQueue> copy_queue() override { return std::make_unique<SlowQueue>(clock_); }
  void evict(const std::byte*, std::int64_t) override {}
  bool renew(std::byte*, std::int64_t) override { return false; }
  std::int64_t host_bytes_used() const override { return 0; }

 protected:
  std::byte* raw_allocate(std::int64_t) override { return &some_; }
  void raw_free(std::byte*, std::int64_t) noexcept override {}

 private:
  ManualClock& clock_;
  std::int64_t timings_ = 0;
  std::byte some_{};
};

struct Studied {
  double ns = 0;
  Json state;
  std::string verdict{};  // of the first batch
};

Studied studied(double budget_ns) {
  ManualClock clock;
  SlowDevice device(clock);
  SweepRequest request(clock);
  const SweepType& type = *registry<SweepType>().find("transfer");
  for (const CommandOption& option : type.options) {
    request.sweep_options[option.name] = option.default_value;
  }
  request.memory_caps = {std::int64_t{1} << 34};
  request.workload = registry<WorkloadType>().find("stepping");
  request.modes = {"infer"};
  request.batches = {4, 8, 16};
  request.workload_options = {{"launch", {"stream"}}};
  const auto sweep = type.make(request, device);
  ResultDocument document;
  std::map<std::string, std::string> lost;
  const auto start = clock.now();
  SweepStudy study{.request = request,
                   .plan = sweep->plan(),
                   .device = device,
                   .document = document,
                   .report = [](const std::string&) {},
                   .save = [] {},
                   .left_ns = [&] { return budget_ns - clock.since_ns(start); },
                   .leave_out = [](std::chrono::nanoseconds) {},
                   .interrupted = [] { return false; },
                   .lost = lost};
  sweep->study(study);
  Studied result{.ns = clock.since_ns(start), .state = sweep->to_json().at("transfer")};
  for (const Finding& finding : sweep->findings(document)) {
    if (finding.name == "pin/batch:4") {
      result.verdict = finding.claim;
    }
  }
  return result;
}

TEST(TransferStudies, EndWithinTheBudgetAndOneRound) {
  for (const double budget_ns : {100 * kMs, 3000 * kMs, 7000 * kMs, 10'000 * kMs, 60'000 * kMs}) {
    EXPECT_LE(studied(budget_ns).ns, budget_ns + kRoundNs) << budget_ns;
  }
}

TEST(TransferStudies, NameWhatTheBudgetLeftOut) {
  const Studied none = studied(0);
  EXPECT_EQ(none.state.at("pinning").size(), 1);  // one round of the first study
  EXPECT_LE(none.ns, kRoundNs);
  EXPECT_FALSE(none.state.contains("calls"));
  EXPECT_EQ(none.state.at("steps").size(), 3);
  expect_words(none.verdict);
  const Studied all = studied(600'000 * kMs);
  EXPECT_EQ(all.state.at("steps").at(2).at("rounds"), 25);
}

TEST(TransferStudies, EachRoundIsInAnotherOrderAndKeepsItsSamples) {
  const Json state = studied(600'000 * kMs).state;
  const Json& steps = state.at("steps").at(0);
  const auto samples = [](const Json& times) { return times.at("samples_ns").get<std::vector<double>>(); };
  const std::vector<double> alone = samples(steps.at("compute"));
  ASSERT_EQ(alone.size(), 25);
  std::vector<std::vector<double>> others;
  for (const Json& kind : steps.at("kinds")) {
    for (const char* const name : {"copy", "serial", "compute_beside"}) {
      others.push_back(samples(kind.at(name)));
      ASSERT_EQ(others.back().size(), alone.size()) << name;
    }
  }
  std::set<std::ptrdiff_t> positions;  // of the step alone in its round
  for (std::size_t round = 0; round < alone.size(); ++round) {
    positions.insert(std::ranges::count_if(
        others, [&](const std::vector<double>& other) { return other[round] < alone[round]; }));
  }
  EXPECT_GE(positions.size(), 5) << "of 10";
}
}  // namespace
}  // namespace bench::sweeps
