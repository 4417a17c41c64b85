// The cards sweep: its points, its run over a group of threads, and its findings.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/transfers.h"
#include "sweeps/cards/findings.h"
#include "sweeps/cards/library_memory.h"
#include "sweeps/cards/planned.h"
#include "sweeps/cards/stage_findings.h"
#include "sweeps/cards/workload.h"
#include "tests/bench/support/thread_ranks.h"
#include "tests/sweeps/plain_device.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class RanksDevice final : public testing::PlainDevice {
 public:
  bool host_accessible() const override { return true; }
};

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

// Takes a millisecond, and waits for as many microseconds as its rank is.
class MadeUpPart final : public RankWorkload {
 public:
  MadeUpPart(Device& device, std::int64_t bytes, RankGroup* ranks)
      : memory_(device.allocate(bytes, MemoryCategory::weights)), ranks_(ranks) {}
  void step() override {}
  double waited_ns() const override { return 1000.0 * (ranks_ == nullptr ? 0 : ranks_->rank()); }
  double queued_ns() const override { return queued; }
  Verification verify() override {
    Verification verification;
    verification.passed = ranks_ == nullptr || ranks_->rank() != wrong_rank;
    verification.error = verification.passed ? 0 : 0.5;
    verification.tolerance = 1e-5;
    return verification;
  }
  Work work() const override { return {.samples = 4, .flops = 1e6, .launches = launches}; }

  static inline int wrong_rank = -1;
  static inline double queued = 0;
  static inline std::int64_t launches = 1;

 private:
  Buffer memory_;
  RankGroup* ranks_;
};

class MadeUpNetwork final : public ConfiguredWorkload {
 public:
  explicit MadeUpNetwork(WorkloadSpec spec) : spec_(std::move(spec)) {}
  MemoryPlan plan(Device& /*device*/) const override {
    MemoryPlan plan;
    plan.peak = 100 * spec_.batch;
    plan.at_peak[MemoryCategory::input] = 50 * spec_.batch;
    return plan;
  }
  std::vector<MemoryMoment> timeline(Device& /*device*/) const override {
    MemoryMoment moment{.name = "forward", .bytes = {}};
    moment.bytes[MemoryCategory::activations] = 30 * spec_.batch;
    return {moment, {}};
  }
  std::unique_ptr<Workload> make(Device& device) const override {
    return std::make_unique<MadeUpPart>(device, 100 * spec_.batch, nullptr);
  }
  std::unique_ptr<RankWorkload> make_part(Device& device, RankGroup& ranks) const override {
    EXPECT_EQ(ranks.size(), spec_.ranks);
    return std::make_unique<MadeUpPart>(device, 100 * spec_.batch, &ranks);
  }

 private:
  WorkloadSpec spec_;
};

const WorkloadType& network() {
  static const WorkloadType type{
      .name = "made_up",
      .kind = "network",
      .description = "",
      .modes = {"infer", "train"},
      .options = {},
      .configure = [](const WorkloadSpec& spec) -> std::shared_ptr<const ConfiguredWorkload> {
        return std::make_shared<MadeUpNetwork>(spec);
      }};
  return type;
}

const SweepType& cards_type() {
  return *registry<SweepType>().find("cards");
}

SweepRequest cards_request(const std::map<std::string, std::string>& changes = {}, std::size_t ranks = 2) {
  SweepRequest request(steady_clock());
  request.workload = &network();
  request.modes = {cards_type().default_mode};
  for (const CommandOption& option : cards_type().options) {
    request.sweep_options[option.name] = option.default_value;
  }
  for (const auto& [name, value] : changes) {
    request.sweep_options[name] = value;
  }
  request.places.resize(ranks, RankPlace{.host = "a", .cores = {0, 1, 2, 3}});
  return request;
}

std::vector<std::string> names_of(const SweepRequest& request) {
  RanksDevice device;
  std::vector<std::string> names;
  const auto sweep = cards_type().make(request, device);
  for (const SweepPoint& point : sweep->plan().points) {
    names.push_back(point.name);
  }
  return names;
}

