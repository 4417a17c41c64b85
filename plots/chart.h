// A chart as data: what is drawn, in which units. Who makes one says nothing about pixels and formats:
// drawing.h lays it out, svg.h and gnuplot.h write it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/stats/estimate.h"
#include "plots/colours.h"

namespace bench::plots {

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

// A level is drawn, and its axis grows for it, up to so many times the highest value; beyond, it would
// flatten the rest.
inline constexpr double kLevelRoom = 1.5;

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval{};
  std::string name{};  // in the table, where a point is more than its place in a series
  bool open = false;   // drawn hollow; Chart::note says why
  bool ring = false;   // with a ring around it: the point that an answer is about
};

struct ChartSeries {
  std::string name{};
  std::vector<ChartPoint> points{};
  std::size_t colour = 0;
  std::size_t shape = 0;  // of the marks: circle, square, triangle, diamond, then again
  bool marks = true;
  bool line = true;
  bool dashed = false;
  bool band = false;             // intervals as a band, of predicted points
  bool fitted = false;           // a curve through another series: not in the legend, nor in the table
  std::vector<double> absent{};  // x of points that have no value: a cross at the foot
};

// A line across the picture: a cap, the bus, a knee.
struct ChartLine {
  std::string name{};  // with its value; empty: not in the legend
  double at = 0;
  std::size_t colour = kCapColour;
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

// Neighbouring bars with a name of their own, above them: the passes of a step.
struct BarRegion {
  std::string name{};
  std::size_t from = 0;  // the first bar
  std::size_t to = 0;    // the last
};

struct Bars {
  std::string label;  // of the categories: "batch"
  Axis y;
  std::vector<std::string> categories{};
  std::vector<std::size_t> colours{};  // of the categories, in place of the layer's; empty: none
  std::vector<BarLayer> layers{};
  bool stacked = true;  // else next to each other, with their intervals
  bool joined = false;  // without room between the bars: they follow each other in time
  std::vector<ChartLine> levels{};
  std::optional<double> top{};                  // of the axis, where several charts share it
  std::string fit_name{};                       // "fitted line"
  std::vector<std::optional<double>> fitted{};  // a line across each bar, a value a category; empty: none
  std::vector<std::size_t> absent{};            // categories without a value: a cross at the foot
  std::vector<BarRegion> regions{};
};

// What some actors do at the same time: a bar from `from` to `to` in the actor's row.
struct Span {
  std::size_t row = 0;
  double from = 0;
  double to = 0;
};
struct SpanKind {
  std::string name{};
  std::vector<Span> spans{};
  std::size_t colour = 0;
};
struct Timeline {
  Axis x;                         // from 0
  std::vector<std::string> rows;  // from the top
  std::vector<SpanKind> kinds;
};

struct Chart {
  std::string title;
  std::variant<Curves, Bars, Timeline> content;
  std::optional<std::string> intervals{};  // what they are; none: of 95 %, where it is predicted of 80 %
  std::string note{};                      // a sentence below it; empty: nothing to say
  bool predicted = false;
  bool wide = false;  // takes a row of a picture for itself
};

// What is drawn as one file: charts, and the words around them.
struct Picture {
  std::string title;
  std::string answer{};
  std::string circumstances{};  // where and when it was measured
  std::vector<std::string> notes{};
  std::vector<Chart> charts{};
};

bool is_empty(const Chart& chart);

// What stands with it: of its intervals, where a point has one, its note, and of its crosses.
std::string caption_of(const Chart& chart);

// An open mark tells a point from others: none stays open where more than nine of ten are. Returns whether
// any is.
bool keep_telling_marks(Curves& curves);

}  // namespace bench::plots
