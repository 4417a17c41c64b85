// The cards sweep over a group of threads.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/transfers.h"
#include "sweeps/cards/answer.h"
#include "sweeps/cards/library_memory.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/thread_ranks.h"
#include "tests/sweeps/cards/made_up_network.h"
#include "tests/sweeps/ranks_device.h"

namespace bench::sweeps {
namespace {

using ::testing::ElementsAre;

// Its memory is not the host's: copies cross a bus, and take as long as a step.
class CardDevice final : public testing::PlainDevice, public Transfers {
 public:
  bool crosses_bus() const override { return true; }
  std::vector<int> nodes() const override { return {0}; }
  std::optional<std::string> cannot_hold(const HostMemoryRequest& /*request*/) const override {
    return std::nullopt;
  }
  std::unique_ptr<HostMemory> host_memory(const HostMemoryRequest& request) override {
    class Pinned final : public HostMemory {
     public:
      explicit Pinned(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {}
      std::byte* data() const override { return bytes_.data(); }
      std::int64_t bytes() const override { return static_cast<std::int64_t>(bytes_.size()); }

     private:
      mutable std::vector<std::byte> bytes_;
    };
    EXPECT_EQ(request.kind, HostKind::pinned);
    return std::make_unique<Pinned>(request.bytes);
  }
  void copy(std::span<const Copy> copies) override {
    EXPECT_EQ(copies.front().bytes, 400);
    ++copied;
  }
  std::unique_ptr<CopyQueue> copy_queue() override { return nullptr; }
  void evict(const std::byte* /*data*/, std::int64_t /*bytes*/) override {}
  bool renew(std::byte* /*data*/, std::int64_t /*bytes*/) override { return false; }
  std::int64_t host_bytes_used() const override { return 0; }

  int copied = 0;
};

TEST(CardsSweep, GpusTrainTogetherAndInStagesButRecordNothing) {
  SweepRequest recorded = cards_request({}, 2);
  recorded.workload_options["launch"] = {"graph"};
  RanksDevice processor;
  try {
    cards_type().make(recorded, processor);
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& refused) {
    expect_words(refused.what());
  }
  testing::PlainDevice card;  // its memory is not the host's
  EXPECT_NO_THROW(cards_type().make(cards_request({}, 2), card));
  EXPECT_NO_THROW(cards_type().make(stages_request(), card));
}

// As the program does: the first rank runs the sweep, the others serve.
TEST(CardsSweep, EveryRanksTimesAndMemoryAreInTheNote) {
  MadeUpPart::wrong_rank = -1;
  bench::testing::run_ranks(4, [](RankGroup& group) {
    RanksDevice device;
    SweepRequest request = cards_request({}, 4);
    request.ranks = &group;
    if (group.rank() > 0) {
      cards_type().serve(request, device);
      EXPECT_EQ(device.memory().live().total(), 0);
      return;
    }
    const auto sweep = cards_type().make(request, device);
    for (const SweepPoint& point : sweep->plan().points) {
      const auto workload = point.workload->make(device);
      EXPECT_TRUE(workload->verify().passed) << point.name;
      EXPECT_EQ(workload->timed_step(device), 1'000'000);
      EXPECT_EQ(workload->work().samples, 4.0 * point.spec.ranks);
      const auto note = read_rank_steps(workload->note()->to_json());
      ASSERT_NE(note, nullptr);
      ASSERT_EQ(note->waited_ns.size(), static_cast<std::size_t>(point.spec.ranks));
      EXPECT_EQ(note->waited_ns.back(), 1000.0 * (point.spec.ranks - 1));
      EXPECT_EQ(note->peak_bytes, note->plan_bytes);
      EXPECT_EQ(note->peak_bytes.front(), 800);
      const std::vector<MemoryByCategory> memory = workload->memory_of_ranks();
      ASSERT_EQ(memory.size(), static_cast<std::size_t>(point.spec.ranks));
      EXPECT_EQ(memory.back()[MemoryCategory::weights], 800);
      EXPECT_EQ(memory.back().total(), 800);
    }
  });
}

TEST(CardsSweep, OnCardsTheNotesTellWhatQueueingAndCopyingTake) {
  MadeUpPart::queued = 9e5;
  for (const std::int64_t launches : {999, 1000}) {
    MadeUpPart::launches = launches;
    bench::testing::run_ranks(2, [&](RankGroup& group) {
      CardDevice device;
      SweepRequest request = cards_request({{"cards", "2"}});
      request.ranks = &group;
      if (group.rank() > 0) {
        cards_type().serve(request, device);
        EXPECT_GT(device.copied, 0);
        return;
      }
      const auto sweep = cards_type().make(request, device);
      const auto workload = sweep->plan().points.front().workload->make(device);
      workload->verify();
      workload->timed_step(device);
      const auto note = read_rank_steps(workload->note()->to_json());
      ASSERT_NE(note, nullptr);
      EXPECT_THAT(note->copied_ns, ElementsAre(1e6, 1e6));
      // A host that queues more waits for the card.
      EXPECT_EQ(note->queued_ns, launches < 1000 ? std::vector<double>(2, 9e5) : std::vector<double>());
    });
  }
  MadeUpPart::queued = 0;
  MadeUpPart::launches = 1;
}

// The parts take a millisecond each; rank 1 computes for one less its wait of a microsecond.
TEST(CardsSweep, ARankIsIdleWhereItDoesNotWorkOnItsOwnStage) {
  MadeUpPart::wrong_rank = -1;
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RanksDevice device;
    SweepRequest request = stages_request({{"cards", "2"}, {"micro-batches", "4"}});
    request.ranks = &group;
    if (group.rank() > 0) {
      return cards_type().serve(request, device);
    }
    const auto sweep = cards_type().make(request, device);
    const SweepPoint& point = sweep->plan().points.front();
    const auto workload = point.workload->make(device);
    const Verification verified = workload->verify();
    EXPECT_TRUE(verified.passed);
    EXPECT_THAT(verified.detail, ::testing::HasSubstr("the last of 2 ranks"));
    EXPECT_EQ(workload->work().samples, 4);  // a batch is of all ranks
    EXPECT_EQ(workload->work().flops, 2 * 1e6);
    workload->timed_step(device);
    const auto note = read_rank_steps(workload->note()->to_json());
    ASSERT_NE(note, nullptr);
    EXPECT_EQ(note->step_ns[0], note->step_ns[1]);
    EXPECT_EQ(note->waited_ns[1], 1000);
    EXPECT_THAT(note->activation_bytes, ElementsAre(240, 240));
  });
}

TEST(CardsSweep, EveryRankIsAskedForItsOwnStage) {
  WorkloadSpec spec;
  spec.ranks = 3;
  EXPECT_FALSE(spec_of_rank(spec, 2).options.contains("stage"));
  split_layers(spec, 4);
  EXPECT_TRUE(splits_layers(spec));
  EXPECT_EQ(spec_of_rank(spec, 2).options.at("stage"), "2");
  EXPECT_EQ(spec_of_rank(spec, 2).options.at("micro-batches"), "4");
  EXPECT_FALSE(spec.options.contains("stage"));
}

TEST(CardsSweep, AWrongAnswerNamesItsRank) {
  MadeUpPart::wrong_rank = 1;
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RanksDevice device;
    SweepRequest request = cards_request({{"cards", "2"}});
    request.ranks = &group;
    if (group.rank() > 0) {
      return cards_type().serve(request, device);
    }
    const auto sweep = cards_type().make(request, device);
    const Verification wrong = sweep->plan().points.front().workload->make(device)->verify();
    EXPECT_TRUE(wrong.failed());
    EXPECT_THAT(wrong.detail, ::testing::HasSubstr("wrong on rank 1"));
  });
  MadeUpPart::wrong_rank = -1;
}

