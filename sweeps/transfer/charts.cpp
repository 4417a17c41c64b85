// Which findings of the transfer sweep are printed first, and its pictures in a report.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/result/finding.h"
#include "bench/text/units.h"
#include "sweeps/series/charts.h"
#include "sweeps/series/series.h"
#include "sweeps/transfer/findings.h"

namespace bench::sweeps {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"pinned", "pageable", "staged"};

std::size_t place_of(std::string_view kind) {
  return static_cast<std::size_t>(std::ranges::find(kKinds, kind) - kKinds.begin());
}

std::optional<double> bus_of(const ResultDocument& document) {
  const Finding* const bus = find_finding(document.findings, "bus");
  return bus == nullptr ? std::nullopt : bus->value;
}

// ": latency 327 ns, 6.84 GB/s", as the finding has it.
std::string model_in_words(const ResultDocument& document, const CopySeries& series) {
  const Finding* const model =
      find_finding(document.findings, fmt::format("model/{}/{}", series.direction, series.kind));
  if (model == nullptr) {
    return "";
  }
  const auto latency = number_in(model->details, "latency_ns");
  const auto rate = number_in(model->details, "bytes_per_s");
  return fmt::format("{}{}", latency ? ": latency " + format_duration(std::max(*latency, 0.0)) : "",
                     rate ? fmt::format("{} {}{}", latency ? "," : ":", byte_rate(*rate),
                                        series.direction == "both" ? " each way" : "")
                          : "");
}

plots::Chart copies_chart(const std::vector<CopySeries>& all, const std::string& direction,
                          const ResultDocument& document) {
  const std::optional<double> bus = bus_of(document);
  plots::Curves curves{
      .x = {.label = "bytes of a copy", .quantity = plots::Quantity::bytes, .scale = plots::AxisScale::log2},
      .y = {.label = "B/s", .quantity = plots::Quantity::per_second, .scale = plots::AxisScale::log10},
      .series = {}};
  bool open = false;
  for (const CopySeries& series : all) {
    if (series.direction != direction || !series.plain()) {
      continue;
    }
    const std::size_t place = place_of(series.kind);
    plots::ChartSeries& curve =
        curves.series.emplace_back(plots::ChartSeries{.name = series.kind + model_in_words(document, series),
                                                      .points = {},
                                                      .colour = place,
                                                      .shape = place});
    for (const SizePoint& point : series.points) {
      const Estimate rate = inverse(point.ns, point.moved * 1e9);
      curve.points.push_back(
          {.x = point.bytes, .y = rate.value, .interval = rate.ci95, .open = !point.mark.empty()});
      open = open || !point.mark.empty();
    }
  }
  if (bus) {
    const double most = direction == "both" ? 2 * *bus : *bus;
    curves.levels.push_back({"the bus: " + byte_rate(most), most});
  }
  const Finding* const crossover =
      find_finding(document.findings, fmt::format("crossover/{}/pinned", direction));
  if (crossover != nullptr && crossover->value && *crossover->value > 0) {
    curves.places.push_back(
        {fmt::format("pinned is faster from {} on", size_text(*crossover->value)), *crossover->value});
  }
  return {.title = fmt::format("Bandwidth of copies {}", copy_way(direction)),
          .content = std::move(curves),
          .intervals = "Bars: 95 % intervals.",
          .note = open ? "Open marks carry a flag that others lack." : ""};
}

std::optional<Estimate> time_in(const Json& kind, const char* name) {
  const auto time = kind.find(name);
  if (time == kind.end() || !time->is_object()) {
    return std::nullopt;
  }
  Estimate estimate{.value = time->at("median_ns").get<double>()};
  const auto ci95 = time->find("ci95_ns");
  if (ci95 != time->end() && ci95->is_array()) {
    estimate.ci95 = Interval{.low = ci95->at(0).get<double>(), .high = ci95->at(1).get<double>()};
  }
  return estimate;
}

// A workload's step with each kind of host memory: StepStudy as the file has it.
std::optional<plots::Chart> steps_chart(const Json& study) {
  if (!study.contains("kinds")) {
    return std::nullopt;
  }
  plots::Bars bars{.label = "host memory",
                   .y = {.label = "ns", .quantity = plots::Quantity::duration},
                   .categories = {},
                   .layers = {{.name = "copy, then compute", .values = {}, .colour = 0},
                              {.name = "overlapped with the next copy", .values = {}, .colour = 1}},
                   .stacked = false};
  for (const Json& kind : study.at("kinds")) {
    if (!kind.contains("unsupported")) {
      bars.categories.push_back(kind.at("host_memory").get<std::string>());
      bars.layers[0].values.push_back(time_in(kind, "serial"));
      bars.layers[1].values.push_back(time_in(kind, "beside"));
    }
  }
  if (const auto compute = time_in(study, "compute")) {
    bars.levels.push_back(
        {"computing alone: " + format_duration(compute->value), compute->value, plots::kQuietColour});
  }
  return plots::Chart{
      .title = fmt::format("A step of {} {}, batch {}", study.at("workload").get<std::string>(),
                           study.at("dtype").get<std::string>(), study.at("batch").get<std::int64_t>()),
      .content = std::move(bars),
      .intervals = "Bars: 95 % intervals."};
}

