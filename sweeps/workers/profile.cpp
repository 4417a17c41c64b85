#include "sweeps/workers/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "bench/measure/random.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {
namespace {

using simulator::mean_of;

// Of fewer batches the spread is not known: those of more workers are taken too.
constexpr std::size_t kEnoughTimes = 48;

double number_or(const Json& json, double other) {
  return json.is_number() ? json.get<double>() : other;
}
bool flag_or(const Json& json, bool other) {
  return json.is_boolean() ? json.get<bool>() : other;
}
std::string text_or(const Json& json, const std::string& other) {
  return json.is_string() ? json.get<std::string>() : other;
}

std::optional<simulator::Storage> storage_of(const ResultDocument& document) {
  const Json storage = loader_note(document, "storage");
  if (!storage.is_object()) {
    return std::nullopt;
  }
  return simulator::Storage{.bytes_per_s = number_or(storage.value("bytes_per_s", Json()), 0),
                            .latency_ns = number_or(storage.value("latency_ns", Json()), 0)};
}

// Reads from cold pages wait for a storage whose limits nobody gave: what one worker waits for is taken as
// the latency of each read. What its bandwidth is shows only where enough workers read.
simulator::Storage cold_storage(const LoaderPoint& point) {
  const double waits = mean_of(point.batch_times_ns) - mean_of(point.batch_cpu_times_ns);
  const auto read = point.stages_ns.find("read");
  const double most = read == point.stages_ns.end() ? 0 : read->second;
  return {.bytes_per_s = 0,
          .latency_ns = std::clamp(waits / static_cast<double>(point.batch), 0.0, std::max(0.0, most))};
}

// Of an image, where nobody noted its mean: what the limit lets through, and what the only worker's reads
// take, are both at least that.
double bytes_by_time(const LoaderPoints& points, const simulator::Storage& storage) {
  double bytes = 0;
  const auto at_most = [&](double most) { bytes = bytes > 0 ? std::min(bytes, most) : most; };
  for (const LoaderPoint& point : points.capacity) {
    at_most(storage.bytes_per_s / point.images_per_s.value);
    const auto read = point.stages_ns.find("read");
    if (point.workers == 1 && read != point.stages_ns.end() && read->second > storage.latency_ns) {
      at_most((read->second - storage.latency_ns) / 1e9 * storage.bytes_per_s);
    }
  }
  return bytes;
}

// What a read takes of one worker beyond what the limit says: nobody queues, so it is the sleep that ends
// late.
double late_ns(const std::vector<const LoaderPoint*>& points, const Profile& profile) {
  for (const LoaderPoint* const point : points) {
    const auto read = point->stages_ns.find("read");
    if (point->workers == 1 && read != point->stages_ns.end()) {
      const double transfer =
          profile.storage->bytes_per_s > 0 ? profile.bytes_read / profile.storage->bytes_per_s * 1e9 : 0;
      return std::max(0.0, read->second - transfer - profile.storage->latency_ns);
    }
  }
  return 0;
}

// What reading and making an image takes beyond the latency goes with its size; of the fewest workers, which
// wait least for each other.
std::vector<double> sizes_by_time(const std::vector<const LoaderPoint*>& points, double latency_ns) {
  for (const LoaderPoint* const point : points) {
    const double mean = mean_of(point->sample_times_ns) - latency_ns;
    if (point->sample_times_ns.size() < kEnoughTimes || mean <= 0) {
      continue;
    }
    std::vector<double> sizes;
    for (const double time : point->sample_times_ns) {
      sizes.push_back(std::max(0.05, (time - latency_ns) / mean));
    }
    sizes = thinned(std::move(sizes));
    const double off = mean_of(sizes);
    for (double& size : sizes) {
      size /= off;
    }
    return sizes;
  }
  return {};
}

// Of an image, a worker's time by its batches, or where workers share batches, by its stages; without the
// waits for storage where that is simulated. 0 where neither was measured.
double working_of(const LoaderPoint& point, bool storage) {
  double working = 0;
  double read = 0;
  for (const auto& [stage, time] : point.stages_ns) {
    working += stage == "hand_off" ? 0 : time;
    read += stage == "read" ? time : 0;
  }
  if (point.order != "any" && !point.batch_times_ns.empty()) {
    working = mean_of(point.batch_times_ns) / static_cast<double>(point.batch);
  }
  return std::max(0.0, working - (storage ? read : 0));
}

// Workers at work on average, by Little's law: the rate times the time that an image takes. A worker that has
// no slot, because a slow batch holds back those behind it, does not count, nor does one that waits for
// storage.
double active_of(const LoaderPoint& point, bool storage) {
  const auto workers = static_cast<double>(std::max<std::int64_t>(1, point.workers));
  const double working = working_of(point, storage);
  return working > 0 ? std::min(workers, point.images_per_s.value * working / 1e9) : workers;
}

// The part of its time that the only worker spends at work or on storage; the rest goes into handing over,
// which is work too. 1 where one worker was not measured: of several, some may lack a slot.
double share_at_work(const std::vector<const LoaderPoint*>& points) {
  for (const LoaderPoint* const point : points) {
    if (point->workers == 1 && point->loader == "capacity") {
      return std::clamp(active_of(*point, false), 0.5, 1.0);
    }
  }
  return 1;
}

// Starved consumers leave the loader's rate to be seen; where there is none, workers that rest now and then
// do not count in full.
std::vector<const LoaderPoint*> law_points(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                                           std::string& from) {
  std::vector<const LoaderPoint*> chosen;
  const auto take = [&](const std::vector<LoaderPoint>& all, const auto& wanted, const char* what) {
    if (!chosen.empty()) {
      return;
    }
    for (const LoaderPoint& point : all) {
      if (point.workers != left_out && point.images_per_s.value > 0 && wanted(point)) {
        chosen.push_back(&point);
        from = what;
      }
    }
  };
  take(
      points.capacity, [](const LoaderPoint&) { return true; }, "the loader alone");
  take(
      points.pool,
      [](const LoaderPoint& point) { return point.workers > 0 && point.au && point.au->value < 0.9; },
      "starved consumers");
  take(
      points.pool,
      [](const LoaderPoint& point) { return point.workers > 0 && !point.batch_times_ns.empty(); },
      "fed consumers");
  take(
      points.pool, [](const LoaderPoint& point) { return !point.batch_times_ns.empty(); },
      "the consumer's thread");
  return chosen;
}

simulator::CapacityPoint capacity_of(const LoaderPoint& point, bool storage, double at_work) {
  if (point.workers > 0) {
    const auto workers = static_cast<double>(point.workers);
    return {.active = std::min(workers, active_of(point, storage) / at_work),
            .images_per_s = point.images_per_s.value,
            .ci95 = point.images_per_s.ci95};
  }
  // The consumer's thread makes a batch and does other things; what it would make were it all it does.
  const double scale = 1 / std::max(1e-6, active_of(point, storage));
  return {.active = 1,
          .images_per_s = point.images_per_s.value * scale,
          .ci95 = {point.images_per_s.ci95.low * scale, point.images_per_s.ci95.high * scale}};
}

// Each point's times in parts of their mean, of as few workers as give enough: beside others a batch's time
// also holds what they took from it.
std::vector<double> spread(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                           std::vector<double> LoaderPoint::*times) {
  std::vector<const LoaderPoint*> all;
  for (const auto* list : {&points.capacity, &points.pool}) {
    for (const LoaderPoint& point : *list) {
      if (point.workers != left_out && mean_of(point.*times) > 0) {
        all.push_back(&point);
      }
    }
  }
  std::ranges::stable_sort(all, {}, &LoaderPoint::workers);
  std::vector<double> parts;
  for (const LoaderPoint* const point : all) {
    if (parts.size() >= kEnoughTimes) {
      break;
    }
    const double mean = mean_of(point->*times);
    for (const double time : point->*times) {
      parts.push_back(time / mean);
    }
  }
  return parts;
}

std::vector<double> scaled(std::vector<double> parts, double mean) {
  if (parts.empty()) {
    return {mean};
  }
  parts = thinned(std::move(parts));
  const double by = mean / mean_of(parts);
  for (double& part : parts) {
    part *= by;
  }
  return parts;
}

// What each of so many threads that want a core gets of one.
double share_of_core(double threads, double cores) {
  return std::min(1.0, cores / std::max(threads, 1e-9));
}

double consumer_threads(std::int64_t workers, double cores) {
  return std::max(1.0, std::floor(cores) - static_cast<double>(workers));
}

// What sharing the cores leaves of the speeds alone, beside `active` workers of so many: the consumer's, and
// beyond the law the workers'.
simulator::Beside shared(std::int64_t workers, double active, double cores) {
  const double share = share_of_core(active + consumer_threads(workers, cores), cores);
  return {.active = active,
          .consumer_speed = share,
          .worker_speed = share / share_of_core(std::max(1.0, active), cores)};
}

// At the fewest workers, as many as cores, and the most.
void calibrate_beside(Profile& profile, const LoaderPoints& points, std::optional<std::int64_t> left_out) {
  std::vector<const LoaderPoint*> candidates;
  for (const LoaderPoint& point : points.pool) {
    if (point.workers > 0 && point.workers != left_out && point.compute_ns > 0 &&
        working_of(point, profile.storage.has_value()) > 0) {
      candidates.push_back(&point);
    }
  }
  if (candidates.empty()) {
    return;
  }
  const simulator::ScalabilityLaw& law = profile.law.law;
  const auto off_cores = [&](const LoaderPoint* point) {
    return std::abs(static_cast<double>(point->workers) - law.cores);
  };
  const std::set<const LoaderPoint*> few{
      candidates.front(), *std::ranges::min_element(candidates, {}, off_cores), candidates.back()};
  for (const LoaderPoint* const point : candidates) {
    if (!few.contains(point)) {
      continue;
    }
    const double active = active_of(*point, profile.storage.has_value());
    const double by_law = 1e9 / law.one / law.speed_of_each(std::max(1.0, active));
    const double computing = std::clamp(point->raw_au.value, 0.05, 1.0);
    const double working = working_of(*point, profile.storage.has_value());
    const double beside = (by_law / working - (1 - computing)) / computing;  // while the consumer computes
    const simulator::Beside sharing = shared(point->workers, active, law.cores);
    const double alone = mean_of(profile.compute_ns) / point->compute_ns;
    profile.beside.push_back(
        {.workers = point->workers,
         .consumer_speed = std::clamp(alone / sharing.consumer_speed, 0.01, 1.5),
         .worker_speed = profile.storage ? 1 : std::clamp(beside / sharing.worker_speed, 0.05, 1.5)});
  }
}

// Between the calibrated counts linear, beyond them as at the last.
BesideWorkers beside_at(const std::vector<BesideWorkers>& calibrated, std::int64_t workers) {
  const BesideWorkers* before = &calibrated.front();
  for (const BesideWorkers& next : calibrated) {
    if (workers <= next.workers) {
      const auto gap = static_cast<double>(next.workers - before->workers);
      const double part = gap > 0 ? static_cast<double>(workers - before->workers) / gap : 1;
      return {.workers = workers,
              .consumer_speed = std::lerp(before->consumer_speed, next.consumer_speed, std::max(0.0, part)),
              .worker_speed = std::lerp(before->worker_speed, next.worker_speed, std::max(0.0, part))};
    }
    before = &next;
  }
  return *before;
}

void measure_memory(Profile& profile, const ResultDocument& document, const LoaderPoints& points) {
  profile.slot_bytes = number_or(loader_note(document, "slot_bytes"), profile.sample_bytes);
  profile.pinned = flag_or(loader_note(document, "pinned"), false);
  if (!points.pool.empty() && points.pool.back().workers > 0) {
    const LoaderPoint& most = points.pool.back();
    const auto workers = static_cast<double>(most.workers);
    const double slots = workers * static_cast<double>(most.prefetch) * profile.slot_bytes;
    profile.scratch_bytes_per_worker = std::max(0.0, (most.host_bytes - slots) / workers);
  }
}

// Computing with ready data; without that point, as it was with the fewest workers. False where there is
// neither.
bool measure_consumer(Profile& profile, const LoaderPoints& points) {
  const LoaderPoint* consumer = points.ready ? &*points.ready : nullptr;
  for (const LoaderPoint& point : points.pool) {
    consumer = consumer == nullptr && !point.compute_times_ns.empty() ? &point : consumer;
  }
  if (consumer == nullptr || !(mean_of(consumer->compute_times_ns) > 0)) {
    return false;
  }
  profile.compute_ns = thinned(consumer->compute_times_ns);
  // Ready batches are copied from the caches; with many workers, the copying thread waits for a core. So it
  // is taken from the fewest workers.
  profile.copy_ns = consumer->copy_ns;
  const auto fed =
      std::ranges::find_if(points.pool, [](const LoaderPoint& point) { return point.workers > 0; });
  if (fed != points.pool.end()) {
    profile.copy_ns = fed->copy_ns;
  }
  if (points.ready) {
    const double compute = points.ready->compute_ns;
    const double copy = points.ready->copy_ns;
    profile.gap_ns =
        std::max(0.0, points.ready->step_ns - (profile.lookahead ? std::max(compute, copy) : compute + copy));
  }
  return true;
}

}  // namespace