TEST(CardsSweep, ARankWithoutMemoryIsNamedAndNoneMakesItsPart) {
  for (const bool split : {false, true}) {
    bench::testing::run_ranks(2, [split](RankGroup& group) {
      RanksDevice device;
      if (group.rank() == 1) {
        device.memory().set_cap(100);
      }
      SweepRequest request = split ? stages_request({{"cards", "2"}}) : cards_request({{"cards", "2"}});
      request.ranks = &group;
      if (group.rank() > 0) {
        cards_type().serve(request, device);
        EXPECT_EQ(device.memory().peak(), 0);
        return;
      }
      const auto sweep = cards_type().make(request, device);
      try {
        sweep->plan().points.front().workload->make(device);
        ADD_FAILURE();
      } catch (const OutOfMemory& error) {
        EXPECT_STREQ(error.what(), "rank 1 needs 800 B (predicted), its memory cap is 100 B");
      }
      EXPECT_EQ(device.memory().peak(), 0);
    });
  }
}

// Without a team, as in a dry run: of the stage that needs most.
TEST(CardsSweep, AStagesPlanIsThatOfTheRankThatNeedsMost) {
  WorkloadType type = network();
  type.configure = [](const WorkloadSpec& spec) -> std::shared_ptr<const ConfiguredWorkload> {
    WorkloadSpec grown = spec;
    grown.batch *= spec.options.contains("stage") ? 1 + std::stoll(spec.options.at("stage")) : 1;
    return std::make_shared<MadeUpNetwork>(grown);
  };
  SweepRequest request = stages_request({{"cards", "2"}});
  request.workload = &type;
  RanksDevice device;
  const auto sweep = cards_type().make(request, device);
  EXPECT_EQ(sweep->plan().points.front().workload->plan(device).peak, 1600);
}

TEST(CardsSweep, TheLibrarysMemoryIsMeasuredOnEveryRank) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RanksDevice device;
    RankTeam team(
        group, {.plan = [](RankGroup&, std::size_t) { return RankNeed{}; },
                .make = [&](RankGroup& ranks, std::size_t) { return library_part(ranks, device, 1 << 20); }});
    if (group.rank() > 0) {
      return team.serve();
    }
    const LibraryMemory memory = measure_library(team, 0, 1 << 20, {1 << 20, 1 << 20});
    EXPECT_THAT(memory.joining, ElementsAre(1 << 20, 1 << 20));
    EXPECT_EQ(memory.summing.size(), 2U);
    EXPECT_TRUE(measure_library(team, 0, 1 << 20, {}).joining.empty());
  });
}

}  // namespace
}  // namespace bench::sweeps
