#include "sweeps/workers/points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "bench/result/flags.h"
#include "bench/stats/statistics.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

double sum_of(const std::vector<double>& times) {
  return std::accumulate(times.begin(), times.end(), 0.0);
}

// `value` over all windows, with the interval of the windows' median moved to it: rounds repeat windows, and
// the steps of one window depend on each other.
Estimate with_interval_of(double value, const std::vector<double>& windows,
                          const std::vector<std::int64_t>& rounds) {
  if (windows.size() < 2 || std::ranges::max(windows) <= 0) {
    return {.value = value};
  }
  const bool fits = std::accumulate(rounds.begin(), rounds.end(), std::int64_t{0}) == std::ssize(windows);
  const std::vector<std::int64_t> one_round{std::ssize(windows)};
  const Estimate middle = median_estimate(windows, fits ? rounds : one_round);
  if (!middle.ci95) {
    return {.value = value};
  }
  const double scale = value / middle.value;
  return {.value = value,
          .ci95 = Interval{std::min(value, scale * middle.low()), std::max(value, scale * middle.high())}};
}

double without_extremes(const std::vector<double>& rates, const std::vector<double>& times) {
  const auto [slowest, fastest] = std::ranges::minmax_element(rates);
  double images = 0;
  double time = 0;
  for (auto rate = rates.begin(); rate != rates.end(); ++rate) {
    if (rates.size() < 5 || (rate != slowest && rate != fastest)) {
      const double took = times[static_cast<std::size_t>(rate - rates.begin())];
      images += *rate * took;
      time += took;
    }
  }
  return images / time;
}

std::optional<LoaderPoint> point_of(const MeasuredPoint& measured, const LoaderParams& params) {
  const auto batch = static_cast<double>(params.batch);
  auto windows = std::make_shared<Window>();
  std::vector<double> times;
  std::vector<double> rates;
  std::vector<double> shares;
  for (const auto& note : measured.notes) {
    const auto* const window = dynamic_cast<const Window*>(note.get());
    const double took = window == nullptr ? 0 : sum_of(window->step_ns);
    if (took > 0) {
      times.push_back(took);
      rates.push_back(batch * static_cast<double>(window->step_ns.size()) / took * 1e9);
      shares.push_back(sum_of(window->compute_ns) / took);
      windows->append(*window);
    }
  }
  if (times.empty()) {
    return std::nullopt;
  }
  const auto steps = static_cast<double>(windows->step_ns.size());
  const double samples = batch * steps;
  const double total = sum_of(times);
  const double computing = sum_of(windows->compute_ns);
  const std::vector<std::int64_t> sizes = round_sizes(measured);
  LoaderPoint point;
  static_cast<LoaderParams&>(point) = params;
  point.name = measured.name;
  point.flagged = !measured.validity.flags.empty();
  point.few_rounds = std::ranges::count(measured.validity.flags, "few_rounds") > 0;
  point.samples_per_s = with_interval_of(samples / total * 1e9, rates, sizes);
  point.usual_samples_per_s = without_extremes(rates, times);
  point.raw_au = with_interval_of(computing / total, shares, sizes);
  point.usual_au = with_interval_of(median(shares), shares, sizes);
  point.step_ns = total / steps;
  point.compute_ns = computing / steps;
  point.copy_ns = static_cast<double>(windows->copy_ns) / steps;
  point.cpu_ns = static_cast<double>(windows->cpu_ns) / samples;
  point.sample_bytes = measured.work.sample_bytes;
  for (const StageName& stage : kStages) {
    const double images = windows->images > 0 ? static_cast<double>(windows->images) : samples;
    point.stages_ns.*stage.time = windows->stages_ns.*stage.time / images;
  }
  point.windows = std::move(windows);
  return point;
}

// AU and stalls, compared with the loader that does nothing: its usual window is the harness's own overhead.
void compare(LoaderPoint& point, const LoaderPoint& ready) {
  if (ready.usual_au.value > 0) {
    const double by = ready.usual_au.value;
    const double value = point.raw_au.value / by;
    const double own = point.raw_au.value > 0 ? 1 / point.raw_au.value : 0;
    // Both relative errors, independent of each other.
    const double below = combined_deviation(
        {(point.raw_au.value - point.raw_au.low()) * own, (ready.usual_au.high() - by) / by});
    const double above = combined_deviation(
        {(point.raw_au.high() - point.raw_au.value) * own, (by - ready.usual_au.low()) / by});
    point.au = Estimate{.value = value};
    if (below > 0 || above > 0) {
      point.au->ci95 = Interval{value * (1 - below), value * (1 + above)};
    }
  }
  point.stall_p99_ns = quantile(point.windows->step_ns, 0.99) - median(ready.windows->step_ns);
}

