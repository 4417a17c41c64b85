// The studies of the transfer sweep as the file has them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/result/field_lists.h"
#include "bench/result/result_json.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

// null where the interval is not known.
Json ends_of(const Estimate& time) {
  return time.ci95 ? Json{std::llround(time.low()), std::llround(time.high())} : Json();
}

Json json_of(const Estimate& time, const std::vector<double>& samples_ns) {
  Json json{{"median_ns", time.value}, {"ci95_ns", ends_of(time)}, {"samples_ns", Json::array()}};
  for (const double sample : samples_ns) {
    json["samples_ns"].push_back(std::llround(sample));
  }
  return json;
}

Json json_of(const PinningCost& cost) {
  if (!cost.unsupported.empty()) {
    return {{"bytes", cost.bytes}, {"unsupported", cost.unsupported}};
  }
  return {{"bytes", cost.bytes},
          {"pin_ns", cost.pin_ns.value},
          {"pin_ci95_ns", ends_of(cost.pin_ns)},
          {"unpin_ns", cost.unpin_ns},
          {"pageable_ns", cost.pageable_ns},
          {"free_ns", cost.free_ns},
          {"taken_bytes", cost.taken_bytes}};
}

Json json_of(const CallTime& call) {
  return {{"direction", call.direction},
          {"host_memory", call.kind},
          {"bytes", call.bytes},
          {"returns_ns", call.returns_ns.value},
          {"returns_ci95_ns", ends_of(call.returns_ns)},
          {"done_ns", call.done_ns.value},
          {"done_ci95_ns", ends_of(call.done_ns)},
          {"cpu_ns", call.cpu_ns}};
}

Json json_of(const KindSteps& kind) {
  if (!kind.unsupported.empty()) {
    return {{"host_memory", kind.name}, {"unsupported", kind.unsupported}};
  }
  return {{"host_memory", kind.name},
          {"copy", json_of(kind.copy_ns, kind.samples.copy)},
          {"serial", json_of(kind.serial_ns, kind.samples.serial)},
          {"beside", json_of(kind.overlapped_ns, kind.samples.overlapped)},
          {"compute_beside", json_of(kind.compute_overlapped_ns, kind.samples.compute_overlapped)}};
}

Json json_of(const StepStudy& study) {
  Json row = {
      {"workload", study.workload}, {"mode", study.mode}, {"dtype", study.dtype}, {"batch", study.batch}};
  if (study.bytes > 0) {
    row["bytes"] = study.bytes;
  }
  if (!study.unsupported.empty()) {
    row["unsupported"] = study.unsupported;
    return row;
  }
  row["rounds"] = study.rounds;
  row["compute"] = json_of(study.compute_ns, study.compute_samples);
  row["kinds"] = Json::array();
  for (const KindSteps& kind : study.kinds) {
    row["kinds"].push_back(json_of(kind));
  }
  return row;
}

// ---- reading ----

Estimate time_in(const Field& row, std::string_view value, std::string_view ci95) {
  return {.value = row.at(value).number(), .ci95 = find_interval(row, ci95)};
}

struct SampledTime {
  Estimate ns;
  std::vector<double> samples;
};

SampledTime sampled_time_in(const Field& row, std::string_view name) {
  const Field time = row.at(name);
  // Files of early versions have no samples.
  return {
      .ns = time_in(time, "median_ns", "ci95_ns"),
      .samples = read_list<double>(time, "samples_ns", [](const Field& sample) { return sample.number(); })};
}

PinningCost read_pinning(const Field& row) {
  PinningCost cost{.bytes = row.at("bytes").integer()};
  if (const auto why = row.find("unsupported")) {
    cost.unsupported = why->string();
    return cost;
  }
  cost.pin_ns = time_in(row, "pin_ns", "pin_ci95_ns");
  cost.unpin_ns = row.at("unpin_ns").number();
  cost.pageable_ns = row.at("pageable_ns").number();
  cost.free_ns = row.at("free_ns").number();
  cost.taken_bytes = row.at("taken_bytes").integer();
  return cost;
}

CallTime read_call(const Field& row) {
  return {.direction = row.at("direction").string(),
          .kind = row.at("host_memory").string(),
          .bytes = row.at("bytes").integer(),
          .returns_ns = time_in(row, "returns_ns", "returns_ci95_ns"),
          .done_ns = time_in(row, "done_ns", "done_ci95_ns"),
          .cpu_ns = row.at("cpu_ns").number()};
}

KindSteps read_kind(const Field& row) {
  KindSteps kind{.name = row.at("host_memory").string()};
  if (const auto why = row.find("unsupported")) {
    kind.unsupported = why->string();
    return kind;
  }
  const auto read = [&](std::string_view name, Estimate& ns, std::vector<double>& samples) {
    SampledTime time = sampled_time_in(row, name);
    ns = time.ns;
    samples = std::move(time.samples);
  };
  read("copy", kind.copy_ns, kind.samples.copy);
  read("serial", kind.serial_ns, kind.samples.serial);
  read("beside", kind.overlapped_ns, kind.samples.overlapped);
  read("compute_beside", kind.compute_overlapped_ns, kind.samples.compute_overlapped);
  return kind;
}

StepStudy read_steps(const Field& row) {
  StepStudy study{.workload = row.at("workload").string(),
                  .mode = row.at("mode").string(),
                  .dtype = row.at("dtype").string(),
                  .batch = row.at("batch").integer()};
  if (const auto bytes = row.find("bytes")) {
    study.bytes = bytes->integer();
  }
  if (const auto why = row.find("unsupported")) {
    study.unsupported = why->string();
    return study;
  }
  study.rounds = row.at("rounds").integer();
  SampledTime compute = sampled_time_in(row, "compute");
  study.compute_ns = compute.ns;
  study.compute_samples = std::move(compute.samples);
  study.kinds = read_list(row, "kinds", read_kind);
  return study;
}

}  // namespace

const KindSteps* StepStudy::kind(const std::string& name) const {
  const auto at = std::ranges::find(kinds, name, &KindSteps::name);
  return at == kinds.end() || !at->unsupported.empty() ? nullptr : &*at;
}

Json to_json(const TransferState& state) {
  Json json = {{"crosses_bus", state.crosses_bus},
               {"workers", state.workers},
               {"prefetch", state.prefetch},
               {"node", state.node}};
  const auto add = [&](const char* name, const auto& rows) {
    for (const auto& row : rows) {
      json[name].push_back(json_of(row));
    }
  };
  add("pinning", state.pinning);
  add("calls", state.calls);
  add("steps", state.steps);
  return json;
}

TransferState transfer_state_in(const ResultDocument& document) {
  TransferState state;
  const Field sweep(document.sweep.state, "sweep");
  if (const auto transfer = sweep.find("transfer")) {
    state = {.crosses_bus = transfer->at("crosses_bus").json() == true,
             .workers = transfer->at("workers").integer(),
             .prefetch = transfer->at("prefetch").integer(),
             .node = transfer->at("node").string(),
             .pinning = read_list(*transfer, "pinning", read_pinning),
             .calls = read_list(*transfer, "calls", read_call),
             .steps = read_list(*transfer, "steps", read_steps)};
  }
  return state;
}

}  // namespace bench::sweeps
