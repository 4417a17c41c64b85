// Training steps of the real networks: gradients, learning, and memory as planned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../networks_fixture.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/training.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/train.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

struct Trained {
  std::string network;
  std::int64_t image_size;
  std::int64_t batch;
};

// vgg16 has vgg16_gap's layers, and 138 million parameters, which take a minute of each test.
std::vector<Trained> trained_networks() {
  return {{"resnet18", 64, 4},     {"resnet50", 64, 4}, {"vgg16_gap", 32, 4},
          {"mobilenet_v2", 64, 4}, {"unet", 32, 4},     {"yolov3_tiny", 64, 4}};
}

class Training : public NetworkTest {
 protected:
  static WorkloadSpec train_spec(const Trained& tested, Dtype dtype = Dtype::fp32,
                                 const std::string& optimizer = "sgd") {
    WorkloadSpec all = spec(tested.batch, dtype, tested.image_size);
    all.mode = "train";
    all.options["optimizer"] = optimizer;
    return all;
  }
  static const NetworkType& network(const std::string& name) { return *registry<NetworkType>().find(name); }
  TrainWorkload make(const Trained& tested, const WorkloadSpec& wanted) {
    return {network(tested.network), wanted, *device_};
  }

  // The gradient of every parameter, one after the other.
  static std::vector<float> gradients(Trainer& trainer) {
    std::vector<float> all;
    trainer.run_gradients();
    for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
      const std::vector<float> one = trainer.gradient(i);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
};

class EveryNetworkTrains : public Training, public ::testing::WithParamInterface<Trained> {};

INSTANTIATE_TEST_SUITE_P(Networks, EveryNetworkTrains, ::testing::ValuesIn(trained_networks()),
                         [](const auto& tested) { return tested.param.network; });

TEST_P(EveryNetworkTrains, GradientsAgreeWithCentralDifferences) {
  TrainWorkload workload = make(GetParam(), train_spec(GetParam()));
  const SlopeCheck check = check_slopes(workload.runner(), 1);
  EXPECT_EQ(check.outcome, SlopeCheck::Outcome::right)
      << check.by_differences << " measured, " << check.by_gradient << " by the gradient";
  EXPECT_LT(check.error, kSlopeTolerance);
}

// The reference's gradient at a small size is compared, and what is left out is told.
TEST_F(Training, AShortVerificationLeavesOutTheDifferencesAtItsOwnSize) {
  const Trained tested{"resnet18", 32, 4};
  TrainWorkload workload = make(tested, train_spec(tested));
  workload.shorten_verification();
  const Verification verification = workload.verify();
  EXPECT_TRUE(verification.passed) << verification.detail;
  EXPECT_EQ(verification.detail.find("central differences"), std::string::npos) << verification.detail;
  expect_words(verification.not_checked);
}

void expect_to_learn(TrainWorkload& workload) {
  workload.step();
  const double first = workload.runner().loss();
  const auto classes = static_cast<double>(workload.runner().plan().training->classes);
  EXPECT_GT(first, 0.4 * std::log(classes));  // what guessing costs: ln 1000 = 6.9
  double loss = first;
  for (int step = 1; step < 30 && !(loss < first / 2); ++step) {
    workload.step();
    loss = workload.runner().loss();
  }
  EXPECT_LT(loss, first / 2);
}

TEST_P(EveryNetworkTrains, TheLossFallsByMoreThanHalfWithin30Steps) {
  TrainWorkload workload = make(GetParam(), train_spec(GetParam()));
  expect_to_learn(workload);
}

TEST_F(Training, EveryOptimizerLearnsInEveryDtype) {
  const Trained tested{"resnet18", 64, 4};
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    for (const char* optimizer : {"sgd", "momentum", "adam"}) {
      if (!device_->unsupported(dtype)) {
        SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), optimizer));
        TrainWorkload workload = make(tested, train_spec(tested, dtype, optimizer));
        expect_to_learn(workload);
      }
    }
  }
}

TEST_P(EveryNetworkTrains, OptimizersTakeTheirMultiplesOfTheWeights) {
  const auto bytes = [&](Dtype dtype, const char* optimizer, MemoryCategory category) {
    return plan_training(network(GetParam().network), train_spec(GetParam(), dtype, optimizer), *device_)
        .memory()
        .at_peak[category];
  };
  const std::int64_t weights = bytes(Dtype::fp32, "sgd", MemoryCategory::weights);
  EXPECT_GE(weights, 4 * network(GetParam().network).published_parameters);
  EXPECT_LE(weights, 4.1 * static_cast<double>(network(GetParam().network).published_parameters));
  EXPECT_EQ(bytes(Dtype::fp32, "sgd", MemoryCategory::gradients), weights);
  EXPECT_EQ(bytes(Dtype::fp32, "sgd", MemoryCategory::optimizer), 0);
  EXPECT_EQ(bytes(Dtype::fp32, "momentum", MemoryCategory::optimizer), weights);
  EXPECT_EQ(bytes(Dtype::fp32, "adam", MemoryCategory::optimizer), 2 * weights + 64);  // and a step count
}