bool of_another_run(const LoaderParams& point, const LoaderSetup& setup) {
  return (setup.batch > 0 && point.batch != setup.batch) ||
         (!setup.dtype.empty() && !point.dtype.empty() && point.dtype != setup.dtype) ||
         (!setup.consumer.empty() && point.consumer != setup.consumer && point.consumer != "none");
}

void add_once(std::vector<LoaderPoint>& points, LoaderPoint point) {
  if (std::ranges::find(points, point.workers, &LoaderPoint::workers) == points.end()) {
    points.push_back(std::move(point));
  }
}

}  // namespace

std::optional<LoaderParams> read_loader_params(const Json& params) {
  if (!params.is_object() || params.value("batch", std::int64_t{0}) < 1) {
    return std::nullopt;
  }
  return LoaderParams{.loader = params.value("loader", ""),
                      .workers = params.value("workers", std::int64_t{0}),
                      .prefetch = params.value("prefetch", std::int64_t{0}),
                      .order = params.value("order", ""),
                      .batch = params.value("batch", std::int64_t{0}),
                      .dtype = params.value("dtype", ""),
                      .consumer = params.value("consumer", ""),
                      .staging = params.value("staging", "")};
}

void restore_points(ResultDocument& document) {
  parse_params(document, read_loader_params);
  for (MeasuredPoint& point : document.benchmarks) {
    for (auto& note : point.notes) {
      note = read_window(note->to_json());
    }
  }
}

const LoaderPoint* LoaderPoints::at(std::int64_t workers) const {
  const auto found = std::ranges::find(pool, workers, &LoaderPoint::workers);
  return found == pool.end() ? nullptr : &*found;
}

std::vector<const LoaderPoint*> LoaderPoints::capacity_and_pool() const {
  std::vector<const LoaderPoint*> points;
  for (const auto* list : {&capacity, &pool}) {
    for (const LoaderPoint& point : *list) {
      points.push_back(&point);
    }
  }
  return points;
}

LoaderPoints loader_points(const std::vector<MeasuredPoint>& measured, const LoaderSetup& setup) {
  const FlagMarks marks(measured);
  LoaderPoints points;
  for (const MeasuredPoint& one : measured) {
    const auto* const params = params_as<LoaderParams>(one);
    if (params == nullptr || of_another_run(*params, setup)) {
      continue;
    }
    std::optional<LoaderPoint> point = point_of(one, *params);
    if (!point) {
      continue;
    }
    point->mark = marks.of(one);
    if (point->loader == "ready") {
      points.ready = points.ready ? points.ready : point;
    } else if (point->loader == "other-staging") {
      points.other_staging = point;
    } else if (point->loader == "capacity") {
      add_once(points.capacity, std::move(*point));
    } else if (point->loader == "pool") {
      const bool first_order = points.pool.empty() || points.pool.front().order == point->order;
      add_once(first_order ? points.pool : points.other_order, std::move(*point));
    }
  }
  for (auto* const list : {&points.pool, &points.other_order, &points.capacity}) {
    std::ranges::sort(*list, {}, &LoaderPoint::workers);
    for (LoaderPoint& point : *list) {
      if (points.ready && list != &points.capacity) {
        compare(point, *points.ready);
      }
    }
  }
  return points;
}

std::optional<double> part_from_storage(const std::vector<MeasuredPoint>& measured,
                                        double mean_encoded_bytes) {
  double from_storage = 0;
  double images = 0;
  for (const MeasuredPoint& point : measured) {
    for (const auto& note : point.notes) {
      const auto* const window = dynamic_cast<const Window*>(note.get());
      if (window == nullptr || window->storage_bytes < 0) {
        return std::nullopt;
      }
      from_storage += static_cast<double>(window->storage_bytes);
      images += static_cast<double>(window->images);
    }
  }
  return images > 0 && mean_encoded_bytes > 0 ? std::optional(from_storage / (images * mean_encoded_bytes))
                                              : std::nullopt;
}

double working_ns(const LoaderPoint& point, bool storage) {
  const loader::StageTimes& stages = point.stages_ns;
  double working = stages.total() - stages.hand_off;
  if (const auto& batches = point.windows->batch_ns; point.order != "any" && !batches.empty()) {
    working = mean(batches) / static_cast<double>(point.batch);
  }
  return std::max(0.0, working - (storage ? stages.read : 0));
}

double active_workers(const LoaderPoint& point, bool storage) {
  const auto workers = static_cast<double>(std::max<std::int64_t>(1, point.workers));
  const double working = working_ns(point, storage);
  return working > 0 ? std::min(workers, point.samples_per_s.value * working / 1e9) : workers;
}

std::vector<double> group_means(std::vector<double> values, std::size_t groups) {
  std::ranges::sort(values);
  std::vector<double> means;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t first = group * values.size() / groups;
    const std::size_t last = std::max(first + 1, (group + 1) * values.size() / groups);
    means.push_back(mean(std::span(values).subspan(first, last - first)));
  }
  return means;
}

}  // namespace bench::sweeps
