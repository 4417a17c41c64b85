// Charts: ticks at known places, what is drawn where, in both formats.
#include "plots/chart.h"

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "plots/drawing.h"
#include "plots/gnuplot.h"
#include "plots/svg.h"
#include "plots/ticks.h"

namespace bench::plots {
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

TEST(Ticks, AreRoundNumbersInOneUnit) {
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

TEST(Ticks, OfWholeThingsAreWhole) {
  EXPECT_THAT(texts(ScaledAxis({.label = "ranks", .whole = true}, 1, 2), 6), ElementsAre("1", "2"));
  EXPECT_THAT(texts(ScaledAxis({.label = "ranks"}, 1, 2), 6), ::testing::Contains("1.2"));
}

TEST(Ticks, OfLogarithmicAxesArePowers) {
  const ScaledAxis batches({.label = "batch", .scale = AxisScale::log2}, 1, 64);
  EXPECT_THAT(texts(batches, 40), ElementsAre("1", "2", "4", "8", "16", "32", "64"));
  EXPECT_THAT(texts(batches, 4), ElementsAre("1", "4", "16", "64"));
  const ScaledAxis sizes({.label = "bytes", .quantity = Quantity::bytes, .scale = AxisScale::log2}, 1024,
                         1 << 20);
  EXPECT_THAT(texts(sizes, 4), ElementsAre("1 KiB", "8 KiB", "64 KiB", "512 KiB"));
  const ScaledAxis flops({.label = "FLOP/s", .quantity = Quantity::per_second, .scale = AxisScale::log10},
                         1e9, 1e12);
  EXPECT_THAT(texts(flops, 6), ElementsAre("1 G", "10 G", "100 G", "1 T"));
  const ScaledAxis one({.label = "FLOP for each byte", .scale = AxisScale::log10}, 256, 256);
  EXPECT_THAT(texts(one, 6), ElementsAre("100", "200", "500")) << "one point lies between ticks";
  EXPECT_THAT(texts(ScaledAxis({.label = "workers", .scale = AxisScale::counts}, 0, 8), 40),
              ElementsAre("0", "1", "2", "4", "8"));
}

TEST(Ticks, CopeWithAnyRange) {
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

TEST(Chart, DrawsMarksAndIntervals) {
  const std::string svg = chart_svg(throughput()).svg;
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg viewBox="), HasSubstr("aria-label=\"Throughput\""),
                         HasSubstr(">samples/s</text>")));
  EXPECT_EQ(count_of("<g class=\"m c0\"><circle", svg), 1U);
  EXPECT_EQ(count_of("<g class=\"o c0\"><circle", svg), 1U) << "a flagged point is drawn open";
  EXPECT_EQ(count_of("class=\"i c0\"", svg), 1U) << "one path of intervals";
  EXPECT_EQ(count_of("class=\"i c1\"", svg), 0U) << "no interval is known";
  EXPECT_EQ(chart_svg(throughput()).legend.size(), 2U);
}

TEST(Chart, TheCaptionTellsWhatIntervalsHold) {
  Chart chart{.title = "", .content = Curves{.x = {}, .y = {}, .series = {{.points = {{.x = 1, .y = 2}}}}}};
  EXPECT_EQ(caption_of(chart), "");
  ChartSeries& series = std::get<Curves>(chart.content).series.front();
  series.points.front().interval = Interval{1, 3};
  EXPECT_EQ(caption_of(chart), "Bars: 95 % intervals.");
  chart.predicted = true;
  EXPECT_EQ(caption_of(chart), "Bars: 80 % intervals.");
  series.band = true;
  EXPECT_EQ(caption_of(chart), "Band: 80 % interval of the prediction.");
  chart.intervals = "Bars: of the simulation.";
  EXPECT_EQ(caption_of(chart), chart.intervals);
}

TEST(Chart, LeavesOutWhatAnAxisCannotShow) {
  Chart chart = throughput();
  auto& curves = std::get<Curves>(chart.content);
  curves.series[0].points.push_back({.x = 0, .y = 10});
  curves.series[0].points.push_back({.x = 4, .y = NAN});
  curves.levels.push_back({"cap", 1e12});
  const std::string svg = chart_svg(chart).svg;
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
  EXPECT_EQ(count_of("<circle", svg), 3U);
  EXPECT_EQ(chart_svg(chart).legend.back().text, "cap, above the picture");
}

constexpr double kMiB = 1 << 20;

