#include "bench/report/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bench/page/escape.h"
#include "bench/report/ticks.h"

namespace bench::report {
namespace {

// In units of the picture, which are CSS pixels on a phone: the picture is as wide as its screen.
constexpr double kWidth = 400;
constexpr double kHeight = 250;
constexpr double kLeft = 46;
constexpr double kRight = 390;
constexpr double kTop = 26;
constexpr double kBottom = 212;
constexpr double kLetter = 6.4;  // mean width of a digit at the style sheet's 12 px
constexpr std::size_t kMostMarks = 400;

double across(double share) {
  return kLeft + (kRight - kLeft) * share;
}
double up(double share) {
  return kBottom - (kBottom - kTop) * share;
}

// A text's width in the picture's units.
double width_of(const std::string& text) {
  const auto letters =
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return kLetter * static_cast<double>(letters);
}

// A circle, square, triangle or diamond around a place; its look is that of the group it is in.
std::string mark(double x, double y, std::size_t shape) {
  switch (shape % 4) {
    case 1:
      return fmt::format(R"(<path d="M{:.1f} {:.1f}h6.6v6.6h-6.6z"/>)", x - 3.3, y - 3.3);
    case 2:
      return fmt::format(R"(<path d="M{:.1f} {:.1f}l4.4 7.4h-8.8z"/>)", x, y - 4.9);
    case 3:
      return fmt::format(R"(<path d="M{:.1f} {:.1f}l4.4 4.4-4.4 4.4-4.4-4.4z"/>)", x, y - 4.4);
    default:
      return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.6"/>)", x, y);
  }
}

std::string group(std::string_view look, const std::string& content) {
  return content.empty() ? "" : fmt::format(R"(<g class="{}">{}</g>)", look, content);
}

std::string line_across(double x1, double y1, double x2, double y2, std::string_view look) {
  return fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", look, x1, y1, x2, y2);
}

// Frame, numbers and titles of the axes.
std::string y_axis(const ScaledAxis& axis) {
  constexpr std::size_t kTicks = 6;
  std::string grid;
  std::string texts;
  for (const Tick& tick : axis.ticks(kTicks)) {
    const double y = up(axis.place(tick.at));
    grid += fmt::format("M{} {:.1f}H{}", kLeft, y, kRight);
    texts += fmt::format(R"(<text x="{}" y="{:.1f}">{}</text>)", kLeft - 5, y + 4, xml_text(tick.text));
  }
  return fmt::format(R"(<path class="g" d="{}"/>{}<text x="2" y="14">{}</text>)", grid, group("e", texts),
                     xml_text(axis.title()));
}

struct Label {
  double x = 0;
  std::string text;
};

std::string x_labels(const std::vector<Label>& labels, const std::string& title, bool ticks) {
  std::string line = fmt::format("M{} {}H{}", kLeft, kBottom, kRight);
  std::string texts;
  for (const Label& label : labels) {
    line += ticks ? fmt::format("M{:.1f} {}v4", label.x, kBottom) : "";
    const double x = std::min(label.x, kWidth - width_of(label.text) / 2 - 2);  // whole within the picture
    texts += fmt::format(R"(<text x="{:.1f}" y="{}">{}</text>)", x, kBottom + 17, xml_text(label.text));
  }
  texts +=
      fmt::format(R"(<text x="{}" y="{}">{}</text>)", (kLeft + kRight) / 2, kHeight - 6, xml_text(title));
  return fmt::format(R"(<path class="a" d="{}"/>{})", line, group("x", texts));
}

// Every so many texts, so that none touches its neighbour. They lie as far apart as the first two.
std::size_t stride_of(const std::vector<std::string>& texts, double distance) {
  constexpr double kSpace = 9;
  double widest = 0;
  for (const std::string& text : texts) {
    widest = std::max(widest, width_of(text) + kSpace);
  }
  return distance > 0 ? static_cast<std::size_t>(std::max(std::ceil(widest / distance), 1.0)) : 1;
}

std::string x_axis(const ScaledAxis& axis) {
  constexpr std::size_t kMost = 40;
  const std::vector<Tick> ticks = axis.ticks(kMost);
  std::vector<std::string> texts;
  double distance = kRight - kLeft;  // the smallest between neighbours
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    texts.push_back(ticks[i].text);
    if (i > 0) {
      distance = std::min(distance, across(axis.place(ticks[i].at)) - across(axis.place(ticks[i - 1].at)));
    }
  }
  const std::size_t stride = stride_of(texts, distance);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < ticks.size(); i += stride) {
    labels.push_back({across(axis.place(ticks[i].at)), ticks[i].text});
  }
  return x_labels(labels, axis.title(), true);
}

