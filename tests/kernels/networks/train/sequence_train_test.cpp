// Training steps of networks of text: gradients, shared weights, learning, and memory as planned.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "../networks_fixture.h"
#include "../tiny_networks.h"
#include "kernels/networks/passes/training.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

class SequenceTraining : public NetworkTest {
 protected:
  static WorkloadSpec train_spec(std::int64_t batch, Dtype dtype = Dtype::fp32,
                                 const std::string& optimizer = "sgd") {
    WorkloadSpec all = spec(batch, dtype, 0);
    all.mode = "train";
    all.options["optimizer"] = optimizer;
    return all;
  }
  ProgramPlan plan(const Graph& graph, std::int64_t batch, const TrainOptions& options = {}) {
    return plan_training(graph, {.batch = batch, .dtype = Dtype::fp32, .layouts = {}, .implementation = {}},
                         options, *device_);
  }
  static std::vector<float> gradients(Trainer& trainer) {
    std::vector<float> all;
    trainer.run_gradients();
    for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
      const std::vector<float> one = trainer.gradient(i);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  static std::size_t index_of(const Trainer& trainer, const std::string& layer, Slot slot) {
    const auto& parameters = trainer.plan().parameters;
    const auto at = std::ranges::find_if(parameters, [&](const PlannedParameter& parameter) {
      return trainer.plan().graph[parameter.layer].name == layer && parameter.slot == slot;
    });
    EXPECT_NE(at, parameters.end()) << layer;
    return static_cast<std::size_t>(at - parameters.begin());
  }
};

class EverySequenceNetworkTrains : public SequenceTraining,
                                   public ::testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Networks, EverySequenceNetworkTrains, ::testing::Values("gpt", "classifier"),
                         [](const auto& tested) { return tested.param; });

TEST_P(EverySequenceNetworkTrains, GradientsAgreeWithCentralDifferences) {
  for (const std::int64_t batch : {1, 3}) {
    TrainWorkload workload(tiny_network(GetParam()), train_spec(batch), *device_);
    const SlopeCheck check = check_slopes(workload.runner(), 1);
    EXPECT_EQ(check.outcome, SlopeCheck::Outcome::right)
        << check.by_differences << " measured, " << check.by_gradient << " by the gradient";
  }
}

TEST_P(EverySequenceNetworkTrains, HoldsWhatWasPlanned) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp32}) {
    for (const char* optimizer : {"sgd", "momentum", "adam"}) {
      for (const std::int64_t batch : {1, 4}) {
        const WorkloadSpec wanted = train_spec(batch, dtype, optimizer);
        if (device_->unsupported(dtype)) {
          continue;
        }
        const MemoryPlan plan = plan_training(tiny_network(GetParam()), wanted, *device_).memory();
        device_->memory().reset_peak();
        TrainWorkload workload(tiny_network(GetParam()), wanted, *device_);
        workload.step();
        EXPECT_EQ(device_->memory().peak(), plan.peak);
        EXPECT_EQ(device_->memory().at_peak(), plan.at_peak);
      }
    }
  }
}

TEST_P(EverySequenceNetworkTrains, AdamHalvesTheLossWithin30Steps) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    if (device_->unsupported(dtype)) {
      continue;
    }
    // Wide enough that 30 steps of 0.001 can tell its few texts apart.
    NetworkType network = tiny_network(GetParam());
    if (GetParam() == "gpt") {
      network.build_sized = [](const NetworkSizes& /*sizes*/) {
        return gpt({.sequence = 8, .vocabulary = 97, .positions = 8, .width = 256, .layers = 2, .heads = 4});
      };
    }
    TrainWorkload workload(network, train_spec(4, dtype, "adam"), *device_);
    workload.step();
    const double first = workload.runner().loss();
    EXPECT_NEAR(first, GetParam() == "gpt" ? std::log(97) : std::log(4), 1);
    double loss = first;
    for (int step = 1; step < 30 && !(loss < first / 2); ++step) {
      workload.step();
      loss = workload.runner().loss();
    }
    EXPECT_LT(loss, first / 2) << name_of(dtype);
  }
}

// Every micro-batch adds to the table's gradient, and so does the head that shares it.
TEST_P(EverySequenceNetworkTrains, MicroBatchesAddUpToTheBatch) {
  const auto trained = [&](const char* micro_batches) {
    WorkloadSpec wanted = train_spec(6);
    wanted.options["accumulate"] = micro_batches;
    TrainWorkload workload(tiny_network(GetParam()), wanted, *device_);
    std::vector<float> found = gradients(workload.runner());
    found.push_back(static_cast<float>(workload.runner().loss()));
    return found;
  };
  const std::vector<float> whole = trained("1");
  for (const char* micro_batches : {"2", "3", "6"}) {
    EXPECT_LT(relative_error(trained(micro_batches), whole), 1e-5) << micro_batches;
  }
}

