#include "plots/drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/text/lines.h"
#include "plots/ticks.h"

namespace bench::plots {
namespace {

constexpr std::size_t kMostMarks = 400;
constexpr std::size_t kMostTicksUp = 6;
constexpr std::size_t kMostTicksAcross = 40;
constexpr double kFoot = 0.02;  // of the frame: where crosses stand

double clamped(double share) {
  return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
}

// Every so many texts, so that none touches its neighbour. `distance`: letters from one to the next.
std::size_t stride_of(const std::vector<Label>& labels, double distance) {
  constexpr double kSpace = 1.4;
  double widest = 0;
  for (const Label& label : labels) {
    widest = std::max(widest, static_cast<double>(columns(label.text)) + kSpace);
  }
  return distance > 0 ? static_cast<std::size_t>(std::max(std::ceil(widest / distance), 1.0)) : 1;
}

std::vector<Label> every(const std::vector<Label>& labels, std::size_t stride) {
  std::vector<Label> kept;
  for (std::size_t i = 0; i < labels.size(); i += stride) {
    kept.push_back(labels[i]);
  }
  return kept;
}

// Of labels that count from 1 those of round numbers, at least so many apart.
std::vector<Label> round_ones(const std::vector<Label>& labels, std::size_t stride) {
  std::size_t step = 1;
  for (std::size_t power = 1; step < stride; power *= 10) {
    for (const std::size_t factor : {2U, 5U, 10U}) {
      step = step < stride ? factor * power : step;
    }
  }
  std::vector<Label> kept;
  for (std::size_t i = step - 1; i < labels.size(); i += step) {
    kept.push_back(labels[i]);
  }
  return kept;
}

std::vector<Label> labels_of(const ScaledAxis& axis, std::size_t most) {
  std::vector<Label> labels;
  for (const Tick& tick : axis.ticks(most)) {
    labels.push_back({axis.place(tick.at), tick.text});
  }
  return labels;
}

void set_x_axis(const ScaledAxis& axis, double letters, Drawing& drawing) {
  const std::vector<Label> labels = labels_of(axis, kMostTicksAcross);
  double distance = 1;  // the smallest between neighbours
  for (std::size_t i = 1; i < labels.size(); ++i) {
    distance = std::min(distance, labels[i].at - labels[i - 1].at);
  }
  drawing.x_labels = every(labels, stride_of(labels, distance * letters));
  drawing.x_title = axis.title();
}

void set_y_axis(const ScaledAxis& axis, Drawing& drawing) {
  drawing.y_labels = labels_of(axis, kMostTicksUp);
  drawing.y_title = axis.title();
}

void add_layer(Drawing& drawing, Layer layer) {
  if (!layer.paths.empty()) {
    drawing.layers.push_back(std::move(layer));
  }
}

void add_level(Drawing& drawing, const ChartLine& level, double at) {
  add_layer(drawing, {.look = Look::level, .colour = level.colour, .paths = {{{0, at}, {1, at}}}});
}

// A level that has no entry of its own is named by its series.
void add_level_entries(Drawing& drawing, const std::vector<ChartLine>& levels, const ScaledAxis& axis) {
  for (const ChartLine& level : levels) {
    if (!level.name.empty()) {
      drawing.legend.push_back(
          {.looks = {Look::level},
           .colour = level.colour,
           .text = axis.shows(level.at) ? level.name : level.name + ", above the picture"});
    }
  }
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

// Intervals of one colour; an end that the frame cuts off has an arrowhead.
class Intervals {
 public:
  struct End {
    double y = 0;
    bool shown = true;
  };
  explicit Intervals(std::size_t colour)
      : lines_{.look = Look::interval, .colour = colour}, heads_{.look = Look::thin, .colour = colour} {}

  void add(double x, End low, End high) {
    lines_.paths.push_back({{x, low.y}, {x, high.y}});
    add_head(x, low, kHeadHeight);
    add_head(x, high, -kHeadHeight);
  }

  void draw(Drawing& drawing) {
    add_layer(drawing, std::move(lines_));
    add_layer(drawing, std::move(heads_));
  }

 private:
  static constexpr double kHeadHeight = 0.025;
  static constexpr double kHeadWidth = 0.008;

  void add_head(double x, End end, double back) {
    if (!end.shown) {
      heads_.paths.push_back({{x - kHeadWidth, end.y + back}, {x, end.y}, {x + kHeadWidth, end.y + back}});
    }
  }

  Layer lines_, heads_;
};

class CurvesLayout {
 public:
  CurvesLayout(const Curves& curves, double letters) : curves_(curves), x_(x_axis()), y_(y_axis()) {
    set_x_axis(x_, letters, drawing_);
    set_y_axis(y_, drawing_);
  }

  Drawing drawing() {
    for (const ChartLine& level : curves_.levels) {
      if (y_.shows(level.at)) {
        add_level(drawing_, level, y_.place(level.at));
      }
    }
    for (const ChartLine& place : curves_.places) {
      if (x_.shows(place.at)) {
        const double at = x_.place(place.at);
        add_layer(drawing_, {.look = Look::level, .colour = kQuietColour, .paths = {{{at, 0}, {at, 1}}}});
      }
    }
    for (const ChartSeries& series : curves_.series) {
      series.band ? add_band(series) : add_intervals(series);
    }
    for (const ChartSeries& series : curves_.series) {
      add_line(series);
      add_marks(series);
    }
    add_legend();
    return std::move(drawing_);
  }

 private:
  bool drawable(const ChartPoint& point) const {
    return std::isfinite(point.x) && std::isfinite(point.y) && (!logarithmic(curves_.x) || point.x > 0) &&
           (!logarithmic(curves_.y) || point.y > 0);
  }

  ScaledAxis x_axis() const {
    Range range;
    for (const ChartSeries& series : curves_.series) {
      for (const ChartPoint& point : series.points) {
        if (drawable(point)) {
          range.add(point.x);
        }
      }
      for (const double x : series.absent) {
        if (std::isfinite(x) && (!logarithmic(curves_.x) || x > 0)) {
          range.add(x);
        }
      }
    }
    return {curves_.x, range.low, range.high};
  }

  // The points decide the range, and intervals as far as they do not flatten the rest.
  ScaledAxis y_axis() const {
    Range values;
    for (const ChartSeries& series : curves_.series) {
      for (const ChartPoint& point : series.points) {
        if (drawable(point) && !series.fitted) {
          values.add(point.y);
        }
      }
    }
    Range range = values;
    for (const ChartSeries& series : curves_.series) {
      for (const ChartPoint& point : series.points) {
        if (drawable(point) && point.interval) {
          range.add(std::min(point.interval->high, kLevelRoom * values.high));
          range.add(std::max(point.interval->low, values.low / kLevelRoom));
        }
      }
    }
    for (const ChartLine& level : curves_.levels) {
      if (level.at <= kLevelRoom * values.high && level.at > 0) {
        range.add(level.at);
      }
    }
    return logarithmic(curves_.y)
               ? ScaledAxis(curves_.y, range.low, range.high)
               : ScaledAxis(curves_.y, std::min(range.low, 0.0), round_up(range.high, curves_.y.quantity));
  }

  double up(double value) const {
    return logarithmic(curves_.y) && !(value > 0) ? 0 : clamped(y_.place(value));
  }
  Place place(const ChartPoint& point) const { return {x_.place(point.x), up(point.y)}; }

  std::vector<const ChartPoint*> drawn(const ChartSeries& series) const {
    std::vector<const ChartPoint*> points;
    for (const ChartPoint& point : series.points) {
      if (drawable(point) && points.size() < kMostMarks) {
        points.push_back(&point);
      }
    }
    return points;
  }

  void add_line(const ChartSeries& series) {
    Path path;
    for (const ChartPoint* point : drawn(series)) {
      if (!series.fitted || y_.shows(point->y)) {  // a fit may lie anywhere
        path.push_back(place(*point));
      }
    }
    if (series.line && path.size() > 1) {
      add_layer(drawing_, {.look = series.fitted   ? Look::thin
                                   : series.dashed ? Look::dashed
                                                   : Look::line,
                           .colour = series.colour,
                           .paths = {std::move(path)}});
    }
  }

  void add_marks(const ChartSeries& series) {
    Layer filled{.look = Look::mark, .colour = series.colour, .shape = series.shape};
    Layer open{.look = Look::open, .colour = series.colour, .shape = series.shape};
    Layer rings{.look = Look::ring, .colour = series.colour};
    Layer crosses{.look = Look::cross, .colour = series.colour};
    for (const ChartPoint* point : series.marks ? drawn(series) : std::vector<const ChartPoint*>{}) {
      (point->open ? open : filled).paths.push_back({place(*point)});
      if (point->ring) {
        rings.paths.push_back({place(*point)});
      }
    }
    for (const double x : series.absent) {
      if (x_.shows(x)) {
        crosses.paths.push_back({{x_.place(x), kFoot}});
      }
    }
    for (Layer* layer : {&filled, &open, &rings, &crosses}) {
      add_layer(drawing_, std::move(*layer));
    }
  }

  void add_intervals(const ChartSeries& series) {
    Intervals intervals(series.colour);
    for (const ChartPoint* point : drawn(series)) {
      if (point->interval) {
        const auto& [low, high] = *point->interval;
        intervals.add(x_.place(point->x), {up(low), y_.shows(low)}, {up(high), y_.shows(high)});
      }
    }
    intervals.draw(drawing_);
  }

  void add_band(const ChartSeries& series) {
    Path path;
    Path back;
    for (const ChartPoint* point : drawn(series)) {
      const Interval interval = point->interval.value_or(Interval{point->y, point->y});
      path.push_back({x_.place(point->x), up(interval.high)});
      back.push_back({x_.place(point->x), up(interval.low)});
    }
    path.insert(path.end(), back.rbegin(), back.rend());
    if (!path.empty()) {
      add_layer(drawing_, {.look = Look::band, .colour = series.colour, .paths = {std::move(path)}});
    }
  }

  void add_legend() {
    for (const ChartSeries& series : curves_.series) {
      if (series.fitted) {
        continue;
      }
      LegendEntry entry{.colour = series.colour, .shape = series.shape, .text = series.name};
      if (series.line) {
        entry.looks.push_back(series.dashed ? Look::dashed : Look::line);
      }
      if (series.marks) {
        entry.looks.push_back(Look::mark);
      }
      drawing_.legend.push_back(std::move(entry));
    }
    add_level_entries(drawing_, curves_.levels, y_);
    for (const ChartLine& place : curves_.places) {
      if (!place.name.empty()) {
        drawing_.legend.push_back({.looks = {Look::level}, .colour = kQuietColour, .text = place.name});
      }
    }
  }

  const Curves& curves_;
  Drawing drawing_;
  ScaledAxis x_;
  ScaledAxis y_;
};

class BarsLayout {
 public:
  BarsLayout(const Bars& bars, double letters)
      : bars_(bars),
        letters_(letters),
        count_(std::min(bars.categories.size(), kMostMarks)),
        slot_(1.0 / static_cast<double>(count_)),
        width_((bars.joined ? 1.0 : 0.78) * slot_ /
               (bars.stacked ? 1 : static_cast<double>(bars.layers.size()))),
        numbered_(numbers_fit()),
        axis_(bars.y, 0, round_up((numbered_ ? 1.08 : 1) * highest(), bars.y.quantity)) {
    set_y_axis(axis_, drawing_);
    std::vector<Label> labels;
    for (std::size_t i = 0; i < count_; ++i) {
      labels.push_back({(static_cast<double>(i) + 0.5) * slot_, bars.categories[i]});
    }
    const std::size_t stride = stride_of(labels, slot_ * letters);
    // A bar whose number is missing lies between its neighbours; one whose name is missing says nothing.
    const bool names = !bars.joined && std::ranges::none_of(bars.categories, [](const std::string& text) {
      return text.find_first_not_of("0123456789") == std::string::npos;
    });
    drawing_.tilted = names && stride > 1;
    drawing_.x_labels = bars.joined ? round_ones(labels, stride) : every(labels, names ? 1 : stride);
    drawing_.x_title = bars.label;
    drawing_.ticks = false;
  }

  Drawing drawing() {
    Intervals intervals(kTextColour);
    std::vector<double> below(count_, 0.0);  // where the next layer begins
    for (std::size_t k = 0; k < bars_.layers.size(); ++k) {
      Layer layer{.look = bars_.joined ? Look::block : Look::bar, .colour = bars_.layers[k].colour};
      for (std::size_t i = 0; i < count_; ++i) {
        const std::optional<Estimate>& value = bars_.layers[k].values.at(i);
        const double left = left_of(i) + (bars_.stacked ? 0 : width_ * static_cast<double>(k));
        const double top = std::min(below[i] + share(value ? value->value : 0), 1.0);
        if (!bars_.colours.empty() && bars_.colours.at(i) != layer.colour) {
          add_layer(drawing_, std::exchange(layer, {.look = layer.look, .colour = bars_.colours[i]}));
        }
        if (top - below[i] >= 1e-4) {
          layer.paths.push_back({{left, below[i]}, {left + width_, top}});
        }
        below[i] = bars_.stacked ? top : 0;
        if (!bars_.stacked && value && value->ci95) {
          const auto& [low, high] = *value->ci95;
          intervals.add(left + width_ / 2, {share(low), axis_.shows(low)}, {share(high), axis_.shows(high)});
        }
      }
      add_layer(drawing_, std::move(layer));
    }
    intervals.draw(drawing_);
    add_fit();
    add_crosses();
    add_numbers();
    add_regions(letters_);
    for (const ChartLine& level : bars_.levels) {
      if (axis_.shows(level.at)) {
        add_level(drawing_, level, axis_.place(level.at));
      }
    }
    add_legend();
    return std::move(drawing_);
  }

 private:
  double left_of(std::size_t bar) const {
    return slot_ * (static_cast<double>(bar) + (bars_.joined ? 0 : 0.11));
  }
  double share(double value) const { return std::isfinite(value) ? clamped(axis_.place(value)) : 0.0; }

  double sum_of(std::size_t bar) const {
    double sum = 0;
    for (const BarLayer& layer : bars_.layers) {
      const std::optional<Estimate>& value = layer.values.at(bar);
      sum += value && std::isfinite(value->value) ? std::max(value->value, 0.0) : 0;
    }
    return sum;
  }
  double highest() const {
    if (bars_.top) {
      return *bars_.top;
    }
    double top = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (bars_.stacked) {
        top = std::max(top, sum_of(i));
        continue;
      }
      for (const BarLayer& layer : bars_.layers) {
        const std::optional<Estimate>& value = layer.values.at(i);
        const double own = value && std::isfinite(value->value) ? std::max(value->value, 0.0) : 0;
        top = std::max({top, own, value ? std::min(value->high(), kLevelRoom * own) : 0});
      }
    }
    return top;
  }

  // Above a bar, in the axis's unit. Numbers that would touch tell nothing.
  bool numbers_fit() const {
    constexpr double kSpace = 0.8;
    if (bars_.joined) {
      return false;
    }
    const ScaledAxis axis(bars_.y, 0, round_up(highest(), bars_.y.quantity));
    std::size_t widest = 0;
    const auto add = [&](double value) { widest = std::max(widest, columns(axis.short_text(value))); };
    for (std::size_t i = 0; i < count_; ++i) {
      if (bars_.stacked) {
        add(sum_of(i));
        continue;
      }
      for (const BarLayer& layer : bars_.layers) {
        add(layer.values.at(i) ? layer.values.at(i)->value : 0);
      }
    }
    const double room = (bars_.stacked ? slot_ : width_) * letters_;
    return room >= static_cast<double>(widest) + kSpace;
  }
  void add_numbers() {
    if (!numbered_) {
      return;
    }
    Layer layer{.look = Look::text, .colour = kTextColour};
    const auto add = [&](double middle, double value, double top) {
      if (value > 0) {
        layer.paths.push_back({{middle, share(std::max(value, top))}});
        layer.texts.push_back(axis_.short_text(value));
      }
    };
    for (std::size_t i = 0; i < count_; ++i) {
      if (bars_.stacked) {
        const std::optional<double> fit = i < bars_.fitted.size() ? bars_.fitted[i] : std::nullopt;
        add(slot_ * (static_cast<double>(i) + 0.5), sum_of(i), fit.value_or(0));
        continue;
      }
      for (std::size_t k = 0; k < bars_.layers.size(); ++k) {
        if (const std::optional<Estimate>& value = bars_.layers[k].values.at(i)) {
          add(left_of(i) + width_ * (static_cast<double>(k) + 0.5), value->value, value->high());
        }
      }
    }
    add_layer(drawing_, std::move(layer));
  }

  void add_fit() {
    Layer layer{.look = Look::line, .colour = kTextColour};
    for (std::size_t i = 0; i < std::min(count_, bars_.fitted.size()); ++i) {
      if (bars_.fitted[i]) {
        const double y = share(*bars_.fitted[i]);
        layer.paths.push_back(
            {{slot_ * (static_cast<double>(i) + 0.03), y}, {slot_ * (static_cast<double>(i) + 0.97), y}});
      }
    }
    add_layer(drawing_, std::move(layer));
  }

  void add_crosses() {
    Layer layer{.look = Look::cross, .colour = kTextColour};
    for (const std::size_t bar : bars_.absent) {
      if (bar < count_) {
        layer.paths.push_back({{slot_ * (static_cast<double>(bar) + 0.5), kFoot}});
      }
    }
    add_layer(drawing_, std::move(layer));
  }

  // Lines between neighbours, and each name once, above the longest of its regions; where two would touch,
  // the longer region has its name.
  void add_regions(double letters) {
    Layer lines{.look = Look::level, .colour = kTextColour};
    for (std::size_t i = 1; i < bars_.regions.size(); ++i) {
      const double at = slot_ * static_cast<double>(bars_.regions[i].from);
      lines.paths.push_back({{at, 0}, {at, 1}});
    }
    add_layer(drawing_, std::move(lines));
    std::vector<BarRegion> longest_first = bars_.regions;
    std::ranges::stable_sort(longest_first, std::greater{},
                             [](const BarRegion& region) { return region.to - region.from; });
    Layer names{.look = Look::text, .colour = kQuietColour};
    std::vector<std::pair<double, double>> taken;
    for (const BarRegion& region : longest_first) {
      const double half = (static_cast<double>(columns(region.name)) / 2 + 0.5) / letters;
      const double middle =
          std::max(std::min(slot_ * (static_cast<double>(region.from + region.to) + 1) / 2, 1 - half), half);
      const bool free = std::ranges::none_of(taken, [&](const auto& other) {
        return middle - half < other.second && middle + half > other.first;
      });
      if (free && std::ranges::find(names.texts, region.name) == names.texts.end()) {
        taken.emplace_back(middle - half, middle + half);
        names.paths.push_back({{middle, 1}});
        names.texts.push_back(region.name);
      }
    }
    add_layer(drawing_, std::move(names));
  }

  void add_legend() {
    if (bars_.colours.empty()) {
      for (const BarLayer& layer : bars_.layers) {
        drawing_.legend.push_back({.looks = {Look::bar}, .colour = layer.colour, .text = layer.name});
      }
    }
    if (!bars_.fit_name.empty()) {
      drawing_.legend.push_back({.looks = {Look::line}, .colour = kTextColour, .text = bars_.fit_name});
    }
    add_level_entries(drawing_, bars_.levels, axis_);
  }

  const Bars& bars_;
  double letters_;
  Drawing drawing_;
  std::size_t count_;
  double slot_;   // of a category
  double width_;  // of a bar
  bool numbered_;
  ScaledAxis axis_;
};

Drawing laid_out(const Curves& curves, double letters) {
  return CurvesLayout(curves, letters).drawing();
}

Drawing laid_out(const Bars& bars, double letters) {
  return BarsLayout(bars, letters).drawing();
}

Drawing laid_out(const Timeline& timeline, double letters) {
  Drawing drawing;
  double last = 0;
  for (const SpanKind& kind : timeline.kinds) {
    for (const Span& span : kind.spans) {
      last = std::max(last, span.to);
    }
  }
  const ScaledAxis axis(timeline.x, 0, last);
  set_x_axis(axis, letters, drawing);
  const auto rows = static_cast<double>(timeline.rows.size());
  for (std::size_t i = 0; i < timeline.rows.size(); ++i) {
    drawing.y_labels.push_back({1 - (static_cast<double>(i) + 0.5) / rows, timeline.rows[i]});
  }
  for (const SpanKind& kind : timeline.kinds) {
    Layer layer{.look = Look::bar, .colour = kind.colour};
    for (const Span& span : kind.spans) {
      const double top = 1 - (static_cast<double>(span.row) + 0.14) / rows;
      layer.paths.push_back(
          {{clamped(axis.place(span.from)), top - 0.72 / rows}, {clamped(axis.place(span.to)), top}});
    }
    drawing.legend.push_back({.looks = {Look::bar}, .colour = kind.colour, .text = kind.name});
    add_layer(drawing, std::move(layer));
  }
  return drawing;
}

}  // namespace

Drawing drawing_of(const Chart& chart, double letters) {
  Drawing drawing =
      std::visit([&](const auto& content) { return laid_out(content, letters); }, chart.content);
  if (drawing.legend.size() < 2) {
    drawing.legend.clear();
  }
  return drawing;
}

}  // namespace bench::plots
