#include "kernels/workloads/network/infer.h"

#include <gtest/gtest.h>

#include <cstring>

#include "bench/error.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/reference.h"
#include "tests/kernels/networks/networks_fixture.h"

namespace bench::kernels {
namespace {

class Infer : public NetworkTest {
 protected:
  static const NetworkType& network(const std::string& name) { return *registry<NetworkType>().find(name); }
  InferWorkload make(const std::string& name, const WorkloadSpec& spec) {
    return {network(name), spec, *device_};
  }
};

struct Case {
  std::string network;
  Dtype dtype;
  std::int64_t batch;
  std::int64_t image_size;
};

class EveryNetwork : public Infer, public testing::WithParamInterface<Case> {};

TEST_P(EveryNetwork, AnswersAsTheReferenceAndHoldsWhatWasPlanned) {
  const Case& c = GetParam();
  const WorkloadSpec wanted = spec(c.batch, c.dtype, c.image_size);
  const WorkloadType& type = *registry<WorkloadType>().find(c.network);
  if (const auto reason = type.configure(wanted)->unsupported(*device_)) {
    GTEST_SKIP() << *reason;
  }
  const MemoryPlan plan = type.configure(wanted)->plan(*device_);
  ASSERT_EQ(device_->memory().peak(), 0);
  {
    const auto workload = type.configure(wanted)->make(*device_);
    const Verification verification = workload->verify();
    EXPECT_TRUE(verification.passed) << verification.detail;
    // A third of what is accepted, as the tolerance claims; far above what rounding alone could give if
    // nothing ran.
    EXPECT_LE(verification.error, verification.tolerance);
    RecordProperty("error", std::to_string(verification.error));
    workload->step();
    EXPECT_GT(workload->work().flops, 0);
  }
  EXPECT_EQ(device_->memory().peak(), plan.peak);
  EXPECT_EQ(device_->memory().at_peak(), plan.at_peak);
  EXPECT_EQ(device_->memory().live().total(), 0);
}

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    for (const std::int64_t batch : {1, 3}) {
      for (const char* name : {"resnet18", "resnet50", "mobilenet_v2"}) {
        cases.push_back({name, dtype, batch, 64});
      }
      cases.push_back({"resnet50", dtype, batch, 33});
      cases.push_back({"mobilenet_v2", dtype, batch, 97});
    }
    cases.push_back({"unet", dtype, 2, 32});
    cases.push_back({"unet", dtype, 1, 38});  // 38, 19, 9, 4, 2: two of the maps that come up are padded
    cases.push_back({"yolov3_tiny", dtype, 1, 32});
    cases.push_back({"yolov3_tiny", dtype, 3, 96});
    cases.push_back({"efficientnet_b0", dtype, 2, 64});
    cases.push_back({"efficientnet_b0", dtype, 1, 32});  // maps of one pixel, which nothing pools
    cases.push_back({"convnext_tiny", dtype, 2, 64});
    cases.push_back({"convnext_tiny", dtype, 1, 33});
    cases.push_back({"vit_base_16", dtype, 2, 32});
    cases.push_back({"yolov8s", dtype, 2, 64});
    cases.push_back({"vgg16", dtype, 2, 32});  // features of 1x1 repeated to 7x7
  }
  cases.push_back({"vgg16", Dtype::fp32, 1, 80});  // features of 2x2: windows of different places overlap
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryNetwork, testing::ValuesIn(cases()), [](const auto& each) {
  const Case& c = each.param;
  return c.network + "_" + std::string(name_of(c.dtype)) + "_batch" + std::to_string(c.batch) + "_image" +
         std::to_string(c.image_size);
});

