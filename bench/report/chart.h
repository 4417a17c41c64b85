// A picture of a report as data: what is drawn, in which units. A sweep makes it from its result, svg.h draws
// it, and chart_table() lists the same numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/measure/estimate.h"
#include "bench/memory.h"
#include "bench/sweep.h"

namespace bench::report {

// What an axis counts, and so its ticks, prefixes and digits. Values are in the unit named.
enum class Quantity {
  number,      // of `unit`
  bytes,       // B; powers of 1024
  duration,    // ns
  per_second,  // `unit`, such as B/s, with SI prefixes
};

enum class AxisScale { linear, log2, log10, counts };  // counts: 0 one place before 1, then log2

struct Axis {
  std::string label{};  // "batch"; of a quantity without prefix its unit: "samples/s"
  Quantity quantity = Quantity::number;
  AxisScale scale = AxisScale::linear;
  bool whole = false;  // things that are counted one by one: a linear scale has no ticks between them
};

// Colours of the style sheet. The first are for series, those from kCategoryColour on for memory categories.
inline constexpr std::size_t kSeriesColours = 6;
inline constexpr std::size_t kCategoryColour = kSeriesColours;
std::size_t colour_of(MemoryCategory category);
// One colour for a dtype in every picture.
std::size_t colour_of_dtype(std::string_view dtype);

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval{};
  std::string name{};  // in the table, where a point is more than its place in a series
  bool open = false;   // drawn hollow; Chart::note says why
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};
  std::size_t colour = 0;
  std::size_t shape = 0;  // of the marks: circle, square, triangle, diamond, then again
  bool marks = true;
  bool line = true;
  bool dashed = false;
  bool band = false;  // intervals as a band, of predicted points
};

// A line across the picture: a cap, the bus, a knee.
struct ChartLine {
  std::string name{};  // with its value
  double at = 0;
};

struct Curves {
  Axis x;
  Axis y;
  std::vector<ChartSeries> series;
  std::vector<ChartLine> levels{};  // values of y; left out where they would flatten the rest
  std::vector<ChartLine> places{};  // values of x
};

// A part of every bar, a value a category.
struct BarLayer {
  std::string name{};
  std::vector<std::optional<Estimate>> values{};
  std::size_t colour = 0;
};

struct Bars {
  std::string label;  // of the categories: "batch"
  Axis y;
  std::vector<std::string> categories;
  std::vector<BarLayer> layers;
  bool stacked = true;  // else next to each other, with their intervals
  std::vector<ChartLine> levels{};
  std::optional<double> top{};  // of the axis, where several pictures share it
};

struct Chart {
  std::string title;
  std::variant<Curves, Bars> content;
  std::string intervals{};  // "95 % intervals"; empty: there are none
  std::string note{};       // a sentence below it; empty: nothing to say
  bool predicted = false;
};

// "1.5 GiB", "33.1 ± 1.9", "12.3 ± 0.4 GB/s"; of a prediction "980 (840 to 1150)".
std::string value_text(double value, const std::optional<Interval>& interval, const Axis& axis,
                       bool predicted);

// A row for each x, or for each point where points have names; at most `most` rows, then one that says how
// many are left out.
TextTable chart_table(const Chart& chart, std::size_t most);

bool is_empty(const Chart& chart);

// An open mark tells a point from others: none stays open where more than nine of ten are. Returns whether
// any is.
bool keep_telling_marks(Curves& curves);

}  // namespace bench::report
