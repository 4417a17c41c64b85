#include "sweeps/workers/simulated.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/error.h"
#include "bench/stats/statistics.h"
#include "sweeps/workers/options.h"

namespace bench {

void members(auto& io, Of<sweeps::SimulatedPoint> auto& point) {
  io("workers", point.workers);
  io("images_per_s", point.samples_per_s);
  io("au", point.au);
  io("stall_p50_ns", point.stall_p50_ns);
  io("stall_p99_ns", point.stall_p99_ns);
  io("computing_workers", point.computing_workers);
  io("worker_busy", point.worker_busy);
  io("limited_by", point.limited_by);
  io.optional("au_ci95", point.au_ci95);
  io.optional("held_out_au", point.held_out_au);
}

void members(auto& io, Of<sweeps::SimulatedRequirement> auto& answer) {
  io("name", answer.required.name);
  io("images_per_s", answer.required.samples_per_s);
  io("source", answer.required.source);
  io("gpus", answer.gpus);
  io.nullable("workers", answer.workers);
  io("au", answer.au);
  io("tops_out_images_per_s", answer.max_samples_per_s);
  io("limited_by", answer.limited_by);
}

void members(auto& io, Of<sweeps::SimulatedPrefetch> auto& simulated) {
  io("prefetch", simulated.prefetch);
  io("au", simulated.au);
}

void members(auto& io, Of<sweeps::SimulatedTimeline> auto& timeline) {
  io("workers", timeline.workers);
  io("entries", timeline.entries);
}

void members(auto& io, Of<sweeps::Simulated> auto& simulated) {
  io("seed", simulated.seed);
  io("cores", simulated.cores);
  io("measured_cores", simulated.measured_cores);
  io("prefetch", simulated.prefetch);
  io("order", simulated.order);
  io("gpus", simulated.gpus);
  io("points", simulated.points);
  io("demands", simulated.requirements);
  io("knee_workers", simulated.knee_workers);
  io("prefetches", simulated.prefetches);
  io("timeline", simulated.timeline);
}

namespace sweeps {
namespace {

using simulator::Pipeline;

std::string limit_of(const Pipeline& pipeline, const simulator::Outcome& outcome, double au) {
  if (pipeline.copy_ns > mean(pipeline.compute_ns) && outcome.copying > kBusy) {
    return "copy";
  }
  if (au >= kFed) {
    return "consumer";
  }
  if (outcome.storage_busy > kBusy) {
    return "storage";
  }
  const double with_a_core = std::min(outcome.computing_workers, pipeline.law.cores);
  constexpr double kHalf = 0.5;
  if (!pipeline.knows_waits && with_a_core > 1 && pipeline.law.speed_of_each(with_a_core) < kHalf) {
    return kSharedByWorkers;
  }
  if (outcome.computing_workers > kNearly * pipeline.law.cores) {
    return "cores";
  }
  if (pipeline.workers == 0 || outcome.worker_busy + outcome.worker_reading > kBusy) {
    return "workers";
  }
  // Workers and cores rest while the consumer waits. The change that would gain shows why.
  const auto gains = [&](Pipeline other) {
    constexpr double kWorthIt = 1.02;
    set_length(other);
    return simulate(other).samples_per_s > kWorthIt * outcome.samples_per_s;
  };
  Pipeline other = pipeline;
  other.order = loader::Order::any;
  if (pipeline.order == loader::Order::in_order && pipeline.workers > 1 && gains(other)) {
    return "order";
  }
  other = pipeline;
  other.prefetch *= 4;
  if (gains(other)) {
    return "prefetch";
  }
  other = pipeline;
  other.gap_ns = 0;
  if (gains(other)) {
    return "taking";
  }
  other = pipeline;
  other.scheduling_latency.clear();
  return gains(other) ? "cores" : "workers";  // the consumer thread waits for a core
}

Pipeline pipeline_for(const Profile& profile, const SimulationRequest& request, std::int64_t workers) {
  Pipeline pipeline = pipeline_of(profile, workers, request.cores);
  pipeline.prefetch = request.prefetch.value_or(profile.pipeline.prefetch);
  pipeline.order = request.order.value_or(profile.pipeline.order);
  pipeline.consumers = request.gpus;
  pipeline.seed = request.seed;
  if (request.gpus > 1) {
    pipeline.shared_cores.clear();  // several consumers are elsewhere
  }
  return pipeline;
}

// From the slow and the fast end of the laws that the load times allow, by the rate at this count.
Interval au_interval(const Profile& profile, const SimulationRequest& request, const SimulatedPoint& point) {
  std::vector<simulator::ScalabilityLaw> laws = profile.plausible_laws;
  const double cores = request.cores.value_or(profile.law.law.cores);
  for (simulator::ScalabilityLaw& law : laws) {
    law.cores = cores;
  }
  const auto active = static_cast<double>(std::max<std::int64_t>(1, point.workers) * request.gpus);
  std::ranges::sort(laws, {}, [&](const simulator::ScalabilityLaw& law) { return law.at(active); });
  Interval interval{.low = point.au, .high = point.au};
  constexpr double kTail = 0.025;
  const auto last = static_cast<double>(laws.size() - 1);
  for (const double end : {kTail, 1 - kTail}) {
    Pipeline pipeline = pipeline_for(profile, request, point.workers);
    const simulator::ScalabilityLaw& law = laws[static_cast<std::size_t>(std::lround(end * last))];
    for (std::vector<double>* const work_ns : {&pipeline.batch_work_ns, &pipeline.sample_work_ns}) {
      *work_ns = scaled_to(mean(*work_ns) * pipeline.law.one / law.one, *work_ns);
    }
    pipeline.law = law;
    set_length(pipeline);
    const double au = simulate(pipeline).au / ready_au(pipeline);
    interval = {.low = std::min(interval.low, au), .high = std::max(interval.high, au)};
  }
  return interval;
}

SimulatedRequirement simulate_requirement(const Profile& profile, const SimulationRequest& request,
                                          const RequiredThroughput& required) {
  SimulatedRequirement answer{.required = required, .gpus = request.gpus};
  Pipeline pipeline = pipeline_for(profile, request, 1);
  pipeline.shared_cores.clear();  // another machine's consumer is not on these cores
  pipeline.compute_ns = {static_cast<double>(profile.pipeline.batch) / required.samples_per_s * 1e9};
  pipeline.gap_ns = 0;

  const double image_ns = 1e9 / pipeline.law.one + (pipeline.storage ? pipeline.storage->latency_ns : 0);
  const double needed = kFed * required.samples_per_s * image_ns / 1e9;  // workers that lose nothing
  const double cores = pipeline.law.cores / request.gpus;
  const auto most = static_cast<std::int64_t>(
      std::clamp(std::ceil(std::max({2 * needed, 4 * cores, 16.0})), 1.0, static_cast<double>(kMostWorkers)));
  answer.max_samples_per_s = pipeline.law.best(most * request.gpus);
  if (pipeline.storage && pipeline.storage->bytes_per_s > 0 && profile.pipeline.sample_bytes_read > 0) {
    answer.max_samples_per_s = std::min(answer.max_samples_per_s,
                                        pipeline.storage->bytes_per_s / profile.pipeline.sample_bytes_read);
  }
  if (pipeline.copy_ns > 0) {
    answer.max_samples_per_s =
        std::min(answer.max_samples_per_s,
                 request.gpus * static_cast<double>(profile.pipeline.batch) / pipeline.copy_ns * 1e9);
  }
  // Delivered over required images: an AU as of simulate_point() leaves out waits for the copy, and would
  // call a consumer fed whose copies are too slow.
  const double asked = required.samples_per_s * request.gpus;
  const auto try_with = [&](std::int64_t workers) {
    pipeline.workers = workers;
    const SimulatedPoint point = simulate_point(pipeline);
    const double au = std::min(1.0, point.samples_per_s / asked);
    if (au > answer.au || au >= kFed) {
      answer.au = au;
      answer.limited_by = point.limited_by;
    }
    return au >= kFed;
  };
  // Grows to a count that is enough, then halves the gap.
  std::int64_t low = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(needed)), 1, most) - 1;
  std::int64_t high = low + 1;
  while (!try_with(high)) {
    if (high == most) {
      answer.max_samples_per_s = std::min(answer.max_samples_per_s, answer.au * asked);
      return answer;
    }
    low = high;
    high = std::min(most, high + std::max<std::int64_t>(1, high / 4));
  }
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (try_with(middle) ? high : low) = middle;
  }
  answer.workers = high;
  try_with(high);
  answer.max_samples_per_s = std::max(answer.max_samples_per_s, answer.au * asked);
  return answer;
}