Bars memory_bars() {
  return {.label = "batch",
          .y = {.label = "B", .quantity = Quantity::bytes},
          .categories = {"1", "2", "4"},
          .layers = {{.name = "weights",
                      .values = {Estimate{.value = kMiB}, Estimate{.value = kMiB}, std::nullopt},
                      .colour = 6},
                     {.name = "activations",
                      .values = {Estimate{.value = 0}, Estimate{.value = 3 * kMiB}, std::nullopt},
                      .colour = 9}},
          .levels = {{"cap 5.00 MiB", 5 * kMiB}},
          .fit_name = "fitted line",
          .fitted = {kMiB, 3.5 * kMiB, std::nullopt},
          .absent = {2}};
}

const Layer& layer_of(const Drawing& drawing, Look look, std::size_t skip = 0) {
  for (const Layer& layer : drawing.layers) {
    if (layer.look == look && skip-- == 0) {
      return layer;
    }
  }
  throw std::logic_error("no such layer");
}

// The axis ends at 5 MiB: the higher bar has 4, and its number stands above it.
TEST(Drawing, StacksBars) {
  const Drawing drawing = drawing_of({.title = "Memory", .content = memory_bars()}, 50);
  const Layer& weights = layer_of(drawing, Look::bar);
  ASSERT_EQ(weights.paths.size(), 2U);
  EXPECT_NEAR(weights.paths[1].front().y, 0, 1e-9);
  EXPECT_NEAR(weights.paths[1].back().y, 0.2, 1e-9);
  const Layer& activations = layer_of(drawing, Look::bar, 1);
  ASSERT_EQ(activations.paths.size(), 1U) << "nothing is drawn for 0 bytes";
  EXPECT_NEAR(activations.paths[0].front().y, 0.2, 1e-9);
  EXPECT_NEAR(activations.paths[0].back().y, 0.8, 1e-9);
  const Layer& numbers = layer_of(drawing, Look::text);
  EXPECT_THAT(numbers.texts, ElementsAre("1", "4"));
  EXPECT_NEAR(numbers.paths[1].front().y, 0.8, 1e-9) << "above the bar, which is higher than its line";
  const Layer& line = layer_of(drawing, Look::line);
  ASSERT_EQ(line.paths.size(), 2U);
  EXPECT_NEAR(line.paths[1].front().y, 0.7, 1e-9);
  EXPECT_NEAR(layer_of(drawing, Look::cross).paths.at(0).front().x, 2.5 / 3, 1e-9);
  EXPECT_NEAR(layer_of(drawing, Look::level).paths.at(0).front().y, 1, 1e-9) << "the cap";
}

// Each is named below its bar: no legend repeats it.
TEST(Drawing, BarsMayHaveAColourEach) {
  Bars bars{.label = "",
            .y = {.label = "J"},
            .categories = {"a", "b", "c"},
            .colours = {3, 1, 1},
            .layers = {{.name = "energy",
                        .values = {Estimate{.value = 1}, Estimate{.value = 2}, Estimate{.value = 3}}}},
            .stacked = false};
  const Drawing drawing = drawing_of({.title = "Energy", .content = bars}, 50);
  EXPECT_EQ(layer_of(drawing, Look::bar).colour, 3U);
  EXPECT_EQ(layer_of(drawing, Look::bar).paths.size(), 1U);
  EXPECT_EQ(layer_of(drawing, Look::bar, 1).colour, 1U);
  EXPECT_EQ(layer_of(drawing, Look::bar, 1).paths.size(), 2U);
  EXPECT_TRUE(drawing.legend.empty());
}

TEST(Drawing, LeavesOutNumbersThatWouldTouch) {
  const Drawing drawing = drawing_of({.title = "Memory", .content = memory_bars()}, 5);
  EXPECT_THROW(layer_of(drawing, Look::text), std::logic_error);
}

TEST(Drawing, NamesEachPassOnceAndCountsInRoundNumbers) {
  Bars bars{.label = "operation", .y = {.label = "B", .quantity = Quantity::bytes}, .joined = true};
  bars.layers.push_back({.name = "weights", .values = {}, .colour = 6});
  for (int i = 1; i <= 40; ++i) {
    bars.categories.push_back(std::to_string(i));
    bars.layers.front().values.emplace_back(Estimate{.value = kMiB});
  }
  bars.regions = {{"forward", 0, 9}, {"loss", 10, 10}, {"forward", 11, 12}, {"backward", 13, 39}};
  const Drawing drawing = drawing_of({.title = "A step", .content = bars}, 40);
  const Layer& names = layer_of(drawing, Look::text);
  EXPECT_THAT(names.texts, ElementsAre("backward", "forward")) << "the loss has no room next to forward";
  EXPECT_NEAR(names.paths[1].front().x, 5.0 / 40, 1e-9) << "above the longer of the two";
  EXPECT_EQ(layer_of(drawing, Look::level).paths.size(), 3U) << "a line where each of the others begins";
  EXPECT_EQ(drawing.x_labels.front().text, "5");
  EXPECT_EQ(drawing.x_labels.back().text, "40");
}

