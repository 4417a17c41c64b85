// The check of a training step's gradient: right ones pass, and injected errors of one tensor do not.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../networks_fixture.h"
#include "../tiny_networks.h"
#include "kernels/workloads/network/gradient_buckets.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/train.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/interruption.h"
#include "tests/kernels/networks/train/idle_operation.h"

namespace bench::kernels {
namespace {

using ::testing::HasSubstr;
using Outcome = SlopeCheck::Outcome;

// Does what another does, and then something to the values of one of its results, which is fp32 and on the
// host.
class Altered final : public Operation {
 public:
  using Alter = std::function<void(std::span<float>)>;
  Altered(std::shared_ptr<Operation> whole, Slot slot, Alter alter)
      : whole_(std::move(whole)), slot_(slot), alter_(std::move(alter)) {}

  std::span<const SlotInfo> slots() const override { return whole_->slots(); }
  void prepare() override { whole_->prepare(); }
  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    whole_->pack(slot, plain, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    whole_->unpack(slot, packed, plain);
  }
  void run(const SlotPointers& pointers) override {
    whole_->run(pointers);
    alter_(
        {static_cast<float*>(pointers[slot_]), static_cast<std::size_t>(find(slot_)->bytes) / sizeof(float)});
  }
  double flops() const override { return whole_->flops(); }
  std::string algorithm() const override { return whole_->algorithm(); }

