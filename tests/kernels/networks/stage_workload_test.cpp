// Ranks that have a stage of a network each, on threads of one process.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/error.h"
#include "kernels/networks/models/network.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/stage.h"
#include "networks_fixture.h"
#include "onnx/network_files.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"
#include "tiny_networks.h"

namespace bench::kernels {
namespace {

std::unique_ptr<Device> own_cpu() {
  return registry<DeviceKind>().find("cpu")->open("cpu");
}

// A built-in network, one of the tiny ones, or a file of the tests.
WorkloadType staged_network(const std::string& name) {
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

WorkloadSpec stage_spec(int ranks, int stage, std::int64_t batch, std::int64_t micro_batches) {
  WorkloadSpec spec{.mode = "infer", .batch = batch, .seed = 3, .options = {}, .ranks = ranks};
  spec.options = {{"image-size", "32"},
                  {"stage", std::to_string(stage)},
                  {"micro-batches", std::to_string(micro_batches)}};
  return spec;
}

struct StagedCase {
  std::string network;
  int most_ranks;
};

class Staged : public ::testing::TestWithParam<StagedCase> {};

INSTANTIATE_TEST_SUITE_P(Networks, Staged,
                         ::testing::Values(StagedCase{"resnet18", 4}, StagedCase{"mobilenet_v2", 3},
                                           StagedCase{"gpt", 4}, StagedCase{"classifier", 3},
                                           StagedCase{"light_squeezenet", 4},
                                           StagedCase{"dyn_distilbert-base", 2}),
                         [](const auto& instance) {
                           std::string name = instance.param.network;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(Staged, TheLastRankHasTheNetworksAnswersAndEachTheMemoryPlanned) {
  const WorkloadType type = staged_network(GetParam().network);
  const auto keeps_answers = type.configure(stage_spec(1, 0, 6, 1));  // the reference computes them once
  for (int ranks = 1; ranks <= GetParam().most_ranks; ++ranks) {
    for (const std::int64_t micro_batches : {1, 2, 6}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, micro-batches: " + std::to_string(micro_batches));
      testing::run_ranks(ranks, [&](RankGroup& group) {
        const auto device = own_cpu();
        const auto configured = type.configure(stage_spec(ranks, group.rank(), 6, micro_batches));
        const MemoryPlan plan = configured->plan(*device);
        ASSERT_EQ(device->memory().peak(), 0);
        const auto part = configured->make_part(*device, group);
        EXPECT_EQ(device->memory().peak(), plan.peak) << group.rank();
        EXPECT_EQ(device->memory().at_peak(), plan.at_peak) << group.rank();
        const Verification verified = part->verify();
        EXPECT_TRUE(verified.passed) << verified.detail;
        EXPECT_EQ(verified.error > 0, group.rank() + 1 == ranks);  // compared there alone
        part->step();
        EXPECT_GE(part->waited_ns(), 0);
        EXPECT_EQ(part->work().samples, 6);
        EXPECT_EQ(device->memory().peak(), plan.peak) << group.rank();
      });
    }
  }
}

TEST(StagedMemory, WeightsAreSharedOutAndMicroBatchesTakeLess) {
  const auto device = own_cpu();
  const WorkloadType type = staged_network("resnet18");
  const auto planned = [&](int ranks, int stage, std::int64_t micro_batches) {
    return type.configure(stage_spec(ranks, stage, 64, micro_batches))->plan(*device).in_step;
  };
  const MemoryByCategory whole = planned(1, 0, 1);
  std::int64_t weights = 0;
  for (int stage = 0; stage < 3; ++stage) {
    const MemoryByCategory own = planned(3, stage, 1);
    weights += own[MemoryCategory::weights];
    EXPECT_LT(own.total(), whole.total());
    const MemoryByCategory pipelined = planned(3, stage, 4);
    EXPECT_LT(pipelined.total() - pipelined[MemoryCategory::weights],
              own.total() - own[MemoryCategory::weights]);
  }
  // Each stage's algorithms are chosen by themselves: Winograd's weights are larger.
  EXPECT_NEAR(static_cast<double>(weights), static_cast<double>(whole[MemoryCategory::weights]),
              0.3 * static_cast<double>(whole[MemoryCategory::weights]));
}

// Changes a value of the messages that the second rank receives.
class WrongMessage final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void exchange(std::span<const Collective> messages) override {
    PassingRanks::exchange(messages);
    for (const Collective& message : messages) {
      if (message.kind == CollectiveKind::receive && rank() == 1) {
        static_cast<float*>(message.to)[0] += 1;
      }
    }
  }
};

// The first rank sends its first message in the place of every one.
class FirstMessageAgain final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void exchange(std::span<const Collective> messages) override {
    std::vector<Collective> again(messages.begin(), messages.end());
    for (Collective& message : again) {
      if (message.kind == CollectiveKind::send && rank() == 0) {
        if (first_.empty()) {
          const auto* const bytes = static_cast<const std::byte*>(message.from);
          first_.assign(bytes, bytes + message.bytes);
        }
        message.from = first_.data();
      }
    }
    PassingRanks::exchange(again);
  }

 private:
  std::vector<std::byte> first_;
};

// Sends nothing before it has received, as a library may that makes no progress by itself.
class LateSend final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  void exchange(std::span<const Collective> messages) override {
    for (const CollectiveKind kind : {CollectiveKind::receive, CollectiveKind::send}) {
      for (const Collective& message : messages) {
        if (message.kind == kind) {
          run(message);
        }
      }
    }
  }
};

template <class Group>
void expect_found(std::int64_t batch, std::int64_t micro_batches) {
  const WorkloadType type = staged_network("gpt");
  testing::run_ranks(3, [&](RankGroup& right) {
    Group group(right);
    const auto device = own_cpu();
    const auto part =
        type.configure(stage_spec(3, group.rank(), batch, micro_batches))->make_part(*device, group);
    const Verification verified = part->verify();
    EXPECT_EQ(verified.failed(), group.rank() == 2) << verified.detail;
    if (group.rank() == 2) {
      EXPECT_THAT(verified.detail, ::testing::HasSubstr("is off by"));
    }
  });
}

TEST(StagedAnswers, AWrongMessageIsFound) {
  expect_found<WrongMessage>(4, 1);
  expect_found<WrongMessage>(4, 4);
}

TEST(StagedAnswers, AMicroBatchInThePlaceOfAnotherIsFound) {
  expect_found<FirstMessageAgain>(4, 4);
  expect_found<FirstMessageAgain>(6, 2);
}

// The result lies where it was until it is sent.
TEST(StagedAnswers, AreRightWhereMessagesLeaveLate) {
  const WorkloadType type = staged_network("gpt");
  testing::run_ranks(3, [&](RankGroup& right) {
    LateSend group(right);
    const auto device = own_cpu();
    const auto part = type.configure(stage_spec(3, group.rank(), 4, 4))->make_part(*device, group);
    const Verification verified = part->verify();
    EXPECT_TRUE(verified.passed) << verified.detail;
  });
}

std::string stage_refusal(const std::string& network, int ranks, std::int64_t batch,
                          std::int64_t micro_batches) {
  WorkloadSpec spec = stage_spec(ranks, 0, batch, 1);
  spec.options["micro-batches"] = std::to_string(micro_batches);
  try {
    staged_network(network).configure(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StagedRefusals, AreOneSentence) {
  EXPECT_EQ(stage_refusal("resnet18", 4, 8, 8), "accepted");
  expect_words(stage_refusal("resnet18", 4, 8, 3));
  expect_words(stage_refusal("resnet18", 4, 8, 0));
  expect_words(stage_refusal("resnet18", 100, 8, 1));
}

TEST(StagedRefusals, ARecordedStepIsUnsupported) {
  testing::run_ranks(2, [](RankGroup& group) {
    const auto device = own_cpu();
    WorkloadSpec spec = stage_spec(2, group.rank(), 4, 1);
    spec.options["launch"] = "graph";
    EXPECT_THROW(staged_network("gpt").configure(spec)->make_part(*device, group), Unsupported);
  });
}

}  // namespace
}  // namespace bench::kernels
