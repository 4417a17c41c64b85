// What ranks must have in common, between threads.
#include "bench/run/rank_consistency.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/host/system_state.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;

// Of each rank that compares these facts; empty where all are alike.
std::vector<std::string> refusals(const std::vector<std::vector<RankFact>>& facts) {
  std::vector<std::string> said(facts.size());
  testing::run_ranks(static_cast<int>(facts.size()), [&](RankGroup& group) {
    const auto rank = static_cast<std::size_t>(group.rank());
    try {
      require_consistent(group, facts[rank]);
    } catch (const UsageError& error) {
      said[rank] = error.what();
    }
  });
  return said;
}

std::vector<RankFact> version(const std::string& value) {
  return {{.what = "device", .value = "a card", .advice = ""},
          {.what = "version of cudnn", .value = value, .advice = "use one"}};
}

TEST(RankConsistency, MayGoOn) {
  EXPECT_THAT(refusals({version("9.1"), version("9.1"), version("9.1")}), ::testing::Each(""));
}

TEST(RankConsistency, EveryRankNamesTheOneThatDiffersAndBothValues) {
  EXPECT_THAT(refusals({version("9.1"), version("9.1"), version("9.2"), version("9.1")}),
              ::testing::Each("ranks differ in their version of cudnn: ranks 0, 1, 3 have '9.1', rank 2 has "
                              "'9.2'; use one"));
  std::vector<std::vector<RankFact>> first_differs(5, version("2"));
  first_differs.front() = version("1");
  expect_words(refusals(first_differs).back());
}

TEST(RankConsistency, AFactThatARankLacksIsADifference) {
  std::vector<RankFact> without = version("9.1");
  without.pop_back();
  expect_words(refusals({version("9.1"), without}).front());
  expect_words(refusals({without, version("9.1")}).front());
}

TEST(RankConsistency, ManyValuesAreCutShort) {
  std::vector<std::vector<RankFact>> all;
  for (int rank = 0; rank < 8; ++rank) {
    all.push_back(version(std::to_string(rank)));
  }
  expect_words(refusals(all).front());
}

TEST(RankConsistency, ABuildIsToldFromAnotherOfTheSameVersion) {
  EXPECT_THAT(build_fact().value, ::testing::HasSubstr("build id " + build_id()));
}

class OtherMpi final : public testing::PassingRanks {
 public:
  using PassingRanks::PassingRanks;
  std::map<std::string, std::string> software() const override { return {{"mpi", "Open MPI v4.1.4"}}; }
};

TEST(RankConsistency, LibrariesAndDevicesAreFacts) {
  testing::run_ranks(1, [](RankGroup& group) {
    const std::vector<RankFact> facts = library_facts(OtherMpi(group));
    ASSERT_EQ(facts.size(), 1U);
    EXPECT_EQ(facts.front().what, "version of mpi");
    EXPECT_EQ(facts.front().value, "Open MPI v4.1.4");
  });
  DeviceInfo card;
  card.name = "a card";
  card.details = {{"onednn", "3.1"}, {"cudnn", "9.1"}, {"isa", "avx2"}, {"uuid", "GPU-1"}};
  const std::vector<RankFact> facts = device_facts(card);
  const auto has = [](const std::string& what, const std::string& value) {
    return Contains(AllOf(Field(&RankFact::what, what), Field(&RankFact::value, value)));
  };
  EXPECT_EQ(facts.size(), 4U) << "the uuid, which differs between cards, is none";
  EXPECT_THAT(facts, AllOf(has("device", "a card"), has("instruction set", "avx2"),
                           has("version of onednn", "3.1"), has("version of cudnn", "9.1")));
}

}  // namespace
}  // namespace bench