std::vector<double> thinned(std::vector<double> values, std::size_t most) {
  if (values.size() <= most) {
    return values;
  }
  std::ranges::sort(values);
  std::vector<double> thin;
  const double whole = mean_of(values);
  for (std::size_t group = 0; group < most; ++group) {
    const std::size_t first = group * values.size() / most;
    const std::size_t last = (group + 1) * values.size() / most;
    thin.push_back(mean_of(std::span(values).subspan(first, last - first)));
  }
  const double off = whole / mean_of(thin);  // groups differ by one value
  for (double& value : thin) {
    value *= std::isfinite(off) ? off : 1;
  }
  return thin;
}

simulator::Order order_of(const std::string& text) {
  return text == "any" ? simulator::Order::any : simulator::Order::in_order;
}

std::optional<Profile> measure_profile(const ResultDocument& document, std::optional<std::int64_t> left_out) {
  const LoaderPoints points = loader_points(document);
  Profile profile;
  const std::vector<const LoaderPoint*> chosen = law_points(points, left_out, profile.law_from);
  profile.lookahead = flag_or(loader_note(document, "lookahead"), true);
  if (chosen.empty() || !measure_consumer(profile, points)) {
    return std::nullopt;
  }
  const LoaderPoint& shape = points.pool.empty() ? *chosen.front() : points.pool.back();
  profile.batch = shape.batch;
  profile.prefetch = std::max<std::int64_t>(1, shape.prefetch);
  profile.order = shape.order.empty() ? "in-order" : shape.order;
  profile.sample_bytes = shape.sample_bytes;
  profile.consumer_device = text_or(loader_note(document, "consumer_device"), "");
  profile.consumer_on_cores = flag_or(loader_note(document, "consumer_on_cores"), false);
  for (const MeasuredPoint& point : document.benchmarks) {
    if (point.name == shape.name) {
      profile.consumer = point.params.value("consumer", "");
    }
  }

  const LoaderPoint& first = *chosen.front();
  profile.storage = storage_of(document);
  if (!profile.storage && text_or(loader_note(document, "page_cache"), "") == "cold") {
    profile.storage = cold_storage(first);
  }
  profile.bytes_read = number_or(loader_note(document, "mean_encoded_bytes"), 0);
  if (profile.storage && profile.bytes_read <= 0) {
    profile.bytes_read = bytes_by_time(points, *profile.storage);
  }
  profile.stages_ns = first.stages_ns;

  std::vector<simulator::CapacityPoint> rates;
  const double at_work = share_at_work(chosen);
  if (profile.storage) {
    profile.storage->latency_ns += late_ns(chosen, profile);
  }
  for (const LoaderPoint* const point : chosen) {
    rates.push_back(capacity_of(*point, profile.storage.has_value(), at_work));
    profile.law_workers.push_back(point->workers);
  }
  const double cores = number_or(loader_note(document, "cores"), 1);
  profile.law = simulator::fit_law(rates, cores > 0 ? cores : 1, 1);
  const double image_ns = 1e9 / profile.law.law.one;
  const double batch_ns = image_ns * static_cast<double>(profile.batch);
  if (profile.storage) {
    profile.sample_sizes = sizes_by_time(chosen, profile.storage->latency_ns);
    profile.batch_work_ns = {batch_ns};
    profile.sample_work_ns = {image_ns};
  } else {
    profile.batch_work_ns = scaled(spread(points, left_out, &LoaderPoint::batch_times_ns), batch_ns);
    profile.sample_work_ns = scaled(spread(points, left_out, &LoaderPoint::sample_times_ns), image_ns);
  }
  if (profile.consumer_on_cores) {
    calibrate_beside(profile, points, left_out);
  }
  measure_memory(profile, document, points);
  if (document.context.is_object()) {
    profile.host = document.context.value("host", Json());
    profile.software = document.context.value("software", Json());
  }
  return profile;
}