// Of a device that is not here: the step, and the least that the copy of its batch takes.
plots::Chart predicted_chart(const ResultDocument& document) {
  plots::Curves curves{
      .x = {.label = "batch", .scale = plots::AxisScale::log2},
      .y = {.label = "time", .quantity = plots::Quantity::duration, .scale = plots::AxisScale::log10},
      .series = {{.name = "step"}}};
  plots::ChartSeries copies{.name = "copy of the batch, at least", .points = {}, .colour = 1, .shape = 1};
  const std::optional<double> bus = bus_of(document);
  curves.series.front().band = true;
  for (const PredictedPoint& point : document.predicted) {
    const auto params = read_params(point.params);
    if (!params) {
      continue;
    }
    const auto batch = static_cast<double>(params->batch);
    curves.series.front().points.push_back({.x = batch, .y = point.step_ns, .interval = point.interval80_ns});
    if (bus && *bus > 0) {
      copies.points.push_back(
          {.x = batch, .y = static_cast<double>(point.memory[MemoryCategory::input]) / *bus * 1e9});
    }
  }
  if (!copies.points.empty()) {
    curves.series.push_back(std::move(copies));
  }
  for (plots::ChartSeries& series : curves.series) {
    std::ranges::sort(series.points, {}, &plots::ChartPoint::x);
  }
  return {.title = "A step, and the copy of its batch",
          .content = std::move(curves),
          .intervals = "Band: 80 % interval of the prediction."};
}

std::vector<plots::Chart> transfer_charts(ResultDocument& document) {
  if (!document.predicted.empty()) {
    return {predicted_chart(document)};
  }
  const std::vector<CopySeries> all = copy_series(document);
  std::vector<plots::Chart> charts;
  const auto transfer = document.sweep.state.find("transfer");
  if (transfer != document.sweep.state.end() && transfer->is_object()) {
    for (const Json& study : transfer->value("steps", Json::array())) {
      if (auto chart = steps_chart(study)) {
        charts.push_back(*std::move(chart));
      }
    }
  }
  for (const char* const direction : {"h2d", "d2h", "both"}) {
    charts.push_back(copies_chart(all, direction, document));
  }
  return charts;
}

}  // namespace

void choose_transfer_headlines(std::vector<Finding>& findings) {
  const std::vector<const Finding*> inputs = find_findings(findings, "input/");
  if (!inputs.empty()) {
    const Finding& largest = **std::ranges::max_element(inputs, {}, &Finding::value);
    return set_headlines(findings, {largest.name, "bus"}, true);
  }
  std::vector<std::string> headlines;
  const auto add = [&](std::string_view prefix) {
    for (const Finding* const finding : find_findings(findings, prefix)) {
      headlines.push_back(finding->name);
    }
  };
  add("pin/batch:");
  headlines.insert(headlines.end(), {"crossover/h2d/pinned", "model/h2d/pinned"});
  add("overlap/pinned/batch:");
  headlines.insert(headlines.end(), {"bus", "model/h2d/pageable", "pinning_cost", "model/d2h/pinned"});
  const std::string first = headlines.front();
  std::erase_if(headlines, [&](const std::string& name) {
    const Finding* const finding = find_finding(findings, name);
    return finding == nullptr || (!finding->value && name != first) ||
           (name.starts_with("model/") && finding->value && !conclusive({*finding->value, finding->ci95}));
  });
  const Finding* const bus = find_finding(findings, "bus");
  if (bus != nullptr && bus->claim.starts_with(kNoBusCrossed)) {
    // The caveat once, next to the recommendation that it qualifies.
    headlines.insert(headlines.begin() + (headlines.empty() ? 0 : 1), "bus");
  }
  set_headlines(findings, headlines, true);
}

namespace {

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "transfer",
     .choose_headlines = [](ResultDocument& document) { choose_transfer_headlines(document.findings); },
     .charts = transfer_charts}};

}  // namespace
}  // namespace bench::sweeps