std::string refusal(const SweepRequest& request) {
  try {
    names_of(request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CardsPlan, GoesByPowersOfTwoToAllThatWereStarted) {
  const std::string start = "cards/made_up/train/fp32/ranks:";
  EXPECT_THAT(names_of(cards_request({}, 6)), ElementsAre(start + "1/batch:8", start + "2/batch:8",
                                                          start + "4/batch:8", start + "6/batch:8"));
  EXPECT_THAT(names_of(cards_request({{"cards", "1,3"}}, 4)),
              ElementsAre(start + "1/batch:8", start + "3/batch:8"));
  SweepRequest strong = cards_request({{"scaling", "strong"}}, 4);
  strong.batches = {16};
  EXPECT_THAT(names_of(strong), ElementsAre(start + "1/batch:16", start + "2/batch:8", start + "4/batch:4"));
  strong.batches = {16, 32};
  RanksDevice device;
  const auto sweep = cards_type().make(strong, device);
  for (const SweepPoint& point : sweep->plan().points) {
    EXPECT_EQ(point.is_reference, point.name == start + "1/batch:16") << point.name;
  }
}

SweepRequest stages_request(std::map<std::string, std::string> changes = {}, std::size_t ranks = 2) {
  changes.emplace("split", "layers");
  SweepRequest request = cards_request(changes, ranks);
  request.modes = {"infer"};
  for (const auto& [name, value] : changes) {
    request.given_sweep_options.insert(name);
  }
  return request;
}

// One rank and the most, in the end with the most micro-batches.
TEST(CardsPlan, TheTwoPointsThatAShortRunNeedsAreKnown) {
  const auto needed = [](const SweepRequest& request) {
    RanksDevice device;
    std::vector<std::string> names;
    const auto sweep = cards_type().make(request, device);
    for (const SweepPoint& point : sweep->plan().points) {
      if (point.is_needed) {
        names.push_back(point.name);
      }
    }
    return names;
  };
  const std::string start = "cards/made_up/train/fp32/ranks:";
  SweepRequest weak = cards_request({}, 4);
  weak.batches = {4, 8};
  EXPECT_THAT(needed(weak), ElementsAre(start + "1/batch:4", start + "4/batch:4"));
  SweepRequest strong = cards_request({{"scaling", "strong"}}, 4);
  strong.batches = {16, 64};
  EXPECT_THAT(needed(strong), ElementsAre(start + "1/batch:16", start + "4/batch:4"));
  EXPECT_THAT(needed(cards_request({{"cards", "2,3"}}, 4)), ElementsAre(start + "3/batch:8"));
  EXPECT_THAT(needed(stages_request({{"micro-batches", "1,4"}}, 3)),
              ElementsAre("cards/made_up/infer/fp32/ranks:1/batch:8",
                          "cards/made_up/infer/fp32/split:layers/ranks:3/micro-batches:4/batch:8"));
}

TEST(CardsPlan, RefusesInOneSentence) {
  EXPECT_THAT(refusal(cards_request({{"cards", "1,4"}})), AllOf(HasSubstr("--cards"), HasSubstr("up to 2")));
  EXPECT_THAT(refusal(cards_request({{"bucket", "0B"}})), HasSubstr("--bucket"));
  EXPECT_THAT(refusal(cards_request({{"scaling", "both"}})), HasSubstr("--scaling"));
  for (const auto& [option, value] : {std::pair("scaling", "weak,strong"), std::pair("split", "none,layers"),
                                      std::pair("shard", "none,optimizer")}) {
    EXPECT_THAT(refusal(cards_request({{option, value}})),
                AllOf(HasSubstr(fmt::format("--{}: '{}' was given", option, value)), HasSubstr(" or ")));
  }
  EXPECT_THAT(refusal(cards_request({{"loader", "no/such.json"}})),
              AllOf(HasSubstr("--loader"), HasSubstr("no/such.json")));
  SweepRequest odd = cards_request({{"scaling", "strong"}});
  odd.batches = {7};
  EXPECT_THAT(refusal(odd), AllOf(HasSubstr("--batch"), HasSubstr("cannot share")));
  SweepRequest half = cards_request();
  half.dtypes = {Dtype::bf16};
  EXPECT_THAT(refusal(half), HasSubstr("--dtype"));
  SweepRequest inference = cards_request();
  inference.modes = {"infer"};
  EXPECT_THAT(refusal(inference), AllOf(HasSubstr("--mode"), HasSubstr("train")));
  WorkloadType untrained = network();
  untrained.modes = {"infer"};
  untrained.missing_modes = {{"train", "resize has no gradient"}};
  SweepRequest fixed = cards_request();
  fixed.workload = &untrained;
  EXPECT_THAT(refusal(fixed), AllOf(HasSubstr("cannot be trained"), HasSubstr("resize has no gradient")));
}

TEST(CardsPlan, LayersOverRanksTakeTheWholeBatchInMicroBatches) {
  const std::string start = "cards/made_up/infer/fp32/";
  EXPECT_THAT(names_of(stages_request({{"micro-batches", "1,4"}}, 3)),
              ElementsAre(start + "ranks:1/batch:8", start + "split:layers/ranks:2/micro-batches:1/batch:8",
                          start + "split:layers/ranks:2/micro-batches:4/batch:8",
                          start + "split:layers/ranks:3/micro-batches:1/batch:8",
                          start + "split:layers/ranks:3/micro-batches:4/batch:8"));
  RanksDevice device;
  const auto sweep = cards_type().make(stages_request({{"micro-batches", "4"}}), device);
  const SweepPoint& point = sweep->plan().points.back();
  EXPECT_EQ(point.params.at("split"), "layers");
  EXPECT_EQ(point.params.at("micro-batches"), 4);
  EXPECT_FALSE(point.params.contains("bucket"));
  EXPECT_FALSE(point.params.contains("stage"));
  EXPECT_EQ(read_cards_params(point.params).value().samples(), 8);
}

SweepRequest training_stages_request(const std::map<std::string, std::string>& changes = {}) {
  SweepRequest request = stages_request(changes);
  request.modes = {"train"};
  return request;
}

TEST(CardsPlan, StagesThatTrainNameTheirBalanceAndHaveNoBuckets) {
  const std::string start = "cards/made_up/train/fp32/";
  EXPECT_THAT(names_of(training_stages_request({{"micro-batches", "4"}, {"balance", "memory"}})),
              ElementsAre(start + "ranks:1/batch:8",
                          start + "split:layers/balance:memory/ranks:2/micro-batches:4/batch:8"));
  RanksDevice device;
  const auto sweep = cards_type().make(training_stages_request({{"balance", "memory"}}), device);
  const SweepPoint& point = sweep->plan().points.back();
  EXPECT_EQ(point.params.at("balance"), "memory");
  EXPECT_FALSE(point.params.contains("bucket"));
  EXPECT_EQ(read_cards_params(point.params).value().balance, "memory");
}

TEST(CardsPlan, RefusesLayersInOneSentence) {
  EXPECT_EQ(refusal(stages_request()), "accepted");
  EXPECT_EQ(refusal(stages_request({{"scaling", "strong"}})), "accepted");
  EXPECT_EQ(refusal(training_stages_request({{"balance", "memory"}})), "accepted");
  SweepRequest both = stages_request();
  both.modes = {"infer", "train"};
  EXPECT_THAT(refusal(both), AllOf(HasSubstr("--mode: 'infer,train'"), HasSubstr("train or infer")));
  WorkloadType fixed = network();
  fixed.modes = {"infer"};
  SweepRequest untrained = training_stages_request();
  untrained.workload = &fixed;
  EXPECT_THAT(refusal(untrained), HasSubstr("cannot be trained"));
  EXPECT_THAT(refusal(stages_request({{"balance", "memory"}})),
              AllOf(HasSubstr("--balance"), HasSubstr("--mode train")));
  EXPECT_THAT(refusal(training_stages_request({{"balance", "time"}})), HasSubstr("--balance"));
  EXPECT_THAT(refusal(training_stages_request({{"shard", "optimizer"}})),
              AllOf(HasSubstr("--shard"), HasSubstr("--split layers")));
  EXPECT_THAT(refusal(stages_request({{"shard", "optimizer"}})),
              AllOf(HasSubstr("--shard"), HasSubstr("--split layers")));
  EXPECT_THAT(refusal(stages_request({{"scaling", "weak"}})), HasSubstr("--scaling"));
  for (const auto& [option, value] : {std::pair("bucket", "1MiB"), std::pair("loader", "w.json")}) {
    EXPECT_THAT(refusal(stages_request({{option, value}})),
                AllOf(HasSubstr(option), HasSubstr("says nothing of --split layers")));
  }
  EXPECT_THAT(refusal(stages_request({{"split", "samples"}})), HasSubstr("--split"));
  EXPECT_THAT(refusal(stages_request({{"micro-batches", "0"}})), HasSubstr("--micro-batches"));
  for (const auto& [option, value] : {std::pair("micro-batches", "4"), std::pair("balance", "memory")}) {
    SweepRequest unsplit = cards_request({{option, value}});
    unsplit.given_sweep_options = {option};
    EXPECT_THAT(refusal(unsplit), AllOf(HasSubstr(option), HasSubstr("belongs to --split layers")));
  }
  WorkloadType operation = network();
  operation.kind = "operation";
  SweepRequest layerless = stages_request();
  layerless.workload = &operation;
  EXPECT_THAT(refusal(layerless), HasSubstr("needs a network"));
}

TEST(CardsSweep, GpusTrainTogetherAndInStagesButRecordNothing) {
  SweepRequest recorded = cards_request({}, 2);
  recorded.workload_options["launch"] = {"graph"};
  EXPECT_THAT(refusal(recorded), HasSubstr("--launch: 'graph' was given"));
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
    EXPECT_THAT(verified.detail, HasSubstr("the last of 2 ranks"));
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
    EXPECT_THAT(wrong.detail, HasSubstr("wrong on rank 1"));
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

// Three rounds of steps of so many milliseconds, each this much longer or shorter by round.
void add_rounds(MeasuredPoint& point, double step_ms, const std::shared_ptr<const RankSteps>& note,
                const std::vector<double>& by_round = {1, 1, 1}) {
  for (std::size_t round = 0; round < by_round.size(); ++round) {
    point.samples_ns.push_back(std::llround(1e6 * step_ms * by_round[round]));
    point.rounds.push_back({.samples = 1, .round = static_cast<std::int64_t>(round)});
    point.notes.push_back(note);
  }
  point.stats.median_ns = 1e6 * step_ms;
  point.stats.ci95_ns = Interval{0.99e6 * step_ms, 1.01e6 * step_ms};
}

// Steps of 100 ms alone; of several ranks longer, of which a part is waited, and one rank slower.
ResultDocument made_up_steps(const std::vector<double>& step_ms, double waited_ms, double slower = 1,
                             const std::vector<double>& by_round = {1, 1, 1}) {
  ResultDocument document;
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    const int ranks = 1 << i;
    MeasuredPoint point;
    point.name = fmt::format("p{}", ranks);
    point.parsed = CardsParams{.ranks = ranks, .batch = 8};
    auto note = std::make_shared<RankSteps>();
    for (int rank = 0; rank < ranks; ++rank) {
      const double own = 1e6 * (step_ms[i] - (ranks > 1 ? waited_ms : 0));
      const bool slow = ranks > 1 && rank == ranks - 1;
      note->step_ns.push_back(1e6 * step_ms[i]);
      note->waited_ns.push_back(1e6 * step_ms[i] - (slow || ranks == 1 ? own : own / slower));
      note->plan_bytes.push_back(1 << 20);
      note->peak_bytes.push_back(1 << 20);
    }
    add_rounds(point, step_ms[i], note, ranks == 1 ? std::vector<double>{1, 1, 1} : by_round);
    document.benchmarks.push_back(point);
  }
  return document;
}

// What each rank computes and waits, by round.
void compute_by_round(MeasuredPoint& point, const std::vector<double>& own_ms,
                      const std::vector<double>& waited_ms) {
  std::size_t sample = 0;
  for (std::size_t round = 0; round < point.rounds.size(); ++round) {
    for (std::int64_t i = 0; i < point.rounds[round].samples; ++i, ++sample) {
      const auto& before = dynamic_cast<const RankSteps&>(*point.notes[sample]);
      auto note = std::make_shared<RankSteps>();
      note->step_ns.assign(before.step_ns.size(), 1e6 * (own_ms[round] + waited_ms[round]));
      note->waited_ns.assign(before.step_ns.size(), 1e6 * waited_ms[round]);
      note->plan_bytes = before.plan_bytes;
      note->peak_bytes = before.peak_bytes;
      point.notes[sample] = note;
    }
  }
}

const Finding& named(const std::vector<Finding>& findings, const std::string& name) {
  const auto at = std::ranges::find(findings, name, &Finding::name);
  EXPECT_NE(at, findings.end()) << name;
  return *at;
}

CardsSetup one_host(int ranks, int cores) {
  return {.ranks = {.hosts = std::vector<std::string>(static_cast<std::size_t>(ranks), "a"),
                    .near = ranks,
                    .cores = cores}};
}

TEST(CardsFindings, EfficiencyAndWhatItIsLostTo) {
  const auto findings = cards_findings(made_up_steps({100, 125}, 20, 1, {0.99, 1, 1.01}), one_host(2, 2));
  const Finding& efficiency = named(findings, "efficiency/ranks:2/batch:8");
  EXPECT_NEAR(efficiency.value.value(), 0.8, 1e-9);
  EXPECT_TRUE(efficiency.ci95);
  EXPECT_THAT(efficiency.claim,
              AllOf(HasSubstr("1.60 times"), HasSubstr("efficiency of 80"), HasSubstr("waits 20")));
  EXPECT_THAT(efficiency.claim,
              ::testing::ContainsRegex("efficiency of 80(\\.[0-9])? (± [0-9.]+|\\([0-9.]+ to [0-9.]+\\)) %"));
  EXPECT_THAT(named(findings, "limit").claim,
              AllOf(HasSubstr("The collective limits 2 ranks"),
                    HasSubstr("takes 25.0 ms longer than alone, 20.0 ms of it waiting")));
  EXPECT_EQ(named(findings, "cards").value, 2);
  EXPECT_THAT(named(findings, "cards").claim,
              AllOf(HasSubstr("effective batch is 16"), HasSubstr("learning rate")));
  EXPECT_THAT(named(findings, "memory").claim, HasSubstr("as planned on every rank"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 125}, 2), one_host(2, 2)), "limit").claim,
              HasSubstr("The host, which the ranks share, limits"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 101}, 1), one_host(2, 2)), "limit").claim,
              HasSubstr("lose nothing"));
}