TEST(Drawing, RingsCrossesAndFittedCurves) {
  Chart chart = throughput();
  auto& curves = std::get<Curves>(chart.content);
  curves.series[0].points[1].ring = true;
  curves.series[0].absent = {4};
  curves.series.push_back(
      {.name = "a fit", .points = {{.x = 1, .y = 30}, {.x = 2, .y = 40}}, .marks = false, .fitted = true});
  curves.levels.push_back({.at = 60, .colour = 1});
  const Drawing drawing = drawing_of(chart, 50);
  EXPECT_NEAR(layer_of(drawing, Look::ring).paths.at(0).front().x,
              layer_of(drawing, Look::open).paths.at(0).front().x, 1e-9);
  EXPECT_GT(layer_of(drawing, Look::cross).paths.at(0).front().x, 0.9) << "the axis reaches to it";
  ASSERT_EQ(layer_of(drawing, Look::thin).paths.size(), 1U);
  EXPECT_EQ(layer_of(drawing, Look::thin).paths[0].size(), 2U) << "what lies far away flattens nothing";
  EXPECT_EQ(layer_of(drawing, Look::level).colour, 1U);
  std::vector<std::string> legend;
  for (const LegendEntry& entry : drawing.legend) {
    legend.push_back(entry.text);
  }
  EXPECT_THAT(legend, ElementsAre("fp32", "bf16")) << "a fit and a level without a name have no entry";
}

TEST(Drawing, RowsOfATimeline) {
  const Timeline timeline{.x = {.quantity = Quantity::duration},
                          .rows = {"consumer", "worker 0"},
                          .kinds = {{.name = "waits", .spans = {{0, 0, 2e6}}, .colour = 1},
                                    {.name = "makes", .spans = {{1, 1e6, 4e6}}, .colour = 0}}};
  const Drawing drawing = drawing_of({.title = "Steps", .content = timeline}, 50);
  EXPECT_EQ(drawing.x_title, "ms");
  EXPECT_EQ(drawing.y_labels.front().text, "consumer");
  EXPECT_NEAR(drawing.y_labels.front().at, 0.75, 1e-9) << "from the top";
  const Path& makes = layer_of(drawing, Look::bar, 1).paths.at(0);
  EXPECT_NEAR(makes.front().x, 0.25, 1e-9);
  EXPECT_NEAR(makes.back().x, 1, 1e-9);
  EXPECT_LT(makes.back().y, 0.5);
}

// Within a quoted text nothing ends it, and no line of the script is of foreign making.
TEST(Gnuplot, ForeignTextStaysText) {
  const std::string hostile = "it's\n`touch ran`\nsystem('touch ran') # \x1b]0;\u202e";
  Chart chart = throughput();
  chart.title = hostile;
  chart.note = hostile;
  std::get<Curves>(chart.content).series[0].name = hostile;
  std::get<Curves>(chart.content).x.label = hostile;
  const std::string script = gnuplot_script(
      {.title = hostile, .answer = hostile, .circumstances = hostile, .notes = {hostile}, .charts = {chart}});
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(count_of("'", line) % 2, 0U) << line;
    EXPECT_FALSE(line.starts_with("system") || line.starts_with("`")) << line;
    EXPECT_THAT(line, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
  }
}

TEST(Gnuplot, APictureWithoutChartsHasItsWords) {
  const std::string script = gnuplot_script({.title = "batch", .notes = {"No picture: no point."}});
  EXPECT_THAT(script, AllOf(HasSubstr("'No picture: no point.'"), HasSubstr("plot [0:1][0:1] NaN")));
}

TEST(Chart, ForeignTextStaysText) {
  Chart chart = throughput();
  chart.title = "\"><script>alert(1)</script>";
  std::get<Curves>(chart.content).x.label = "<img src=x onerror=alert(1)>";
  const std::string svg = chart_svg(chart).svg;
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img"))));
}

TEST(Chart, OpenMarksTellPointsApart) {
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

TEST(Chart, OneSeriesNeedsNoLegend) {
  Chart chart = throughput();
  std::get<Curves>(chart.content).series.pop_back();
  EXPECT_THAT(chart_svg(chart).legend, IsEmpty());
}

}  // namespace
}  // namespace bench::plots
