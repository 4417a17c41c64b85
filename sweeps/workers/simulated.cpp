// What the result file holds of a simulation, read back for findings and tables.
#include "bench/error.h"
#include "bench/measure/result_json.h"
#include "sweeps/workers/what_if.h"

namespace bench::sweeps {
namespace {

SimulatedPoint read_point(const Field& field) {
  SimulatedPoint point;
  point.workers = field.at("workers").integer();
  point.images_per_s = field.at("images_per_s").number();
  point.au = field.at("au").number();
  point.stall_p50_ns = field.at("stall_p50_ns").number();
  point.stall_p99_ns = field.at("stall_p99_ns").number();
  point.computing_workers = field.at("computing_workers").number();
  point.worker_busy = field.at("worker_busy").number();
  point.limited_by = field.at("limited_by").string();
  if (field.has("held_out_au")) {
    point.held_out_au = field.at("held_out_au").number();
  }
  return point;
}

SimulatedDemand read_demand(const Field& field) {
  SimulatedDemand answer;
  answer.demand = {.name = field.at("name").string(),
                   .images_per_s = field.at("images_per_s").number(),
                   .source = field.at("source").string()};
  answer.gpus = static_cast<int>(field.at("gpus").integer());
  if (field.has("workers")) {
    answer.workers = field.at("workers").integer();
  }
  answer.au = field.at("au").number();
  answer.tops_out = field.at("tops_out_images_per_s").number();
  answer.limited_by = field.at("limited_by").string();
  return answer;
}

}  // namespace

std::optional<Simulated> simulated_of(const ResultDocument& document) {
  if (!document.sweep.is_object() || !document.sweep.contains("simulated")) {
    return std::nullopt;
  }
  // Of a file from elsewhere that does not read as one, nothing is claimed.
  try {
    const Field field(document.sweep["simulated"], "sweep.simulated");
    Simulated simulated;
    for (std::size_t i = 0; i < field.at("points").size(); ++i) {
      simulated.points.push_back(read_point(field.at("points").at(i)));
    }
    for (std::size_t i = 0; i < field.at("demands").size(); ++i) {
      simulated.demands.push_back(read_demand(field.at("demands").at(i)));
    }
    for (std::size_t i = 0; field.has("unyielding") && i < field.at("unyielding").size(); ++i) {
      const Field turns = field.at("unyielding").at(i);
      simulated.unyielding.push_back({.workers = turns.at("workers").integer(),
                                      .au = turns.at("au").number(),
                                      .au_unyielding = turns.at("au_unyielding").number()});
    }
    for (std::size_t i = 0; i < field.at("prefetches").size(); ++i) {
      const Field choice = field.at("prefetches").at(i);
      simulated.prefetches.emplace_back(choice.at("prefetch").integer(), choice.at("au").number());
    }
    simulated.knee_workers = field.at("knee_workers").integer();
    simulated.cores = field.at("cores").number();
    simulated.measured_cores = field.at("measured_cores").number();
    simulated.gpus = static_cast<int>(field.at("gpus").integer());
    simulated.prefetch = field.at("prefetch").integer();
    simulated.order = field.at("order").string();
    return simulated.points.empty() ? std::nullopt : std::optional(simulated);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::optional<Profile> profile_in(const ResultDocument& document) {
  if (!document.sweep.is_object() || !document.sweep.contains("profile")) {
    return std::nullopt;
  }
  try {
    return read_profile({{"schema", kResultSchema},
                         {"sweep", {{"name", "workers"}, {"profile", document.sweep["profile"]}}}});
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

}  // namespace bench::sweeps