TEST(CardsFindings, ACardsHostOrBusThatTakesAsLongAsAStepLimits) {
  const auto limit = [](double queued_ms, double copied_ms) {
    ResultDocument document = made_up_steps({100, 125}, 20);
    Json note = document.benchmarks.back().notes.front()->to_json();
    note["queued_ns"] = {1e6, 1e6 * queued_ms};
    note["copied_ns"] = {1e6 * copied_ms, 1e6};
    document.benchmarks.back().notes.front() = read_rank_steps(note);
    return named(cards_findings(document, one_host(2, 2)), "limit");
  };
  EXPECT_THAT(limit(100, 100).claim, HasSubstr("The collective limits 2 ranks"));
  const Finding launch = limit(120, 100);
  EXPECT_THAT(launch.claim, AllOf(HasSubstr("Launching limits 2 ranks"), HasSubstr("takes 120 ms"),
                                  HasSubstr("the step 125 ms")));
  EXPECT_NEAR(launch.value.value(), 0.96, 1e-9);
  EXPECT_EQ(launch.details.at("limit"), "launch");
  EXPECT_GT(launch.headline, 0);
  EXPECT_THAT(limit(120, 250).claim,
              AllOf(HasSubstr("The bus limits 2 ranks"), HasSubstr("takes 250 ms, a step 125 ms")));
}

