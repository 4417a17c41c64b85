#include "sweeps/workers/load_times.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/schema_check.h"
#include "bench/run/result_file.h"
#include "bench/stats/estimate.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "sweeps/workers/options.h"

namespace bench::sweeps {
namespace {

// ---------- the file's edge

constexpr std::uintmax_t kMostFileBytes = 100'000'000;

// Of milliseconds.
std::vector<double> times_at(const Json& point, const char* key) {
  std::vector<double> times = point.value(key, std::vector<double>());
  std::ranges::transform(times, times.begin(), [](double ms) { return ms * 1e6; });
  return times;
}

// Each count once, one worker among them, and none faster than so many workers can be.
void check_counts(const std::vector<LoadTimes>& times) {
  constexpr double kMostScaling = 2;
  if (times.empty() || times.front().workers != 1) {
    throw UsageError("times has none with 1 worker, from which the other counts are simulated");
  }
  constexpr double kTaking = 1e6;  // ns, which a short load may take less than
  const LoadTimes& one = times.front();
  if (!one.ready_ns.empty() && median(one.ready_ns) > median(one.load_ns) + kTaking) {
    throw UsageError(
        fmt::format("times contradicts itself: with 1 worker the loop has a batch that is ready after {}, "
                    "and loading one "
                    "takes {}; accepted: ready_ms below load_ms",
                    format_duration(median(one.ready_ns)), format_duration(median(one.load_ns))));
  }
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i].workers == times[i - 1].workers) {
      throw UsageError(
          fmt::format("times has {} workers twice; accepted: each count once", times[i].workers));
    }
    if (times[i].ready_ns.empty() != times.front().ready_ns.empty()) {
      throw UsageError("times has ready_ms with some counts only; accepted: with all or with none");
    }
    // A worker's median leaves out stalls; the batches of several workers come in bursts.
    const double faster = median(times.front().load_ns) / mean(times[i].load_ns);
    if (faster > kMostScaling * static_cast<double>(times[i].workers)) {
      throw UsageError(fmt::format(
          "times contradicts itself: {} workers load {:.1f} times as fast as 1; measure all counts "
          "with the files "
          "in the page cache, or all without",
          times[i].workers, faster));
    }
  }
}

// ---------- the profile

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

Json read_samples_file(const std::filesystem::path& path) {
  std::error_code error;
  if (const auto bytes = std::filesystem::file_size(path, error); !error && bytes > kMostFileBytes) {
    throw UsageError(fmt::format("{} has {} MB; accepted: at most {} MB", quote(path.string()),
                                 bytes / 1'000'000, kMostFileBytes / 1'000'000));
  }
  return read_json(path);
}

TimedLoader read_load_times(const Json& json) {
  if (!json.is_object()) {
    throw UsageError("it is not an object of load times; the lines of docs/readings.md print one");
  }
  const auto schema = json.find("schema");
  if (schema != json.end() && *schema != kSamplesSchema) {
    throw UsageError(fmt::format("its schema is {}; accepted: {}, which the lines of docs/readings.md print",
                                 schema->is_string() ? quote(schema->get<std::string>()) : schema->dump(),
                                 kSamplesSchema));
  }
  check_by_schema(Field(json), "samples");
  TimedLoader loader{.name = json.value("loader", "your loader"),
                     .cores = json["cores"],
                     .batch = json["batch"],
                     .batch_bytes = json["batch_bytes"],
                     .worker_bytes = json["worker_bytes"],
                     .prefetch = json.value("prefetch", std::int64_t{2}),
                     .times = {}};
  if (loader.name.empty() || loader.name.size() > 100) {
    throw UsageError(
        fmt::format("loader is {}; accepted: a name of 1 to 100 characters", quote(loader.name)));
  }
  for (const Json& point : json["times"]) {
    loader.times.push_back({.workers = point["workers"],
                            .load_ns = times_at(point, "load_ms"),
                            .ready_ns = times_at(point, "ready_ms")});
  }
  std::ranges::sort(loader.times, {}, &LoadTimes::workers);
  check_counts(loader.times);
  return loader;
}

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
