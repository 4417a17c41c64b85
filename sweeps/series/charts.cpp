#include "sweeps/series/charts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

// Batches of a series that were not measured.
std::vector<double> absent_from(const BatchSeries& series, const ResultDocument& document,
                                const SeriesLabel& label) {
  std::set<double> batches;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    const auto params = read_params(point.params);
    if (params && label(*params) == series.label) {
      batches.insert(static_cast<double>(params->batch));
    }
  }
  return {batches.begin(), batches.end()};
}

// Throughput of ever larger batches, and a step's cost before any sample: what the findings say of them.
struct FittedStep {
  std::optional<double> t_inf_per_s;
  std::optional<double> t0_ns;
  bool t0_is_zero = false;  // it may be
  bool holds = true;
  std::vector<double> batches;  // that it was fitted to

  FittedStep(const BatchSeries& series, const std::vector<Finding>& findings) {
    const Finding* const t_inf = finding_for(findings, "t_inf", series);
    const Finding* const t0 = finding_for(findings, "t0", series);
    if (t_inf == nullptr) {
      return;
    }
    t_inf_per_s = number_in(t_inf->details, "t_inf_per_s");
    t0_ns = number_in(t_inf->details, "t0_ns");
    if (t0 != nullptr) {
      t0_ns = t0_ns ? t0_ns : number_in(t0->details, "t0_ns");
      t0_is_zero = t0->details.is_object() && !t0->details.value("distinguishable_from_zero", true);
    }
    if (t_inf->details.is_object()) {
      holds = t_inf->details.value("model_holds", true);
      batches = t_inf->details.value("batches", std::vector<double>{});
    }
  }
};

// Samples a second of batches from the first to the last that the fit knows: batch / (t0 + batch/T∞).
std::vector<plots::ChartPoint> fitted_points(const FittedStep& step, const BatchSeries& series) {
  constexpr int kPieces = 40;
  if (!step.t_inf_per_s || !step.t0_ns || *step.t_inf_per_s <= 0 || series.points.size() < 2) {
    return {};
  }
  const double first =
      step.batches.empty() ? static_cast<double>(series.points.front().batch) : step.batches.front();
  const double last =
      step.batches.empty() ? static_cast<double>(series.points.back().batch) : step.batches.back();
  std::vector<plots::ChartPoint> points;
  for (int i = 0; i <= kPieces && first > 0 && last > first; ++i) {
    const double batch = first * std::pow(last / first, static_cast<double>(i) / kPieces);
    points.push_back({.x = batch, .y = batch / (*step.t0_ns / 1e9 + batch / *step.t_inf_per_s)});
  }
  return points;
}

std::string name_of(const BatchSeries& series, const Finding* saturation, const FittedStep& step,
                    bool limit_is_shown) {
  std::string name = series.label;
  if (saturation != nullptr && saturation->value) {
    const std::optional<double> alike_to = number_in(saturation->details, "alike_to");
    const bool beyond = saturation->details.is_object() && saturation->details.value("may_lie_beyond", false);
    name += alike_to
                ? fmt::format(", as fast at every batch from {} to {}", *saturation->value, *alike_to)
                : fmt::format(", saturates at batch {}{}", *saturation->value, beyond ? " or beyond" : "");
  }
  if (step.t_inf_per_s) {
    name += fmt::format(", T∞ {}{} samples/s{}", step.holds ? "" : "about ", format_number(*step.t_inf_per_s),
                        limit_is_shown ? "" : " (above the picture)");
  }
  if (step.t_inf_per_s && step.t0_ns && !step.t0_is_zero && *step.t0_ns > 0) {
    name += fmt::format(", t0 {}", format_duration(*step.t0_ns));
  }
  return name;
}

plots::ChartSeries curve_of(const BatchSeries& series, const Finding* saturation) {
  const std::size_t colour = plots::colour_of_dtype(bench::name_of(series.params.dtype));
  plots::ChartSeries curve{.points = {}, .colour = colour, .shape = colour};
  curve.band = series.is_predicted();
  for (const CurvePoint& point : series.points) {
    curve.points.push_back(
        {.x = static_cast<double>(point.batch),
         .y = point.per_s,
         .interval = point.shown_interval(),
         .open = point.few_rounds || point.contended,
         .ring = saturation != nullptr && saturation->value == static_cast<double>(point.batch)});
  }
  return curve;
}

double highest(const BatchSeries& series) {
  double most = 0;
  for (const CurvePoint& point : series.points) {
    most = std::max(most, static_cast<double>(point.point->memory.by_category.total()));
  }
  return most;
}