// A rank may wait longer than a step is longer: it computes less than alone.
TEST(CardsFindings, ThePartThatLimitsIsNoMoreThanTheWhole) {
  const Finding limit = named(cards_findings(made_up_steps({100, 125}, 40), one_host(2, 2)), "limit");
  EXPECT_EQ(limit.value, 1);
  EXPECT_THAT(limit.claim, HasSubstr("a step takes 25.0 ms longer than alone, all of it waiting"));
}

TEST(CardsFindings, WhatTheIntervalsDoNotDecideIsNotSignificant) {
  // Two ranks give 1.1 to 2.3 times as much, by round; 1.5 times would pay.
  const auto findings = cards_findings(made_up_steps({100, 125}, 20, 1, {0.7, 1, 1.45}), one_host(2, 2));
  const Finding& cards = named(findings, "cards");
  EXPECT_FALSE(cards.value);
  EXPECT_THAT(cards.claim,
              AllOf(HasSubstr("It is not significant whether 2 ranks pay"), HasSubstr("1.60 times ("),
                    HasSubstr("1.50 times would pay [give a larger --time-budget]")));
  ResultDocument noisy = made_up_steps({100, 125}, 15);
  noisy.benchmarks.back().stats.ci95_ns = Interval{105e6, 150e6};
  compute_by_round(noisy.benchmarks.back(), {90, 110, 135}, {15, 15, 15});
  EXPECT_THAT(named(cards_findings(noisy, one_host(2, 2)), "limit").claim,
              HasSubstr("Not significant what limits 2 ranks"));
  // A step that varies because it waits now shorter, now longer.
  ResultDocument waits = made_up_steps({100, 125}, 25);
  waits.benchmarks.back().stats.ci95_ns = Interval{105e6, 150e6};
  compute_by_round(waits.benchmarks.back(), {99, 100, 101}, {5, 25, 50});
  EXPECT_THAT(named(cards_findings(waits, one_host(2, 2)), "limit").claim,
              HasSubstr("The collective limits 2 ranks"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110, 125}, 5, 1), one_host(4, 4)), "cards").claim,
              HasSubstr("4 ranks pay, the most that were started"));
  ResultDocument one_round = made_up_steps({100, 125}, 20);
  for (MeasuredPoint& point : one_round.benchmarks) {
    point.samples_ns.resize(1);
    point.rounds.resize(1);
    point.notes.resize(1);
    point.stats.ci95_ns.reset();
  }
  EXPECT_THAT(named(cards_findings(one_round, one_host(2, 2)), "cards").claim, HasSubstr("not significant"));
  EXPECT_THAT(named(cards_findings(one_round, one_host(2, 2)), "balance").claim,
              HasSubstr("No rank is significantly slower"));
}

