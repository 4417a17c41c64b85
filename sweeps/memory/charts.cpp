// The memory sweep's headlines and pictures in a report.
#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/result/json_members.h"
#include "bench/text/units.h"
#include "sweeps/memory/answer.h"
#include "sweeps/memory/plan.h"
#include "sweeps/series/charts.h"

namespace bench::sweeps {
namespace {

// Sums, values computed again and updates between backward operations belong to the pass around them.
std::string pass_of(const std::string& operation, const std::string& before, bool within_backward) {
  if (operation.ends_with(" again") || (within_backward && operation.starts_with("optimizer"))) {
    return "backward";
  }
  for (const char* const pass : {"forward", "backward", "loss", "optimizer"}) {
    if (operation.starts_with(pass)) {
      return pass;
    }
  }
  return before;
}

std::vector<plots::BarRegion> passes_in(const std::vector<std::string>& operations) {
  const auto backward = [](const std::string& name) { return name.starts_with("backward"); };
  const auto last = std::find_if(operations.rbegin(), operations.rend(), backward);
  const auto end = static_cast<std::size_t>(std::distance(last, operations.rend()));
  std::vector<plots::BarRegion> regions;
  bool again = false;
  bool updates = false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    again = again || operations[i].ends_with(" again");
    updates = updates || (i < end && operations[i].starts_with("optimizer"));
    const std::string pass = pass_of(operations[i], regions.empty() ? "" : regions.back().name, i < end);
    if (regions.empty() || regions.back().name != pass) {
      regions.push_back({.name = pass, .from = i, .to = i});
    }
    regions.back().to = i;
  }
  for (plots::BarRegion& region : regions) {
    if (region.name == "backward") {
      region.name +=
          fmt::format("{}{}", again ? ", computing values again" : "", updates ? ", updating weights" : "");
    }
  }
  return regions;
}

// What is held while each operation of a step runs, as the sweep's plan has it: "step_memory" of the file.
std::optional<plots::Chart> step_chart(const Json& step) {
  if (!step.is_object() || !step.contains("names") || step.at("names").empty()) {
    return std::nullopt;
  }
  const auto names = step.at("names").get<std::vector<std::string>>();
  plots::Bars bars{.label = "operation of the step, in the order they run",
                   .y = {.label = "B", .quantity = plots::Quantity::bytes},
                   .categories = {},
                   .layers = {},
                   .joined = true};
  std::vector<double> sums(names.size(), 0.0);
  for (std::size_t i = 0; i < names.size(); ++i) {
    bars.categories.push_back(fmt::format("{}", i + 1));
  }
  for (const MemoryCategory category : kMemoryCategories) {
    const auto bytes = step.at("bytes").find(std::string(name_of(category)));
    if (bytes == step.at("bytes").end()) {
      continue;
    }
    plots::BarLayer layer{
        .name = std::string(name_of(category)), .values = {}, .colour = colour_of(category)};
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double held = bytes->at(i).get<double>();
      any = any || held > 0;
      sums[i] += std::max(held, 0.0);
      layer.values.emplace_back(Estimate{.value = held});
    }
    if (any) {
      bars.layers.push_back(std::move(layer));
    }
  }
  bars.regions = passes_in(names);
  const auto peak = std::ranges::max_element(sums);
  const auto reserved = number_in(step, "reserved_bytes");
  if (reserved) {
    bars.levels.push_back({fmt::format("reserved by the step: {}", format_bytes(std::llround(*reserved))),
                           *reserved, plots::kTextColour});
    bars.top = std::max(*reserved, *peak);
  }
  return plots::Chart{
      .title = fmt::format("Memory over one step, by plan: {} at batch {}", step.value("label", "?"),
                           step.value("batch", Json(1)).get<std::int64_t>()),
      .content = std::move(bars),
      .note = fmt::format("Most held at once: {}, {}.", format_bytes(std::llround(*peak)),
                          names[static_cast<std::size_t>(std::distance(sums.begin(), peak))]),
      .wide = true};
}

// What the system saw over the steps of a long run, a line a series, and its growth where it surely grows.
std::optional<plots::Chart> soak_chart(const MemoryAnswer& answer) {
  if (answer.soaks.empty()) {
    return std::nullopt;
  }
  plots::Curves curves{
      .x = {.label = "step"}, .y = {.label = "B", .quantity = plots::Quantity::bytes}, .series = {}};
  for (const auto& [soak, found] : answer.soaks) {
    if (soak.seen.size() < 2) {
      continue;
    }
    const std::size_t colour = curves.series.size() / 2 % plots::kSeriesColours;
    plots::ChartSeries seen{.name = soak.label, .points = {}, .colour = colour, .marks = false};
    plots::ChartSeries growth{.points = {}, .colour = colour, .marks = false, .dashed = true, .fitted = true};
    for (const MemorySample& sample : soak.seen) {
      const auto step = static_cast<double>(sample.step);
      const auto bytes = static_cast<double>(sample.bytes - soak.seen.front().bytes);
      seen.points.push_back({.x = step, .y = bytes});
      if (found && found->grows && sample.step == found->first_step) {
        const auto last = static_cast<double>(found->last_step);
        growth.points.push_back({.x = step, .y = bytes});
        growth.points.push_back({.x = last, .y = bytes + found->bytes_per_step.value * (last - step)});
      }
    }
    curves.series.push_back(std::move(seen));
    curves.series.push_back(std::move(growth));
  }
  return plots::Chart{.title = "Memory over a long run: what the system saw since the first step",
                      .content = std::move(curves),
                      .note = "Thin line: the growth that the finding claims.",
                      .wide = true};
}

std::vector<plots::Chart> charts_of_memory(ResultDocument& document) {
  const SeriesLabel label = [&](const BatchParams& params) {
    return memory_label(params, document.sweep.axes);
  };
  std::vector<BatchSeries> all = read_series(document, label);
  std::ranges::stable_sort(all, {}, [](const BatchSeries& series) { return series.params.dtype; });
  std::vector<plots::Chart> charts = memory_charts(all, document, label);
  const auto step = document.sweep.state.find("step_memory");
  if (step != document.sweep.state.end()) {
    if (auto chart = step_chart(*step)) {
      charts.push_back(*std::move(chart));
    }
  }
  if (auto chart = soak_chart(memory_answer(document))) {
    charts.push_back(*std::move(chart));
  }
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "memory",
     .choose_headlines =
         [](ResultDocument& document) {
           choose_memory_headlines(memory_answer(document), document.findings);
         },
     .charts = charts_of_memory}};

}  // namespace
}  // namespace bench::sweeps
