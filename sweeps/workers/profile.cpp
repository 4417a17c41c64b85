#include "sweeps/workers/profile.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "bench/result/result.h"
#include "bench/stats/statistics.h"
#include "sweeps/workers/knee.h"

namespace bench::sweeps {
namespace {

// Fewer batches do not show the spread of their times: those of more workers are added.
constexpr std::size_t kEnoughTimes = 48;

// ---------- the law's points

// The part of its time that a single worker spends at work or on storage; the rest goes into handing over,
// which is work too. 1 where one worker alone was not measured.
double share_at_work(const std::vector<const LoaderPoint*>& points) {
  for (const LoaderPoint* const point : points) {
    if (point->workers == 1 && point->loader == "capacity") {
      return std::clamp(active_workers(*point, false), 0.5, 1.0);
    }
  }
  return 1;
}

struct LawPoints {
  std::vector<const LoaderPoint*> points;
  std::string from;
};

// The loader alone; without it, starved consumers show its rate; without those, workers that rest now and
// then do.
LawPoints law_points(const LoaderPoints& all, std::optional<std::int64_t> left_out) {
  LawPoints chosen;
  const auto take = [&](const std::vector<LoaderPoint>& points, const auto& wanted, const char* from) {
    for (const LoaderPoint& point : points) {
      if (point.workers != left_out && point.samples_per_s.value > 0 && wanted(point)) {
        chosen.points.push_back(&point);
        chosen.from = from;
      }
    }
    return !chosen.points.empty();
  };
  const auto any = [](const LoaderPoint&) { return true; };
  const auto starved = [](const LoaderPoint& point) {
    return point.workers > 0 && point.au && point.au->value < kStarved;
  };
  const auto timed = [](const LoaderPoint& point) { return !point.windows->batch_ns.empty(); };
  const auto fed = [&](const LoaderPoint& point) { return point.workers > 0 && timed(point); };
  take(all.capacity, any, "the loader alone") || take(all.pool, starved, "starved consumers") ||
      take(all.pool, fed, "fed consumers") || take(all.pool, timed, "the consumer's thread");
  return chosen;
}

simulator::CapacityPoint capacity_of(const LoaderPoint& point, bool storage, double at_work) {
  const Estimate& rate = point.samples_per_s;
  if (point.workers > 0) {
    return {.active = std::min(static_cast<double>(point.workers), active_workers(point, storage) / at_work),
            .samples_per_s = point.usual_samples_per_s,
            .ci95 = {rate.low(), rate.high()}};
  }
  // The consumer thread also does other things: scaled to what it would make if it only made batches.
  const double scale = 1 / std::max(1e-6, active_workers(point, storage));
  return {
      .active = 1, .samples_per_s = rate.value * scale, .ci95 = {rate.low() * scale, rate.high() * scale}};
}

// ---------- times

// Times in parts of their point's mean, of as few workers as give enough: with more workers, a batch's time
// includes waits for the others.
std::vector<double> spread(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                           std::vector<double> Window::*times) {
  std::vector<const LoaderPoint*> all = points.capacity_and_pool();
  std::erase_if(all, [&](const LoaderPoint* point) {
    return point->workers == left_out || !(mean((*point->windows).*times) > 0);
  });
  std::ranges::stable_sort(all, {}, &LoaderPoint::workers);
  std::vector<double> parts;
  for (const LoaderPoint* const point : all) {
    const std::vector<double>& own = (*point->windows).*times;
    if (parts.size() < kEnoughTimes) {
      std::ranges::transform(own, std::back_inserter(parts),
                             [by = mean(own)](double time) { return time / by; });
    }
  }
  return parts;
}

// ---------- storage

// A cold storage has unknown limits: what a single worker waits for is taken as the latency of each read. Its
// bandwidth would show only with enough readers.
loader::Storage cold_storage(const LoaderPoint& fewest) {
  const double waits = mean(fewest.windows->batch_ns) - mean(fewest.windows->batch_cpu_ns);
  return {.bytes_per_s = 0,
          .latency_ns = std::clamp(waits / static_cast<double>(fewest.batch), 0.0, fewest.stages_ns.read)};
}

// Whether workers wait for reads, although no limit was given and the files were not to be cold: a mount over
// a network whose reads no page cache holds. With more workers than cores a thread waits for a core as well.
bool reads_wait(const LoaderPoint& fewest, double cores) {
  const double batch_ns = mean(fewest.windows->batch_ns);
  if (static_cast<double>(fewest.workers) > cores || !(batch_ns > 0) ||
      fewest.windows->batch_cpu_ns.empty()) {
    return false;
  }
  constexpr double kCounts = 0.2;  // of a worker's time
  const double waits = batch_ns - mean(fewest.windows->batch_cpu_ns);
  const double reads = fewest.stages_ns.read * static_cast<double>(fewest.batch);
  return std::min(waits, reads) > kCounts * batch_ns;
}

// Time of a single worker's read beyond the limit: it does not queue, so the sleep ended late.
double late_read_ns(const std::vector<const LoaderPoint*>& points, const loader::Storage& storage,
                    double bytes_read) {
  for (const LoaderPoint* const point : points) {
    if (point->workers == 1 && point->stages_ns.total() > 0) {
      return std::max(0.0, point->stages_ns.read - storage.transfer_ns(bytes_read) - storage.latency_ns);
    }
  }
  return 0;
}

// Reading and making an image takes time in proportion to its size, the latency apart; of the fewest workers,
// which wait least for each other.
std::vector<double> sizes_by_time(const std::vector<const LoaderPoint*>& points, double latency_ns) {
  for (const LoaderPoint* const point : points) {
    const std::vector<double>& times = point->windows->sample_ns;
    const double mean = bench::mean(times) - latency_ns;
    if (times.size() >= kEnoughTimes && mean > 0) {
      std::vector<double> sizes;
      for (const double time : times) {
        sizes.push_back(std::max(0.05, (time - latency_ns) / mean));
      }
      return scaled_to(1, thinned(std::move(sizes)));
    }
  }
  return {};
}

// ---------- the consumer

// With ready data; without that point, with the fewest workers. False where neither was measured.
bool measure_consumer(simulator::Pipeline& measured, const LoaderPoints& points) {
  const LoaderPoint* consumer = points.ready ? &*points.ready : nullptr;
  for (const LoaderPoint& point : points.pool) {
    consumer = consumer == nullptr && !point.windows->compute_ns.empty() ? &point : consumer;
  }
  if (consumer == nullptr || !(mean(consumer->windows->compute_ns) > 0)) {
    return false;
  }
  measured.compute_ns = thinned(consumer->windows->compute_ns);
  // Ready batches are copied from the caches, and with many workers the copying thread waits for a core: the
  // copy of the fewest workers is neither.
  measured.copy_ns = consumer->copy_ns;
  const auto fed =
      std::ranges::find_if(points.pool, [](const LoaderPoint& point) { return point.workers > 0; });
  if (fed != points.pool.end()) {
    measured.copy_ns = fed->copy_ns;
  }
  const auto taken = std::ranges::find_if(points.pool, [](const LoaderPoint& point) {
    return point.windows->take_ns.size() >= kEnoughTimes / 2;
  });
  if (taken != points.pool.end()) {
    measured.take_ns = mean(taken->windows->take_ns);
  }
  if (points.ready) {
    const double compute = points.ready->compute_ns;
    const double copy = points.ready->copy_ns;
    const double step = compute / points.ready->usual_au.value;
    measured.gap_ns = std::max(0.0, step - (measured.lookahead ? std::max(compute, copy) : compute + copy));
  }
  return true;
}

}  // namespace

std::vector<double> scaled_to(double mean, std::vector<double> values) {
  if (values.empty()) {
    return {mean};
  }
  const double by = mean / bench::mean(values);
  for (double& value : values) {
    value *= std::isfinite(by) ? by : 1;
  }
  return values;
}

std::vector<double> thinned(std::vector<double> values) {
  constexpr std::size_t kMost = 512;
  const double whole = mean(values);
  // Groups differ by one value: their means are scaled.
  return values.size() <= kMost ? values : scaled_to(whole, group_means(std::move(values), kMost));
}

std::optional<Profile> measure_profile(const LoaderPoints& points, const LoaderSetup& setup,
                                       std::optional<std::int64_t> left_out) {
  Profile profile;
  simulator::Pipeline& measured = profile.pipeline;
  const LawPoints law = law_points(points, left_out);
  measured.lookahead = setup.lookahead;
  if (law.points.empty() || !measure_consumer(measured, points)) {
    return std::nullopt;
  }
  const LoaderPoint& first = *law.points.front();
  const LoaderPoint& shape = points.pool.empty() ? first : points.pool.back();
  measured.batch = shape.batch;
  measured.prefetch = std::max<std::int64_t>(1, shape.prefetch);
  measured.order = shape.order == "any" ? loader::Order::any : loader::Order::in_order;
  profile.sample_bytes = shape.sample_bytes;
  profile.consumer = shape.consumer;
  profile.consumer_device = setup.consumer_device;
  profile.consumer_on_cores = setup.consumer_on_cores;
  profile.stages_ns = first.stages_ns;

  measured.sample_bytes_read = setup.found ? setup.found->mean_encoded_bytes : 0;
  if (setup.storage) {
    measured.storage = setup.storage;
  } else if (setup.cold || reads_wait(first, setup.cores)) {
    measured.storage = cold_storage(first);
  }
  if (measured.storage) {
    measured.storage->latency_ns += late_read_ns(law.points, *measured.storage, measured.sample_bytes_read);
  }

  std::vector<simulator::CapacityPoint> rates;
  const bool storage = measured.storage.has_value();
  const double at_work = share_at_work(law.points);
  for (const LoaderPoint* const point : law.points) {
    rates.push_back(capacity_of(*point, storage, at_work));
    profile.law.workers.push_back(point->workers);
  }
  profile.law.from = law.from;
  static_cast<simulator::LawFit&>(profile.law) = simulator::fit_law(rates, setup.cores, 1);

  const double image_ns = 1e9 / profile.law.law.one;
  const double batch_ns = image_ns * static_cast<double>(measured.batch);
  if (measured.storage) {
    measured.sample_sizes = sizes_by_time(law.points, measured.storage->latency_ns);
    measured.batch_work_ns = {batch_ns};
    measured.sample_work_ns = {image_ns};
  } else {
    measured.batch_work_ns = scaled_to(batch_ns, thinned(spread(points, left_out, &Window::batch_ns)));
    measured.sample_work_ns = scaled_to(image_ns, thinned(spread(points, left_out, &Window::sample_ns)));
  }
  measured.scheduling_latency = measure_latencies(points, profile.law.law.cores, storage, left_out);
  if (profile.consumer_on_cores) {
    profile.sharing =
        measure_sharing(points.pool, profile.law.law, mean(measured.compute_ns), storage, left_out);
  }

  profile.slot_bytes = static_cast<double>(setup.slot_bytes);
  profile.pinned = setup.pinned;
  if (!points.pool.empty() && points.pool.back().workers > 0) {
    const LoaderPoint& most = points.pool.back();
    const auto workers = static_cast<double>(most.workers);
    const double slots = workers * static_cast<double>(most.prefetch) * profile.slot_bytes;
    profile.scratch_bytes_per_worker =
        std::max(0.0, (static_cast<double>(most.windows->host_bytes) - slots) / workers);
  }
  return profile;
}

simulator::Pipeline pipeline_of(const Profile& profile, std::int64_t workers, std::optional<double> cores) {
  simulator::Pipeline pipeline = profile.pipeline;
  pipeline.workers = workers;
  pipeline.law = profile.law.law;
  pipeline.law.cores = cores.value_or(pipeline.law.cores);
  for (simulator::SchedulingLatency& latency : pipeline.scheduling_latency) {
    latency.workers *= pipeline.law.cores / profile.law.law.cores;  // workers a core decide
  }
  pipeline.shared_cores = shared_cores(profile.sharing, workers, pipeline.law.cores);
  pipeline.knows_waits = profile.loader.empty();
  return pipeline;
}

}  // namespace bench::sweeps