TEST(CardsFindings, ARankThatDoesNotPayIsNotAdvised) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 4));
  EXPECT_EQ(named(findings, "cards").value, 2);  // four give 2.1 times, two 1.8
  EXPECT_EQ(named(cards_findings(made_up_steps({100, 190}, 5), one_host(2, 2)), "cards").value, 1);
}

TEST(CardsFindings, RanksThatTakeTurnsAreAWarningAndTheLimit) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 2));
  const Finding& ranks = named(findings, "ranks");
  EXPECT_THAT(ranks.claim, AllOf(StartsWith("Warning: 4 ranks of 1 thread take turns on the 2 cores"),
                                 HasSubstr("[start 2 ranks a host]")));
  const Finding& limit = named(findings, "limit");
  EXPECT_THAT(limit.claim,
              AllOf(StartsWith("Warning: shared cores limit 4 ranks: 4 of 1 thread take turns on 2 cores"),
                    HasSubstr("[start 2 ranks a host]")));
  EXPECT_FALSE(limit.value);
  EXPECT_EQ(limit.headline, 2) << "one warning is printed";
  EXPECT_EQ(ranks.headline, 0);
  ResultDocument without = made_up_steps({100, 110, 190}, 5);
  without.benchmarks.erase(without.benchmarks.begin());
  EXPECT_EQ(named(cards_findings(without, one_host(4, 2)), "ranks").headline, 2);
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110}, 5), one_host(2, 2)), "ranks").claim,
              Not(HasSubstr("Warning")));
}

TEST(CardsFindings, ASlowRankIsNamed) {
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 150, 150}, 1, 1.5), one_host(4, 4)), "balance").claim,
              AllOf(HasSubstr("Rank 3 is the slowest"), HasSubstr("50")));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110}, 1), one_host(2, 2)), "balance").claim,
              Not(HasSubstr("is the slowest: it")));
}

// One rank in 100 ms; two and four with stages, one micro-batch and four, and rank 1 with half as much again
// to do as the others.
ResultDocument made_up_stages(const std::vector<std::pair<int, double>>& parts_and_ms, int ranks,
                              const std::vector<double>& by_round = {1, 1, 1}) {
  ResultDocument document = made_up_steps({100}, 0);
  for (const auto& [parts, ms] : parts_and_ms) {
    MeasuredPoint point;
    point.name = fmt::format("p{}x{}", ranks, parts);
    point.parsed = CardsParams{.ranks = ranks, .batch = 8, .split_layers = true, .micro_batches = parts};
    auto note = std::make_shared<RankSteps>();
    for (int rank = 0; rank < ranks; ++rank) {
      const double own = 1e6 * (rank == 1 ? 60 : 40);
      note->step_ns.push_back(1e6 * ms);
      note->waited_ns.push_back(1e6 * ms - own);
      note->plan_bytes.push_back((rank + 1) << 20);
      note->peak_bytes.push_back((rank + 1) << 20);
      note->activation_bytes.push_back((rank + 1) << 18);
    }
    add_rounds(point, ms, note, by_round);
    document.benchmarks.push_back(point);
  }
  return document;
}

CardsSetup staged(int ranks) {
  CardsSetup setup = one_host(ranks, 2);
  setup.strong = setup.split_layers = true;
  return setup;
}

