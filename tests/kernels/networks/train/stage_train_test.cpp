// Training steps of ranks that have a stage of a network each, on threads of one process.
#include "kernels/workloads/network/stage_train.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../modelled_card.h"
#include "../networks_fixture.h"
#include "../onnx/network_files.h"
#include "../tiny_networks.h"
#include "bench/error.h"
#include "kernels/operations/tensor.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench::kernels {
namespace {

std::unique_ptr<Device> cpu_of_rank() {
  return registry<DeviceKind>().find("cpu")->open("cpu");
}

// A built-in network, one of the tiny ones, or a file of the tests.
WorkloadType trained_network(const std::string& name) {
  if (name == "gpt" || name == "classifier") {
    return network_workload(tiny_network(name));
  }
  if (const NetworkType* const network = registry<NetworkType>().find(name)) {
    return network_workload(*network);
  }
  const std::string path = BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data/" + name + ".onnx";
  return network_workload(NetworkSource{
      .name = name,
      .description = "",
      .options = {},
      .build = [graph = onnx::tested_network(path).graph](const WorkloadSpec& /*spec*/) { return graph; }});
}

using Changes = std::map<std::string, std::string>;

WorkloadSpec stage_spec_of(int ranks, int stage, std::int64_t batch, std::int64_t micro_batches,
                           const Changes& changes = {}) {
  WorkloadSpec spec{.mode = "train", .batch = batch, .seed = 3, .options = {}, .ranks = ranks};
  spec.options = {{"image-size", "64"},
                  {"stage", std::to_string(stage)},
                  {"micro-batches", std::to_string(micro_batches)}};
  for (const auto& [name, value] : changes) {
    spec.options[name] = value;
  }
  return spec;
}

struct StageTrainedCase {
  std::string network;
  int most_ranks = 2;
  Changes changes{};
};

class StageTrained : public ::testing::TestWithParam<StageTrainedCase> {};

INSTANTIATE_TEST_SUITE_P(Networks, StageTrained,
                         ::testing::Values(StageTrainedCase{"resnet18", 3},
                                           StageTrainedCase{"mobilenet_v2", 3, {{"recompute", "yes"}}},
                                           StageTrainedCase{"gpt", 4, {{"optimizer", "adam"}}},
                                           StageTrainedCase{"classifier", 3, {{"in-place", "no"}}},
                                           StageTrainedCase{"light_squeezenet", 3, {{"balance", "memory"}}}),
                         [](const auto& instance) { return instance.param.network; });

// Against the whole network's, which the first rank computes; and what each holds.
TEST_P(StageTrained, HasTheNetworksGradientsAndTheMemoryPlanned) {
  const StageTrainedCase& given = GetParam();
  const WorkloadType type = trained_network(given.network);
  for (const auto& [ranks, micro_batches] : {std::pair(2, 1), {2, 6}, {3, 2}, {4, 6}}) {
    if (ranks > given.most_ranks) {
      continue;
    }
    SCOPED_TRACE(std::to_string(ranks) + " ranks, micro-batches: " + std::to_string(micro_batches));
    testing::run_ranks(ranks, [&, parts = micro_batches](RankGroup& group) {
      const auto device = cpu_of_rank();
      const auto configured =
          type.configure(stage_spec_of(group.size(), group.rank(), 12, parts, given.changes));
      const MemoryPlan plan = configured->plan(*device);
      ASSERT_EQ(device->memory().peak(), 0);
      const auto part = configured->make_part(*device, group);
      const Verification verified = part->verify();
      EXPECT_TRUE(verified.passed) << verified.error << " " << verified.detail << verified.not_checked;
      EXPECT_THAT(verified.detail, ::testing::HasSubstr("stage"));
      part->step();
      EXPECT_GE(part->waited_ns(), 0);
      EXPECT_EQ(part->work().samples, 12);
      EXPECT_EQ(device->memory().peak(), plan.peak) << group.rank();
      EXPECT_EQ(device->memory().at_peak(), plan.at_peak) << group.rank();
    });
  }
}

// Nothing that a step reads is left from before it, however often it is taken.
TEST(StageTraining, RepeatsTheSameBitsWithWhatLivesInAStepPoisoned) {
  std::mutex mutex;
  std::map<int, std::vector<std::vector<float>>> known;
  for (int repeat = 0; repeat < 2; ++repeat) {
    testing::run_ranks(3, [&](RankGroup& group) {
      const auto device = cpu_of_rank();
      const auto part = trained_network("resnet18")
                            .configure(stage_spec_of(3, group.rank(), 8, 4, {{"optimizer", "momentum"}}))
                            ->make_part(*device, group);
      auto& staged = dynamic_cast<StageTrainWorkload&>(*part);
      std::vector<std::vector<float>> parameters;
      for (int step = 0; step < 2; ++step) {
        poison_step(staged.runner(), *device);
        staged.step();
      }
      for (std::size_t i = 0; i < staged.runner().plan().parameters.size(); ++i) {
        parameters.push_back(staged.runner().parameter(i));
      }
      const std::lock_guard lock(mutex);
      const auto [at, added] = known.emplace(group.rank(), parameters);
      EXPECT_TRUE(added || at->second == parameters) << group.rank();
      EXPECT_TRUE(std::ranges::none_of(parameters.front(), [](float value) { return std::isnan(value); }));
    });
  }
}

TEST(StageTraining, AStageHoldsTheActivationsOfTheMicroBatchesInFlight) {
  constexpr std::int64_t kMicroBatches = 6;
  const auto device = cpu_of_rank();
  for (int stage = 0; stage < 4; ++stage) {
    NetworkPoint point = read_point(tiny_gpt(), stage_spec_of(4, stage, 12, kMicroBatches));
    point.stage = StagePlace{.stage = stage, .stages = 4, .micro_batches = kMicroBatches};
    point.training = staged(point.training, *point.stage);
    const Program program = plan_stage_training(point, *device).plan.program;
    const auto micro_batch_of = [&](TensorId id) {
      const ProgramTensor& tensor = program.tensors()[id];
      const std::size_t at = tensor.name.rfind(" of micro-batch ");
      const bool held = !tensor.block && tensor.content == Content::activation;
      return held && at != std::string::npos ? std::stoi(tensor.name.substr(at + 16)) : -1;
    };
    std::map<int, std::pair<std::size_t, std::size_t>> held;  // by micro-batch: first and last instruction
    for (std::size_t index = 0; index < program.instructions().size(); ++index) {
      for (const auto& [slot, id] : program.instructions()[index].tensors) {
        held.try_emplace(micro_batch_of(id), index, index).first->second.second = index;
      }
    }
    held.erase(-1);
    EXPECT_EQ(held.size(), static_cast<std::size_t>(kMicroBatches));
    std::int64_t most = 0;
    for (std::size_t index = 0; index < program.instructions().size(); ++index) {
      most = std::max<std::int64_t>(most, std::ranges::count_if(held, [&](const auto& one) {
                                      return one.second.first <= index && index <= one.second.second;
                                    }));
    }
    EXPECT_EQ(most, most_in_flight(stage, 4, kMicroBatches)) << stage;
  }
}

// A message is as long where it is sent as where it is received: its layout is the card's.
TEST(StageTraining, StagesOfACardHandOnWhatTheNextOneReads) {
  constexpr int kStages = 3;
  for (const char* const name : {"resnet18", "gpt"}) {
    SCOPED_TRACE(name);
    ModelledCard card = t4();
    std::vector<StageTraining> stages;
    for (int stage = 0; stage < kStages; ++stage) {
      const NetworkType network =
          name == std::string("gpt") ? tiny_network("gpt") : *registry<NetworkType>().find(name);
      NetworkPoint point = read_point(network, stage_spec_of(kStages, stage, 8, 2));
      point.stage = StagePlace{.stage = stage, .stages = kStages, .micro_batches = 2};
      point.training = staged(point.training, *point.stage);
      stages.push_back(plan_stage_training(point, card));
    }
    // Of a micro-batch, in the order of the passes.
    const auto sizes = [](const StageTraining& stage, PassKind kind, bool sent) {
      std::vector<std::int64_t> bytes;
      for (const StagePass& pass : stage.passes) {
        const auto& tensor = sent ? pass.sent : pass.received;
        if (pass.kind == kind && tensor) {
          bytes.push_back(stage.plan.program.tensors()[*tensor].bytes);
        }
      }
      return bytes;
    };
    for (std::size_t stage = 0; stage + 1 < kStages; ++stage) {
      EXPECT_EQ(sizes(stages[stage], PassKind::forward, true),
                sizes(stages[stage + 1], PassKind::forward, false));
      EXPECT_EQ(sizes(stages[stage + 1], PassKind::backward, true),
                sizes(stages[stage], PassKind::backward, false));
      EXPECT_EQ(sizes(stages[stage], PassKind::forward, true).size(), 2U);
    }
  }
}

TEST(StageTraining, BalancedMemoryTakesLessOnTheRankThatTakesMost) {
  const auto device = cpu_of_rank();
  const WorkloadType type = trained_network("resnet18");
  const auto most = [&](const char* balance) {
    std::int64_t bytes = 0;
    for (int stage = 0; stage < 4; ++stage) {
      const Changes changes{{"balance", balance}, {"optimizer", "adam"}};
      bytes = std::max(bytes, type.configure(stage_spec_of(4, stage, 16, 4, changes))->plan(*device).peak);
    }
    return bytes;
  };
  EXPECT_LT(most("memory"), most("compute"));
}

// Changes a value of what one rank receives from the next one or the one before.
template <int rank_, int from_>
class WrongTrainingMessage final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void exchange(std::span<const Collective> messages) override {
    PassingRanks::exchange(messages);
    for (const Collective& message : messages) {
      if (message.kind == CollectiveKind::receive && rank() == rank_ && message.peer == from_) {
        static_cast<float*>(message.to)[0] += 1;
      }
    }
  }
};

