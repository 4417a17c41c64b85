#include "bench/advise/results_advice.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice_formats.h"
#include "bench/error.h"
#include "bench/model/links.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::IsEmpty;

constexpr double kMs = 1e6;
constexpr std::int64_t kMiB = 1 << 20;

std::string name_of_point(int ranks, std::int64_t batch) {
  return fmt::format("cards/small/train/fp32/ranks:{}/batch:{}", ranks, batch);
}

// A step of so many ms, ± 1 %.
Point ranks_point(int ranks, std::int64_t batch, double ms) {
  Point point;
  point.name = name_of_point(ranks, batch);
  point.params = {
      {"ranks", ranks}, {"batch", batch}, {"dtype", "fp32"}, {"workload", "small"}, {"bucket", 25 * kMiB}};
  point.items_per_step = static_cast<double>(ranks * batch);
  point.stats.median_ns = ms * kMs;
  point.stats.ci95_ns = Interval{ms * kMs * 0.99, ms * kMs * 1.01};
  point.memory.peak_measured = 500 * kMiB;
  point.memory.by_category[MemoryCategory::optimizer] = 100 * kMiB;
  return point;
}

Finding said(const std::string& name, const std::string& claim, std::vector<std::string> evidence,
             Json details = {}) {
  Finding finding;
  finding.name = name;
  finding.claim = claim;
  finding.evidence = std::move(evidence);
  finding.details = std::move(details);
  return finding;
}

// One rank takes 100 ms, two 160 ms, 50 ms of which wait for gradients.
EvaluatedFile cards_file(const char* kind = "cuda") {
  EvaluatedFile file{.path = "cards.json", .document = {}};
  ResultDocument& document = file.document;
  document.context.device = {
      .id = "x", .kind = kind, .name = "Card", .memory_bytes = 1000 * kMiB, .details = {}};
  document.sweep.name = "cards";
  document.sweep.workload = "small-2-ranks";
  document.sweep.mode = "train";
  document.sweep.state = {{"cards", {{"hosts", {"a", "a"}}}}};
  document.points = {ranks_point(1, 8, 100), ranks_point(2, 8, 160)};
  const std::vector<std::string> both{name_of_point(1, 8), name_of_point(2, 8)};
  Finding limit = said("limit", "The collective limits 2 ranks.", both);
  limit.set({.value = 0.83, .ci95 = Interval{0.7, 0.95}});
  document.findings = {said("efficiency/ranks:2/batch:8", "2 ranks: an efficiency of 62 %.", both,
                            {{"step_ns", 160 * kMs}, {"exposed_ns", 50 * kMs}, {"alone_ns", 100 * kMs}}),
                       said("cards", "2 ranks pay.", both), limit,
                       said("loader", "Whether loading feeds all ranks was not measured.", {both[1]}),
                       said("memory", "A rank of 2 takes 500 MiB.", {both[1]})};
  return file;
}

Finding& finding_in(EvaluatedFile& file, const std::string& name) {
  return *std::ranges::find(file.document.findings, name, &Finding::name);
}

const Change* change_in(const std::vector<Change>& changes, const std::string& what) {
  const auto found = std::ranges::find(changes, what, &Change::what);
  return found == changes.end() ? nullptr : &*found;
}

TEST(CardsAdvice, NamesTheCollectiveAndWhatMakesItCount) {
  const Advice advice = advice_from_cards(cards_file(), std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::link);
  EXPECT_EQ(advice.reason, "The collective limits 2 ranks.");
  EXPECT_EQ(advice.subject, "small, training in fp32 at batch 8, 2 ranks, on Card");
  ASSERT_EQ(advice.budget.size(), 3U);
  EXPECT_DOUBLE_EQ(advice.budget[0].ns, 100 * kMs);
  EXPECT_DOUBLE_EQ(advice.budget[1].ns, 10 * kMs);
  EXPECT_DOUBLE_EQ(advice.budget[2].ns, 50 * kMs);
  // Four micro-batches wait once: 4·110 + 50 ms in place of 4·160.
  const Change* const more = change_in(advice.changes, "accumulate 1 → 4");
  ASSERT_NE(more, nullptr);
  EXPECT_NEAR(more->speedup, 640.0 / 490, 1e-9);
  ASSERT_TRUE(more->speedup90);
  EXPECT_GT(more->speedup90->low, 1.29);
  EXPECT_LT(more->speedup90->high, 1.32);
  expect_words(more->costs);
  expect_words(advice.missing);
  EXPECT_TRUE(advice.tables.front().notes.empty());  // its rows answer
}