TEST(StageFindings, ThroughputIdleTimeAndTheSlowestStage) {
  const ResultDocument document = made_up_stages({{1, 100}, {4, 75}}, 2);
  const auto findings = cards_findings(document, staged(2));
  const Finding& four = named(findings, "efficiency/split:layers/ranks:2/micro-batches:4/batch:8");
  EXPECT_NEAR(four.value.value(), 100.0 / 75 / 2, 1e-9);
  EXPECT_THAT(four.claim,
              AllOf(HasSubstr("106.7"), HasSubstr("1.33 times"), HasSubstr("idle for 20 to 47 %")));
  EXPECT_EQ(named(findings, "cards").value, 2);
  EXPECT_THAT(named(findings, "cards").claim, HasSubstr("2 ranks with 4 micro-batches give the most"));
  EXPECT_NEAR(named(findings, "limit").value.value(), 0.2, 1e-9);
  EXPECT_THAT(named(findings, "limit").claim, HasSubstr("more micro-batches"));
  EXPECT_THAT(named(findings, "balance").claim,
              AllOf(HasSubstr("Rank 1 has the slowest"), HasSubstr("50.0 % longer")));
  EXPECT_THAT(named(findings, "memory").claim,
              AllOf(HasSubstr("1.00 to 2.00 MiB"), HasSubstr("as planned"), HasSubstr("rank 1 takes")));
  const TextTable table = cards_tables(document, staged(2)).front();
  ASSERT_EQ(table.rows.size(), 4U);
  for (const auto& row : table.rows) {
    EXPECT_EQ(row.size(), table.right.size());
  }
  EXPECT_THAT(table.rows.back(), AllOf(::testing::Contains("1.33"), ::testing::Contains("rank 1")));
}

TEST(StageFindings, MicroBatchesAreComparedByMemory) {
  ResultDocument document = made_up_stages({{1, 100}, {2, 90}, {4, 75}}, 2);
  const auto note = read_rank_steps(document.benchmarks.back().notes.front()->to_json());
  auto smaller = std::make_shared<RankSteps>();
  smaller->step_ns = note->step_ns;
  smaller->waited_ns = note->waited_ns;
  smaller->peak_bytes = smaller->plan_bytes = {1 << 19, 1 << 20};
  smaller->activation_bytes = note->activation_bytes;
  document.benchmarks.back().notes = {smaller, smaller, smaller};
  const auto findings = cards_findings(document, staged(2));
  const Finding& finding = named(findings, "micro-batches");
  EXPECT_THAT(named(findings, "limit").claim, HasSubstr("busiest rank is idle for"));
  EXPECT_EQ(finding.value, 0.5);
  EXPECT_THAT(finding.claim, AllOf(HasSubstr("4 micro-batches in place of 1"), HasSubstr("1.00 MiB"),
                                   HasSubstr("not 2.00 MiB"), HasSubstr("75.0 ms")));
  EXPECT_THAT(named(findings, "memory").claim, HasSubstr("256 to 512 KiB of it activations"));
  const auto one = cards_findings(made_up_stages({{4, 75}}, 2), staged(2));
  EXPECT_EQ(std::ranges::count(one, "micro-batches", &Finding::name), 0);
}

TEST(StageFindings, MoreMicroBatchesAreNotAdvisedWhereTheyWereSlower) {
  EXPECT_THAT(named(cards_findings(made_up_stages({{1, 100}, {4, 75}}, 2), staged(2)), "limit").claim,
              HasSubstr("[more micro-batches]"));
  EXPECT_THAT(named(cards_findings(made_up_stages({{1, 75}, {4, 100}}, 2), staged(2)), "limit").claim,
              Not(HasSubstr("[more micro-batches]")));
}

TEST(StageFindings, AGainWithinNoiseIsToldSo) {
  EXPECT_THAT(named(cards_findings(made_up_stages({{4, 75}}, 2), staged(2)), "cards").claim,
              Not(HasSubstr("not significant")));
  const Finding within = named(cards_findings(made_up_stages({{4, 75}}, 2, {0.7, 1, 2}), staged(2)), "cards");
  EXPECT_THAT(within.claim, AllOf(HasSubstr("not significant"), HasSubstr("1.33 times (")));
  EXPECT_FALSE(within.value);
}

TEST(StageFindings, OneRankIsAdvisedWhereStagesAreSlower) {
  const auto findings = cards_findings(made_up_stages({{1, 125}}, 2), staged(2));
  EXPECT_EQ(named(findings, "cards").value, 1);
  EXPECT_THAT(named(findings, "cards").claim,
              AllOf(HasSubstr("One rank gives the most"), HasSubstr("0.80 times")));
  EXPECT_EQ(cards_findings(made_up_stages({}, 2), staged(2)).size(), 1U);
  ResultDocument without = made_up_stages({{1, 125}, {4, 75}}, 2);
  without.benchmarks.erase(without.benchmarks.begin());
  const auto known = cards_findings(without, staged(2));
  EXPECT_THAT(named(known, "cards").claim,
              AllOf(HasSubstr("One rank alone was not measured"), HasSubstr("[--cards 1,2]"),
                    HasSubstr("with 4 micro-batches take 75.0")));
  EXPECT_THAT(named(known, "memory").claim, Not(HasSubstr("one alone")));
  for (const char* const name : {"limit", "balance", "micro-batches"}) {
    named(known, name);
  }
  EXPECT_EQ(cards_tables(without, staged(2)).front().rows.size(), 3U);
}

