// Parameters updated in slices within the backward pass: the same step as one update after it.
#include "kernels/networks/passes/training.h"

#include <gmock/gmock.h>

#include <algorithm>

#include <fmt/format.h>

#include "../modelled_card.h"
#include "../networks_fixture.h"
#include "../tiny_networks.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

using Kind = Optimizer::Kind;

// Parameters and states after a few steps.
struct AfterSteps {
  std::vector<std::vector<float>> parameters;
  std::vector<std::vector<float>> gradients;
  double loss = 0;
  bool operator==(const AfterSteps&) const = default;
};

class Updates : public NetworkTest {
 protected:
  ProgramPlan plan(const std::string& name, Dtype dtype, TrainOptions options, std::int64_t slice) {
    options.update_slice = slice;
    const Target target{.batch = 4 / options.accumulate,
                        .dtype = dtype,
                        .layouts = name == "gpt" ? NetworkLayouts{} : layouts_for(*device_, Dtype::fp32),
                        .implementation = {}};
    return plan_training(graph(name), target, options, *device_);
  }
  static Graph graph(const std::string& name) {
    return name == "gpt" ? gpt(kTinyGpt) : registry<NetworkType>().find(name)->build(64);
  }
  Trainer trainer(ProgramPlan plan) {
    Trainer made(std::move(plan), *device_, 1);
    const Graph& graph = made.plan().graph;
    made.set_batch(std::vector<Sample>{seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1)},
                   std::vector<std::int32_t>{3, 8, 1});
    return made;
  }
  AfterSteps after(ProgramPlan plan, int steps) {
    Trainer trained = trainer(std::move(plan));
    for (int step = 0; step < steps; ++step) {
      trained.run();
    }
    AfterSteps found;
    found.loss = trained.loss();
    for (std::size_t i = 0; i < trained.plan().parameters.size(); ++i) {
      found.parameters.push_back(trained.parameter(i));
      found.gradients.push_back(trained.gradient(i));
    }
    return found;
  }
};

// Tables that two layers share, sums over micro-batches, values that are computed again: each of them makes
// a weight or a gradient be touched once more, later.
TEST_F(Updates, InSlicesLeadToTheSameBits) {
  for (const char* network : {"gpt", "resnet18"}) {
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
      for (const Kind kind : {Kind::sgd, Kind::momentum, Kind::adam}) {
        for (const auto& [accumulate, recompute] : {std::pair{1, false}, {2, false}, {2, true}}) {
          const bool some = recompute == (dtype == Dtype::fp32) && kind != Kind::momentum && accumulate == 2;
          if (device_->unsupported(dtype) || (network[0] == 'r' && !some)) {
            continue;  // the tiny network in all combinations
          }
          SCOPED_TRACE(fmt::format("{} {} optimizer {} accumulate {} recompute {}", network, name_of(dtype),
                                   static_cast<int>(kind), accumulate, recompute));
          const TrainOptions options{.optimizer = kind, .accumulate = accumulate, .recompute = recompute};
          const auto updates_of = [](const ProgramPlan& plan) {
            return std::ranges::count_if(plan.program.instructions(), &Instruction::updates);
          };
          ProgramPlan sliced = plan(network, dtype, options, 1024);
          ProgramPlan at_once = plan(network, dtype, options, 0);
          EXPECT_GT(updates_of(sliced), 5);
          EXPECT_LE(updates_of(at_once), 2);
          EXPECT_EQ(sliced.memory().peak, at_once.memory().peak);
          EXPECT_EQ(sliced.memory().in_step, at_once.memory().in_step);
          EXPECT_EQ(after(std::move(sliced), 3), after(std::move(at_once), 3));
        }
      }
    }
  }
}

TEST_F(Updates, AreLeftOutWhereOnlyGradientsAreWanted) {
  Trainer sliced = trainer(plan("gpt", Dtype::fp32, {}, 1024));
  Trainer at_once = trainer(plan("gpt", Dtype::fp32, {}, 0));
  const std::vector<float> before = sliced.parameter(0);
  for (int pass = 0; pass < 2; ++pass) {
    sliced.run_gradients();
    at_once.run_gradients();
    for (std::size_t i = 0; i < sliced.plan().parameters.size(); ++i) {
      EXPECT_EQ(sliced.gradient(i), at_once.gradient(i));
    }
  }
  EXPECT_EQ(sliced.parameter(0), before);
  sliced.run();
  EXPECT_NE(sliced.parameter(0), before);
}

