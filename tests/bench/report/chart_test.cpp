// Pictures of a report: ticks at known places, texts that do not touch, and the table of the same numbers.
#include <gmock/gmock.h>

#include "bench/report/chart.h"
#include "bench/report/svg.h"
#include "bench/report/ticks.h"

namespace bench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> texts(const ScaledAxis& axis, std::size_t most) {
  std::vector<std::string> all;
  for (const Tick& tick : axis.ticks(most)) {
    all.push_back(tick.text);
  }
  return all;
}

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

Chart throughput() {
  return {
      .title = "Throughput",
      .content = Curves{.x = {.label = "batch", .scale = AxisScale::log2},
                        .y = {.label = "samples/s"},
                        .series = {{.name = "fp32",
                                    .points = {{.x = 1, .y = 30, .interval = Interval{28, 32}},
                                               {.x = 2, .y = 40, .interval = std::nullopt, .open = true}}},
                                   {.name = "bf16", .points = {{.x = 2, .y = 80}}, .colour = 1}}}};
}

TEST(ReportTicks, AreRoundNumbersInOneUnit) {
  EXPECT_THAT(texts(ScaledAxis({.label = "samples/s"}, 0, 60), 6),
              ElementsAre("0", "10", "20", "30", "40", "50", "60"));
  const ScaledAxis bytes({.label = "B", .quantity = Quantity::bytes}, 0, 400.0 * (1 << 20));
  EXPECT_EQ(bytes.title(), "MiB");
  EXPECT_THAT(texts(bytes, 4), ElementsAre("0", "100", "200", "300", "400"));
  const ScaledAxis rate({.label = "B/s", .quantity = Quantity::per_second}, 0, 20e9);
  EXPECT_EQ(rate.title(), "GB/s");
  EXPECT_THAT(texts(rate, 4), ElementsAre("0", "5", "10", "15", "20"));
  EXPECT_EQ(ScaledAxis({.label = "samples/s"}, 0, 25'000).title(), "thousand samples/s");
}

TEST(ReportTicks, OfWholeThingsAreWhole) {
  EXPECT_THAT(texts(ScaledAxis({.label = "ranks", .whole = true}, 1, 2), 6), ElementsAre("1", "2"));
  EXPECT_THAT(texts(ScaledAxis({.label = "ranks"}, 1, 2), 6), ::testing::Contains("1.2"));
}

TEST(ReportTicks, OfLogarithmicAxesArePowers) {
  const ScaledAxis batches({.label = "batch", .scale = AxisScale::log2}, 1, 64);
  EXPECT_THAT(texts(batches, 40), ElementsAre("1", "2", "4", "8", "16", "32", "64"));
  EXPECT_THAT(texts(batches, 4), ElementsAre("1", "4", "16", "64"));
  const ScaledAxis sizes({.label = "bytes", .quantity = Quantity::bytes, .scale = AxisScale::log2}, 1024,
                         1 << 20);
  EXPECT_THAT(texts(sizes, 4), ElementsAre("1 KiB", "8 KiB", "64 KiB", "512 KiB"));
  const ScaledAxis flops({.label = "FLOP/s", .quantity = Quantity::per_second, .scale = AxisScale::log10},
                         1e9, 1e12);
  EXPECT_THAT(texts(flops, 6), ElementsAre("1 G", "10 G", "100 G", "1 T"));
  EXPECT_THAT(texts(ScaledAxis({.label = "workers", .scale = AxisScale::counts}, 0, 8), 40),
              ElementsAre("0", "1", "2", "4", "8"));
}

TEST(ReportTicks, CopeWithAnyRange) {
  for (const AxisScale scale : {AxisScale::linear, AxisScale::log2, AxisScale::log10, AxisScale::counts}) {
    for (const Quantity quantity :
         {Quantity::number, Quantity::bytes, Quantity::duration, Quantity::per_second}) {
      for (const auto& [first, last] : std::vector<std::pair<double, double>>{{0, 0},
                                                                              {-5, -1},
                                                                              {0, 1e300},
                                                                              {1e-300, 1e300},
                                                                              {INFINITY, -INFINITY},
                                                                              {3, 3},
                                                                              {1e15, 1e15 + 1}}) {
        const ScaledAxis axis({.label = "x", .quantity = quantity, .scale = scale}, first, last);
        EXPECT_LE(axis.ticks(40).size(), 130U) << first << " to " << last;
        EXPECT_TRUE(std::isfinite(axis.place(3))) << first << " to " << last;
      }
    }
  }
}

TEST(ReportChart, DrawsMarksAndIntervals) {
  const std::string svg = chart_svg(throughput());
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg viewBox="), HasSubstr("aria-label=\"Throughput\""),
                         HasSubstr(">samples/s</text>")));
  EXPECT_EQ(count_of("<g class=\"m c0\"><circle", svg), 1U);
  EXPECT_EQ(count_of("<g class=\"o c0\"><circle", svg), 1U) << "a flagged point is drawn open";
  EXPECT_EQ(count_of("class=\"i c0\"", svg), 1U) << "one path of intervals";
  EXPECT_EQ(count_of("class=\"i c1\"", svg), 0U) << "no interval is known";
  EXPECT_EQ(chart_legend(throughput()).size(), 2U);
}

