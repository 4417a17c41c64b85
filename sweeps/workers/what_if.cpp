#include "sweeps/workers/what_if.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/error.h"
#include "sweeps/workers/knee.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {
namespace {

using simulator::mean_of;
using simulator::Pipeline;

constexpr std::int64_t kMostWorkers = 1000;

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
  return pipeline.order == simulator::Order::in_order && pipeline.workers > 1 ? "order" : "prefetch";
}

Pipeline asked(const Profile& profile, const WhatIf& what_if, std::int64_t workers) {
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

// All up to 16, then wider apart; those measured or asked for in any case.
std::vector<std::int64_t> counts_of(const Profile& profile, const std::vector<std::int64_t>& measured,
                                    const WhatIf& what_if) {
  if (!what_if.workers.empty()) {
    const std::set<std::int64_t> given(what_if.workers.begin(), what_if.workers.end());
    return {given.begin(), given.end()};
  }
  const double cores = what_if.cores.value_or(static_cast<int>(std::ceil(profile.law.law.cores)));
  std::int64_t most = std::clamp<std::int64_t>(std::llround(2 * cores / what_if.gpus), 4, 128);
  for (const std::int64_t workers : measured) {
    most = std::max(most, workers);
  }
  std::set<std::int64_t> counts(measured.begin(), measured.end());
  for (std::int64_t workers = 0; workers <= std::min<std::int64_t>(most, kMostWorkers);
       workers += workers < 16 ? 1 : (workers + 7) / 8) {
    counts.insert(workers);
  }
  return {counts.begin(), counts.end()};
}

// For the picture, which reads what was measured and does not compute it.
Json to_json(const LoaderPoint& point) {
  Json json = {{"name", point.name},
               {"workers", point.workers},
               {"flagged", point.flagged},
               {"images_per_s", point.images_per_s.value},
               {"images_per_s_ci95", {point.images_per_s.ci95.low, point.images_per_s.ci95.high}}};
  if (point.au) {
    json["au"] = point.au->value;
    json["au_ci95"] = {point.au->ci95.low, point.au->ci95.high};
  }
  return json;
}

Json to_json(const SimulatedPoint& point) {
  Json json = {{"workers", point.workers},
               {"images_per_s", point.images_per_s},
               {"au", point.au},
               {"stall_p50_ns", point.stall_p50_ns},
               {"stall_p99_ns", point.stall_p99_ns},
               {"computing_workers", point.computing_workers},
               {"worker_busy", point.worker_busy},
               {"limited_by", point.limited_by}};
  if (point.held_out_au) {
    json["held_out_au"] = *point.held_out_au;
  }
  return json;
}

Json to_json(const SimulatedDemand& answer) {
  return {{"name", answer.demand.name},
          {"images_per_s", answer.demand.images_per_s},
          {"source", answer.demand.source},
          {"gpus", answer.gpus},
          {"workers", answer.workers ? Json(*answer.workers) : Json()},
          {"au", answer.au},
          {"tops_out_images_per_s", answer.tops_out},
          {"limited_by", answer.limited_by}};
}

// The smallest simulated count that reaches 95 % of the best simulated AU.
std::int64_t knee_of(const std::vector<SimulatedPoint>& points) {
  std::vector<WorkersValue> au;
  for (const SimulatedPoint& point : points) {
    au.push_back({point.workers, {point.au, {point.au, point.au}}});
  }
  const auto knee = find_knee(au);
  return knee && knee->batch ? *knee->batch : points.front().workers;
}

Json timeline_of(Pipeline pipeline) {
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

Json simulate_all(const Profile& profile, const WhatIf& what_if, const std::vector<std::int64_t>& measured) {
  std::vector<SimulatedPoint> points;
  for (const std::int64_t workers : counts_of(profile, measured, what_if)) {
    points.push_back(simulate_point(profile, asked(profile, what_if, workers)));
  }
  const std::int64_t knee = knee_of(points);
  Json json = {{"seed", what_if.seed},
               {"cores", what_if.cores ? Json(*what_if.cores) : Json(profile.law.law.cores)},
               {"measured_cores", profile.law.law.cores},
               {"prefetch", what_if.prefetch > 0 ? what_if.prefetch : profile.prefetch},
               {"order", what_if.order.empty() ? profile.order : what_if.order},
               {"gpus", what_if.gpus},
               {"points", Json::array()},
               {"demands", Json::array()},
               {"knee_workers", knee},
               {"prefetches", Json::array()}};
  for (const SimulatedPoint& point : points) {
    json["points"].push_back(to_json(point));
  }
  for (const Demand& demand : what_if.demands) {
    json["demands"].push_back(to_json(simulate_demand(profile, what_if, demand)));
  }
  if (knee > 0) {
    for (const std::int64_t prefetch : {1, 2, 4, 8}) {
      WhatIf other = what_if;
      other.prefetch = prefetch;
      json["prefetches"].push_back(
          {{"prefetch", prefetch}, {"au", simulate_point(profile, asked(profile, other, knee)).au}});
    }
  }
  json["timeline"] = {{"workers", knee}, {"entries", timeline_of(asked(profile, what_if, knee))}};
  return json;
}

std::vector<Demand> demands_of(const ResultDocument& document) {
  std::vector<Demand> demands;
  const Json noted = loader_note(document, "demands");
  if (noted.is_array()) {
    for (const Json& demand : noted) {
      const Json rate = demand.is_object() ? demand.value("images_per_s", Json()) : Json();
      if (rate.is_number() && rate.get<double>() > 0) {
        const auto text = [&](const char* key, const char* otherwise) {
          const Json there = demand.value(key, Json());
          return there.is_string() ? there.get<std::string>() : std::string(otherwise);
        };
        demands.push_back({.name = text("name", "?"),
                           .images_per_s = rate.get<double>(),
                           .source = text("source", "given")});
      }
    }
  }
  return demands;
}

}  // namespace

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

SimulatedDemand simulate_demand(const Profile& profile, const WhatIf& what_if, const Demand& demand) {
  SimulatedDemand answer;
  answer.demand = demand;
  answer.gpus = what_if.gpus;
  Pipeline pipeline = asked(profile, what_if, 1);
  pipeline.beside.clear();  // it is another machine's consumer, not on these cores
  pipeline.compute_ns = {static_cast<double>(profile.batch) / demand.images_per_s * 1e9};
  pipeline.gap_ns = 0;

  const double image_ns = 1e9 / pipeline.law.one;
  const double latency_ns = pipeline.storage ? pipeline.storage->latency_ns : 0;
  const double needed =
      kFed * demand.images_per_s * (image_ns + latency_ns) / 1e9;  // workers that lose nothing
  const double cores = pipeline.law.cores / what_if.gpus;
  const auto most = static_cast<std::int64_t>(
      std::clamp(std::ceil(std::max({2 * needed, 4 * cores, 16.0})), 1.0, static_cast<double>(kMostWorkers)));
  answer.tops_out = std::max(pipeline.law.best(most * what_if.gpus), what_if.measured_rate);
  if (pipeline.storage && pipeline.storage->bytes_per_s > 0 && profile.bytes_read > 0) {
    answer.tops_out = std::min(answer.tops_out, pipeline.storage->bytes_per_s / profile.bytes_read);
  }
  const auto fed = [&](std::int64_t workers) {
    pipeline.workers = workers;
    const SimulatedPoint point = simulate_point(profile, pipeline);
    if (point.au > answer.au) {
      answer.au = point.au;
      answer.limited_by = point.limited_by;
    }
    return point.au >= kFed;
  };
  // Doubling to a count that is enough, then halving the gap; AU grows with the workers but for what crowding
  // takes.
  std::int64_t low = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(needed)), 1, most) - 1;
  std::int64_t high = low + 1;
  while (!fed(high)) {
    if (high == most) {
      return answer;
    }
    low = high;
    high = std::min(most, high + std::max<std::int64_t>(1, high / 4));
  }
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (fed(middle) ? high : low) = middle;
  }
  answer.workers = high;
  pipeline.workers = high;
  const SimulatedPoint point = simulate_point(profile, pipeline);
  answer.au = point.au;
  answer.limited_by = point.limited_by;
  return answer;
}