std::string open_svg(const Chart& chart) {
  return fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", kWidth, kHeight,
                     xml_text(chart.predicted ? "Predicted: " + chart.title : chart.title));
}

struct Range {
  double low = INFINITY;
  double high = -INFINITY;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

bool logarithmic(const Axis& axis) {
  return axis.scale == AxisScale::log2 || axis.scale == AxisScale::log10;
}

bool drawable(const ChartPoint& point, const Curves& curves) {
  return std::isfinite(point.x) && std::isfinite(point.y) && (!logarithmic(curves.x) || point.x > 0) &&
         (!logarithmic(curves.y) || point.y > 0);
}

// The points decide the range, and intervals as far as they do not flatten the rest.
ScaledAxis y_axis_of(const Curves& curves, const Range& values) {
  constexpr double kRoom = 1.5;
  Range range = values;
  for (const ChartSeries& series : curves.series) {
    for (const ChartPoint& point : series.points) {
      if (drawable(point, curves) && point.interval) {
        range.add(std::min(point.interval->high, kRoom * values.high));
        range.add(std::max(point.interval->low, values.low / kRoom));
      }
    }
  }
  for (const ChartLine& level : curves.levels) {
    if (level.at <= kRoom * values.high && level.at > 0) {
      range.add(level.at);
    }
  }
  return logarithmic(curves.y)
             ? ScaledAxis(curves.y, range.low, range.high)
             : ScaledAxis(curves.y, std::min(range.low, 0.0), round_up(range.high, curves.y.quantity));
}

struct Extent {
  Range x;
  Range y;
};

Extent extent_of(const Curves& curves) {
  Extent extent;
  for (const ChartSeries& series : curves.series) {
    for (const ChartPoint& point : series.points) {
      if (drawable(point, curves)) {
        extent.x.add(point.x);
        extent.y.add(point.y);
      }
    }
  }
  return extent;
}

class CurvesSvg {
 public:
  explicit CurvesSvg(const Curves& curves) : CurvesSvg(curves, extent_of(curves)) {}

  std::string text() const {
    std::string svg = y_axis(y_) + x_axis(x_);
    for (const ChartLine& level : curves_.levels) {
      if (y_.shows(level.at)) {
        svg += line_across(kLeft, up(y_.place(level.at)), kRight, up(y_.place(level.at)), "v");
      }
    }
    for (const ChartLine& place : curves_.places) {
      if (x_.shows(place.at)) {
        svg += line_across(across(x_.place(place.at)), kTop, across(x_.place(place.at)), kBottom, "w");
      }
    }
    for (const ChartSeries& series : curves_.series) {
      svg += series.band ? band(series) : bars(series);
    }
    for (const ChartSeries& series : curves_.series) {
      svg += line(series) + marks(series);
    }
    return svg;
  }

 private:
  CurvesSvg(const Curves& curves, const Extent& extent)
      : curves_(curves), x_(curves.x, extent.x.low, extent.x.high), y_(y_axis_of(curves, extent.y)) {}

  double x(const ChartPoint& point) const { return across(x_.place(point.x)); }
  double y(double value) const {
    const double at = logarithmic(curves_.y) && !(value > 0) ? 0 : std::clamp(y_.place(value), 0.0, 1.0);
    return up(at);
  }
  std::vector<const ChartPoint*> drawn(const ChartSeries& series) const {
    std::vector<const ChartPoint*> points;
    for (const ChartPoint& point : series.points) {
      if (drawable(point, curves_) && points.size() < kMostMarks) {
        points.push_back(&point);
      }
    }
    return points;
  }