TEST(CardsAdvice, AccumulationIsNotProposedWhereNoiseHidesWhatLimits) {
  EvaluatedFile file = cards_file();
  finding_in(file, "limit") = said("limit", "What limits 2 ranks is within noise.", {name_of_point(2, 8)});
  const Advice advice = advice_from_cards(file, std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  EXPECT_EQ(change_in(advice.changes, "accumulate 1 → 4"), nullptr);
  EXPECT_EQ(change_in(advice.tried, "accumulate 1 → 4"), nullptr);
}

TEST(CardsAdvice, PointsOfTheFileAreComparedBySampleWithTheirIntervals) {
  EvaluatedFile file = cards_file("cpu");
  file.document.points.push_back(ranks_point(2, 16, 220));
  const Advice advice = advice_from_cards(file, std::nullopt);
  const Change* const larger = change_in(advice.changes, "batch 8 → 16");
  ASSERT_NE(larger, nullptr);
  EXPECT_NEAR(larger->speedup, 320.0 / 220, 1e-9);
  ASSERT_TRUE(larger->speedup90);
  EXPECT_GT(larger->speedup90->low, 1.4);
  expect_words(larger->evidence);
  const Change* const fewer = change_in(advice.tried, "cards 2 → 1");
  ASSERT_NE(fewer, nullptr);
  EXPECT_NEAR(fewer->speedup, 160.0 / 200, 1e-9);
  expect_words(advice.missing);
}

TEST(CardsAdvice, RanksThatTakeTurnsComeFirstAndNothingIsSaidOfTheirWaits) {
  EvaluatedFile file = cards_file("cpu");
  Finding& limit = finding_in(file, "limit");
  limit = said("limit", "Warning: as the file says it.", limit.evidence, {{"takes_turns", true}});
  file.document.findings.push_back(
      said("ranks", "Warning: so too.", {},
           {{"takes_turns", true}, {"ranks_on_first_host", 2}, {"threads", 4}, {"cores", 6}}));
  const Advice advice = advice_from_cards(file, std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::host);
  EXPECT_EQ(
      advice.reason,
      "Shared cores limit 2 ranks: 2 of 4 threads take turns on 6 cores, so that waiting and computing are "
      "not told apart [start 1 rank a host].");
  EXPECT_THAT(advice.changes, IsEmpty());
}

TEST(CardsAdvice, ALoaderThatIsTooSlowIsTheBottleneck) {
  EvaluatedFile file = cards_file();
  finding_in(file, "loader").details = {{"needed_per_s", 100}, {"loader_per_s", 99}};
  EXPECT_EQ(advice_from_cards(file, std::nullopt).bottleneck, Bottleneck::loader_cpu);
  finding_in(file, "loader").details = {{"needed_per_s", 100}, {"loader_per_s", 101}};
  EXPECT_EQ(advice_from_cards(file, std::nullopt).bottleneck, Bottleneck::link);
}

TEST(CardsAdvice, FullMemoryAsksToShareOut) {
  EvaluatedFile file = cards_file();
  EXPECT_EQ(advice_from_cards(file, std::nullopt).tables.size(), 1U);
  file.document.sweep.memory_cap_bytes = 540 * kMiB;
  Point planned;
  planned.origin = Origin::planned;
  planned.name = name_of_point(2, 8) + "/shard:gradients";
  for (const Point& point : file.document.points) {
    if (point.name == name_of_point(2, 8)) {
      planned.params = point.params;
    }
  }
  planned.params["batch"] = 16;
  planned.params["shard"] = "gradients";
  file.document.points.push_back(planned);  // of another step
  planned.params["batch"] = 8;
  planned.memory.peak_predicted = 400 * kMiB;
  planned.prediction.model = {{"shared", "gradients too (ZeRO-2)"}};
  file.document.points.push_back(planned);
  const Advice advice = advice_from_cards(file, std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::vram);
  expect_words(advice.reason);
  ASSERT_EQ(advice.tables.size(), 2U);
  const auto& rows = advice.tables[1].table.rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[2][1], "450 MiB") << "half of 100 MiB less";
  EXPECT_THAT(rows[3], ::testing::ElementsAre("gradients too (ZeRO-2)", "400 MiB", "planned, never run"));
}

TEST(CardsAdvice, TheBusAndLaunchingAreTakenFromTheSweepsFinding) {
  for (const auto& [name, bottleneck] :
       {std::pair("bus", Bottleneck::bus), std::pair("launch", Bottleneck::launch)}) {
    EvaluatedFile file = cards_file();
    finding_in(file, "limit") =
        said("limit", "It limits 2 ranks.", {name_of_point(2, 8)}, {{"limit", name}, {"step_ns", 160 * kMs}});
    const Advice advice = advice_from_cards(file, std::nullopt);
    EXPECT_EQ(advice.bottleneck, bottleneck);
    EXPECT_EQ(advice.reason, "It limits 2 ranks.");
  }
}

