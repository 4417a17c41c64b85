// One rank's part of a pass over a batch, where the network's layers are cut into stages, one for each rank:
// the rank holds its own stage alone, receives what that reads from the rank before it and sends its result
// to the next. With several micro-batches a rank works on one while the next rank works on the one before.
//
// A message is a stage's result as it lies in memory, padding included: the next stage is planned to read it
// so. It is received into the place of the stage's input and sent from that of its result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/ranks.h"
#include "bench/workload.h"
#include "kernels/networks/program/runner.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/step.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {

// From the spec's options `stage`, the number of a rank's stage of as many as the spec has ranks,
// `micro-batches` and `balance`; nullopt where there is no stage. Throws UsageError where the network cannot
// be cut into so many, or the batch into so many parts.
std::optional<StagePlace> stage_place(const std::string& network, const Graph& graph,
                                      const WorkloadSpec& spec);
// Throws std::logic_error where the point's stage is not this rank's, or the ranks exchange other memory than
// the device's; and Unsupported.
StepRanks ranks_of_stages(const NetworkPoint& point, RankGroup& ranks, Device& device);

// The point's stage for one micro-batch. Throws Unsupported.
ProgramPlan plan_stage(const NetworkPoint& point, Device& device);

class StageWorkload final : public RankStep<ProgramRunner> {
 public:
  // The point has a stage, and the group as many ranks as there are stages. `expected`: the whole network's
  // answers, which the last rank asks for. Throws Unsupported and OutOfMemory.
  StageWorkload(const NetworkPoint& point, std::shared_ptr<ReferenceAnswers> expected, RankGroup& ranks,
                Device& device);

  void step() override { run_batch({}, {}); }
  // A step in which every micro-batch has other samples: the last rank compares each one's answers.
  Verification verify() override;
  Work work() const override;

 private:
  StageWorkload(const NetworkPoint& point, std::shared_ptr<ReferenceAnswers> expected, const StepRanks& ranks,
                Device& device);

  using OfMicroBatch = std::function<void(std::int64_t micro_batch)>;
  // Called before and after a micro-batch is computed, once its input is there.
  void run_batch(const OfMicroBatch& before, const OfMicroBatch& after);

  std::shared_ptr<ReferenceAnswers> expected_;
  std::int64_t micro_batches_;
  std::vector<Sample> samples_;  // the distinct ones of the whole network
};

}  // namespace bench::kernels
