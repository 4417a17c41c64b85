// A training step that ranks do together, as a workload of the first rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/workload.h"
#include "sweeps/ranks/team.h"

namespace bench::sweeps {

// A point's params.
struct CardsParams {
  int ranks = 1;           // that take part
  std::int64_t batch = 1;  // of each
  std::string dtype = "fp32";
  bool shard_optimizer = false;
};
// nullopt where they lack the number of ranks. Throws Json::exception.
std::optional<CardsParams> read_cards_params(const Json& params);

// One sample, by rank.
struct RankSteps final : SampleNote {
  std::vector<double> step_ns;
  std::vector<double> waited_ns;         // for other ranks' gradients, at the end of the backward pass
  std::vector<std::int64_t> plan_bytes;  // at the peak
  std::vector<std::int64_t> peak_bytes;  // allocated, tracked
  Json to_json() const override;
};
// nullptr where it is none.
std::shared_ptr<const RankSteps> read_rank_steps(const Json& note);

// Makes each rank's part of a point: those beyond the point's ranks wait.
RankTeam::Make rank_parts_of(const WorkloadType& type, std::vector<WorkloadSpec> points, Device& device,
                             int threads);

class ConfiguredCards final : public ConfiguredWorkload {
 public:
  // `point`: its place in the plan. Without a team it is only planned.
  ConfiguredCards(const WorkloadType& type, const WorkloadSpec& spec, std::size_t point,
                  std::shared_ptr<RankTeam> team);

  std::optional<std::string> unsupported(Device& device) const override {
    return alone_->unsupported(device);
  }
  MemoryPlan plan(Device& device) const override { return alone_->plan(device); }  // of a rank
  std::unique_ptr<Workload> make(Device& device) const override;

 private:
  std::shared_ptr<const ConfiguredWorkload> alone_;
  int ranks_;
  std::size_t point_;
  std::shared_ptr<RankTeam> team_;
};

}  // namespace bench::sweeps