void note_simulation(ResultDocument& document) {
  const LoaderPoints points = loader_points(document);
  document.sweep["measured"] = Json::array();
  std::vector<std::int64_t> measured;
  for (const LoaderPoint& point : points.pool) {
    measured.push_back(point.workers);
    document.sweep["measured"].push_back(to_json(point));
  }
  const auto profile = measure_profile(document);
  if (!profile) {
    return;
  }
  WhatIf what_if;
  for (const auto* list : {&points.pool, &points.capacity}) {
    for (const LoaderPoint& point : *list) {
      what_if.measured_rate = std::max(what_if.measured_rate, point.images_per_s.value);
    }
  }
  what_if.demands = demands_of(document);
  const Json gpus = loader_note(document, "gpus");
  const int asked_gpus = gpus.is_number_integer() ? std::clamp(gpus.get<int>(), 1, 1024) : 1;
  // The measured consumer is one; the demands are of all.
  Json simulated = simulate_all(*profile, what_if, measured);
  if (asked_gpus > 1) {
    simulated["demands"] = Json::array();
    what_if.gpus = asked_gpus;
    for (const Demand& demand : what_if.demands) {
      simulated["demands"].push_back(to_json(simulate_demand(*profile, what_if, demand)));
    }
    what_if.gpus = 1;
  }
  // One worker alone is where the law starts: without it there is nothing to scale from.
  const std::int64_t anchor = std::ranges::min(profile->law_workers);
  for (Json& point : simulated["points"]) {
    const auto workers = point["workers"].get<std::int64_t>();
    if (std::ranges::find(measured, workers) == measured.end()) {
      continue;
    }
    const bool fitted =
        std::ranges::find(profile->law_workers, workers) != profile->law_workers.end() ||
        std::ranges::find(profile->beside, workers, &BesideWorkers::workers) != profile->beside.end();
    if (!fitted) {
      point["held_out_au"] = point["au"];
    } else if (workers == anchor) {
      continue;
    } else if (const auto without = measure_profile(document, workers)) {
      point["held_out_au"] = simulate_point(*without, asked(*without, what_if, workers)).au;
    }
  }
  document.sweep["profile"] = to_json(*profile);
  document.sweep["simulated"] = std::move(simulated);
}

void simulate_profile(const Json& profile_document, const WhatIf& what_if, ResultDocument& document) {
  Profile profile = read_profile(profile_document);
  if (what_if.step_ns) {
    profile.compute_ns = {static_cast<double>(*what_if.step_ns)};
    profile.beside.clear();
    profile.consumer = what_if.consumer;
    profile.consumer_device = "none";
    profile.consumer_on_cores = false;
  }
  if (what_if.storage) {
    if (!(profile.bytes_read > 0)) {
      throw UsageError(
          "--storage: the profile does not say how large its images are; measure with --storage once");
    }
    profile.storage = what_if.storage;
  }
  document.sweep["profile"] = to_json(profile);
  document.sweep["simulated"] = simulate_all(profile, what_if, {});
}

}  // namespace bench::sweeps
