#include "sweeps/series/series.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bench/measure/statistics.h"

namespace bench::sweeps {
namespace {

const Json& child(const Json& json, const std::string& key) {
  static const Json nothing;
  return json.is_object() && json.contains(key) ? json[key] : nothing;
}

std::optional<std::int64_t> integer_at(const Json& json, const char* key) {
  const Json& value = child(json, key);
  return value.is_number() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

double number_at(const Json& json, const char* key) {
  const Json& value = child(json, key);
  return value.is_number() ? value.get<double>() : 0;
}

bool above_peak(const MeasuredPoint& point) {
  return std::ranges::any_of(point.validity.flags,
                             [](const std::string& flag) { return flag.starts_with("above_peak"); });
}

BatchPoint read_point(const MeasuredPoint& point, std::int64_t batch) {
  const double items = point.items_per_step > 0 ? point.items_per_step : static_cast<double>(batch);
  const double median = point.stats.median_ns;
  const Interval step{std::clamp(point.stats.ci95_ns.low, std::min(1.0, median), median),
                      std::max(point.stats.ci95_ns.high, median)};
  BatchPoint read;
  read.name = point.name;
  read.batch = batch;
  read.step_ns = median;
  read.bytes = point.memory.peak_measured;
  read.memory = point.memory;
  read.library_bytes = integer_at(point.plan, "library_bytes").value_or(0);
  read.step_bytes = integer_at(point.plan, "step_peak_bytes").value_or(0);
  read.feature_map_bytes = integer_at(point.plan, "feature_map_bytes").value_or(0);
  const std::int64_t weights = point.memory.by_category[MemoryCategory::weights];
  read.weights = std::clamp<std::int64_t>(weights, 0, std::max<std::int64_t>(read.bytes, 0));
  read.throughput = {batch, items * 1e9 / median, throughput_interval(step, items)};
  read.work = {number_at(point.work, "flops"), number_at(point.work, "fixed_bytes"),
               number_at(point.work, "sample_bytes"), integer_at(point.work, "launches").value_or(0)};
  for (const std::string& flag : point.validity.flags) {
    read.few_rounds = read.few_rounds || flag == "few_rounds";
    if (flag.starts_with("throttled:")) {
      read.throttled.push_back(flag);
    }
  }
  return read;
}

// The series a point belongs to, made where there is none yet; nullptr for a point of no series.
BatchSeries* series_of(std::vector<BatchSeries>& all, const Json& params, const SeriesLabel& label) {
  if (!integer_at(params, "batch") || !child(params, "dtype").is_string()) {
    return nullptr;
  }
  const std::string name = label(params);
  const auto at = std::ranges::find(all, name, &BatchSeries::label);
  if (at != all.end()) {
    return &*at;
  }
  BatchSeries& made = all.emplace_back();
  made.label = name;
  made.dtype = params["dtype"].get<std::string>();
  return &made;
}

std::vector<std::string> names_of(const std::vector<BatchPoint>& points) {
  std::vector<std::string> names;
  names.reserve(points.size());
  for (const BatchPoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

std::vector<MemoryPoint> memory_points(const BatchSeries& series) {
  std::vector<MemoryPoint> points;
  for (const BatchPoint& point : series.points) {
    if (point.bytes > 0) {
      points.push_back({point.batch, point.bytes, point.weights});
    }
  }
  return points;
}

}  // namespace

void BatchSeries::analyse() {
  timed.clear();
  std::ranges::copy_if(points, std::back_inserter(timed), [](const BatchPoint& p) { return !p.few_rounds; });
  if (timed.size() < 2) {
    timed = points;
  }
  std::vector<StepTimePoint> times;
  std::vector<ThroughputPoint> throughputs;
  for (const BatchPoint& point : timed) {
    times.push_back({point.batch, point.step_ns});
    throughputs.push_back(point.throughput);
  }
  model = fit_step_time(times);
  ceiling = find_ceiling(throughputs);
  memory = fit_memory_line(memory_points(*this));
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

std::vector<BatchSeries> read_series(const ResultDocument& document, const SeriesLabel& label) {
  std::vector<BatchSeries> all;
  for (const MeasuredPoint& point : document.benchmarks) {
    BatchSeries* const series = point.stats.median_ns > 0 ? series_of(all, point.params, label) : nullptr;
    if (series == nullptr) {
      continue;
    }
    if (above_peak(point)) {
      series->left_out.push_back(point.name);
    } else {
      series->points.push_back(read_point(point, *integer_at(point.params, "batch")));
    }
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (point.status != "oom" || !integer_at(point.params, "batch")) {
      continue;
    }
    const auto at = std::ranges::find(all, label(point.params), &BatchSeries::label);
    if (at != all.end()) {
      const std::int64_t batch = *integer_at(point.params, "batch");
      at->smallest_oom = std::min(at->smallest_oom.value_or(batch), batch);
    }
  }
  for (BatchSeries& series : all) {
    series.cap_bytes = integer_at(document.sweep, "memory_cap_bytes");
    const Json& peaks = child(child(child(document.context, "device"), "peaks"), series.dtype);
    series.peaks = {number_at(peaks, "flops_per_s"), number_at(peaks, "bytes_per_s")};
    std::ranges::sort(series.points, {}, &BatchPoint::batch);
    series.analyse();
  }
  return all;
}

}  // namespace bench::sweeps