TEST_F(Updates, FollowWhateverTouchesTheirParameters) {
  const ProgramPlan step = plan("gpt", Dtype::fp32, {.accumulate = 2}, 0);
  const ParameterGroup& group = step.groups.front();
  for (const std::int64_t least : {1, 5000, 1 << 30}) {
    const std::vector<UpdateSlice> slices = update_slices(step, group, least);
    std::int64_t bytes = 0;
    for (const UpdateSlice& slice : slices) {
      bytes += slice.bytes;
      EXPECT_TRUE(slice.bytes >= least || slice.offset == 0);
      for (const PlannedParameter& parameter : step.parameters) {
        const ProgramTensor& value = step.program.tensors()[parameter.value];
        if (value.offset < slice.offset || value.offset >= slice.offset + slice.bytes) {
          continue;
        }
        EXPECT_LE(value.offset + value.bytes, slice.offset + slice.bytes);
        for (std::size_t index = slice.behind + 1; index < step.training->optimizer_begin; ++index) {
          for (const auto& [slot, id] : step.program.instructions()[index].tensors) {
            EXPECT_TRUE(id != parameter.value && id != parameter.gradient)
                << value.name << " is updated before " << step.program.instructions()[index].name;
          }
        }
      }
    }
    EXPECT_EQ(bytes, step.program.blocks()[group.weights].bytes);
    EXPECT_TRUE(std::ranges::is_sorted(slices, {}, &UpdateSlice::behind));
    EXPECT_EQ(slices.size() == 1, least == 1 << 30);
  }
}

// A scaled gradient may overflow in the last layer that is reached.
TEST_F(Updates, WaitForAllGradientsWhereTheLossIsScaled) {
  const ProgramPlan step = plan("gpt", Dtype::fp32, {.loss_scaling = true}, 1024);
  const auto& instructions = step.program.instructions();
  for (std::size_t index = 0; index < instructions.size(); ++index) {
    EXPECT_FALSE(instructions[index].updates && index < step.training->optimizer_begin)
        << instructions[index].name;
  }
}

// A sum that an activation alone reads is stored activated; one that is read elsewhere too is not. Two
// gradients of an activation's result are added by its backward pass; those of a sum's are not.
TEST_F(Updates, LeaveSumsToTheActivationBesideThem) {
  const auto names = [&](bool read_twice) {
    Graph graph({3, 16, 16});
    const Graph::Value x = graph.conv2d("conv", graph.image(), {.channels = 8, .kernel = 3, .pad = 1});
    const Graph::Value sum = graph.add("add", graph.batch_norm("bn", x), x);
    Graph::Value y = graph.relu("relu", sum);
    if (read_twice) {
      y = graph.add("again", y, sum);
    }
    graph.linear("fc", graph.flatten("flatten", graph.average_pool("pool", y, 1)), 10);
    const Target target{.batch = 4,
                        .dtype = Dtype::fp32,
                        .layouts = layouts_for(*device_, Dtype::fp32),
                        .implementation = {}};
    std::vector<std::string> all;
    const ProgramPlan planned = plan_training(graph, target, {}, *device_);
    for (const Instruction& instruction : planned.program.instructions()) {
      all.push_back(instruction.name);
    }
    return all;
  };
  using ::testing::Contains;
  using ::testing::Not;
  EXPECT_THAT(names(false), Contains("forward add"));
  EXPECT_THAT(names(false), Not(Contains("forward relu")));
  EXPECT_THAT(names(false), Contains("backward relu"));
  EXPECT_THAT(names(true), Contains("forward relu"));
  EXPECT_THAT(names(true), Contains("sum of gradients add"));

  const ProgramPlan residual = plan("resnet18", Dtype::fp32, {}, 0);
  std::size_t sums = 0;
  for (const Instruction& instruction : residual.program.instructions()) {
    sums += instruction.name.starts_with("sum of gradients") ? 1 : 0;
  }
  EXPECT_EQ(sums, 1U);  // after the pooling: other residual blocks start at an activation
}

// Forward the norm applies the activation after it, backward its slope: on cards, where each is a pass over
// memory.
TEST(TrainingOnACard, LeavesActivationsBehindNormsToTheNorms) {
  ModelledCard card = h200();
  const Target target{
      .batch = 4, .dtype = Dtype::fp16, .layouts = layouts_for(card, Dtype::fp16), .implementation = {}};
  const ProgramPlan planned =
      plan_training(registry<NetworkType>().find("resnet50")->build(224), target, {}, card);
  std::size_t activations = 0;
  for (const Instruction& instruction : planned.program.instructions()) {
    if (instruction.name.find("relu") != std::string::npos) {
      EXPECT_TRUE(instruction.name.starts_with("backward")) << instruction.name;
      ++activations;
    }
  }
  EXPECT_EQ(activations, 16U) << "those behind the sums of the residual blocks";
}

}  // namespace
}  // namespace bench::kernels