// Some ranks find it: those whose gradients it reaches.
template <class Group>
bool is_found(const std::string& network) {
  std::mutex mutex;
  bool found = false;
  testing::run_ranks(3, [&](RankGroup& right) {
    Group group(right);
    const auto device = cpu_of_rank();
    const auto part =
        trained_network(network).configure(stage_spec_of(3, group.rank(), 4, 2))->make_part(*device, group);
    const Verification verified = part->verify();
    const std::lock_guard lock(mutex);
    found = found || verified.failed();
  });
  return found;
}

TEST(StageTraining, AWrongMessageIsFound) {
  EXPECT_FALSE(is_found<testing::PassingRanks>("gpt"));
  EXPECT_TRUE((is_found<WrongTrainingMessage<1, 0>>("gpt")));  // a result
  EXPECT_TRUE((is_found<WrongTrainingMessage<1, 2>>("gpt")));  // a gradient
  EXPECT_TRUE((is_found<WrongTrainingMessage<2, 0>>("gpt")));  // the sum of a shared table's
}

std::string training_refusal(const std::string& network, int ranks, std::int64_t batch,
                             std::int64_t micro_batches, const Changes& changes = {}) {
  try {
    trained_network(network).configure(stage_spec_of(ranks, 0, batch, micro_batches, changes));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StageTrainingRefusals, AreOneSentence) {
  EXPECT_EQ(training_refusal("resnet18", 4, 8, 8), "accepted");
  expect_words(training_refusal("resnet18", 4, 8, 3));
  expect_words(training_refusal("resnet18", 4, 128, 128));
  expect_words(training_refusal("resnet18", 100, 8, 1));
  expect_words(training_refusal("resnet18", 4, 8, 2, {{"accumulate", "2"}}));
  expect_words(training_refusal("resnet18", 4, 8, 2, {{"balance", "time"}}));
}

// The first rank, which plans a point, is told of what another's stage cannot do.
TEST(StageTrainingRefusals, ABatchNormOfFewValuesIsUnsupportedOnEveryRank) {
  const auto device = cpu_of_rank();
  for (const int stage : {0, 3}) {
    const WorkloadSpec spec = stage_spec_of(4, stage, 2, 2, {{"image-size", "32"}});
    EXPECT_THROW(trained_network("resnet18").configure(spec)->plan(*device), Unsupported);
  }
}

TEST(StageTrainingRefusals, ARecordedStepIsUnsupported) {
  testing::run_ranks(2, [](RankGroup& group) {
    const auto device = cpu_of_rank();
    const WorkloadSpec spec = stage_spec_of(2, group.rank(), 4, 1, {{"launch", "graph"}});
    EXPECT_THROW(trained_network("gpt").configure(spec)->make_part(*device, group), Unsupported);
  });
}

}  // namespace
}  // namespace bench::kernels
