#include "sweeps/workers/profile.h"

#include <algorithm>

#include "sweeps/workers/points.h"
#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {
namespace {

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

}  // namespace

double number_or(const Json& json, double other) {
  return json.is_number() ? json.get<double>() : other;
}
bool flag_or(const Json& json, bool other) {
  return json.is_boolean() ? json.get<bool>() : other;
}
std::string text_or(const Json& json, const std::string& other) {
  return json.is_string() ? json.get<std::string>() : other;
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
  profile.storage = storage_of(document, first);
  profile.bytes_read = number_or(loader_note(document, "mean_encoded_bytes"), 0);
  if (profile.storage && profile.bytes_read <= 0) {
    profile.bytes_read = bytes_by_time(points, *profile.storage);
  }
  profile.stages_ns = first.stages_ns;

  std::vector<simulator::CapacityPoint> rates;
  const double at_work = share_at_work(chosen);
  if (profile.storage) {
    profile.storage->latency_ns += late_read_ns(chosen, profile);
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
  profile.wake = wake_delays(points, profile, left_out);
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
  pipeline.take_ns = profile.take_ns;
  pipeline.law = profile.law.law;
  pipeline.law.cores = cores.value_or(pipeline.law.cores);
  pipeline.storage = profile.storage;
  pipeline.sample_bytes_read = profile.bytes_read;
  pipeline.sample_sizes = profile.sample_sizes;
  pipeline.wake = profile.wake;
  for (simulator::WakeDelay& delay : pipeline.wake) {
    delay.workers *= pipeline.law.cores / profile.law.law.cores;  // as many to a core are as much in the way
  }
  pipeline.beside = beside_of(profile, workers, pipeline.law.cores);
  return pipeline;
}

}  // namespace bench::sweeps
