#include "bench/report/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bench/compare/escape.h"
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

// Circle, square, triangle, diamond around a place.
std::string mark(double x, double y, std::size_t shape, std::size_t colour, bool open) {
  constexpr double kRadius = 3.6;
  const std::string look = fmt::format("class=\"{} c{}\"", open ? "o" : "m", colour);
  switch (shape % 4) {
    case 1:
      return fmt::format(R"(<rect {} x="{:.1f}" y="{:.1f}" width="6.6" height="6.6"/>)", look, x - 3.3,
                         y - 3.3);
    case 2:
      return fmt::format(R"(<path {} d="M{:.1f} {:.1f}l4.4 7.4h-8.8z"/>)", look, x, y - 4.9);
    case 3:
      return fmt::format(R"(<path {} d="M{:.1f} {:.1f}l4.4 4.4-4.4 4.4-4.4-4.4z"/>)", look, x, y - 4.4);
    default:
      return fmt::format(R"(<circle {} cx="{:.1f}" cy="{:.1f}" r="{}"/>)", look, x, y, kRadius);
  }
}

std::string line_across(double x1, double y1, double x2, double y2, std::string_view look) {
  return fmt::format(R"(<path class="{}" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", look, x1, y1, x2, y2);
}

// Frame, numbers and titles of the axes.
std::string y_axis(const ScaledAxis& axis) {
  constexpr std::size_t kTicks = 6;
  std::string svg;
  for (const Tick& tick : axis.ticks(kTicks)) {
    const double y = up(axis.place(tick.at));
    svg += line_across(kLeft, y, kRight, y, "g");
    svg += fmt::format(R"(<text class="e" x="{:.1f}" y="{:.1f}">{}</text>)", kLeft - 5, y + 4,
                       xml_text(tick.text));
  }
  return svg + fmt::format(R"(<text x="2" y="14">{}</text>)", xml_text(axis.title()));
}

std::string x_title(const std::string& title) {
  return line_across(kLeft, kBottom, kRight, kBottom, "a") +
         fmt::format(R"(<text class="x" x="{:.1f}" y="{}">{}</text>)", (kLeft + kRight) / 2, kHeight - 6,
                     xml_text(title));
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

std::string x_tick(double x, const std::string& text) {
  return line_across(x, kBottom, x, kBottom + 4, "a") +
         fmt::format(R"(<text class="x" x="{:.1f}" y="{}">{}</text>)", x, kBottom + 17, xml_text(text));
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
  std::string svg;
  for (std::size_t i = 0; i < ticks.size(); i += stride) {
    svg += x_tick(across(axis.place(ticks[i].at)), ticks[i].text);
  }
  return svg + x_title(axis.title());
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
               ? fmt::format(R"(<path class="l{} c{}" d="{}"/>)", series.dashed ? " d" : "", series.colour,
                             path(points))
               : "";
  }
  std::string marks(const ChartSeries& series) const {
    std::string svg;
    for (const ChartPoint* point : series.marks ? drawn(series) : std::vector<const ChartPoint*>{}) {
      svg += mark(x(*point), y(point->y), series.shape, series.colour, point->open);
    }
    return svg;
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
      back = fmt::format("L{:.1f} {:.1f}", x(*point), y(interval.low)) + back;
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

std::string bar(double x, double width, double from, double to, std::size_t colour) {
  return to - from < 1e-4
             ? ""
             : fmt::format(R"(<rect class="f c{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                           colour, x, up(to), width, up(from) - up(to));
}

std::string svg_of(const Bars& bars) {
  const ScaledAxis axis = y_axis_of(bars);
  const std::size_t count = std::min(bars.categories.size(), kMostMarks);
  const double slot = (kRight - kLeft) / static_cast<double>(count);
  const std::vector<std::string> shown(bars.categories.begin(),
                                       bars.categories.begin() + static_cast<std::ptrdiff_t>(count));
  const std::size_t stride = stride_of(shown, slot);
  std::string svg = y_axis(axis) + x_title(bars.label);
  for (std::size_t i = 0; i < count; ++i) {
    const double left = kLeft + slot * static_cast<double>(i);
    if (i % stride == 0) {
      svg += fmt::format(R"(<text class="x" x="{:.1f}" y="{}">{}</text>)", left + slot / 2, kBottom + 17,
                         xml_text(shown[i]));
    }
    const double width = 0.78 * slot / (bars.stacked ? 1 : static_cast<double>(bars.layers.size()));
    double from = 0;
    double x = left + 0.11 * slot;
    for (const BarLayer& layer : bars.layers) {
      const auto& value = layer.values.at(i);
      const double own = value && std::isfinite(value->value) ? std::max(value->value, 0.0) : 0;
      const double to = std::clamp(axis.place(own), 0.0, 1.0);
      svg += bar(x, width, from, std::min(from + to, 1.0), layer.colour);
      if (bars.stacked) {
        from = std::min(from + to, 1.0);
      } else {
        if (value && value->ci95) {
          svg += line_across(x + width / 2, up(std::clamp(axis.place(value->ci95->low), 0.0, 1.0)),
                             x + width / 2, up(std::clamp(axis.place(value->ci95->high), 0.0, 1.0)), "n");
        }
        x += width;
      }
    }
  }
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
    const std::string line = series.line ? fmt::format(R"(<path class="l{} c{}" d="M1 6H23"/>)",
                                                       series.dashed ? " d" : "", series.colour)
                                         : "";
    legend.push_back(
        {swatch(line + (series.marks ? mark(12, 6, series.shape, series.colour, false) : "")), series.name});
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
        {swatch(fmt::format(R"(<rect class="f c{}" x="6" y="0" width="12" height="12"/>)", layer.colour)),
         layer.name});
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
