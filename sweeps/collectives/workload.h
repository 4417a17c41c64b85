// A collective as a workload of the first rank; its step is what all ranks do together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/result/result.h"
#include "bench/workload.h"
#include "sweeps/collectives/operation.h"
#include "sweeps/ranks/team.h"

namespace bench::sweeps {

// One sample: what each rank took of it.
class RankTimes final : public SampleNote {
 public:
  RankTimes(std::int64_t calls, std::vector<double> ns) : calls_(calls), ns_(std::move(ns)) {}
  Json to_json() const override;

 private:
  std::int64_t calls_;      // in a row, of which the times are a mean
  std::vector<double> ns_;  // of a call, by rank; 0: it took no part
};

class ConfiguredCollective final : public ConfiguredWorkload {
 public:
  // `point`: its place in the plan. Without a team it is only planned.
  ConfiguredCollective(CollectiveParams params, std::size_t point, std::shared_ptr<RankTeam> team)
      : params_(params), point_(point), team_(std::move(team)) {}

  MemoryPlan plan(Device& device) const override;  // of the first rank
  // Throws OutOfMemory where a rank has no memory for it.
  std::unique_ptr<Workload> make(Device& device) const override;

 private:
  CollectiveParams params_;
  std::size_t point_;
  std::shared_ptr<RankTeam> team_;
};

}  // namespace bench::sweeps