TEST(StageFindings, AnotherMemoryThanPlannedIsTold) {
  ResultDocument document = made_up_stages({}, 2);
  auto note = std::make_shared<RankSteps>();
  note->step_ns = {8e7, 8e7};
  note->waited_ns = {1e7, 2e7};
  note->plan_bytes = {1 << 20, 1 << 20};
  note->peak_bytes = {1 << 20, 1 << 21};
  MeasuredPoint point;
  point.name = "p";
  point.parsed = CardsParams{.ranks = 2, .batch = 8, .split_layers = true};
  add_rounds(point, 80, note);
  document.benchmarks.push_back(point);
  EXPECT_THAT(named(cards_findings(document, staged(2)), "memory").claim, HasSubstr("not what was planned"));
}

TEST(StageFindings, APipelineIsIdleWhileItFillsAndEmpties) {
  EXPECT_EQ(pipeline_idle(1, 1), 0);
  EXPECT_EQ(pipeline_idle(2, 1), 0.5);
  EXPECT_EQ(pipeline_idle(4, 1), 0.75);
  EXPECT_EQ(pipeline_idle(4, 9), 0.25);
}

// Steps with the memory of a network of 100 MiB.
ResultDocument steps_with_memory() {
  ResultDocument document = made_up_steps({100, 125, 150}, 20);
  constexpr std::int64_t kMiB = 1 << 20;
  for (MeasuredPoint& point : document.benchmarks) {
    auto params = std::any_cast<CardsParams>(point.parsed);
    params.bucket = 25 * kMiB;
    point.parsed = params;
    point.params = {{"ranks", params.ranks}, {"batch", params.batch}};
    MemoryByCategory& memory = point.memory.by_category;
    memory[MemoryCategory::weights] = memory[MemoryCategory::gradients] = 100 * kMiB;
    memory[MemoryCategory::activations] = 300 * kMiB;
    point.memory.peak_measured = 500 * kMiB;
    memory[MemoryCategory::other] = -kMiB;  // the system saw less
    if (params.ranks == 1) {
      point.timeline =
          GradientTimeline{.parts = {{10, 40 * kMiB}, {20, 60 * kMiB}}, .backward_ns = 20, .update_ns = 1};
    }
  }
  return document;
}

TEST(CardsPlans, WhatIsNotRunIsPlannedForEachNumberOfRanks) {
  constexpr std::int64_t kMiB = 1 << 20;
  ResultDocument document = steps_with_memory();
  document.context.device.kind = "cuda";
  const std::vector<PredictedPoint> planned = planned_sharing(document, std::nullopt);
  ASSERT_EQ(planned.size(), 2U * 3);
  const PredictedPoint& three = planned[4];
  EXPECT_EQ(three.name, "p4/shard:parameters");
  EXPECT_EQ(three.params.at("shard"), "parameters");
  EXPECT_EQ(three.status, "planned");
  EXPECT_EQ(three.model.at("basis"), "planned, never run");
  EXPECT_EQ(three.peak, (25 + 300 + 25 + 25 + 60) * kMiB);
  EXPECT_EQ(three.memory.total(), three.peak);
  EXPECT_EQ(three.memory[MemoryCategory::weights], 25 * kMiB);
  EXPECT_EQ(three.model.at("sent_bytes"), 3 * 75 * kMiB);
  EXPECT_EQ(planned[5].params.at("shard"), "optimizer-on-host");
  EXPECT_EQ(planned[5].model.at("bus_bytes"), 50 * kMiB);
  document.context.device.kind = "cpu";
  EXPECT_EQ(planned_sharing(document, std::nullopt).size(), 2U * 2) << "the host's memory is the device's";
  const auto tables = cards_tables(document, one_host(4, 4));
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_THAT(tables.back().title, AllOf(Not(HasSubstr("never run")), HasSubstr("4 ranks of batch 8")));
  std::map<std::string, std::string> known;
  for (const auto& row : tables.back().rows) {
    EXPECT_EQ(row.size(), tables.back().right.size());
    known[row.front()] = row.back();
  }
  EXPECT_EQ(known.at("nothing"), "measured");
  EXPECT_EQ(known.at("optimizer (ZeRO-1)"), "planned");
  EXPECT_EQ(known.at("parameters too (ZeRO-3)"), "planned, never run");
}

