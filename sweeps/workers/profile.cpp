#include "sweeps/workers/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "bench/stats/statistics.h"

namespace bench::sweeps {
namespace {

// Fewer batches do not show the spread of their times: those of more workers are added.
constexpr std::size_t kEnoughTimes = 48;

// ---------- scheduling latency

constexpr std::size_t kPlaces = 64;  // of each distribution, so that two can be interpolated place by place
constexpr std::size_t kFewest = 16;  // sleeps; fewer do not show the late ones
// Workers a core, up to each and beyond the last: no worker shares a core with another; some do; nearly all
// do. A thread waits for the rest of a worker's time slice, so that counts of one group are taken together.
constexpr std::array<double, 3> kGroups{1, 4, std::numeric_limits<double>::infinity()};

// The latency on an idle machine: with a loader that does nothing, or the least of the others.
double usual_of(const LoaderPoints& points) {
  if (points.ready && !points.ready->windows->late_ns.empty()) {
    return median(points.ready->windows->late_ns);
  }
  double usual = std::numeric_limits<double>::infinity();
  for (const LoaderPoint& point : points.capacity) {
    if (const auto& late = point.windows->late_ns; !late.empty()) {
      usual = std::min(usual, median(late));
    }
  }
  return usual;
}

// The part of the time in which a core was busy with workers.
double busy_cores(const LoaderPoint& point, double cores, bool storage) {
  const std::vector<double>& batches = point.windows->batch_cpu_ns;
  if (batches.empty()) {
    return std::min(1.0, active_workers(point, storage) / cores);
  }
  const double image_ns = mean(batches) / static_cast<double>(point.batch);
  return std::min(1.0, point.samples_per_s.value * image_ns / 1e9 / cores);
}

std::vector<simulator::SchedulingLatency> by_group(const std::vector<LoaderPoint>& points, double usual,
                                                   double cores, bool storage) {
  std::vector<Lateness> measured;
  for (const LoaderPoint& point : points) {
    measured.push_back({.workers = point.workers, .busy = busy_cores(point, cores, storage)});
    for (const double time : point.windows->late_ns) {
      measured.back().late_ns.push_back(std::max(0.0, time - usual));
    }
  }
  return latencies_of(measured, cores);
}

// Without the threads that met an idle core, which were the least late.
std::vector<double> on_busy_cores(std::vector<double> late, double busy) {
  std::ranges::sort(late);
  const double idle = (1 - busy) * static_cast<double>(late.size());
  late.erase(late.begin(), late.begin() + std::min(std::ssize(late), std::lround(idle)));
  return late;
}

// How late the consumer thread is scheduled while workers keep the cores busy: from the consumer threads
// where they slept until a step ended; where none did, from what a file notes of the loader alone. The
// latency on an idle machine is subtracted.
std::vector<simulator::SchedulingLatency> measure_latencies(const LoaderPoints& points, double cores,
                                                            bool storage) {
  const double usual = usual_of(points);
  auto own = by_group(points.pool, usual, cores, storage);
  return own.empty() ? by_group(points.capacity, usual, cores, storage) : own;
}

// ---------- shared cores

// The part of a core that each of so many threads gets.
double share_of_core(double threads, double cores) {
  return std::min(1.0, cores / std::max(threads, 1e-9));
}

// Both speeds by sharing the cores alone; the workers' relative to the law.
simulator::CoreSharing by_sharing_alone(std::int64_t workers, double active, double cores) {
  const double consumer_threads = std::max(1.0, std::floor(cores) - static_cast<double>(workers));
  const double share = share_of_core(active + consumer_threads, cores);
  return {.active = active,
          .consumer_speed = share,
          .worker_speed = share / share_of_core(std::max(1.0, active), cores)};
}

// Linear between the measured counts, constant beyond them.
MeasuredSharing between(const std::vector<MeasuredSharing>& measured, std::int64_t workers) {
  const MeasuredSharing* before = &measured.front();
  for (const MeasuredSharing& next : measured) {
    if (workers <= next.workers) {
      const auto gap = static_cast<double>(next.workers - before->workers);
      const double part = gap > 0 ? std::max(0.0, static_cast<double>(workers - before->workers) / gap) : 1;
      return {.workers = workers,
              .consumer_speed = std::lerp(before->consumer_speed, next.consumer_speed, part),
              .worker_speed = std::lerp(before->worker_speed, next.worker_speed, part)};
    }
    before = &next;
  }
  return *before;
}

// Uses three points: the fewest workers, as many as cores, and the most. `compute_ns` is a step's with ready
// data. With storage the workers' slowdown is indistinguishable from their waits, and is taken as none.
std::vector<MeasuredSharing> measure_sharing(const std::vector<LoaderPoint>& pool,
                                             const simulator::ScalabilityLaw& law, double compute_ns,
                                             bool storage) {
  std::vector<const LoaderPoint*> usable;
  for (const LoaderPoint& point : pool) {
    if (point.workers > 0 && point.compute_ns > 0 && working_ns(point, storage) > 0) {
      usable.push_back(&point);
    }
  }
  std::vector<MeasuredSharing> measured;
  if (usable.empty()) {
    return measured;
  }
  const auto off_cores = [&](const LoaderPoint* point) {
    return std::abs(static_cast<double>(point->workers) - law.cores);
  };
  const std::set<const LoaderPoint*> few{usable.front(), *std::ranges::min_element(usable, {}, off_cores),
                                         usable.back()};
  for (const LoaderPoint* const point : few) {  // of one vector, so in its order
    const double active = active_workers(*point, storage);
    const double by_law = 1e9 / law.one / law.speed_of_each(std::max(1.0, active));
    const double computing = std::clamp(point->raw_au.value, 0.05, 1.0);
    // The workers' speed while the consumer computes.
    const double meanwhile = (by_law / working_ns(*point, storage) - (1 - computing)) / computing;
    const simulator::CoreSharing alone = by_sharing_alone(point->workers, active, law.cores);
    measured.push_back(
        {.workers = point->workers,
         .consumer_speed = std::clamp(compute_ns / point->compute_ns / alone.consumer_speed, 0.01, 1.5),
         .worker_speed = storage ? 1 : std::clamp(meanwhile / alone.worker_speed, 0.05, 1.5)});
  }
  return measured;
}

// For the simulation of so many workers on so many cores; empty without a measurement.
std::vector<simulator::CoreSharing> shared_cores(const std::vector<MeasuredSharing>& measured,
                                                 std::int64_t workers, double cores) {
  std::vector<simulator::CoreSharing> by_active;
  if (measured.empty() || workers <= 0) {
    return by_active;
  }
  const MeasuredSharing rest = between(measured, workers);
  for (std::int64_t active = 0; active <= workers; ++active) {
    simulator::CoreSharing shared = by_sharing_alone(workers, static_cast<double>(active), cores);
    shared.consumer_speed *= rest.consumer_speed;
    shared.worker_speed *= rest.worker_speed;
    by_active.push_back(shared);
  }
  return by_active;
}

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
LawPoints law_points(const LoaderPoints& all) {
  LawPoints chosen;
  const auto take = [&](const std::vector<LoaderPoint>& points, const auto& wanted, const char* from) {
    for (const LoaderPoint& point : points) {
      if (point.samples_per_s.value > 0 && wanted(point)) {
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
std::vector<double> spread(const LoaderPoints& points, std::vector<double> Window::*times) {
  std::vector<const LoaderPoint*> all = points.capacity_and_pool();
  std::erase_if(all, [&](const LoaderPoint* point) { return !(mean((*point->windows).*times) > 0); });
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

std::vector<simulator::SchedulingLatency> latencies_of(const std::vector<Lateness>& measured, double cores) {
  std::vector<simulator::SchedulingLatency> latencies;
  double from = 0;
  for (const double group : kGroups) {
    const double to = group * cores;
    std::vector<double> late;
    double workers = 0;
    for (const Lateness& one : measured) {
      const auto count = static_cast<double>(one.workers);
      if (count > from && count <= to) {
        const std::vector<double> busy = on_busy_cores(one.late_ns, one.busy);
        late.insert(late.end(), busy.begin(), busy.end());
        workers += count * static_cast<double>(busy.size());
      }
    }
    if (late.size() >= kFewest) {
      workers /= static_cast<double>(late.size());
      latencies.push_back({.workers = workers, .late_ns = group_means(std::move(late), kPlaces)});
    }
    from = to;
  }
  return latencies;
}

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
  LoaderPoints known = points;
  for (auto* const list : {&known.pool, &known.capacity}) {
    std::erase_if(*list, [&](const LoaderPoint& point) { return point.workers == left_out; });
  }
  const LawPoints law = law_points(known);
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
    measured.batch_work_ns = scaled_to(batch_ns, thinned(spread(known, &Window::batch_ns)));
    measured.sample_work_ns = scaled_to(image_ns, thinned(spread(known, &Window::sample_ns)));
  }
  measured.scheduling_latency = measure_latencies(known, profile.law.law.cores, storage);
  if (profile.consumer_on_cores) {
    profile.sharing = measure_sharing(known.pool, profile.law.law, mean(measured.compute_ns), storage);
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

Estimate with_law_interval(double rate, const Profile& profile) {
  const double scale = rate / profile.law.law.one;
  return {.value = rate,
          .ci95 = Interval{profile.law.one_ci95.low * scale, profile.law.one_ci95.high * scale}};
}

std::optional<Estimate> rate_on_all_cores(const Profile& profile) {
  if (profile.law.workers.size() < 2) {
    return std::nullopt;
  }
  return with_law_interval(profile.law.law.at(profile.law.law.cores), profile);
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