  std::string path(const std::vector<const ChartPoint*>& points) const {
    std::string path;
    for (const ChartPoint* point : points) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(*point), y(point->y));
    }
    return path;
  }
  std::string line(const ChartSeries& series) const {
    const auto points = drawn(series);
    return series.line && points.size() > 1
               ? fmt::format(R"(<path class="s{} c{}" d="{}"/>)", series.dashed ? " d" : "", series.colour,
                             path(points))
               : "";
  }
  std::string marks(const ChartSeries& series) const {
    std::string filled;
    std::string open;
    for (const ChartPoint* point : series.marks ? drawn(series) : std::vector<const ChartPoint*>{}) {
      (point->open ? open : filled) += mark(x(*point), y(point->y), series.shape);
    }
    return group(fmt::format("m c{}", series.colour), filled) +
           group(fmt::format("o c{}", series.colour), open);
  }
  std::string bars(const ChartSeries& series) const {
    std::string path;
    for (const ChartPoint* point : drawn(series)) {
      if (point->interval) {
        path += fmt::format("M{:.1f} {:.1f}V{:.1f}", x(*point), y(point->interval->low),
                            y(point->interval->high));
      }
    }
    return path.empty() ? "" : fmt::format(R"(<path class="i c{}" d="{}"/>)", series.colour, path);
  }
  std::string band(const ChartSeries& series) const {
    std::string forth;
    std::string back;
    for (const ChartPoint* point : drawn(series)) {
      const Interval interval = point->interval.value_or(Interval{point->y, point->y});
      forth += fmt::format("{}{:.1f} {:.1f}", forth.empty() ? "M" : "L", x(*point), y(interval.high));
      back.insert(0, fmt::format("L{:.1f} {:.1f}", x(*point), y(interval.low)));
    }
    return forth.empty() ? "" : fmt::format(R"(<path class="b c{}" d="{}{}z"/>)", series.colour, forth, back);
  }

  const Curves& curves_;
  ScaledAxis x_;
  ScaledAxis y_;
};

std::string svg_of(const Curves& curves) {
  return CurvesSvg(curves).text();
}

double top_of(const Bars& bars) {
  if (bars.top) {
    return *bars.top;
  }
  double top = 0;
  for (std::size_t i = 0; i < bars.categories.size(); ++i) {
    double sum = 0;
    for (const BarLayer& layer : bars.layers) {
      const auto& value = layer.values.at(i);
      const double own = value && std::isfinite(value->value) ? std::max(value->value, 0.0) : 0;
      sum = bars.stacked ? sum + own : std::max({sum, own, value ? std::min(value->high(), 1.5 * own) : 0});
    }
    top = std::max(top, sum);
  }
  return top;
}

ScaledAxis y_axis_of(const Bars& bars) {
  return {bars.y, 0, round_up(top_of(bars), bars.y.quantity)};
}

// Of a path.
std::string bar(double x, double width, double from, double to) {
  return to - from < 1e-4
             ? ""
             : fmt::format("M{:.1f} {:.1f}h{:.1f}V{:.1f}h-{:.1f}z", x, up(to), width, up(from), width);
}

std::string bar_labels(const Bars& bars, double slot) {
  const std::size_t stride = stride_of(bars.categories, slot);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < bars.categories.size() && i < kMostMarks; i += stride) {
    labels.push_back({kLeft + slot * (static_cast<double>(i) + 0.5), bars.categories[i]});
  }
  return x_labels(labels, bars.label, false);
}

