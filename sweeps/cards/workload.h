// A step that ranks do together, training or layers over ranks, as a workload of the first rank.
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
  std::int64_t batch = 1;  // of each; where they share out layers, of all
  std::string dtype = "fp32";
  std::int64_t accumulate = 1;  // micro-batches of each, one after the other
  bool shard_optimizer = false;
  bool split_layers = false;  // each rank has a stage of the network
  std::int64_t micro_batches = 1;
  std::string balance = "compute";  // of the stages
  std::int64_t bucket = 0;          // bytes; 0: of a step without gradients

  double samples() const { return static_cast<double>(batch) * (split_layers ? 1 : ranks); }
};
// The options of a spec that say so, and the spec of one of its ranks.
void split_layers(WorkloadSpec& spec, std::int64_t micro_batches, const std::string& balance = "compute");
bool splits_layers(const WorkloadSpec& spec);
WorkloadSpec spec_of_rank(const WorkloadSpec& spec, int rank);

// nullopt where they lack the number of ranks. Throws Json::exception.
std::optional<CardsParams> read_cards_params(const Json& params);

// One sample, by rank.
struct RankSteps final : SampleNote {
  std::vector<double> step_ns;
  // For other ranks' gradients, at the end of the backward pass; of stages, all that is not its own work.
  std::vector<double> waited_ns;
  std::vector<std::int64_t> plan_bytes;          // at the peak
  std::vector<std::int64_t> peak_bytes;          // allocated, tracked
  std::vector<std::int64_t> activation_bytes{};  // most that are live at a time, of stages; else empty
  // On cards, else empty: what the host took to queue the step; in the first round, what a copy of a batch
  // from the host takes while all ranks copy theirs.
  std::vector<double> queued_ns{};
  std::vector<double> copied_ns{};
  Json to_json() const override;

  double own_ns(std::size_t rank) const { return step_ns[rank] - waited_ns[rank]; }
};
// nullptr where it is none.
std::shared_ptr<const RankSteps> read_rank_steps(const Json& note);

// Each rank's part of a point: those beyond the point's ranks wait.
RankTeam::Parts rank_parts_of(const WorkloadType& type, std::vector<WorkloadSpec> points, Device& device,
                              int threads);

class ConfiguredCards final : public ConfiguredWorkload {
 public:
  // `point`: its place in the plan. Without a team it is only planned.
  ConfiguredCards(const WorkloadType& type, const WorkloadSpec& spec, std::size_t point,
                  std::shared_ptr<RankTeam> team);

  std::optional<std::string> unsupported(Device& device) const override {
    return alone_->unsupported(device);
  }
  // Of the first rank; without a team of the rank that needs most.
  MemoryPlan plan(Device& device) const override;
  std::unique_ptr<Workload> make(Device& device) const override;

 private:
  const WorkloadType& type_;
  std::shared_ptr<const ConfiguredWorkload> alone_;  // the first rank's
  WorkloadSpec spec_;
  std::size_t point_;
  std::shared_ptr<RankTeam> team_;
};

}  // namespace bench::sweeps
