#include "sweeps/workers/load_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "bench/stats/estimate.h"
#include "bench/stats/statistics.h"

namespace bench::sweeps {
namespace {

// Mean times of stretches. Workers that started together finish together, so that a stretch holds whole
// rounds of them.
std::vector<double> stretches(const LoadTimes& times) {
  constexpr std::int64_t kStretches = 8;
  const std::int64_t count = std::ssize(times.load_ns);
  const std::int64_t rounds = std::max<std::int64_t>(1, count / (kStretches * times.workers));
  const std::int64_t length = rounds * times.workers;
  std::vector<double> means;
  for (std::int64_t from = 0; from + length <= count; from += length) {
    means.push_back(mean(
        std::span(times.load_ns).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(length))));
  }
  return means;
}

simulator::CapacityPoint rate_with(const LoadTimes& times, double batch) {
  const double per_s = batch * 1e9 / mean(times.load_ns);
  simulator::CapacityPoint point{
      .active = static_cast<double>(times.workers), .samples_per_s = per_s, .ci95 = {per_s, per_s}};
  if (const std::vector<double> means = stretches(times); means.size() > 1) {
    const Estimate spread = mean_estimate(means);
    // The interval of the stretches, about the mean of all times.
    const double half = std::min(0.9, (spread.high() - spread.value) / spread.value);
    point.ci95 = {per_s / (1 + half), per_s / (1 - half)};
  }
  return point;
}

// What one worker's ready batches take on average is the time to take one; the rest is lateness.
void add_taking(const TimedLoader& loader, simulator::Pipeline& pipeline) {
  if (loader.times.front().ready_ns.empty()) {
    return;
  }
  pipeline.take_ns = median(loader.times.front().ready_ns);
  std::vector<Lateness> measured;
  const auto cores = static_cast<double>(loader.cores);
  for (const LoadTimes& times : loader.times) {
    const double load_ns = mean(times.load_ns);
    // Between two takes the workers make one batch; alone they would be busy for load_ns of that time.
    const double busy = std::min(1.0, load_ns / (kPause * load_ns + mean(times.ready_ns)));
    measured.push_back(
        {.workers = times.workers, .busy = busy * std::min(1.0, static_cast<double>(times.workers) / cores)});
    for (const double ready : times.ready_ns) {
      measured.back().late_ns.push_back(std::max(0.0, ready - pipeline.take_ns));
    }
  }
  pipeline.scheduling_latency = latencies_of(measured, cores);
}

}  // namespace

Profile profile_of(const TimedLoader& loader) {
  const auto batch = static_cast<double>(loader.batch);
  Profile profile;
  profile.loader = loader.name;
  profile.sample_bytes = loader.batch_bytes / batch;
  profile.slot_bytes = loader.batch_bytes;
  profile.scratch_bytes_per_worker = loader.worker_bytes;
  profile.consumer_device = "none";

  std::vector<simulator::CapacityPoint> rates;
  for (const LoadTimes& times : loader.times) {
    rates.push_back(rate_with(times, batch));
    profile.law.workers.push_back(times.workers);
  }
  static_cast<simulator::LawFit&>(profile.law) =
      simulator::fit_law(rates, static_cast<double>(loader.cores), 1);
  profile.law.from = "load times";
  profile.plausible_laws = profile.law.refits;
  if (loader.times.size() == 1) {
    for (simulator::ScalabilityLaw slow : profile.law.refits) {
      slow.sigma = kSlowSigma;
      profile.plausible_laws.push_back(slow);
    }
  }

  simulator::Pipeline& pipeline = profile.pipeline;
  pipeline.batch = loader.batch;
  pipeline.prefetch = loader.prefetch;
  pipeline.order = loader::Order::in_order;
  pipeline.lookahead = false;
  const double batch_ns = batch * 1e9 / profile.law.law.one;
  pipeline.batch_work_ns = scaled_to(batch_ns, thinned(loader.times.front().load_ns));
  pipeline.sample_work_ns = {batch_ns / batch};
  add_taking(loader, pipeline);
  return profile;
}

}  // namespace bench::sweeps