 private:
  std::shared_ptr<Operation> whole_;
  Slot slot_;
  Alter alter_;
};

void multiply(std::span<float> values, float factor) {
  for (float& value : values) {
    value *= factor;
  }
}

// Alters the gradient of a parameter where it is written last.
std::function<void(ProgramPlan&)> altering(const std::string& layer, Slot slot, Altered::Alter alter) {
  return [=](ProgramPlan& plan) {
    const auto parameter = std::ranges::find_if(plan.parameters, [&](const PlannedParameter& each) {
      return plan.graph[each.layer].name == layer && each.slot == slot;
    });
    ASSERT_NE(parameter, plan.parameters.end()) << layer;
    for (std::size_t index = plan.training->optimizer_begin; index-- > 0;) {
      Instruction& instruction = plan.program.edit(index);
      const auto given = std::ranges::find(instruction.tensors, parameter->gradient,
                                           [](const auto& slot_and_id) { return slot_and_id.second; });
      if (given != instruction.tensors.end() && !instruction.updates) {
        instruction.operation = std::make_shared<Altered>(instruction.make_own(), given->first, alter);
        return;
      }
    }
    FAIL() << "nothing writes the gradient of " << layer;
  };
}

std::function<void(ProgramPlan&)> leaving_out(const std::string& name) {
  return [name](ProgramPlan& plan) {
    const auto& instructions = plan.program.instructions();
    const auto at = std::ranges::find(instructions, name, &Instruction::name);
    ASSERT_NE(at, instructions.end()) << name;
    plan.program.edit(static_cast<std::size_t>(at - instructions.begin())).operation =
        std::make_shared<Idle>();
  };
}

class Gradients : public NetworkTest {
 protected:
  static const NetworkType& network(const std::string& name) { return *registry<NetworkType>().find(name); }
  static NetworkPoint point(const NetworkType& network, std::int64_t batch, std::int64_t image_size = 64,
                            Dtype dtype = Dtype::fp32) {
    WorkloadSpec wanted = spec(batch, dtype, image_size);
    wanted.mode = "train";
    return read_point(network, wanted);
  }
  Verification compare(const NetworkPoint& point) { return GradientReference().compare(point, *device_); }
  SlopeCheck slopes(const NetworkPoint& point) {
    Trainer trainer(plan_training(point, *device_), *device_, point.seed);
    set_seeded_batch(trainer, point.seed);
    return check_slopes(trainer, point.seed);
  }
};

// A network whose own loss is not finite says nothing of the device.
TEST_F(Gradients, OfALogarithmOfNegativeNumbersAreNotChecked) {
  Graph graph = Graph::reading({kBatch, 4, 8});
  const Graph::Value x = graph.linear("in", graph.image(), 8);
  graph.linear("out", graph.activation("log", x, Activation::log), 3);
  NetworkPoint point{.graph = graph, .batch = 4};
  EXPECT_EQ(compare(point).not_checked, kLossIsNotFinite);
  TrainWorkload workload(point, std::make_shared<GradientReference>(), *device_);
  EXPECT_FALSE(workload.verify().failed());
}

// Those of 120 million parameters and more differ from these by their size.
TEST_F(Gradients, OfEveryNetworkAreTheReferences) {
  for (const char* name : {"resnet18", "resnet50", "mobilenet_v2", "vgg16_gap", "unet", "yolov3_tiny"}) {
    const Verification found = compare(point(network(name), 4));
    EXPECT_TRUE(found.passed) << name << ": " << found.error << ", " << found.detail << found.not_checked;
    EXPECT_EQ(found.not_checked, "") << name;
  }
  for (const char* name : {"gpt", "classifier"}) {
    const Verification found = compare(point(tiny_network(name), 4));
    EXPECT_TRUE(found.passed) << name << ": " << found.error << ", " << found.detail << found.not_checked;
    EXPECT_EQ(found.not_checked, "") << name;
  }
}

// With channels in padded groups of 16 the columns that read flattened maps have another order.
TEST_F(Gradients, OfFlattenedMapsDoNotDependOnTheirLayout) {
  Graph graph = Graph::reading({kBatch, 3, 4, 4});
  const Graph::Value maps = graph.conv2d("conv", graph.image(), {.channels = 20, .kernel = 3, .pad = 1});
  graph.linear("out", graph.flatten("flat", maps), 3);
  const auto trained = [&](NetworkLayouts layouts) {
    Trainer trainer(
        plan_training(graph,
                      {.batch = 2, .dtype = Dtype::fp32, .layouts = layouts, .implementation = "reference"},
                      {}, *device_),
        *device_, 1);
    set_seeded_batch(trainer, 1);
    trainer.set_parameter(1, trainer.parameter(1));
    trainer.run_gradients();
    return std::pair(trainer.parameter(1), trainer.gradient(1));
  };
  const auto [weights, gradient] = trained({});
  const auto [grouped_weights, grouped_gradient] = trained({Layout::nchw, Layout::nchw16c});
  EXPECT_EQ(weights.size(), 3U * 20 * 16);
  EXPECT_EQ(grouped_weights, weights);
  ASSERT_EQ(grouped_gradient.size(), gradient.size());
  EXPECT_LT(relative_error(grouped_gradient, gradient), 1e-6);
}

TEST_F(Gradients, OfEveryWayToTrainAreTheReferences) {
  for (const auto& options : {TrainOptions{.accumulate = 4}, {.recompute = true}, {.in_place = false}}) {
    NetworkPoint trained = point(network("mobilenet_v2"), 16);
    trained.training = options;
    const Verification found = compare(trained);
    EXPECT_TRUE(found.passed) << found.error << ", " << found.detail;
  }
}

TEST_F(Gradients, In16BitsAreTheReferencesButForRoundings) {
  if (const auto reason = device_->unsupported(Dtype::bf16)) {
    GTEST_SKIP() << *reason;
  }
  for (const char* name : {"resnet18", "mobilenet_v2", "yolov3_tiny"}) {
    const Verification found = compare(point(network(name), 4, 64, Dtype::bf16));
    EXPECT_FALSE(found.failed()) << name << ": " << found.error << ", " << found.detail;
    // Others' tensors may turn by their rounding alone.
    EXPECT_TRUE(found.passed || name != std::string("resnet18")) << found.not_checked;
  }
}

// One of ResNet-50's 161 tensors, wherever it is: 3 % too long, missing, and of the wrong sign.
TEST_F(Gradients, AnErrorOfOneTensorIsFoundAndNamed) {
  const NetworkPoint small = small_point(point(network("resnet50"), 4)).value();
  Trainer right(plan_training(small, *device_), *device_, 1);
  Trainer wrong(plan_training(small, *device_), *device_, 1);
  for (Trainer* const trainer : {&right, &wrong}) {
    set_seeded_batch(*trainer, 1);
    trainer->run_gradients();
  }
  const auto& parameters = wrong.plan().parameters;
  ASSERT_EQ(parameters.size(), 161U);
  EXPECT_TRUE(judge(compare_gradients(wrong, right), {.error = 1e-2}).passed);
  for (const std::size_t index : {std::size_t{0}, std::size_t{77}, std::size_t{100}, std::size_t{159}}) {
    const TensorId gradient = parameters[index].gradient;
    const auto bytes = static_cast<std::size_t>(wrong.plan().program.tensors()[gradient].bytes);
    const std::span<float> values(reinterpret_cast<float*>(wrong.address(gradient)), bytes / sizeof(float));
    const std::vector<float> before(values.begin(), values.end());
    for (const float factor : {1.03F, 0.0F, -1.0F}) {
      multiply(values, factor);
      const Verification found = judge(compare_gradients(wrong, right), {.error = 1e-2});
      EXPECT_TRUE(found.failed()) << index << " times " << factor;
      EXPECT_THAT(found.detail, HasSubstr(wrong.plan().graph[parameters[index].layer].name + " "));
      std::ranges::copy(before, values.begin());
    }
  }
}

// Through everything that a point's check does: the step is wrong at every size.
TEST_F(Gradients, AWrongStepIsAWrongAnswer) {
  const auto times = [](float factor) {
    return [factor](std::span<float> values) { multiply(values, factor); };
  };
  const std::vector<std::pair<std::function<void(ProgramPlan&)>, std::string>> wrongs{
      {altering("layer2.0.bn1", Slot::scale, times(1.03F)), "layer2.0.bn1 scale"},
      {altering("layer3.1.conv2", Slot::weights, times(-1)), "layer3.1.conv2 weights"},
      {altering("fc", Slot::bias, times(0)), "fc bias"},
      {leaving_out("backward layer2.0.conv1 (weights)"), "layer2.0.conv1 weights"}};
  for (const auto& [edit, named] : wrongs) {
    NetworkPoint broken = point(network("resnet18"), 2);
    broken.edit_plan = edit;
    const Verification found =
        TrainWorkload(broken, std::make_shared<GradientReference>(), *device_).verify();
    EXPECT_TRUE(found.failed()) << named;
    EXPECT_THAT(found.detail, HasSubstr(named));
  }
}

TEST_F(Gradients, ARightStepIsCheckedAtBothSizes) {
  TrainWorkload workload(point(network("resnet18"), 4), std::make_shared<GradientReference>(), *device_);
  const Verification found = workload.verify();
  EXPECT_TRUE(found.passed) << found.detail;
  EXPECT_EQ(found.not_checked, "");
  EXPECT_THAT(found.detail, AllOf(HasSubstr("62 of 62 gradient tensors"), HasSubstr("slope of the loss")));
}

// By differences this right step looks wrong at its own size: its loss jumps.
TEST_F(Gradients, OfTwoValuesOfEachChannelAreCheckedAtASmallSizeAlone) {
  NetworkPoint two = point(network("mobilenet_v2"), 2, 32);
  two.seed = 2;
  TrainWorkload workload(two, std::make_shared<GradientReference>(), *device_);
  const Verification found = workload.verify();
  EXPECT_TRUE(found.passed) << found.detail;
  expect_words(found.not_checked);
}

// Points of a series ask the reference once.
TEST_F(Gradients, AreComparedOncePerDtypeAndKindOfStep) {
  GradientReference reference;
  int plans = 0;
  NetworkPoint counted = point(network("mobilenet_v2"), 4);
  counted.edit_plan = [&](ProgramPlan& /*plan*/) { ++plans; };
  reference.compare(counted, *device_);
  EXPECT_EQ(plans, 1);
  counted.batch = 8;
  reference.compare(counted, *device_);
  EXPECT_EQ(plans, 1);
  counted.training.recompute = true;
  reference.compare(counted, *device_);
  EXPECT_EQ(plans, 2);
}

// By the loss alone, without any reference.
TEST_F(Gradients, SlopesShowAWrongWholeAndAWrongPart) {
  NetworkPoint tested = point(network("resnet18"), 4);
  EXPECT_EQ(slopes(tested).outcome, Outcome::right);
  const auto all_times = [](float factor) {
    return [factor](ProgramPlan& plan) {  // the loss's own gradient, which all others are proportional to
      const auto& instructions = plan.program.instructions();
      const auto at = std::ranges::find(instructions, "loss", &Instruction::name);
      Instruction& loss = plan.program.edit(static_cast<std::size_t>(at - instructions.begin()));
      loss.operation = std::make_shared<Altered>(
          loss.make_own(), Slot::diff_src, [factor](std::span<float> values) { multiply(values, factor); });
    };
  };
  tested.edit_plan = all_times(1.03F);
  EXPECT_EQ(slopes(tested).outcome, Outcome::wrong);
  tested.edit_plan =
      altering("layer1.0.conv1", Slot::weights, [](std::span<float> values) { multiply(values, -1); });
  EXPECT_EQ(slopes(tested).outcome, Outcome::wrong);
  tested.edit_plan = altering("fc", Slot::bias, [](std::span<float> values) { multiply(values, 0); });
  EXPECT_EQ(slopes(tested).outcome, Outcome::wrong);
}

// A rectifier that is off for every sample, and a softmax of 0 and 1: the tensors before it have gradients of
// zero, rightly.
TEST_F(Gradients, ThatAreRightlyZeroAreRightAnswers) {
  const auto gated = [] {
    Graph graph = Graph::reading({kBatch, 8, 6, 6});
    const Graph::Value pooled = graph.average_pool("pool", graph.image());
    const Graph::Value narrow = graph.linear("narrow", graph.flatten("flat", pooled), 1);
    const Graph::Value gate = graph.activation("gate", narrow, Activation::relu);
    graph.linear("out", graph.linear("wide", gate, 8), 5);
    return graph;
  };
  const auto saturated = [] {
    Graph graph = Graph::reading({kBatch, 16});
    const Graph::Value scaled =
        graph.activation("scaled", graph.linear("in", graph.image(), 2), Activation::linear(1e4F, 0));
    graph.linear("out", graph.softmax("softmax", scaled), 3);
    return graph;
  };
  for (const auto& make : std::vector<std::function<Graph()>>{gated, saturated}) {
    int with_zeros = 0;
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      for (const std::int64_t batch : {1, 2}) {
        NetworkPoint tested{.graph = make(), .batch = batch};
        tested.seed = seed;
        TrainWorkload workload(tested, std::make_shared<GradientReference>(), *device_);
        with_zeros += SlopeMeter(workload.runner()).flat().empty() ? 0 : 1;
        const Verification found = workload.verify();
        EXPECT_FALSE(found.failed()) << "seed " << seed << ", batch " << batch << ": " << found.detail;
      }
    }
    EXPECT_GT(with_zeros, 0);
  }
}

TEST_F(Gradients, SlopesLeaveTheParametersAsTheyWere) {
  const NetworkPoint tested = point(network("mobilenet_v2"), 4);
  Trainer trainer(plan_training(tested, *device_), *device_, 1);
  set_seeded_batch(trainer, 1);
  const auto values = [&] {
    std::vector<std::vector<float>> all;
    for (std::size_t index = 0; index < trainer.plan().parameters.size(); ++index) {
      all.push_back(trainer.parameter(index));
    }
    return all;
  };
  const auto before = values();
  check_slopes(trainer, 1);
  EXPECT_EQ(values(), before);
}

TEST_F(Gradients, ACheckEndsWhenItIsInterrupted) {
  const NetworkPoint tested = point(network("mobilenet_v2"), 4);
  Trainer trainer(plan_training(tested, *device_), *device_, 1);
  set_seeded_batch(trainer, 1);
  const testing::Interruption interruption;
  EXPECT_THROW(check_slopes(trainer, 1), Interrupted);
  EXPECT_THROW(gradient_timeline(trainer, *device_), Interrupted);
}

// Forward passes alone find the loss that passes with gradients find.
TEST_F(Gradients, TheLossNeedsNoBackwardPass) {
  NetworkPoint tested = point(network("mobilenet_v2"), 8);
  for (const bool special : {false, true}) {
    tested.training.accumulate = special ? 2 : 1;
    tested.training.recompute = special;
    Trainer trainer(plan_training(tested, *device_), *device_, 1);
    set_seeded_batch(trainer, 1);
    trainer.run_gradients();
    const double whole = trainer.loss();
    trainer.poison_loss();
    trainer.run_loss();
    EXPECT_EQ(trainer.loss(), whole);
  }
}

// Three values a channel: the loss is curved at every length of a step, and roundings turn the gradient far.
TEST_F(Gradients, FewValuesToNormaliseAreNeitherWrongNorTakenForChecked) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    WorkloadSpec wanted = spec(3, Dtype::fp32, 32, seed);
    wanted.mode = "train";
    TrainWorkload workload(network("resnet18"), wanted, *device_);
    const Verification found = workload.verify();
    EXPECT_FALSE(found.failed()) << found.error << ", " << found.detail;
    EXPECT_NE(found.detail.find("slope of the loss") == std::string::npos, found.not_checked.empty());
  }
}