TEST(CardsPlans, WhatIsNotRunIsPlannedFromStepsThatShareTheOptimizer) {
  constexpr std::int64_t kMiB = 1 << 20;
  ResultDocument document = steps_with_memory();
  document.benchmarks.erase(document.benchmarks.begin() + 1);  // 1 and 4 ranks
  document.context.device.kind = "cpu";
  ResultDocument shared = document;
  for (MeasuredPoint* const point : {&document.benchmarks.back(), &shared.benchmarks.back()}) {
    const std::int64_t state =
        (point == &document.benchmarks.back() ? 200 : 51) * kMiB;  // a MiB does not divide
    point->memory.by_category[MemoryCategory::optimizer] = state;
    point->memory.peak_measured += state;
  }
  MeasuredPoint& four = shared.benchmarks.back();
  auto params = std::any_cast<CardsParams>(four.parsed);
  params.shard_optimizer = true;
  four.parsed = params;
  four.name = "cards/net/shard:optimizer/p4";
  EXPECT_TRUE(planned_sharing(shared, std::nullopt).empty()) << "without the plan of the whole state";
  const auto planned = planned_sharing(shared, 200 * kMiB);
  const auto expected = planned_sharing(document, std::nullopt);
  ASSERT_EQ(planned.size(), 2U);
  EXPECT_EQ(planned.front().name, "cards/net/p4/shard:gradients");
  for (std::size_t i = 0; i < planned.size(); ++i) {
    EXPECT_EQ(planned[i].model, expected[i].model) << "as from steps that share nothing";
    EXPECT_EQ(planned[i].peak, expected[i].peak);
    EXPECT_EQ(planned[i].memory, expected[i].memory);
  }
  CardsSetup setup = one_host(4, 4);
  setup.whole_optimizer = 200 * kMiB;
  std::map<std::string, std::vector<std::string>> rows;
  const TextTable table = cards_tables(shared, setup).back();
  for (const auto& row : table.rows) {
    rows[row.front()] = row;
  }
  EXPECT_EQ(rows.at("nothing")[1], "700 MiB");
  EXPECT_EQ(rows.at("nothing").back(), "planned");
  EXPECT_EQ(rows.at("optimizer (ZeRO-1)")[1], "551 MiB") << "as measured";
  EXPECT_EQ(rows.at("optimizer (ZeRO-1)").back(), "measured");
  EXPECT_EQ(rows.at("gradients too (ZeRO-2)").back(), "planned, never run");
}

TEST(CardsPlans, GradientsThatAreSharedOutAreSentOnceAMicroBatch) {
  ResultDocument document = steps_with_memory();
  const auto sent_at = [&](std::int64_t accumulate) {
    for (MeasuredPoint& point : document.benchmarks) {
      auto params = std::any_cast<CardsParams>(point.parsed);
      params.accumulate = accumulate;
      point.parsed = params;
    }
    return planned_sharing(document, std::nullopt).front().model.at("sent_bytes").get<std::int64_t>();
  };
  EXPECT_EQ(sent_at(4) * 2, sent_at(1) * 5) << "four reduce-scatters and a gather in place of one of each";
}

TEST(CardsFindings, ALoaderIsComparedWithWhatAllRanksOfAHostNeed) {
  const ResultDocument document = made_up_steps({100, 125}, 20);  // two ranks: 128 samples/s
  CardsSetup setup = one_host(2, 4);
  EXPECT_THAT(named(cards_findings(document, setup), "loader").claim,
              AllOf(HasSubstr("128 samples/s"), HasSubstr("was not measured [bench --sweep workers")));
  setup.loader = HostLimit{.file = "w.json", .host = "cpu", .per_s = 200, .cores = 4};
  const Finding fed = named(cards_findings(document, setup), "loader");
  EXPECT_EQ(fed.value, 3) << "50 samples/s each";
  EXPECT_THAT(fed.claim, HasSubstr("The loader feeds 2 ranks"));
  setup.loader->per_s = 100;
  EXPECT_THAT(named(cards_findings(document, setup), "loader").claim, HasSubstr("The loader limits 2 ranks"));
  setup.ranks.hosts = {"a", "b"};
  setup.ranks.near = 1;
  EXPECT_THAT(named(cards_findings(document, setup), "loader").claim, HasSubstr("The loader feeds"));
}

TEST(CardsFindings, TheLibrarysMemoryIsToldApart) {
  const ResultDocument document = made_up_steps({100, 125}, 20);
  CardsSetup setup = one_host(2, 2);
  EXPECT_THAT(named(cards_findings(document, setup), "memory").claim, HasSubstr("could not be measured"));
  setup.library = {.joining = {10 << 20, 11 << 20}, .summing = {1 << 20, 1 << 20}, .summed = 25 << 20};
  EXPECT_THAT(named(cards_findings(document, setup), "memory").claim,
              AllOf(HasSubstr("11.0 MiB to 12.0 MiB more"), HasSubstr("summing 25.0 MiB")));
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

TEST(CardsFindings, CopeWithNoPointsAndWithoutOneRank) {
  EXPECT_EQ(cards_findings({}, one_host(2, 2)).size(), 1U);
  EXPECT_TRUE(cards_tables({}, one_host(2, 2)).empty());
  ResultDocument document = made_up_steps({100, 125}, 20);
  document.benchmarks.erase(document.benchmarks.begin());
  const auto findings = cards_findings(document, one_host(2, 2));
  EXPECT_THAT(named(findings, "cards").claim,
              AllOf(HasSubstr("One rank alone was not measured"), HasSubstr("[--cards 1,2]"),
                    HasSubstr("effective batch is 16, 2 times")));
  document.sweep.axes = {{"ranks", {1, 2}}};
  EXPECT_THAT(named(cards_findings(document, one_host(2, 2)), "cards").claim,
              HasSubstr("[give a larger --time-budget]"))
      << "it was asked for";
  EXPECT_THAT(named(findings, "waits/ranks:2/batch:8").claim,
              HasSubstr("waits 20.0 ms (16 %) for gradients"));
  EXPECT_THAT(named(findings, "memory").claim, Not(HasSubstr("one alone")));
  for (const char* const name : {"balance", "loader"}) {
    EXPECT_GT(named(findings, name).headline, 0) << name;
  }
  EXPECT_EQ(cards_tables(document, one_host(2, 2)).front().rows.size(), 2U);
}

}  // namespace
}  // namespace bench::sweeps