// The memory line of the file: its segments, each from its first batch on.
class LineOfFile {
 public:
  explicit LineOfFile(const Finding* finding) {
    if (finding == nullptr || !finding->details.is_object()) {
      return;
    }
    for (const Json& segment : finding->details.value("segments", Json::array())) {
      add(segment);
    }
    if (segments_.empty()) {
      add(finding->details);
    }
  }

  std::optional<double> at(double batch) const {
    std::optional<double> bytes;
    for (const Segment& segment : segments_) {
      if (segment.slope > 0 && (segment.from <= batch || !bytes)) {
        bytes = segment.fixed + segment.slope * batch;
      }
    }
    return bytes && *bytes >= 0 ? bytes : std::nullopt;
  }

  // "199 MiB + 5.27 MiB × batch (from batch 32)"; empty where nothing is known.
  std::string in_words(std::int64_t smallest) const {
    if (segments_.empty() || segments_.back().slope <= 0) {
      return "";
    }
    const Segment& last = segments_.back();
    return fmt::format(
        "{} + {} × batch{}", format_bytes(std::llround(last.fixed)), format_bytes(std::llround(last.slope)),
        last.from > static_cast<double>(smallest) ? fmt::format(" from batch {} on", last.from) : "");
  }

 private:
  struct Segment {
    double from = 0;
    double fixed = 0;
    double slope = 0;  // bytes a sample
  };
  void add(const Json& segment) {
    const auto fixed = number_in(segment, "fixed_bytes");
    const auto slope = number_in(segment, "slope_bytes");
    if (fixed && slope) {
      segments_.push_back({number_in(segment, "first_batch").value_or(0), *fixed, *slope});
    }
  }
  std::vector<Segment> segments_;
};

// "Fits to batch 3522 (planned)", or of each cap of the memory sweep.
std::string largest_in_words(const BatchSeries& series, const ResultDocument& document) {
  const Finding* const largest = finding_for(document.findings, "largest_batch", series);
  if (largest != nullptr && largest->value) {
    const bool planned = largest->details.is_object() && largest->details.value("source", "") == "planned";
    const bool measured = *largest->value <= static_cast<double>(series.points.back().batch);
    return fmt::format("Fits to batch {}{}.", *largest->value,
                       planned    ? " by plan"
                       : measured ? ""
                                  : " by the line");
  }
  std::vector<std::string> caps;
  const auto limits = document.sweep.state.find("limits");
  if (limits == document.sweep.state.end() || !limits->is_array()) {
    return "";
  }
  for (const Json& limit : *limits) {
    const auto batch = number_in(limit, "largest_batch");
    const auto cap = number_in(limit, "cap_bytes");
    if (batch && cap && limit.value("label", "") == series.label) {
      caps.push_back(*batch > 0 ? fmt::format("batch {} in {}", *batch, format_bytes(std::llround(*cap)))
                                : fmt::format("none in {}", format_bytes(std::llround(*cap))));
    }
  }
  return caps.empty() ? "" : fmt::format("Largest: {}.", fmt::join(caps, ", "));
}

// At the peak: by category.
plots::Bars memory_bars(const BatchSeries& series, const LineOfFile& line,
                        const std::vector<double>& absent) {
  plots::Bars bars{.label = "batch",
                   .y = {.label = "B", .quantity = plots::Quantity::bytes},
                   .categories = {},
                   .layers = {}};
  std::set<double> batches(absent.begin(), absent.end());
  for (const CurvePoint& point : series.points) {
    batches.insert(static_cast<double>(point.batch));
  }
  bool any_fit = false;
  for (const double batch : batches) {
    const bool measured = series.at(static_cast<std::int64_t>(batch)) != nullptr;
    if (!measured) {
      bars.absent.push_back(bars.categories.size());
    }
    bars.fitted.push_back(measured ? line.at(batch) : std::nullopt);
    any_fit = any_fit || bars.fitted.back();
    bars.categories.push_back(fmt::format("{}", batch));
  }
  bars.fit_name = any_fit ? "fitted line" : "";
  for (const MemoryCategory category : kMemoryCategories) {
    plots::BarLayer layer{
        .name = std::string(bench::name_of(category)), .values = {}, .colour = colour_of(category)};
    bool any = false;
    for (const double batch : batches) {
      const CurvePoint* const point = series.at(static_cast<std::int64_t>(batch));
      if (point == nullptr) {
        layer.values.emplace_back();
        continue;
      }
      const std::int64_t bytes = std::max<std::int64_t>(point->point->memory.by_category[category], 0);
      any = any || bytes > 0;
      layer.values.emplace_back(Estimate{.value = static_cast<double>(bytes)});
    }
    if (any) {
      bars.layers.push_back(std::move(layer));
    }
  }
  return bars;
}

}  // namespace

