// One rank's part of a training step, where the network's layers are cut into stages, one for each rank. The
// rank receives its stage's input from the rank before and the gradient of its result from the rank behind,
// for each micro-batch, and sends its result and the gradient of its input (see passes/pipeline.h for the
// order). Gradients of the parameters are summed over the micro-batches; then each rank updates its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/ranks.h"
#include "bench/workload.h"
#include "kernels/networks/passes/stage_training.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/step.h"

namespace bench::kernels {

// Options of a step of one rank as those of its stage: its micro-batches are those of the pipeline.
TrainOptions staged(TrainOptions options, const StagePlace& place);

// The point's stage. Throws Unsupported.
StageTraining plan_stage_training(const NetworkPoint& point, Device& device);

class StageTrainWorkload final : public RankStep<Trainer> {
 public:
  // The point has a stage, and the group as many ranks as there are stages; fp32. Throws Unsupported and
  // OutOfMemory.
  StageTrainWorkload(const NetworkPoint& point, RankGroup& ranks, Device& device);

  void step() override;
  // Each rank's gradients against those of the whole network, which the first rank computes with the same
  // micro-batches one after the other; the same bits once more; and after a step the same bits on all ranks
  // that share a parameter.
  Verification verify() override;
  // All passes, and the sums of shared gradients.
  void run_gradients();

 private:
  StageTrainWorkload(const NetworkPoint& point, const StepRanks& ranks, Device& device);
  StageTrainWorkload(const NetworkPoint& point, StageTraining training, const StepRanks& ranks,
                     Device& device);

  Collective message(CollectiveKind kind, TensorId tensor, int peer) const;
  void add_up(const SharedGradient& shared);
  // Those of the whole network, of this rank's parameters.
  struct Expected {
    std::string not_computed{};  // why
    double norm = 0;             // of all tensors of the network
    std::vector<std::vector<float>> gradients{};
  };
  // From the first rank, whose values they are, to another.
  void hand_over(std::vector<float>& values, int to);
  Expected expected_gradients();
  bool copies_are_alike();

  NetworkPoint point_;
  std::vector<StagePass> passes_;
  std::vector<SharedGradient> shared_;
  std::vector<ParameterOwner> owners_;  // by parameter of the trainer
};

}  // namespace bench::kernels