// All counts up to 16, then wider apart; those measured or asked for in any case.
std::set<std::int64_t> counts_of(const Profile& profile, const SimulationRequest& request,
                                 const std::vector<LoaderPoint>& measured) {
  if (!request.workers.empty()) {
    return {request.workers.begin(), request.workers.end()};
  }
  const double cores = request.cores.value_or(std::ceil(profile.law.law.cores));
  std::int64_t most = std::clamp<std::int64_t>(std::llround(2 * cores / request.gpus), 4, 128);
  std::set<std::int64_t> counts;
  for (const LoaderPoint& point : measured) {
    counts.insert(point.workers);
    most = std::max(most, point.workers);
  }
  for (std::int64_t workers = 0; workers <= std::min(most, kMostWorkers);
       workers += workers < 16 ? 1 : (workers + 7) / 8) {
    counts.insert(workers);
  }
  return counts;
}

std::vector<SimulatedRequirement> simulate_requirements(const Profile& profile,
                                                        const SimulationRequest& request) {
  std::vector<SimulatedRequirement> answers;
  for (const RequiredThroughput& required : request.required) {
    answers.push_back(simulate_requirement(profile, request, required));
  }
  return answers;
}

Simulated simulate_all(const Profile& profile, const SimulationRequest& request,
                       const std::vector<LoaderPoint>& measured) {
  Simulated simulated{.seed = request.seed,
                      .cores = request.cores.value_or(profile.law.law.cores),
                      .measured_cores = profile.law.law.cores,
                      .prefetch = request.prefetch.value_or(profile.pipeline.prefetch),
                      .order = request.order.value_or(profile.pipeline.order),
                      .gpus = request.gpus};
  for (const std::int64_t workers : counts_of(profile, request, measured)) {
    simulated.points.push_back(simulate_point(pipeline_for(profile, request, workers)));
    if (SimulatedPoint& point = simulated.points.back(); !profile.plausible_laws.empty()) {
      point.au_ci95 = au_interval(profile, request, point);
    }
  }
  const auto knee = find_knee(simulated.points);
  simulated.knee_workers = knee && knee->batch ? *knee->batch : simulated.points.front().workers;
  simulated.requirements = simulate_requirements(profile, request);
  for (const std::int64_t prefetch : {1, 2, 4, 8}) {
    if (simulated.knee_workers > 0) {
      SimulationRequest other = request;
      other.prefetch = prefetch;
      simulated.prefetches.push_back(
          {prefetch, simulate_point(pipeline_for(profile, other, simulated.knee_workers)).au});
    }
  }
  Pipeline few = pipeline_for(profile, request, simulated.knee_workers);
  set_length(few);
  few.steps = 14;
  few.timeline_steps = 12;
  simulated.timeline = {.workers = simulated.knee_workers, .entries = simulate(few).timeline};
  return simulated;
}

}  // namespace

