// A network that takes a millisecond a step, and requests of the cards sweep for it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/cards/workload.h"

namespace bench::sweeps {

// Takes a millisecond, and waits for as many microseconds as its rank is.
class MadeUpPart final : public RankWorkload {
 public:
  MadeUpPart(Device& device, std::int64_t bytes, RankGroup* ranks)
      : memory_(device.allocate(bytes, MemoryCategory::weights)), ranks_(ranks) {}
  void step() override {}
  double waited_ns() const override { return 1000.0 * (ranks_ == nullptr ? 0 : ranks_->rank()); }
  double queued_ns() const override { return queued; }
  Verification verify() override {
    Verification verification;
    verification.passed = ranks_ == nullptr || ranks_->rank() != wrong_rank;
    verification.error = verification.passed ? 0 : 0.5;
    verification.tolerance = 1e-5;
    return verification;
  }
  Work work() const override { return {.samples = 4, .flops = 1e6, .launches = launches}; }

  static inline int wrong_rank = -1;
  static inline double queued = 0;
  static inline std::int64_t launches = 1;

 private:
  Buffer memory_;
  RankGroup* ranks_;
};

class MadeUpNetwork final : public ConfiguredWorkload {
 public:
  explicit MadeUpNetwork(WorkloadSpec spec) : spec_(std::move(spec)) {}
  MemoryPlan plan(Device& /*device*/) const override {
    MemoryPlan plan;
    plan.peak = 100 * spec_.batch;
    plan.at_peak[MemoryCategory::input] = 50 * spec_.batch;
    return plan;
  }
  std::vector<MemoryMoment> timeline(Device& /*device*/) const override {
    MemoryMoment moment{.name = "forward", .bytes = {}};
    moment.bytes[MemoryCategory::activations] = 30 * spec_.batch;
    return {moment, {}};
  }
  std::unique_ptr<Workload> make(Device& device) const override {
    return std::make_unique<MadeUpPart>(device, 100 * spec_.batch, nullptr);
  }
  std::unique_ptr<RankWorkload> make_part(Device& device, RankGroup& ranks) const override {
    EXPECT_EQ(ranks.size(), spec_.ranks);
    return std::make_unique<MadeUpPart>(device, 100 * spec_.batch, &ranks);
  }

 private:
  WorkloadSpec spec_;
};

inline const WorkloadType& network() {
  static const WorkloadType type{
      .name = "made_up",
      .kind = "network",
      .description = "",
      .modes = {"infer", "train"},
      .options = {},
      .configure = [](const WorkloadSpec& spec) -> std::shared_ptr<const ConfiguredWorkload> {
        return std::make_shared<MadeUpNetwork>(spec);
      }};
  return type;
}

inline const SweepType& cards_type() {
  return *registry<SweepType>().find("cards");
}

inline SweepRequest cards_request(const std::map<std::string, std::string>& changes = {},
                                  std::size_t ranks = 2) {
  SweepRequest request(steady_clock());
  request.workload = &network();
  request.modes = {cards_type().default_mode};
  for (const CommandOption& option : cards_type().options) {
    request.sweep_options[option.name] = option.default_value;
  }
  for (const auto& [name, value] : changes) {
    request.sweep_options[name] = value;
  }
  request.places.resize(ranks, RankPlace{.host = "a", .cores = {0, 1, 2, 3}});
  return request;
}

inline SweepRequest stages_request(std::map<std::string, std::string> changes = {}, std::size_t ranks = 2) {
  changes.emplace("split", "layers");
  SweepRequest request = cards_request(changes, ranks);
  request.modes = {"infer"};
  for (const auto& [name, value] : changes) {
    request.given_sweep_options.insert(name);
  }
  return request;
}

inline SweepRequest training_stages_request(const std::map<std::string, std::string>& changes = {}) {
  SweepRequest request = stages_request(changes);
  request.modes = {"train"};
  return request;
}

}  // namespace bench::sweeps