TEST_F(Gradients, TooLargeForTheReferenceIsSaid) {
  NetworkPoint large = point(network("unet"), 1, 512);
  large.small_graphs = [graph = large.graph] { return std::vector{graph}; };
  EXPECT_FALSE(small_point(large));
  const Verification found = compare(large);
  EXPECT_FALSE(found.passed);
  EXPECT_FALSE(found.failed());
  expect_words(found.not_checked);
}

GradientDifference differences(std::initializer_list<double> errors) {
  GradientDifference found;
  for (const double error : errors) {
    found.tensors.push_back({.name = "tensor " + std::to_string(found.tensors.size()), .error = error});
  }
  return found;
}

TEST(GradientJudgement, AddsThreeTimesTheNoise) {
  const GradientTolerance tolerance{.error = 0.01, .noise = {0, 0.1, 0.2}};
  EXPECT_TRUE(judge(differences({0.009, 0.3, 0.6}), tolerance).passed);
  const Verification found = judge(differences({0.009, 0.32, 0.6}), tolerance);
  EXPECT_TRUE(found.failed());
  EXPECT_DOUBLE_EQ(found.error, 0.32);
  EXPECT_NEAR(found.tolerance, 0.31, 1e-12);
  expect_words(found.detail);
}

TEST(GradientJudgement, LeavesOutNoisyTensorsAndSaysWhereTheyAreMost) {
  const GradientDifference found = differences({0.001, 5, 5});
  expect_words(judge(found, {.error = 0.01, .noise = {0, 0.1, 0.9}}).detail);
  EXPECT_TRUE(judge(found, {.error = 0.01, .noise = {0, 0.1, 0.9}}).failed());
  const Verification unknown = judge(found, {.error = 0.01, .noise = {0.8, 0.9, 0.9}});
  EXPECT_FALSE(unknown.passed || unknown.failed());
  expect_words(unknown.not_checked);
}

TEST(GradientJudgement, NaNIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& found : {differences({nan, 0}), differences({0, nan}), differences({0.5, nan, 0})}) {
    EXPECT_TRUE(judge(found, {.error = 0.01}).failed());
    EXPECT_TRUE(std::isinf(judge(found, {.error = 0.01}).error));
  }
}

}  // namespace
}  // namespace bench::kernels
