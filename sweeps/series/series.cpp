#include "sweeps/series/series.h"

#include <algorithm>
#include <utility>

#include "bench/result/flags.h"
#include "bench/result/sessions.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"

namespace bench::sweeps {
namespace {

BatchPoint read_point(const Point& point, std::int64_t batch) {
  const auto [step_ns, interval] = point.step_ns();
  BatchPoint read{.point = &point, .batch = batch, .step_ns = {.value = step_ns}};
  if (!point.is_measured()) {
    read.step_ns.ci95 = Interval{step_ns, step_ns};
  } else if (interval) {
    read.step_ns.ci95 = Interval{.low = std::clamp(interval->low, std::min(1.0, step_ns), step_ns),
                                 .high = std::max(interval->high, step_ns)};
  }
  const double items = point.items_per_step > 0 ? point.items_per_step : static_cast<double>(batch);
  const Estimate rate = point.is_timed() ? inverse(read.step_ns, items * 1e9) : Estimate{};
  read.throughput = {.batch = batch, .per_s = rate.value, .ci95 = rate.ci95};
  read.times = round_times(point);
  read.bytes = point.peak();
  read.weights = std::clamp<std::int64_t>(point.memory.by_category[MemoryCategory::weights], 0,
                                          std::max<std::int64_t>(read.bytes, 0));
  read.few_rounds = has_flag(point, kFewRoundsFlag);
  read.contended = has_flag(point, kContention);
  return read;
}

// Made where there is none yet.
BatchSeries& series_of(std::vector<BatchSeries>& all, const BatchParams& params, const SeriesLabel& label) {
  const std::string name = label(params);
  const auto at = std::ranges::find(all, name, &BatchSeries::label);
  if (at != all.end()) {
    return *at;
  }
  BatchSeries& made = all.emplace_back();
  made.label = name;
  made.params = params;
  return made;
}

std::vector<std::string> names_of(const std::vector<BatchPoint>& points) {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const BatchPoint& point : points) {
    names.push_back(point.name());
  }
  return names;
}

}  // namespace

void BatchSeries::analyse() {
  timed = repeated_enough(points);
  std::erase_if(timed, [](const BatchPoint& point) { return point.step_ns.value <= 0; });  // planned ones
  std::vector<StepTimePoint> times;
  std::vector<ThroughputPoint> rates;
  for (const BatchPoint& point : timed) {
    const Work& work = point.point->work;
    times.push_back({.batch = point.batch,
                     .step_ns = point.step_ns.value,
                     .flops_per_sample = work.samples > 0 ? work.flops / work.samples : 0});
    rates.push_back(point.throughput);
  }
  std::vector<MemoryPoint> bytes;
  for (const BatchPoint& point : points) {
    bytes.push_back({point.batch, point.bytes, point.weights});
  }
  model = fit_step_time(times);
  static_cast<BatchFits&>(*this) = BatchFits(rates, bytes);
}

std::vector<std::string> BatchSeries::names() const {
  return names_of(points);
}

std::vector<std::string> BatchSeries::timed_names() const {
  return names_of(timed);
}

const BatchPoint* BatchSeries::at(std::int64_t batch) const {
  const auto found = std::ranges::find(points, batch, &BatchPoint::batch);
  return found == points.end() ? nullptr : &*found;
}

const BatchPoint& BatchSeries::at_saturation() const {
  return timed.empty() ? points.front() : timed[index()];
}

std::optional<std::int64_t> BatchSeries::largest_batch() const {
  return planned ? planned->batch : BatchFits::largest_batch(cap_bytes);
}

std::optional<BatchParams> read_params(const Json& params) {
  if (!params.is_object() || !params.contains("batch") || !params["batch"].is_number() ||
      !params.contains("dtype") || !params["dtype"].is_string()) {
    return std::nullopt;
  }
  const auto dtype = parse_dtype(params["dtype"].get<std::string>());
  if (!dtype) {
    return std::nullopt;
  }
  BatchParams read{params["batch"].get<std::int64_t>(), *dtype, "", {}};
  for (const auto& [name, value] : params.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (name == "mode") {
      read.mode = std::move(text);
    } else if (name != "batch" && name != "dtype" && name != "workload") {
      read.options[name] = std::move(text);
    }
  }
  return read;
}

std::vector<BatchSeries> read_series(const ResultDocument& document, const SeriesLabel& label) {
  std::vector<BatchSeries> all;
  for (const Point& point : document.points) {
    const auto params = read_params(point.params);
    if (!params || !(point.is_timed() || point.origin == Origin::planned)) {
      continue;
    }
    BatchSeries& series = series_of(all, *params, label);
    if (has_flag(point, kAbovePeak)) {
      series.left_out.push_back(point.name);
    } else {
      series.points.push_back(read_point(point, params->batch));
    }
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    const auto params = read_params(point.params);
    if (!params) {
      continue;
    }
    const auto at = std::ranges::find(all, label(*params), &BatchSeries::label);
    if (at == all.end()) {
      continue;
    }
    if (point.status == "oom") {
      at->smallest_oom = std::min(at->smallest_oom.value_or(params->batch), params->batch);
    }
    at->ran_out_of_time = at->ran_out_of_time || point.lacked_time();
  }
  for (BatchSeries& series : all) {
    series.cap_bytes = document.sweep.memory_cap_bytes;
    if (const auto peaks = document.context.peaks.find(series.params.dtype);
        peaks != document.context.peaks.end()) {
      series.peaks = peaks->second;
    }
    std::ranges::sort(series.points, {}, &BatchPoint::batch);
    series.analyse();
  }
  return all;
}

}  // namespace bench::sweeps
