// One run of the simulator as the sweep asks for it, and what it shows.
#include <algorithm>
#include <cmath>

#include "sweeps/workers/simulator/draws.h"
#include "sweeps/workers/what_if.h"

namespace bench::sweeps {
namespace {

using simulator::mean_of;
using simulator::Pipeline;

// Long enough for a steady state, short enough to be done after every visit.
void set_length(Pipeline& pipeline) {
  constexpr double kEvents = 40'000;
  const bool samples = pipeline.order == simulator::Order::any && pipeline.workers > 0;
  const double pieces = samples            ? static_cast<double>(pipeline.batch)
                        : pipeline.storage ? std::min(64.0, static_cast<double>(pipeline.batch))
                                           : 1;
  const double events = 2 + pieces * (pipeline.storage ? 2 : 1);
  // Many workers finish together, wave after wave: several waves, whatever one costs.
  const std::int64_t waves = 10 * pipeline.workers * std::max<std::int64_t>(1, pipeline.prefetch / 2);
  pipeline.steps = std::max(static_cast<std::int64_t>(std::clamp(kEvents / events, 300.0, 4000.0)),
                            std::min<std::int64_t>(waves, 40'000));
  pipeline.warm_up_steps = std::max<std::int64_t>(50, 3 * pipeline.workers * pipeline.prefetch);
}

double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::string limit_of(const Pipeline& pipeline, const simulator::Outcome& outcome, double au) {
  if (pipeline.copy_ns > mean_of(pipeline.compute_ns) && outcome.copying > 0.9) {
    return "copy";
  }
  if (au >= kFed) {
    return "consumer";
  }
  if (outcome.storage_busy > 0.9) {
    return "storage";
  }
  if (outcome.computing_workers > 0.95 * pipeline.law.cores) {
    return "cores";
  }
  if (pipeline.workers == 0 || outcome.worker_busy + outcome.worker_reading > 0.9) {
    return "workers";
  }
  // Workers rest, and so do cores, though the consumer waits: is it for want of slots? What would help tells.
  const auto gains = [&](Pipeline other) {
    constexpr double kWorthIt = 1.02;
    set_length(other);
    return simulate(other).images_per_s > kWorthIt * outcome.images_per_s;
  };
  Pipeline other = pipeline;
  other.order = simulator::Order::any;
  if (pipeline.order == simulator::Order::in_order && pipeline.workers > 1 && gains(other)) {
    return "order";
  }
  other = pipeline;
  other.prefetch *= 4;
  if (gains(other)) {
    return "prefetch";
  }
  other = pipeline;
  other.wake.clear();
  return gains(other) ? "wake" : "workers";
}

}  // namespace

simulator::Pipeline asked(const Profile& profile, const WhatIf& what_if, std::int64_t workers) {
  Pipeline pipeline =
      pipeline_of(profile, workers, what_if.cores ? std::optional<double>(*what_if.cores) : std::nullopt);
  pipeline.prefetch = what_if.prefetch > 0 ? what_if.prefetch : profile.prefetch;
  pipeline.order = order_of(what_if.order.empty() ? profile.order : what_if.order);
  pipeline.consumers = what_if.gpus;
  pipeline.seed = what_if.seed;
  if (what_if.gpus > 1) {
    pipeline.beside.clear();  // several consumers are elsewhere
  }
  return pipeline;
}

SimulatedPoint simulate_point(const Profile& profile, const Pipeline& asked_for) {
  Pipeline pipeline = asked_for;
  set_length(pipeline);
  const simulator::Outcome outcome = simulate(pipeline);
  SimulatedPoint point;
  point.workers = pipeline.workers;
  point.images_per_s = outcome.images_per_s;
  point.au = outcome.au / ready_au(pipeline);
  const double compute = quantile(pipeline.compute_ns, 0.5);
  const double ready = pipeline.gap_ns +
                       (profile.lookahead ? std::max(compute, pipeline.copy_ns) : compute + pipeline.copy_ns);
  point.stall_p50_ns = quantile(outcome.step_ns, 0.5) - ready;
  point.stall_p99_ns = quantile(outcome.step_ns, 0.99) - ready;
  point.computing_workers = outcome.computing_workers;
  point.worker_busy = outcome.worker_busy;
  point.limited_by = limit_of(pipeline, outcome, point.au);
  return point;
}

Json timeline_of(simulator::Pipeline pipeline) {
  pipeline.timeline_steps = 12;
  set_length(pipeline);
  pipeline.steps = 14;
  Json json = Json::array();
  for (const simulator::TimelineEntry& entry : simulate(pipeline).timeline) {
    json.push_back({{"who", entry.who},
                    {"what", entry.what},
                    {"from_ns", std::llround(entry.from_ns)},
                    {"to_ns", std::llround(entry.to_ns)},
                    {"batch", entry.batch}});
  }
  return json;
}

}  // namespace bench::sweeps