void set_length(Pipeline& pipeline) {
  constexpr double kEvents = 40'000;
  const auto pieces = static_cast<double>(pipeline.shares_samples() ? pipeline.batch : pipeline.pieces());
  const double events = 2 + pieces * (pipeline.storage ? 2 : 1);
  // Many workers finish together, wave after wave: several waves, whatever one costs.
  const std::int64_t waves = 10 * pipeline.workers * std::max<std::int64_t>(1, pipeline.prefetch / 2);
  pipeline.steps = std::max(static_cast<std::int64_t>(std::clamp(kEvents / events, 300.0, 4000.0)),
                            std::min<std::int64_t>(waves, 40'000));
  pipeline.warm_up_steps = std::max<std::int64_t>(50, 3 * pipeline.workers * pipeline.prefetch);
}

SimulatedPoint simulate_point(Pipeline pipeline) {
  set_length(pipeline);
  const simulator::Outcome outcome = simulate(pipeline);
  const double compute = median(pipeline.compute_ns);
  const double ready = pipeline.gap_ns + (pipeline.lookahead ? std::max(compute, pipeline.copy_ns)
                                                             : compute + pipeline.copy_ns);
  SimulatedPoint point{.workers = pipeline.workers,
                       .samples_per_s = outcome.samples_per_s,
                       .au = outcome.au / ready_au(pipeline),
                       .stall_p50_ns = median(outcome.step_ns) - ready,
                       .stall_p99_ns = quantile(outcome.step_ns, 0.99) - ready,
                       .computing_workers = outcome.computing_workers,
                       .worker_busy = outcome.worker_busy};
  point.limited_by = limit_of(pipeline, outcome, point.au);
  return point;
}

std::optional<Knee> find_knee(std::span<const SimulatedPoint> points) {
  std::vector<ThroughputPoint> au;
  for (const SimulatedPoint& point : points) {
    au.push_back({.batch = point.workers, .per_s = point.au, .ci95 = Interval{point.au, point.au}});
  }
  return find_saturation(au);
}

std::optional<Interval> knee_range(std::span<const SimulatedPoint> points) {
  std::vector<ThroughputPoint> au;
  for (const SimulatedPoint& point : points) {
    au.push_back({.batch = point.workers, .per_s = point.au, .ci95 = point.au_ci95});
  }
  const auto knee = find_saturation(au);
  return knee ? knee->range() : std::nullopt;
}

Simulated simulate(const Profile& profile, const SimulationRequest& request) {
  return simulate_all(profile, request, {});
}

Simulated simulate_measured(const LoaderPoints& points, const LoaderSetup& setup, const Profile& profile) {
  const SimulationRequest request{.required = setup.required};
  Simulated simulated = simulate_all(profile, request, points.pool);
  if (setup.gpus > 1) {  // the measured consumer is one; the requirements are of all
    SimulationRequest all = request;
    all.gpus = setup.gpus;
    simulated.requirements = simulate_requirements(profile, all);
  }
  // The law scales from its first count, usually one worker: without it there is nothing to predict from.
  const std::int64_t anchor = std::ranges::min(profile.law.workers);
  for (SimulatedPoint& point : simulated.points) {
    const std::int64_t workers = point.workers;
    if (points.at(workers) == nullptr) {
      continue;
    }
    const bool fitted = std::ranges::count(profile.law.workers, workers) > 0 ||
                        std::ranges::count(profile.sharing, workers, &MeasuredSharing::workers) > 0 ||
                        (!profile.pipeline.scheduling_latency.empty() && workers > 0);
    if (!fitted) {
      point.held_out_au = point.au;
    } else if (workers != anchor) {
      if (const auto without = measure_profile(points, setup, workers)) {
        point.held_out_au = simulate_point(pipeline_for(*without, request, workers)).au;
      }
    }
  }
  return simulated;
}

Profile changed_for(Profile profile, const SimulationRequest& request) {
  if (request.step_ns) {
    profile.pipeline.compute_ns = {static_cast<double>(*request.step_ns)};
    profile.sharing.clear();
    profile.consumer = request.consumer;
    profile.consumer_device = "none";
    profile.consumer_on_cores = false;
  }
  if (request.storage) {
    if (!(profile.pipeline.sample_bytes_read > 0)) {
      throw UsageError(
          "--storage: the profile does not say how large its images are; measure with --storage once");
    }
    profile.pipeline.storage = request.storage;
  }
  return profile;
}

const SimulatedPoint* Simulated::at(std::int64_t workers) const {
  const auto found = std::ranges::find(points, workers, &SimulatedPoint::workers);
  return found == points.end() ? nullptr : &*found;
}

Json to_json(const Simulated& simulated) {
  return write_struct(simulated);
}

std::optional<Simulated> read_simulated(const Json& sweep) {
  const Field field(sweep, "sweep");
  const auto simulated = field.find("simulated");
  return simulated ? std::optional(read_struct<Simulated>(*simulated)) : std::nullopt;
}

}  // namespace sweeps
}  // namespace bench
