#include "sweeps/workers/points.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/measure/statistics.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {
namespace {

double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

void append(std::vector<double>& values, const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) {
    return;
  }
  for (const Json& value : *found) {
    if (value.is_number() && value.get<double>() >= 0) {
      values.push_back(value.get<double>());
    }
  }
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The mean over all, with the interval of the windows' median about it: windows are what rounds repeat, and
// steps of one window depend on each other.
Measured with_interval(double value, const std::vector<double>& windows,
                       const std::vector<std::int64_t>& rounds) {
  Measured measured{.value = value, .ci95 = {value, value}};
  const double largest = windows.empty() ? 0 : std::ranges::max(windows);
  if (windows.size() < 2 || largest <= 0) {
    return measured;
  }
  const double scale = 1e12 / largest;  // summarize() takes whole numbers
  std::vector<std::int64_t> whole;
  for (const double window : windows) {
    whole.push_back(std::max<std::int64_t>(1, std::llround(window * scale)));
  }
  const bool fits = std::accumulate(rounds.begin(), rounds.end(), std::int64_t{0}) ==
                    static_cast<std::int64_t>(whole.size());
  const std::vector<std::int64_t> one{static_cast<std::int64_t>(whole.size())};
  const SampleStats stats = summarize(whole, fits ? rounds : one, 1);
  measured.ci95 = {std::min(value, value * stats.ci95_ns.low / stats.median_ns),
                   std::max(value, value * stats.ci95_ns.high / stats.median_ns)};
  return measured;
}

// Of all images over all time, without the slowest window and the fastest where five or more leave enough.
double usual_rate(const std::vector<double>& rates, const std::vector<double>& times) {
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

struct Sums {
  double step_ns = 0;
  double compute_ns = 0;
  double copy_ns = 0;
  double batches = 0;
  double images = 0;
  double cpu_ns = 0;
  double voluntary = 0;
  double involuntary = 0;
};

std::optional<LoaderPoint> read_point(const MeasuredPoint& measured) {
  if (!measured.params.is_object() || !measured.notes.is_array()) {
    return std::nullopt;
  }
  LoaderPoint point;
  point.name = measured.name;
  point.loader = measured.params.value("loader", "");
  point.workers = measured.params.value("workers", std::int64_t{0});
  point.staging = measured.params.value("staging", "");
  point.prefetch = measured.params.value("prefetch", std::int64_t{0});
  point.order = measured.params.value("order", "");
  point.batch = measured.params.value("batch", std::int64_t{0});
  point.flagged = !measured.validity.flags.empty();
  point.few_rounds =
      std::ranges::find(measured.validity.flags, "few_rounds") != measured.validity.flags.end();
  point.sample_bytes = measured.work.is_object() ? number_of(measured.work, "sample_bytes") : 0;
  if (point.batch < 1) {
    return std::nullopt;
  }

  Sums sums;
  std::vector<double> window_rates;
  std::vector<double> window_au;
  std::vector<double> window_times;
  for (const Json& note : measured.notes) {
    if (!note.is_object()) {
      continue;
    }
    append(point.late_times_ns, note, "late_ns");
    append(point.late_unyielding_ns, note, "late_unyielding_ns");
    std::vector<double> steps;
    std::vector<double> computes;
    append(steps, note, "step_ns");
    append(computes, note, "compute_ns");
    const double window = sum_of(steps);
    if (steps.empty() || !(window > 0)) {
      continue;
    }
    const auto batches = static_cast<double>(steps.size());
    const double computing = sum_of(computes);
    const double images = number_of(note, "images");
    sums.step_ns += window;
    sums.compute_ns += computing;
    sums.copy_ns += number_of(note, "copy_ns");
    sums.batches += batches;
    sums.images += images;
    sums.cpu_ns += number_of(note, "cpu_ns");
    sums.voluntary += number_of(note, "voluntary_switches");
    sums.involuntary += number_of(note, "involuntary_switches");
    point.host_bytes = std::max(point.host_bytes, number_of(note, "host_bytes"));
    point.bad_files = std::max(point.bad_files, static_cast<std::int64_t>(number_of(note, "bad_files")));
    window_rates.push_back(static_cast<double>(point.batch) * batches / window * 1e9);
    window_au.push_back(computing / window);
    window_times.push_back(window);
    point.step_times_ns.insert(point.step_times_ns.end(), steps.begin(), steps.end());
    point.compute_times_ns.insert(point.compute_times_ns.end(), computes.begin(), computes.end());
    append(point.batch_times_ns, note, "batch_ns");
    append(point.batch_cpu_times_ns, note, "batch_cpu_ns");
    append(point.sample_times_ns, note, "sample_ns");
    append(point.take_times_ns, note, "take_ns");
    if (const auto stages = note.find("stages_ns"); stages != note.end() && stages->is_object()) {
      for (const auto& [stage, time] : stages->items()) {
        point.stages_ns[stage] += time.is_number() ? time.get<double>() : 0;
      }
    }
    if (const auto timeline = note.find("timeline");
        point.timeline.is_null() && timeline != note.end() && timeline->is_array()) {
      point.timeline = *timeline;
    }
  }
  if (sums.batches < 1) {
    return std::nullopt;
  }
  // Where the loader does nothing no image was made, but as many were delivered.
  const double delivered = sums.batches * static_cast<double>(point.batch);
  const double images = sums.images > 0 ? sums.images : delivered;
  point.images = static_cast<std::int64_t>(images);
  point.usual_images_per_s = usual_rate(window_rates, window_times);
  point.images_per_s = with_interval(delivered / sums.step_ns * 1e9, window_rates, measured.round_sizes);
  point.raw_au = with_interval(sums.compute_ns / sums.step_ns, window_au, measured.round_sizes);
  point.usual_au = with_interval(simulator::median_of(window_au), window_au, measured.round_sizes);
  point.step_ns = sums.step_ns / sums.batches;
  point.compute_ns = sums.compute_ns / sums.batches;
  point.copy_ns = sums.copy_ns / sums.batches;
  point.cpu_ns = sums.cpu_ns / delivered;
  point.voluntary_switches = sums.voluntary / delivered;
  point.involuntary_switches = sums.involuntary / delivered;
  for (auto& [stage, time] : point.stages_ns) {
    time /= images;
  }
  return point;
}

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  std::vector<std::int64_t> whole;
  for (const double value : values) {
    whole.push_back(std::llround(value));
  }
  return sorted_quantile(whole, part);
}

// Its AU and stalls, against the loader that does nothing: what that usually takes is the harness's, a moment
// in which the system did something else is not.
void set_against(LoaderPoint& point, const LoaderPoint& ready) {
  if (ready.usual_au.value > 0) {
    const double by = ready.usual_au.value;
    const double below = (by - ready.usual_au.ci95.low) / by;
    const double above = (ready.usual_au.ci95.high - by) / by;
    const double value = point.raw_au.value / by;
    // Both errors, taken for independent.
    const auto spread = [](double a, double b) { return std::sqrt(a * a + b * b); };
    const double own = point.raw_au.value > 0 ? 1 / point.raw_au.value : 0;
    point.au =
        Measured{.value = value,
                 .ci95 = {value * (1 - spread((point.raw_au.value - point.raw_au.ci95.low) * own, above)),
                          value * (1 + spread((point.raw_au.ci95.high - point.raw_au.value) * own, below))}};
  }
  const double usual = quantile(ready.step_times_ns, 0.5);
  point.stall_p50_ns = quantile(point.step_times_ns, 0.5) - usual;
  point.stall_p99_ns = quantile(point.step_times_ns, 0.99) - usual;
}

void add_once(std::vector<LoaderPoint>& points, LoaderPoint point) {
  if (std::ranges::find(points, point.workers, &LoaderPoint::workers) == points.end()) {
    points.push_back(std::move(point));
  }
}

}  // namespace