TEST(CardsAdvice, AStepThatHardlyGrowsWithTheBatchIsBoundByLaunching) {
  EvaluatedFile file = cards_file();
  finding_in(file, "limit") = said("limit", "2 ranks lose nothing to speak of.", {name_of_point(2, 8)});
  file.document.points.push_back(ranks_point(1, 16, 110));
  EXPECT_EQ(advice_from_cards(file, std::nullopt).bottleneck, Bottleneck::launch);
  file.document.points.back() = ranks_point(1, 16, 195);
  EXPECT_EQ(advice_from_cards(file, std::nullopt).bottleneck, Bottleneck::undecided);
  file.document.points[1] = ranks_point(2, 8, 101);
  finding_in(file, "efficiency/ranks:2/batch:8").set({.value = 0.99, .ci95 = Interval{0.97, 1.01}});
  EXPECT_EQ(advice_from_cards(file, std::nullopt).bottleneck, Bottleneck::compute);
}

TEST(CardsAdvice, MoreCardsArePredictedFromOneRankAndABoundDoesNotPay) {
  EvaluatedFile file = cards_file("cpu");
  file.document.points[0].timeline = {
      .parts = {{.ready_ns = 90 * kMs, .bytes = 100 * kMiB}}, .backward_ns = 90 * kMs, .update_ns = 10 * kMs};
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  const auto with = [&](EvaluatedFile of, const char* link) {
    return advice_from_cards(of,
                             SeveralCards{.cards = {8},
                                          .link = {.link = CardLinks{.inside = links.get("--link", link)}},
                                          .catalogue = links});
  };
  const Advice cpu = with(file, "eth-10g");
  const Change* const bound = change_in(cpu.tried, "cards 2 → 8");
  ASSERT_NE(bound, nullptr) << "hosts of one CPU each: nobody measured what they lose";
  EXPECT_TRUE(bound->at_most);
  EXPECT_FALSE(bound->speedup90);
  // Eight times 8 samples in the step, over 16 in 160 ms, which may take 1 % longer.
  EXPECT_NEAR(bound->speedup, 64 / bound->step_ns * 160 * kMs / 16, 0.02 * bound->speedup);
  EXPECT_THAT(cpu.tables.front().table.rows.back(),
              AllOf(Contains("8 cards, predicted"), Contains("not known")));
  EXPECT_EQ(advice_json(cpu)["tried"].back()["at_most"], true);
  file.document.context.device.kind = "cuda";
  const Advice gpu = with(file, "nvlink3");
  const Change* const known = change_in(gpu.changes, "cards 2 → 8");
  ASSERT_NE(known, nullptr) << "the two ranks calibrate it";
  EXPECT_FALSE(known->at_most);
  EXPECT_GT(known->speedup90->low, 1);
  expect_words(known->evidence);
}

TEST(CardsAdvice, LayersOverRanksAreComparedByTheirMicroBatches) {
  EvaluatedFile file = cards_file();
  file.document.sweep.mode = "infer";
  for (Point& point : file.document.points) {
    point.items_per_step = 8;
  }
  Point& split = file.document.points[1];
  split.params["split"] = "layers";
  split.params["micro-batches"] = 1;
  Point piped = split;
  piped.name += "/micro-batches:4";
  piped.params["micro-batches"] = 4;
  piped.stats.median_ns = 60 * kMs;
  piped.stats.ci95_ns = Interval{59 * kMs, 61 * kMs};
  file.document.points.push_back(piped);
  const Advice advice = advice_from_cards(file, std::nullopt);
  EXPECT_EQ(advice.bottleneck, Bottleneck::stages);
  EXPECT_NE(
      change_in(advice.changes, "layers over 2 ranks, 1 micro-batch → layers over 2 ranks, 4 micro-batches"),
      nullptr);
  EXPECT_EQ(advice.current.cards, 1) << "one copy of the model";
}

TEST(CardsAdvice, AFileWithoutSeveralRanksIsRefused) {
  EvaluatedFile file = cards_file();
  std::erase_if(file.document.findings, [](const Finding& finding) { return finding.name == "cards"; });
  expect_words(message_of<UsageError>([&] { advice_from_cards(file, std::nullopt); }));
}

}  // namespace
}  // namespace bench
