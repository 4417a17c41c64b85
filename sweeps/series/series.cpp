#include "sweeps/series/series.h"

#include <algorithm>
#include <utility>

#include "bench/result/flags.h"
#include "bench/result/sessions.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"

namespace bench::sweeps {
namespace {

CurvePoint read_point(const Point& point) {
  CurvePoint read = curve_point(point);
  read.bytes = point.peak();
  read.point = &point;
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

std::vector<std::string> names_of(const std::vector<CurvePoint>& points) {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const CurvePoint& point : points) {
    names.push_back(point.name());
  }
  return names;
}

}  // namespace

void BatchSeries::analyse() {
  complete_curve(*this, cap_bytes.value_or(0));
  timed = timed_points(points);
  std::vector<StepTimePoint> times;
  for (const CurvePoint& point : timed) {
    const Work& work = point.point->work;
    times.push_back({.batch = point.batch,
                     .step_ns = point.step.step_ns,
                     .flops_per_sample = work.samples > 0 ? work.flops / work.samples : 0});
  }
  model = fit_step_time(times);
}

std::vector<std::string> BatchSeries::names() const {
  return names_of(points);
}

std::vector<std::string> BatchSeries::timed_names() const {
  return names_of(timed);
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
      series.points.push_back(read_point(point));
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
    std::ranges::sort(series.points, {}, &CurvePoint::batch);
    series.analyse();
  }
  return all;
}

}  // namespace bench::sweeps
