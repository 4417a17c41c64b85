// The transfer sweep's pictures.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "bench/text/units.h"
#include "sweeps/transfer/answer.h"

namespace bench::sweeps {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"pinned", "pageable", "staged"};

std::size_t place_of(std::string_view kind) {
  return static_cast<std::size_t>(std::ranges::find(kKinds, kind) - kKinds.begin());
}

// ": latency 327 ns, 6.84 GB/s".
std::string model_in_words(const CopySeries& series) {
  if (!series.has_model()) {
    return "";
  }
  const auto& rate = series.curve->bytes_per_s;
  return fmt::format(
      ": latency {}{}", format_duration(std::max(series.curve->latency_ns.value, 0.0)),
      rate ? fmt::format(", {}{}", byte_rate(rate->value), series.direction == "both" ? " each way" : "")
           : "");
}

plots::Chart copies_chart(const TransferEvidence& evidence, const TransferAnswer& answer,
                          const std::string& direction) {
  const std::optional<double> bus = answer.bus.known_bytes_per_s();
  plots::Curves curves{
      .x = {.label = "bytes of a copy", .quantity = plots::Quantity::bytes, .scale = plots::AxisScale::log2},
      .y = {.label = "B/s", .quantity = plots::Quantity::per_second, .scale = plots::AxisScale::log10},
      .series = {}};
  bool open = false;
  for (const CopySeries& series : evidence.series) {
    if (series.direction != direction || !series.plain()) {
      continue;
    }
    const std::size_t place = place_of(series.kind);
    plots::ChartSeries& curve = curves.series.emplace_back(plots::ChartSeries{
        .name = series.kind + model_in_words(series), .points = {}, .colour = place, .shape = place});
    for (const SizePoint& point : series.points) {
      const Estimate rate = point.rate();
      curve.points.push_back(
          {.x = point.bytes, .y = rate.value, .interval = rate.ci95, .open = !point.mark.empty()});
      open = open || !point.mark.empty();
    }
  }
  if (bus) {
    const double most = direction == "both" ? 2 * *bus : *bus;
    curves.levels.push_back({"the bus: " + byte_rate(most), most});
  }
  const Crossover* const pinned = answer.crossover(direction, "pinned");
  if (pinned != nullptr && pinned->faster_from) {
    curves.places.push_back(
        {fmt::format("pinned is faster from {} on", size_text(*pinned->faster_from)), *pinned->faster_from});
  }
  return {.title = fmt::format("Bandwidth of copies {}", copy_way(direction)),
          .content = std::move(curves),
          .note = open ? "Open marks carry a flag that others lack." : ""};
}

// A workload's step with each kind of host memory.
plots::Chart steps_chart(const StepStudy& study) {
  plots::Bars bars{.label = "host memory",
                   .y = {.label = "ns", .quantity = plots::Quantity::duration},
                   .categories = {},
                   .layers = {{.name = "copy, then compute", .values = {}, .colour = 0},
                              {.name = "overlapped with the next copy", .values = {}, .colour = 1}},
                   .stacked = false};
  for (const KindSteps& kind : study.kinds) {
    if (kind.unsupported.empty()) {
      bars.categories.push_back(kind.name);
      bars.layers[0].values.emplace_back(kind.serial_ns);
      bars.layers[1].values.emplace_back(kind.overlapped_ns);
    }
  }
  const double compute_ns = study.compute_ns.value;
  bars.levels.push_back({"computing alone: " + format_duration(compute_ns), compute_ns, plots::kTextColour});
  return {.title = fmt::format("A step of {} {}, batch {}", study.workload, study.dtype, study.batch),
          .content = std::move(bars)};
}

// Of a device that is not here: the step, and the least that the copy of its batch takes.
plots::Chart predicted_chart(const std::vector<InputCopy>& inputs) {
  plots::Curves curves{
      .x = {.label = "batch", .scale = plots::AxisScale::log2},
      .y = {.label = "time", .quantity = plots::Quantity::duration, .scale = plots::AxisScale::log10},
      .series = {{.name = "step"}}};
  plots::ChartSeries copies{.name = "copy of the batch, at least", .points = {}, .colour = 1, .shape = 1};
  curves.series.front().band = true;
  for (const InputCopy& input : inputs) {
    if (input.step == nullptr) {
      continue;
    }
    const auto batch = static_cast<double>(input.params.batch);
    const Estimate step = input.step->step_ns();
    curves.series.front().points.push_back({.x = batch, .y = step.value, .interval = step.ci95});
    if (input.least_ns) {
      copies.points.push_back({.x = batch, .y = *input.least_ns});
    }
  }
  if (!copies.points.empty()) {
    curves.series.push_back(std::move(copies));
  }
  for (plots::ChartSeries& series : curves.series) {
    std::ranges::sort(series.points, {}, &plots::ChartPoint::x);
  }
  return {.title = "A step, and the copy of its batch", .content = std::move(curves)};
}

std::vector<plots::Chart> transfer_charts(ResultDocument& document) {
  const StoredTransfer stored(document);
  const auto& [evidence, answer] = stored;
  if (is_predicted(document)) {
    return {predicted_chart(answer.inputs)};
  }
  std::vector<plots::Chart> charts;
  for (const StepStudy& study : evidence.state.steps) {
    if (study.unsupported.empty()) {
      charts.push_back(steps_chart(study));
    }
  }
  for (const char* const direction : {"h2d", "d2h", "both"}) {
    charts.push_back(copies_chart(evidence, answer, direction));
  }
  return charts;
}

const Registration<report::SweepReport> BENCH_REGISTERED{
    {.name = "transfer",
     .choose_headlines =
         [](ResultDocument& document) {
           const StoredTransfer stored(document);
           choose_transfer_headlines(stored.evidence, stored.answer, document.findings);
         },
     .charts = transfer_charts}};

}  // namespace
}  // namespace bench::sweeps