std::string svg_of(const Bars& bars) {
  const ScaledAxis axis = y_axis_of(bars);
  const std::size_t count = std::min(bars.categories.size(), kMostMarks);
  const double slot = (kRight - kLeft) / static_cast<double>(count);
  const double width = 0.78 * slot / (bars.stacked ? 1 : static_cast<double>(bars.layers.size()));
  const auto share = [&](double value) {
    return std::isfinite(value) ? std::clamp(axis.place(value), 0.0, 1.0) : 0.0;
  };
  std::string svg = y_axis(axis) + bar_labels(bars, slot);
  std::string intervals;
  std::vector<double> below(count, 0.0);  // where the next layer begins
  for (std::size_t k = 0; k < bars.layers.size(); ++k) {
    std::string path;
    for (std::size_t i = 0; i < count; ++i) {
      const std::optional<Estimate>& value = bars.layers[k].values.at(i);
      const double x = kLeft + slot * (static_cast<double>(i) + 0.11) +
                       (bars.stacked ? 0 : width * static_cast<double>(k));
      const double top = std::min(below[i] + share(value ? value->value : 0), 1.0);
      path += bar(x, width, below[i], top);
      below[i] = bars.stacked ? top : 0;
      if (!bars.stacked && value && value->ci95) {
        intervals += fmt::format("M{:.1f} {:.1f}V{:.1f}", x + width / 2, up(share(value->ci95->low)),
                                 up(share(value->ci95->high)));
      }
    }
    svg += path.empty() ? "" : fmt::format(R"(<path class="f c{}" d="{}"/>)", bars.layers[k].colour, path);
  }
  svg += intervals.empty() ? "" : fmt::format(R"(<path class="n" d="{}"/>)", intervals);
  for (const ChartLine& level : bars.levels) {
    if (axis.shows(level.at)) {
      svg += line_across(kLeft, up(axis.place(level.at)), kRight, up(axis.place(level.at)), "v");
    }
  }
  return svg;
}

std::string swatch(const std::string& content) {
  return fmt::format(R"(<svg class="k" viewBox="0 0 24 12" aria-hidden="true">{}</svg>)", content);
}

LegendEntry level_entry(const ChartLine& level, const ScaledAxis& axis) {
  return {swatch(R"(<path class="v" d="M1 6H23"/>)"),
          axis.shows(level.at) ? level.name : level.name + ", above the picture"};
}

std::vector<LegendEntry> legend_of(const Curves& curves) {
  std::vector<LegendEntry> legend;
  for (const ChartSeries& series : curves.series) {
    const std::string line = series.line ? fmt::format(R"(<path class="s{} c{}" d="M1 6H23"/>)",
                                                       series.dashed ? " d" : "", series.colour)
                                         : "";
    const std::string own =
        series.marks ? group(fmt::format("m c{}", series.colour), mark(12, 6, series.shape)) : "";
    legend.push_back({swatch(line + own), series.name});
  }
  for (const ChartLine& level : curves.levels) {
    legend.push_back(level_entry(level, y_axis_of(curves, extent_of(curves).y)));
  }
  for (const ChartLine& place : curves.places) {
    legend.push_back({swatch(R"(<path class="w" d="M12 0V12"/>)"), place.name});
  }
  return legend;
}

std::vector<LegendEntry> legend_of(const Bars& bars) {
  std::vector<LegendEntry> legend;
  for (const BarLayer& layer : bars.layers) {
    legend.push_back(
        {swatch(fmt::format(R"(<path class="f c{}" d="M6 0h12v12h-12z"/>)", layer.colour)), layer.name});
  }
  for (const ChartLine& level : bars.levels) {
    legend.push_back(level_entry(level, y_axis_of(bars)));
  }
  return legend;
}

}  // namespace

std::string chart_svg(const Chart& chart) {
  return open_svg(chart) + std::visit([](const auto& content) { return svg_of(content); }, chart.content) +
         "</svg>";
}

std::vector<LegendEntry> chart_legend(const Chart& chart) {
  std::vector<LegendEntry> legend =
      std::visit([](const auto& content) { return legend_of(content); }, chart.content);
  return legend.size() > 1 ? legend : std::vector<LegendEntry>{};
}

}  // namespace bench::report
