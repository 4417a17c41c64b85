// An evaluation as a picture: throughput and memory by batch, and what a sample costs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/evaluation_formats.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// By the alphabet: a device keeps its colour and its marks where the devices are given in another order.
std::size_t place_of(const Evaluation& evaluation, std::size_t device) {
  const std::string& label = evaluation.devices[device].label;
  return static_cast<std::size_t>(std::ranges::count_if(
      evaluation.devices, [&](const EvaluatedDevice& other) { return other.label < label; }));
}

std::size_t colour_of_device(const Evaluation& evaluation, std::size_t device) {
  return place_of(evaluation, device) % plots::kSeriesColours;
}

std::string name_of_device(const EvaluatedDevice& device) {
  return device.label + (device.predicted ? ", predicted" : "");
}

plots::Chart throughput_in(const Evaluation& evaluation, const std::string& dtype) {
  plots::Curves curves{
      .x = {.label = "batch", .scale = plots::AxisScale::log2}, .y = {.label = "samples/s"}, .series = {}};
  bool predicted = false;
  bool measured = false;
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    const EvaluatedDevice& device = evaluation.devices[i];
    const Curve* const curve = device.in(dtype);
    if (curve == nullptr) {
      continue;
    }
    (device.predicted ? predicted : measured) = true;
    plots::ChartSeries series{.name = name_of_device(device),
                              .points = {},
                              .colour = colour_of_device(evaluation, i),
                              .shape = place_of(evaluation, i),
                              .band = device.predicted};
    for (const CurvePoint& point : curve->points) {
      series.points.push_back({.x = static_cast<double>(point.batch),
                               .y = point.per_s,
                               .interval = point.interval,
                               .ring = &point == &curve->at_saturation()});
    }
    curves.series.push_back(std::move(series));
  }
  return {.title = "Throughput in " + dtype,
          .content = std::move(curves),
          .intervals = fmt::format("{}{}{}", predicted ? "Band: 80 % interval." : "",
                                   predicted && measured ? " " : "", measured ? "Bars: 95 % intervals." : ""),
          .note = "Ring: saturation batch."};
}

// The other curve has the same bytes at each of its batches, and would hide it.
bool is_hidden_by(const Curve& curve, const Curve& other) {
  constexpr double kSame = 0.01;
  return std::ranges::all_of(curve.points, [&](const CurvePoint& point) {
    const auto same = std::ranges::find(other.points, point.batch, &CurvePoint::batch);
    return same != other.points.end() && std::abs(static_cast<double>(same->bytes - point.bytes)) <=
                                             kSame * static_cast<double>(point.bytes);
  });
}

// A device whose curve covers this one's; of two that are the same the first.
const EvaluatedDevice* covering(const Evaluation& evaluation, std::size_t device, const std::string& dtype) {
  const Curve& curve = *evaluation.devices[device].in(dtype);
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    const Curve* const other = evaluation.devices[i].in(dtype);
    if (i != device && other != nullptr && is_hidden_by(curve, *other) &&
        (i < device || other->points.size() > curve.points.size())) {
      return &evaluation.devices[i];
    }
  }
  return nullptr;
}

// Bytes at the peak up to the end of each device's memory.
plots::Chart memory_in(const Evaluation& evaluation, const std::string& dtype) {
  plots::Curves curves{
      .x = {.label = "batch", .scale = plots::AxisScale::log2},
      .y = {.label = "memory", .quantity = plots::Quantity::bytes, .scale = plots::AxisScale::log2},
      .series = {}};
  bool any_open = false;
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    const EvaluatedDevice& device = evaluation.devices[i];
    const Curve* const curve = device.in(dtype);
    if (curve == nullptr) {
      continue;
    }
    plots::ChartSeries series{.name = name_of_device(device),
                              .points = {},
                              .colour = colour_of_device(evaluation, i),
                              .shape = place_of(evaluation, i)};
    const EvaluatedDevice* const cover =
        curve->largest && device.usable_bytes > 0 ? covering(evaluation, i, dtype) : nullptr;
    const double last = curve->points.empty() ? 0 : static_cast<double>(curve->points.back().batch);
    for (const CurvePoint& point : curve->points) {
      if (point.bytes > 0 && cover == nullptr) {
        series.points.push_back(
            {.x = static_cast<double>(point.batch), .y = static_cast<double>(point.bytes)});
      }
    }
    if (device.usable_bytes > 0) {
      series.name = fmt::format("{} holds {}{}", device.label, format_bytes(device.usable_bytes),
                                curve->largest ? fmt::format(": batch {}", *curve->largest) : "");
    }
    if (cover != nullptr) {
      series.name += fmt::format(" (line of {})", cover->label);
    }
    if (curve->largest && device.usable_bytes > 0 && last > 0 &&
        static_cast<double>(*curve->largest) > last) {
      series.points.push_back({.x = static_cast<double>(*curve->largest),
                               .y = static_cast<double>(device.usable_bytes),
                               .open = true});
      any_open = true;
    }
    if (device.usable_bytes > 0) {
      curves.levels.push_back(
          {"", static_cast<double>(device.usable_bytes), colour_of_device(evaluation, i)});
    }
    curves.series.push_back(std::move(series));
  }
  return {.title = "Memory in " + dtype,
          .content = std::move(curves),
          .note = fmt::format("Dashed: what a device holds.{}",
                              any_open ? " Open mark: the largest batch that fits." : "")};
}

