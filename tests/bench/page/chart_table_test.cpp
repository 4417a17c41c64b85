// The table of a chart's numbers.
#include "bench/page/chart_table.h"

#include <gmock/gmock.h>

namespace bench {
namespace {

using ::testing::ElementsAre;

plots::Chart throughput() {
  return {.title = "Throughput",
          .content = plots::Curves{
              .x = {.label = "batch", .scale = plots::AxisScale::log2},
              .y = {.label = "samples/s"},
              .series = {{.name = "fp32",
                          .points = {{.x = 1, .y = 30, .interval = Interval{28, 32}}, {.x = 2, .y = 40}}},
                         {.name = "the fit", .points = {{.x = 1.5, .y = 35}}, .fitted = true},
                         {.name = "bf16", .points = {{.x = 2, .y = 80}}, .colour = 1}}}};
}

TEST(ChartTable, HasARowForEachPlace) {
  const TextTable table = chart_table(throughput(), 10);
  EXPECT_THAT(table.rows[0], ElementsAre("batch", "fp32", "bf16")) << "a fitted curve is no series";
  EXPECT_THAT(table.rows[1], ElementsAre("1", "30 ± 2", ""));
  EXPECT_THAT(table.rows[2], ElementsAre("2", "40", "80"));
  EXPECT_THAT(chart_table(throughput(), 1).rows.back(),
              ElementsAre("and 1 more rows (--format csv or json has all)"));
}

TEST(ChartTable, SumsBars) {
  const plots::Chart chart{
      .title = "Memory",
      .content = plots::Bars{.label = "batch",
                             .y = {.label = "B", .quantity = plots::Quantity::bytes},
                             .categories = {"2"},
                             .layers = {{.name = "weights", .values = {Estimate{.value = 1 << 20}}},
                                        {.name = "activations", .values = {Estimate{.value = 3 << 20}}}}}};
  const TextTable table = chart_table(chart, 10);
  EXPECT_THAT(table.rows[0], ElementsAre("batch", "weights", "activations", "in all"));
  EXPECT_THAT(table.rows[1], ElementsAre("2", "1.00 MiB", "3.00 MiB", "4.00 MiB"));
}

TEST(ChartTable, SumsTheSpansOfATimeline) {
  const plots::Chart chart{
      .title = "Steps",
      .content = plots::Timeline{.x = {.quantity = plots::Quantity::duration},
                                 .rows = {"consumer", "worker 0"},
                                 .kinds = {{.name = "waits", .spans = {{0, 0, 2e6}, {0, 3e6, 4e6}}},
                                           {.name = "makes", .spans = {{1, 1e6, 4e6}}}}}};
  const TextTable table = chart_table(chart, 10);
  EXPECT_THAT(table.rows[0], ElementsAre("", "waits", "makes"));
  EXPECT_THAT(table.rows[1], ElementsAre("consumer", "3.00 ms", ""));
  EXPECT_THAT(table.rows[2], ElementsAre("worker 0", "", "3.00 ms"));
}

TEST(ChartTable, PredictedValuesHaveTheirOwnInterval) {
  const plots::Axis axis{.label = "FLOP/s", .quantity = plots::Quantity::per_second};
  EXPECT_EQ(value_cell(2e12, Interval{1e12, 4e12}, axis, true), "2.0 (1.0–4.0) TFLOP/s");
  EXPECT_EQ(value_cell(980, Interval{840, 1150}, {.label = "samples/s"}, true), "980 (840–1150)");
}

}  // namespace
}  // namespace bench