TEST_F(SequenceTraining, ASharedGradientIsTheSumOfItsUses) {
  const Graph tied = gpt(kTinyGpt);
  Graph apart = tied;
  apart.edit(apart.output()).shares.reset();
  const std::vector<Sample> samples{seeded_sample(tied, 1, 0), seeded_sample(tied, 1, 1)};
  const std::vector<std::int32_t> labels = seeded_tokens(*tied.tokens(), 2 * kTinyGpt.sequence, 1, 9);
  Trainer one(plan(tied, 2), *device_, 1);
  Trainer two(plan(apart, 2), *device_, 1);
  EXPECT_EQ(two.plan().parameters.size() - one.plan().parameters.size(), 1U);
  const std::size_t shared = index_of(one, "wte", Slot::weights);
  const std::size_t table = index_of(two, "wte", Slot::weights);
  const std::size_t head = index_of(two, "lm_head", Slot::weights);
  two.set_parameter(head, one.parameter(shared));
  for (Trainer* trainer : {&one, &two}) {
    trainer->set_batch(samples, labels);
    trainer->run_gradients();
  }
  EXPECT_NEAR(one.loss(), two.loss(), 1e-6);
  std::vector<float> sum = two.gradient(table);
  const std::vector<float> of_head = two.gradient(head);
  EXPECT_GT(relative_error(sum, of_head), 0.1);
  std::ranges::transform(sum, of_head, sum.begin(), std::plus<>());
  EXPECT_LT(relative_error(one.gradient(shared), sum), 1e-5);
}

// Weights, gradients and states of a table that two layers share are held once.
TEST_F(SequenceTraining, SharedWeightsTakeMemoryOnce) {
  const Graph graph = gpt(kTinyGpt);
  const MemoryPlan memory = plan(graph, 2, {.optimizer = Optimizer::Kind::adam}).memory();
  const std::int64_t weights = memory.at_peak[MemoryCategory::weights];
  EXPECT_GE(weights, 4 * graph.parameter_count());
  EXPECT_LT(weights, 4 * graph.parameter_count() + 64 * 40);  // alignment of some 30 parameters
  EXPECT_EQ(memory.at_peak[MemoryCategory::gradients], weights);
  EXPECT_EQ(memory.at_peak[MemoryCategory::optimizer], 2 * weights + 64);
}

TEST_F(SequenceTraining, ProbabilitiesGrowWithTheSquareOfTheSequence) {
  const auto probabilities = [&](std::int64_t sequence) {
    GptSizes sizes = kTinyGpt;
    sizes.sequence = sequence;
    std::int64_t bytes = 0;
    const ProgramPlan planned = plan(gpt(sizes), 2);
    for (const ProgramTensor& tensor : planned.program.tensors()) {
      bytes += tensor.name.starts_with("probabilities of") ? tensor.bytes : 0;
    }
    return bytes;
  };
  EXPECT_EQ(probabilities(16), 2 * (2 * 3 * 16 * 16 * 4));  // layers, batch, heads
  EXPECT_EQ(probabilities(32), 4 * probabilities(16));
}

TEST_F(SequenceTraining, ComputingAgainTakesLessMemoryAndGivesTheSameGradient) {
  GptSizes sizes = kTinyGpt;
  sizes.layers = 4;
  NetworkType network = tiny_gpt();
  network.build_sized = [sizes](const NetworkSizes& /*sizes*/) { return gpt(sizes); };
  const WorkloadSpec plain = train_spec(2);
  WorkloadSpec again = plain;
  again.options["recompute"] = "yes";
  const auto activations = [&](const WorkloadSpec& wanted) {
    return plan_training(network, wanted, *device_).memory().at_peak[MemoryCategory::activations];
  };
  EXPECT_LT(activations(again), 0.7 * static_cast<double>(activations(plain)));
  EXPECT_GT(plan_training(network, again, *device_).work().flops,
            1.1 * plan_training(network, plain, *device_).work().flops);
  TrainWorkload one(network, plain, *device_);
  TrainWorkload other(network, again, *device_);
  EXPECT_LT(relative_error(gradients(other.runner()), gradients(one.runner())), 1e-6);
}

TEST_F(SequenceTraining, BlocksEndAtResidualSums) {
  const Graph graph = gpt(kTinyGpt);
  const std::vector<Segment> found = segments(graph);
  ASSERT_EQ(found.size(), 2U * 2 + 1);  // attention and MLP of each layer, and the head
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    EXPECT_TRUE(graph[found[i].last].is("add"));
  }
}

TEST_F(SequenceTraining, LabelsAreTheNextTokens) {
  TrainWorkload workload(tiny_gpt(), train_spec(2), *device_);
  const ProgramPlan& step = workload.runner().plan();
  std::vector<std::int32_t> tokens(2 * 16);
  std::vector<std::int32_t> labels(2 * 16);
  device_->download(tokens.data(), workload.runner().address(step.inputs.at(0)), 2 * 16 * 4);
  device_->download(labels.data(), workload.runner().address(step.training->labels.at(0)), 2 * 16 * 4);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i % 16 != 15) {
      EXPECT_EQ(labels[i], tokens[i + 1]) << i;
    }
  }
  EXPECT_NE(std::vector(tokens.begin(), tokens.begin() + 16), std::vector(tokens.begin() + 16, tokens.end()));
}

}  // namespace
}  // namespace bench::kernels