TEST_P(EveryNetworkTrains, ComputingAgainTakesLessMemoryAndGivesTheSameGradient) {
  const Trained& tested = GetParam();
  const WorkloadSpec plain = train_spec(tested);
  WorkloadSpec again = plain;
  again.options["recompute"] = "yes";
  const auto plan = [&](const WorkloadSpec& wanted) {
    return plan_training(network(tested.network), wanted, *device_);
  };
  EXPECT_LT(plan(again).memory().in_step[MemoryCategory::activations],
            plan(plain).memory().in_step[MemoryCategory::activations]);
  EXPECT_GT(plan(again).work().flops, 1.1 * plan(plain).work().flops);
  TrainWorkload one = make(tested, plain);
  TrainWorkload other = make(tested, again);
  EXPECT_LT(relative_error(gradients(other.runner()), gradients(one.runner())), 1e-5);
}

// With a block's values computed again few others live at the same time as the one that would be written
// over.
TEST_F(Training, WithoutWritingInPlaceTheSameGradientTakesMoreMemory) {
  const Trained tested{"resnet18", 64, 4};
  WorkloadSpec in_place = train_spec(tested);
  in_place.options["recompute"] = "yes";
  WorkloadSpec apart = in_place;
  apart.options["in-place"] = "no";
  const auto activations = [&](const WorkloadSpec& wanted) {
    return plan_training(network("resnet18"), wanted, *device_).memory().in_step[MemoryCategory::activations];
  };
  EXPECT_GT(activations(apart), activations(in_place));
  TrainWorkload one = make(tested, in_place);
  TrainWorkload other = make(tested, apart);
  EXPECT_LT(relative_error(gradients(other.runner()), gradients(one.runner())), 1e-5);
}

// Without batch norm a mean over micro-batches is the mean over the batch.
TEST_F(Training, MicroBatchesAddUpToTheBatch) {
  Graph graph({3, 16, 16});
  Graph::Value x = graph.conv2d("conv", graph.image(), {.channels = 20, .kernel = 3, .pad = 1, .bias = true});
  x = graph.max_pool("pool", graph.relu("relu", x), {.kernel = 2, .stride = 2});
  graph.linear("fc", graph.flatten("flatten", x), 10);
  std::vector<std::vector<float>> images;
  std::vector<std::int32_t> labels;
  for (std::uint64_t index = 0; index < 6; ++index) {
    images.push_back(seeded_image({3, 16, 16}, 1, index));
    labels.push_back(static_cast<std::int32_t>(index));
  }
  const auto trained = [&](std::int64_t micro_batches) {
    const Target target{.batch = 6 / micro_batches,
                        .dtype = Dtype::fp32,
                        .layouts = layouts_for(*device_, Dtype::fp32),
                        .implementation = {}};
    Trainer trainer(plan_training(graph, target, {.accumulate = micro_batches}, *device_), *device_, 1);
    trainer.set_batch(images, labels);
    std::vector<float> found = gradients(trainer);
    found.push_back(static_cast<float>(trainer.loss()));
    return found;
  };
  const std::vector<float> whole = trained(1);
  for (const std::int64_t micro_batches : {2, 3, 6}) {
    EXPECT_LT(relative_error(trained(micro_batches), whole), 1e-5) << micro_batches;
  }
}

TEST_F(Training, MicroBatchesTakeLessForActivations) {
  const Trained tested{"resnet18", 128, 16};
  WorkloadSpec split = train_spec(tested);
  split.options["accumulate"] = "4";
  const auto activations = [&](const WorkloadSpec& wanted) {
    return plan_training(network("resnet18"), wanted, *device_).memory().at_peak[MemoryCategory::activations];
  };
  EXPECT_LT(activations(split), activations(train_spec(tested)) / 2);
}

TEST_F(Training, OptionsSayWhatTheyAccept) {
  const auto refused = [&](const std::string& name, const std::string& value) -> std::string {
    WorkloadSpec wanted = train_spec({"resnet18", 64, 6});
    wanted.options[name] = value;
    try {
      train_options(wanted);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  expect_words(refused("optimizer", "lion"));
  expect_words(refused("accumulate", "4"));
  expect_words(refused("accumulate", "0"));
  expect_words(refused("recompute", "maybe"));
}

TEST_F(Training, NormalisingOverOneValueIsRefused) {
  try {
    plan_training(network("resnet18"), train_spec({"resnet18", 32, 1}), *device_);
    ADD_FAILURE() << "planned";
  } catch (const Unsupported& error) {
    expect_words(error.what());
  }
  EXPECT_NO_THROW(plan_training(network("resnet18"), train_spec({"resnet18", 32, 2}), *device_));
}

TEST_F(Training, BlocksEndWhereOneValueCarriesOn) {
  const Graph graph = network("resnet18").build(64);
  const std::vector<Segment> found = segments(graph);
  ASSERT_GE(found.size(), 8U);
  EXPECT_EQ(found.front().first, 1U);
  EXPECT_EQ(found.back().last, graph.output());
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    EXPECT_EQ(found[i].last + 1, found[i + 1].first);
    for (Graph::Value value = found[i].last + 1; value < graph.nodes().size(); ++value) {
      for (const Graph::Value input : graph[value].inputs) {
        EXPECT_GE(input, found[i].last) << graph[value].name << " reads into the block before";
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