std::optional<double> number_in(const Json& details, const char* name) {
  if (!details.is_object()) {
    return std::nullopt;
  }
  const auto found = details.find(name);
  return found != details.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

const Finding* finding_for(const std::vector<Finding>& findings, const std::string& name,
                           const BatchSeries& series) {
  for (const Finding& finding : findings) {
    if (finding.name == name || finding.name == name + "/" + series.label) {
      return &finding;
    }
  }
  return nullptr;
}

std::size_t colour_of(MemoryCategory category) {
  return plots::kCategoryColour + static_cast<std::size_t>(category);
}

std::string sentence_of(std::string words) {
  words.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(words.front())));
  return words + ".";
}

plots::Chart throughput_chart(const std::vector<BatchSeries>& all, const ResultDocument& document,
                              const SeriesLabel& label) {
  plots::Curves curves{
      .x = {.label = "batch", .scale = plots::AxisScale::log2}, .y = {.label = "samples/s"}, .series = {}};
  double best = 0;
  for (const BatchSeries& series : all) {
    for (const CurvePoint& point : series.points) {
      best = std::max(best, point.per_s);
    }
  }
  bool fits = false;
  bool limits = false;
  bool rings = false;
  for (const BatchSeries& series : all) {
    const Finding* const saturation = finding_for(document.findings, "ceiling_batch", series);
    const FittedStep step(series, document.findings);
    plots::ChartSeries curve = curve_of(series, saturation);
    const bool limit_is_shown = step.t_inf_per_s && *step.t_inf_per_s <= plots::kLevelRoom * best;
    curve.name = name_of(series, saturation, step, limit_is_shown);
    curve.absent = absent_from(series, document, label);
    rings = rings || std::ranges::any_of(curve.points, &plots::ChartPoint::ring);
    if (auto fitted = fitted_points(step, series); !fitted.empty()) {
      curve.line = curve.band;  // of predicted points
      fits = true;
      curves.series.push_back(
          {.points = std::move(fitted), .colour = curve.colour, .marks = false, .fitted = true});
    }
    if (limit_is_shown) {
      limits = true;
      curves.levels.push_back({.at = *step.t_inf_per_s, .colour = curve.colour});
    }
    curves.series.push_back(std::move(curve));
  }
  std::vector<std::string> notes;
  std::vector<std::string> how;
  for (const auto& [shown, words] : {std::pair(fits, "curve: fitted"), std::pair(limits, "dashed: T∞"),
                                     std::pair(rings, "ring: saturation batch")}) {
    if (shown) {
      how.emplace_back(words);
    }
  }
  if (!how.empty()) {
    notes.push_back(sentence_of(fmt::format("{}", fmt::join(how, "; "))));
  }
  // One series has no legend.
  const bool alone = all.size() == 1;
  const std::string name = alone ? curves.series.back().name : "";
  if (alone && name != all.front().label) {
    notes.push_back(sentence_of(name.substr(all.front().label.size() + std::string_view(", ").size())));
  }
  if (keep_telling_marks(curves)) {
    notes.emplace_back("Open marks: fewer than 3 rounds, or other processes used the CPU.");
  }
  return {.title = alone ? "Throughput against batch, " + all.front().label : "Throughput against batch",
          .content = std::move(curves),
          .note = fmt::format("{}", fmt::join(notes, " "))};
}

std::vector<plots::Chart> memory_charts(const std::vector<BatchSeries>& all, const ResultDocument& document,
                                        const SeriesLabel& label) {
  std::vector<plots::Chart> charts;
  double top = 0;
  for (const BatchSeries& series : all) {
    top = std::max(top, highest(series));
  }
  std::set<std::int64_t> caps(document.sweep.memory_caps_bytes.begin(),
                              document.sweep.memory_caps_bytes.end());
  if (document.sweep.memory_cap_bytes) {
    caps.insert(*document.sweep.memory_cap_bytes);
  }
  std::vector<plots::ChartLine> levels;
  const double highest_bar = top;
  for (const std::int64_t cap : caps) {
    const auto bytes = static_cast<double>(cap);
    levels.push_back({fmt::format("cap {}", format_bytes(cap)), bytes});
    top = bytes <= plots::kLevelRoom * highest_bar ? std::max(top, bytes) : top;
  }
  for (const BatchSeries& series : all) {
    if (highest(series) <= 0) {
      continue;
    }
    const LineOfFile line(finding_for(document.findings, "memory_line", series));
    plots::Bars bars = memory_bars(series, line, absent_from(series, document, label));
    bars.top = top;
    bars.levels = levels;
    const std::string words = line.in_words(series.points.front().batch);
    charts.push_back({.title = "Memory, " + series.label,
                      .content = std::move(bars),
                      .note = fmt::format("At the peak of a step{}{}. {}", words.empty() ? "" : ": ", words,
                                          largest_in_words(series, document))});
  }
  return charts;
}

}  // namespace bench::sweeps