const LoaderPoint* LoaderPoints::at(std::int64_t workers) const {
  const auto found = std::ranges::find(pool, workers, &LoaderPoint::workers);
  return found == pool.end() ? nullptr : &*found;
}

// Points that --resume kept of a run with another batch, dtype or consumer stand in the file, and prove
// nothing of this one.
bool of_another_run(const Json& params, const ResultDocument& document) {
  return std::ranges::any_of(std::initializer_list<const char*>{"batch", "dtype", "consumer"},
                             [&](const char* key) {
                               const Json own = loader_note(document, key);
                               const Json there = params.value(key, Json());
                               return !own.is_null() && !there.is_null() && own != there && there != "none";
                             });
}

LoaderPoints loader_points(const ResultDocument& document) {
  LoaderPoints points;
  for (const MeasuredPoint& measured : document.benchmarks) {
    std::optional<LoaderPoint> point = read_point(measured);
    if (!point || of_another_run(measured.params, document)) {
      continue;
    }
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
  std::ranges::sort(points.other_order, {}, &LoaderPoint::workers);
  std::ranges::sort(points.pool, {}, &LoaderPoint::workers);
  std::ranges::sort(points.capacity, {}, &LoaderPoint::workers);
  if (points.ready) {
    for (auto* const list : {&points.pool, &points.other_order}) {
      for (LoaderPoint& point : *list) {
        set_against(point, *points.ready);
      }
    }
  }
  return points;
}

Json loader_note(const ResultDocument& document, const std::string& member) {
  if (!document.sweep.is_object()) {
    return nullptr;
  }
  const auto loader = document.sweep.find("loader");
  if (loader == document.sweep.end() || !loader->is_object() || !loader->contains(member)) {
    return nullptr;
  }
  return (*loader)[member];
}

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names{"read", "decode", "augment", "collate", "hand_off"};
  return names;
}

}  // namespace bench::sweeps