simulator::Pipeline pipeline_of(const Profile& profile, std::int64_t workers, std::optional<double> cores) {
  simulator::Pipeline pipeline;
  pipeline.workers = workers;
  pipeline.prefetch = profile.prefetch;
  pipeline.order = order_of(profile.order);
  pipeline.lookahead = profile.lookahead;
  pipeline.batch = profile.batch;
  pipeline.batch_work_ns = profile.batch_work_ns;
  pipeline.sample_work_ns = profile.sample_work_ns;
  pipeline.compute_ns = profile.compute_ns;
  pipeline.copy_ns = profile.copy_ns;
  pipeline.gap_ns = profile.gap_ns;
  pipeline.law = profile.law.law;
  pipeline.law.cores = cores.value_or(pipeline.law.cores);
  pipeline.storage = profile.storage;
  pipeline.sample_bytes_read = profile.bytes_read;
  pipeline.sample_sizes = profile.sample_sizes;
  if (!profile.beside.empty() && workers > 0) {
    const BesideWorkers calibrated = beside_at(profile.beside, workers);
    for (std::int64_t active = 0; active <= workers; ++active) {
      simulator::Beside beside = shared(workers, static_cast<double>(active), pipeline.law.cores);
      beside.consumer_speed *= calibrated.consumer_speed;
      beside.worker_speed *= calibrated.worker_speed;
      pipeline.beside.push_back(beside);
    }
  }
  return pipeline;
}

}  // namespace bench::sweeps
