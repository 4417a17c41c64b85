// What sharing out would free, planned for steps that were measured.
#include <gtest/gtest.h>

#include "sweeps/cards/planned.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/cards/made_up_steps.h"

namespace bench::sweeps {
namespace {

// Steps with the memory of a network of 100 MiB.
ResultDocument steps_with_memory() {
  ResultDocument document = made_up_steps({100, 125, 150}, 20);
  constexpr std::int64_t kMiB = 1 << 20;
  for (Point& point : document.points) {
    point.params["bucket"] = 25 * kMiB;
    MemoryByCategory& memory = point.memory.by_category;
    memory[MemoryCategory::weights] = memory[MemoryCategory::gradients] = 100 * kMiB;
    memory[MemoryCategory::activations] = 300 * kMiB;
    point.memory.peak_measured = 500 * kMiB;
    memory[MemoryCategory::other] = -kMiB;  // the system saw less
    if (point.params["ranks"] == 1) {
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
  const std::vector<Point> planned = planned_sharing(document, std::nullopt);
  ASSERT_EQ(planned.size(), 2U * 3);
  const Point& three = planned[4];
  EXPECT_EQ(three.name, "p4/shard:parameters");
  EXPECT_EQ(three.params.at("shard"), "parameters");
  EXPECT_EQ(three.origin, Origin::planned);
  EXPECT_EQ(three.prediction.model.at("basis"), "planned, never run");
  EXPECT_EQ(three.peak(), (25 + 300 + 25 + 25 + 60) * kMiB);
  EXPECT_EQ(three.memory.by_category.total(), three.peak());
  EXPECT_EQ(three.memory.by_category[MemoryCategory::weights], 25 * kMiB);
  EXPECT_EQ(three.prediction.model.at("sent_bytes"), 3 * 75 * kMiB);
  EXPECT_EQ(planned[5].params.at("shard"), "optimizer-on-host");
  EXPECT_EQ(planned[5].prediction.model.at("bus_bytes"), 50 * kMiB);
  document.context.device.kind = "cpu";
  EXPECT_EQ(planned_sharing(document, std::nullopt).size(), 2U * 2) << "the host's memory is the device's";
  const auto tables = cards_tables(document, one_host(4, 4));
  ASSERT_EQ(tables.size(), 2U);
  expect_words(tables.back().title);
  std::map<std::string, std::string> known;
  for (const auto& row : tables.back().rows) {
    EXPECT_EQ(row.size(), tables.back().rows[0].size());
    known[row.front().text] = row.back().text;
  }
  EXPECT_EQ(known.at("nothing"), "measured");
  EXPECT_EQ(known.at("optimizer (ZeRO-1)"), "planned");
  EXPECT_EQ(known.at("parameters too (ZeRO-3)"), "planned, never run");
}

TEST(CardsPlans, WhatIsNotRunIsPlannedFromStepsThatShareTheOptimizer) {
  constexpr std::int64_t kMiB = 1 << 20;
  ResultDocument document = steps_with_memory();
  document.points.erase(document.points.begin() + 1);  // 1 and 4 ranks
  document.context.device.kind = "cpu";
  ResultDocument shared = document;
  for (Point* const point : {&document.points.back(), &shared.points.back()}) {
    const std::int64_t state = (point == &document.points.back() ? 200 : 51) * kMiB;  // a MiB does not divide
    point->memory.by_category[MemoryCategory::optimizer] = state;
    point->memory.peak_measured += state;
  }
  Point& four = shared.points.back();
  four.params["shard"] = "optimizer";
  four.name = "cards/net/shard:optimizer/p4";
  EXPECT_TRUE(planned_sharing(shared, std::nullopt).empty()) << "without the plan of the whole state";
  const auto planned = planned_sharing(shared, 200 * kMiB);
  const auto expected = planned_sharing(document, std::nullopt);
  ASSERT_EQ(planned.size(), 2U);
  EXPECT_EQ(planned.front().name, "cards/net/p4/shard:gradients");
  for (std::size_t i = 0; i < planned.size(); ++i) {
    EXPECT_EQ(planned[i].prediction.model, expected[i].prediction.model)
        << "as from steps that share nothing";
    EXPECT_EQ(planned[i].peak(), expected[i].peak());
    EXPECT_EQ(planned[i].memory.by_category, expected[i].memory.by_category);
  }
  CardsSetup setup = one_host(4, 4);
  setup.whole_optimizer = 200 * kMiB;
  std::map<std::string, Cells> rows;
  const TextTable table = cards_tables(shared, setup).back();
  for (const auto& row : table.rows) {
    rows[row.front().text] = row;
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
    for (Point& point : document.points) {
      point.params["accumulate"] = accumulate;
    }
    return planned_sharing(document, std::nullopt)
        .front()
        .prediction.model.at("sent_bytes")
        .get<std::int64_t>();
  };
  EXPECT_EQ(sent_at(4) * 2, sent_at(1) * 5) << "four reduce-scatters and a gather in place of one of each";
}

}  // namespace
}  // namespace bench::sweeps
