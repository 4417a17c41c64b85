#include "sweeps/workers/what_if.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/error.h"
#include "sweeps/workers/knee.h"
#include "sweeps/workers/points.h"

namespace bench::sweeps {
namespace {

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
        std::ranges::find(profile->beside, workers, &BesideWorkers::workers) != profile->beside.end() ||
        (!profile->wake.empty() && workers > 0);
    if (!fitted) {
      point["held_out_au"] = point["au"];
    } else if (workers == anchor) {
      continue;
    } else if (const auto without = measure_profile(document, workers)) {
      point["held_out_au"] = simulate_point(*without, asked(*without, what_if, workers)).au;
    }
  }
  for (const SimulatedUnyielding& turns : simulate_unyielding(points, *profile, what_if)) {
    simulated["unyielding"].push_back(
        {{"workers", turns.workers}, {"au", turns.au}, {"au_unyielding", turns.au_unyielding}});
  }
  document.sweep["profile"] = to_json(*profile);
  document.sweep["simulated"] = std::move(simulated);
}

void simulate_profile(Profile profile, const WhatIf& what_if, ResultDocument& document) {
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