void add_device(const Evaluation& evaluation, const EvaluatedRow& row, plots::Bars& bars) {
  bars.categories.push_back(evaluation.device_of(row).label);
  bars.colours.push_back(colour_of_device(evaluation, row.device));
}

// What the job costs on each device.
std::optional<plots::Chart> job_cost(const Evaluation& evaluation) {
  const std::string& currency = evaluation.prices.currency;
  plots::Bars bars{.label = "",
                   .y = {.label = currency.empty() ? "currency of --price" : currency},
                   .categories = {},
                   .layers = {{.name = "cost", .values = {}}},
                   .stacked = false};
  for (const DeviceJob& job : evaluation.on_devices) {
    if (job.cost) {
      add_device(evaluation, evaluation.rows[job.row], bars);
      bars.layers.front().values.emplace_back(*job.cost);
    }
  }
  if (bars.categories.empty()) {
    return std::nullopt;
  }
  return plots::Chart{.title = "Cost of the job",
                      .content = std::move(bars),
                      .intervals = "",  // of 95 and 80 %
                      .note = evaluation.job->words + ". A purchase is paid whole."};
}

// What a sample costs, or the energy it takes, at the saturation batch.
std::optional<plots::Chart> cost_in(const Evaluation& evaluation, const std::string& dtype) {
  const bool cost = std::ranges::any_of(
      evaluation.rows, [](const EvaluatedRow& row) { return row.cost_per_million.has_value(); });
  const std::string currency =
      evaluation.prices.currency.empty() ? "currency of --price" : evaluation.prices.currency;
  plots::Bars bars{.label = "",
                   .y = {.label = cost ? currency : "J"},
                   .categories = {},
                   .layers = {{.name = cost ? "cost" : "energy", .values = {}}},
                   .stacked = false};
  bool by_datasheet = false;
  for (const EvaluatedRow& row : evaluation.rows) {
    const std::optional<double> value = cost ? row.cost_per_million : row.joules_per_sample;
    if (row.dtype != dtype || !value) {
      continue;
    }
    const CurvePoint& point = row.point;
    const bool fed = cost && row.feed.has_value();
    Estimate estimate{.value = *value};
    const bool is_bound = !cost && !row.power_measured;
    by_datasheet = by_datasheet || is_bound;
    if (point.interval && point.per_s > 0 && !fed && !is_bound) {
      estimate.ci95 =
          Interval{*value * point.per_s / point.interval->high, *value * point.per_s / point.interval->low};
    }
    add_device(evaluation, row, bars);
    bars.layers.front().values.emplace_back(estimate);
  }
  if (bars.categories.empty()) {
    return std::nullopt;
  }
  return plots::Chart{.title = cost ? "Cost of a million samples" : "Energy of a sample",
                      .content = std::move(bars),
                      .intervals = "",  // of 95 and 80 %
                      .note = fmt::format("In {}, at the saturation batch.{}", dtype,
                                          by_datasheet ? " At most: by the data sheet's power." : "")};
}

}  // namespace

plots::Picture picture_of(const Evaluation& evaluation) {
  std::vector<std::string> labels;
  bool all_predicted = true;
  for (const EvaluatedDevice& device : evaluation.devices) {
    labels.push_back(device.label);
    all_predicted = all_predicted && device.predicted;
  }
  plots::Picture picture{.title = fmt::format("{}{}: {}", task_in_words(evaluation.task),
                                              all_predicted ? ", predicted" : "", fmt::join(labels, ", "))};
  const auto first = std::ranges::find(evaluation.answers, 1, &Answer::headline);
  picture.answer = first == evaluation.answers.end() ? "" : first->claim;
  std::vector<std::string> dtypes = dtypes_of(evaluation.devices);
  std::erase(dtypes, evaluation.dtype);
  picture.charts.push_back(throughput_in(evaluation, evaluation.dtype));
  if (!dtypes.empty()) {
    picture.charts.push_back(throughput_in(evaluation, dtypes.front()));
  }
  picture.charts.push_back(memory_in(evaluation, evaluation.dtype));
  std::optional<plots::Chart> job = evaluation.job ? job_cost(evaluation) : std::nullopt;
  if (auto cost = job ? std::move(job) : cost_in(evaluation, evaluation.dtype)) {
    picture.charts.push_back(*std::move(cost));
  }
  std::erase_if(picture.charts, plots::is_empty);
  picture.notes = evaluation.notes;
  return picture;
}

}  // namespace bench