// A mixed-up row can only be seen if the distinct images' answers are far apart.
TEST_F(Infer, DistinctImagesHaveDistinctAnswers) {
  for (const char* name : {"resnet18", "resnet50", "resnet152", "mobilenet_v2", "efficientnet_b0",
                           "convnext_tiny", "vit_base_16", "unet", "yolov3_tiny", "yolov8s"}) {
    const Graph graph = network(name).build(64);
    const std::vector<std::vector<float>> images{seeded_image(graph[0].shape.image(), 1, 0),
                                                 seeded_image(graph[0].shape.image(), 1, 1)};
    const auto answers = reference_outputs(graph, images, 1);
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_GT(relative_error(answers[0], answers[1]), 2 * logits_tolerance(Dtype::bf16)) << name;
    for (const auto& row : answers) {
      double energy = 0;
      for (const float logit : row) {
        energy += static_cast<double>(logit) * static_cast<double>(logit) / static_cast<double>(row.size());
      }
      EXPECT_GT(energy, 1e-4) << name;  // neither vanished
      EXPECT_LT(energy, 1e4) << name;   // nor exploded
    }
  }
}

TEST_F(Infer, BatchesRepeatTwoSamplesUnlessTheReferenceWouldTakeLong) {
  for (const auto& network : registry<NetworkType>().entries()) {
    EXPECT_EQ(distinct_samples(build_network(*network, {})), network->name == "unet" ? 1U : 2U)
        << network->name;
    if (network->reads_images()) {
      EXPECT_EQ(distinct_samples(network->build(64)), 2U) << network->name;
    }
  }
  EXPECT_EQ(distinct_samples(network("gpt_small").build_sized({{"sequence", 1024}})), 1U);
}

TEST_F(Infer, SeedDecidesTheAnswer) {
  const auto answer = [&](std::uint64_t seed) {
    InferWorkload workload = make("resnet18", spec(2, Dtype::fp32, 32, seed));
    workload.step();
    return workload.runner().output();
  };
  const auto first = answer(1);
  EXPECT_EQ(first, answer(1));
  EXPECT_NE(first, answer(2));
}

TEST_F(Infer, StaleOutputFails) {
  InferWorkload workload = make("resnet18", spec(2, Dtype::fp32, 32));
  ASSERT_TRUE(workload.verify().passed);
  EXPECT_TRUE(workload.compare_output().passed);  // it is still there
  workload.runner().poison_output();
  const Verification stale = workload.compare_output();
  EXPECT_FALSE(stale.passed);
  EXPECT_NE(stale.detail.find("nan"), std::string::npos) << stale.detail;
  workload.step();
  EXPECT_TRUE(workload.compare_output().passed);
}

TEST_F(Infer, DamagedWeightsFail) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    if (device_->unsupported(dtype)) {
      continue;
    }
    InferWorkload workload = make("resnet18", spec(1, dtype, 32));
    ASSERT_TRUE(workload.verify().passed);
    // The weights of one layer in the middle become zero.
    const ProgramPlan& plan = workload.runner().plan();
    const PlannedParameter& parameter = plan.parameters.at(plan.parameters.size() / 2 / 2 * 2);
    ASSERT_EQ(parameter.slot, Slot::weights);
    device_->fill(workload.runner().address(parameter.value), std::byte{0},
                  plan.program.tensors()[parameter.value].bytes);
    EXPECT_FALSE(workload.verify().passed) << plan.graph[parameter.layer].name;
  }
}

TEST_F(Infer, SwappedImagesFail) {
  InferWorkload workload = make("resnet18", spec(2, Dtype::fp32, 32));
  const Image shape = workload.runner().plan().graph[0].shape.image();
  const std::vector<std::vector<float>> swapped{seeded_image(shape, 1, 1), seeded_image(shape, 1, 0)};
  workload.runner().set_input(swapped);
  EXPECT_FALSE(workload.verify().passed);
}

TEST_F(Infer, ScratchAndArenaHoldNothingBetweenSteps) {
  InferWorkload workload = make("mobilenet_v2", spec(3, Dtype::fp32, 64));
  poison_step(workload.runner(), *device_);
  const Verification verification = workload.verify();
  EXPECT_TRUE(verification.passed) << verification.detail;
}

