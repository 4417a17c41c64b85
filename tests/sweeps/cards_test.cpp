// The cards sweep: its points, its run over a group of threads, and its findings.
#include <gmock/gmock.h>

#include <memory>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/cards/findings.h"
#include "sweeps/cards/workload.h"
#include "tests/bench/support/thread_ranks.h"
#include "tests/sweeps/plain_device.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class RanksDevice final : public testing::PlainDevice {
 public:
  bool host_accessible() const override { return true; }
};

// Takes a millisecond, and waits for as many microseconds as its rank is.
class MadeUpPart final : public RankWorkload {
 public:
  MadeUpPart(Device& device, std::int64_t bytes, RankGroup* ranks)
      : memory_(device.allocate(bytes, MemoryCategory::weights)), ranks_(ranks) {}
  void step() override {}
  double waited_ns() const override { return 1000.0 * (ranks_ == nullptr ? 0 : ranks_->rank()); }
  Verification verify() override {
    Verification verification;
    verification.passed = ranks_ == nullptr || ranks_->rank() != wrong_rank;
    verification.error = verification.passed ? 0 : 0.5;
    verification.tolerance = 1e-5;
    return verification;
  }
  Work work() const override { return {.samples = 4, .flops = 1e6}; }

  static inline int wrong_rank = -1;

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
    return plan;
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
}

TEST(CardsPlan, RefusesInOneSentence) {
  EXPECT_THAT(refusal(cards_request({{"cards", "1,4"}})), AllOf(HasSubstr("--cards"), HasSubstr("up to 2")));
  EXPECT_THAT(refusal(cards_request({{"bucket", "0B"}})), HasSubstr("--bucket"));
  EXPECT_THAT(refusal(cards_request({{"scaling", "both"}})), HasSubstr("--scaling"));
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
  testing::PlainDevice card;  // its memory is not the host's
  EXPECT_THROW(cards_type().make(cards_request(), card), UsageError);
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
    }
  });
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

TEST(CardsSweep, ARankWithoutMemoryIsNamed) {
  bench::testing::run_ranks(2, [](RankGroup& group) {
    RanksDevice device;
    if (group.rank() == 1) {
      device.memory().set_cap(100);
    }
    SweepRequest request = cards_request({{"cards", "2"}});
    request.ranks = &group;
    if (group.rank() > 0) {
      return cards_type().serve(request, device);
    }
    const auto sweep = cards_type().make(request, device);
    try {
      sweep->plan().points.front().workload->make(device);
      ADD_FAILURE();
    } catch (const OutOfMemory& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank 1 has no memory"));
    }
  });
}

// Steps of 100 ms alone; of several ranks longer, of which a part is waited, and one rank slower.
ResultDocument made_up_steps(const std::vector<double>& step_ms, double waited_ms, double slower = 1) {
  ResultDocument document;
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    const int ranks = 1 << i;
    MeasuredPoint point;
    point.name = fmt::format("p{}", ranks);
    point.parsed = CardsParams{.ranks = ranks, .batch = 8};
    point.stats.median_ns = 1e6 * step_ms[i];
    point.stats.ci95_ns = Interval{0.99e6 * step_ms[i], 1.01e6 * step_ms[i]};
    auto note = std::make_shared<RankSteps>();
    for (int rank = 0; rank < ranks; ++rank) {
      const double own = 1e6 * (step_ms[i] - (ranks > 1 ? waited_ms : 0));
      const bool slow = ranks > 1 && rank == ranks - 1;
      note->step_ns.push_back(1e6 * step_ms[i]);
      note->waited_ns.push_back(1e6 * step_ms[i] - (slow || ranks == 1 ? own : own / slower));
      note->plan_bytes.push_back(1 << 20);
      note->peak_bytes.push_back(1 << 20);
    }
    point.notes = {note};
    document.benchmarks.push_back(point);
  }
  return document;
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
  const auto findings = cards_findings(made_up_steps({100, 125}, 20), one_host(2, 2));
  const Finding& efficiency = named(findings, "efficiency/ranks:2/batch:8");
  EXPECT_NEAR(efficiency.value.value(), 0.8, 1e-9);
  EXPECT_THAT(efficiency.claim, AllOf(HasSubstr("1.60 times"), HasSubstr("80 %"), HasSubstr("waits 20")));
  EXPECT_THAT(named(findings, "limit").claim, HasSubstr("The collective limits 2 ranks"));
  EXPECT_EQ(named(findings, "cards").value, 2);
  EXPECT_THAT(named(findings, "cards").claim,
              AllOf(HasSubstr("effective batch is 16"), HasSubstr("learning rate")));
  EXPECT_THAT(named(findings, "memory").claim, HasSubstr("as planned on every rank"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 125}, 2), one_host(2, 2)), "limit").claim,
              HasSubstr("The host, which the ranks share, limits"));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 101}, 1), one_host(2, 2)), "limit").claim,
              HasSubstr("lose nothing"));
}

TEST(CardsFindings, ARankThatDoesNotPayIsNotAdvised) {
  const auto findings = cards_findings(made_up_steps({100, 110, 190}, 5), one_host(4, 2));
  EXPECT_EQ(named(findings, "cards").value, 2);  // four give 2.1 times, two 1.8
  EXPECT_EQ(named(cards_findings(made_up_steps({100, 190}, 5), one_host(2, 1)), "cards").value, 1);
  EXPECT_THAT(named(findings, "ranks").claim, HasSubstr("take turns on 2 cores"));
}

TEST(CardsFindings, ASlowRankIsNamed) {
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 150, 150}, 1, 1.5), one_host(4, 4)), "balance").claim,
              AllOf(HasSubstr("Rank 3 is the slowest"), HasSubstr("50 %")));
  EXPECT_THAT(named(cards_findings(made_up_steps({100, 110}, 1), one_host(2, 2)), "balance").claim,
              Not(HasSubstr("is the slowest: it")));
}

TEST(CardsFindings, CopeWithNoPointsAndWithoutOneRank) {
  EXPECT_EQ(cards_findings({}, one_host(2, 2)).size(), 1U);
  EXPECT_TRUE(cards_tables({}, one_host(2, 2)).empty());
  ResultDocument document = made_up_steps({100, 125}, 20);
  document.benchmarks.erase(document.benchmarks.begin());
  EXPECT_EQ(cards_findings(document, one_host(2, 2)).size(), 1U);
  EXPECT_EQ(cards_tables(document, one_host(2, 2)).front().rows.size(), 2U);
}

}  // namespace
}  // namespace bench::sweeps