TEST(ReportChart, LeavesOutWhatAnAxisCannotShow) {
  Chart chart = throughput();
  auto& curves = std::get<Curves>(chart.content);
  curves.series[0].points.push_back({.x = 0, .y = 10});
  curves.series[0].points.push_back({.x = 4, .y = NAN});
  curves.levels.push_back({"cap", 1e12});
  const std::string svg = chart_svg(chart);
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
  EXPECT_EQ(count_of("<circle", svg), 3U);
  EXPECT_EQ(chart_legend(chart).back().text, "cap, above the picture");
}

TEST(ReportChart, StacksBars) {
  const Chart chart{
      .title = "Memory",
      .content = Bars{.label = "batch",
                      .y = {.label = "B", .quantity = Quantity::bytes},
                      .categories = {"1", "2"},
                      .layers = {{.name = "weights",
                                  .values = {Estimate{.value = 1 << 20}, Estimate{.value = 1 << 20}},
                                  .colour = 6},
                                 {.name = "activations",
                                  .values = {Estimate{.value = 0}, Estimate{.value = 3 << 20}},
                                  .colour = 9}},
                      .levels = {{"cap 4.00 MiB", 4 << 20}}}};
  const std::string svg = chart_svg(chart);
  // From 0 to 4 MiB lie 186 units of height: of weights 46.5 in both bars, of activations 139.5 in the
  // second.
  EXPECT_THAT(
      svg, HasSubstr("class=\"f c6\" d=\"M64.9 165.5h134.2V212.0h-134.2zM236.9 165.5h134.2V212.0h-134.2z\""));
  EXPECT_THAT(svg, HasSubstr("class=\"f c9\" d=\"M236.9 26.0h134.2V165.5h-134.2z\""))
      << "nothing is drawn for 0 bytes";
  EXPECT_THAT(svg, HasSubstr("class=\"v\" d=\"M46.0 26.0L390.0 26.0\"")) << "the cap is the top";
  const TextTable table = chart_table(chart, 10);
  EXPECT_THAT(table.rows[0], ElementsAre("batch", "weights", "activations", "in all"));
  EXPECT_THAT(table.rows[2], ElementsAre("2", "1.00 MiB", "3.00 MiB", "4.00 MiB"));
}

TEST(ReportChart, TableHasARowForEachPlace) {
  const TextTable table = chart_table(throughput(), 10);
  EXPECT_THAT(table.rows[0], ElementsAre("batch", "fp32", "bf16"));
  EXPECT_THAT(table.rows[1], ElementsAre("1", "30 ± 2", ""));
  EXPECT_THAT(table.rows[2], ElementsAre("2", "40", "80"));
  EXPECT_THAT(chart_table(throughput(), 1).rows.back(), ElementsAre("and 1 more rows"));
}

TEST(ReportChart, PredictedValuesHaveTheirOwnInterval) {
  const Axis axis{.label = "FLOP/s", .quantity = Quantity::per_second};
  EXPECT_EQ(value_text(2e12, Interval{1e12, 4e12}, axis, true), "2.0 (1.0 to 4.0) TFLOP/s");
  EXPECT_EQ(value_text(980, Interval{840, 1150}, {.label = "samples/s"}, true), "980 (840 to 1150)");
}

TEST(ReportChart, ForeignTextStaysText) {
  Chart chart = throughput();
  chart.title = "\"><script>alert(1)</script>";
  std::get<Curves>(chart.content).x.label = "<img src=x onerror=alert(1)>";
  const std::string svg = chart_svg(chart);
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img"))));
}

TEST(ReportChart, OpenMarksTellPointsApart) {
  Chart chart = throughput();
  auto& curves = std::get<Curves>(chart.content);
  EXPECT_TRUE(keep_telling_marks(curves)) << "one of three";
  for (ChartSeries& series : curves.series) {
    for (ChartPoint& point : series.points) {
      point.open = true;
    }
  }
  EXPECT_FALSE(keep_telling_marks(curves)) << "all of them";
  EXPECT_FALSE(curves.series[0].points[1].open);
}

TEST(ReportChart, OneSeriesNeedsNoLegend) {
  Chart chart = throughput();
  std::get<Curves>(chart.content).series.pop_back();
  EXPECT_THAT(chart_legend(chart), IsEmpty());
}

}  // namespace
}  // namespace bench::report