TEST_F(Infer, OutOfMemoryLeavesNothingBehind) {
  const WorkloadType& type = *registry<WorkloadType>().find("resnet18");
  const WorkloadSpec wanted = spec(4, Dtype::fp32, 64);
  const MemoryPlan plan = type.configure(wanted)->plan(*device_);
  // One byte short; the activations do not fit; not even the weights do.
  for (const std::int64_t cap :
       {plan.peak - 1, plan.at_peak[MemoryCategory::weights] + 1, std::int64_t{1000}}) {
    device_->memory().set_cap(cap);
    EXPECT_THROW(type.configure(wanted)->make(*device_), OutOfMemory) << cap;
    EXPECT_EQ(device_->memory().live().total(), 0);
    EXPECT_LE(device_->memory().peak(), cap);
    device_->memory().reset_peak();
  }
  device_->memory().set_cap(plan.peak);
  EXPECT_NO_THROW(type.configure(wanted)->make(*device_));
}

TEST_F(Infer, UnsupportedDtypeIsAReason) {
  const WorkloadType& type = *registry<WorkloadType>().find("resnet18");
  for (const Dtype dtype : kAllDtypes) {
    const auto reason = type.configure(spec(1, dtype, 32))->unsupported(*device_);
    if (device_->unsupported(dtype)) {
      ASSERT_TRUE(reason.has_value()) << name_of(dtype);
      EXPECT_FALSE(reason->empty());
    }
  }
  EXPECT_FALSE(type.configure(spec(1, Dtype::fp32, 32))->unsupported(*device_).has_value());
}

// Channels that do not fill a group of 16, after a flatten: the padding meets zero columns.
TEST_F(Infer, FlattenFollowsTheStoredOrder) {
  Graph g({3, 9, 7});
  auto x = g.relu("relu", g.conv2d("conv", g.image(),
                                   {.channels = 20, .kernel = 3, .stride = 2, .pad = 1, .bias = true}));
  g.linear("fc2", g.relu("relu1", g.linear("fc1", g.flatten("flatten", x), 24)), 10);
  const std::vector<std::vector<float>> images{seeded_image(g[0].shape.image(), 1, 0),
                                               seeded_image(g[0].shape.image(), 1, 1)};
  const auto expected = reference_outputs(g, images, 1);
  for (const NetworkLayouts layouts :
       {NetworkLayouts{Layout::nhwc, Layout::nhwc}, NetworkLayouts{Layout::nchw, Layout::nchw},
        NetworkLayouts{Layout::nchw, Layout::nchw16c}}) {
    SCOPED_TRACE(std::string(name_of(layouts.inner)));
    const Target target{.batch = 3, .dtype = Dtype::fp32, .layouts = layouts, .implementation = {}};
    ProgramRunner executor(plan_inference(fuse_for_inference(g), target, *device_), *device_, 1);
    executor.set_input(images);
    executor.poison_output();
    executor.run();
    const auto answers = executor.output();
    ASSERT_EQ(answers.size(), 30U);
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_LT(relative_error(std::span(answers).subspan(row * 10, 10), expected[row % 2]), 1e-5);
    }
  }
}

// Unfused layers run too: norms, activations in place, sums and softmax as operations of their own.
TEST_F(Infer, PlainGraphAnswersAsTheFusedOne) {
  Graph g = network("resnet18").build(32);
  g.softmax("softmax", g.output());
  const std::vector<std::vector<float>> images{seeded_image(g[0].shape.image(), 1, 0)};
  const auto expected = reference_outputs(g, images, 1);
  const Target target{
      .batch = 2, .dtype = Dtype::fp32, .layouts = layouts_for(*device_, Dtype::fp32), .implementation = {}};
  for (const Graph& graph : {g, fuse_for_inference(g)}) {
    ProgramRunner executor(plan_inference(graph, target, *device_), *device_, 1);
    executor.set_input(images);
    executor.run();
    const auto answers = executor.output();
    EXPECT_LT(relative_error(std::span(answers).first(1000), expected[0]), 1e-3);
    EXPECT_LT(relative_error(std::span(answers).last(1000), expected[0]), 1e-3);
  }
}

}  // namespace
}  // namespace bench::kernels
