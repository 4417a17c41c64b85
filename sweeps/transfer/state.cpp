#include "sweeps/transfer/state.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace bench::sweeps {
namespace {

Json ends_of(const Estimate& time) {
  return {std::llround(time.low()), std::llround(time.high())};
}

Json json_of(const Estimate& time) {
  return {{"median_ns", time.value}, {"ci95_ns", ends_of(time)}};
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
          {"copy", json_of(kind.copy_ns)},
          {"serial", json_of(kind.serial_ns)},
          {"beside", json_of(kind.overlapped_ns)},
          {"compute_beside", json_of(kind.compute_overlapped_ns)}};
}

Json json_of(const StepStudy& study);

template <class Row>
Json rows_of(const std::vector<Row>& rows) {
  Json all = Json::array();
  for (const Row& row : rows) {
    all.push_back(json_of(row));
  }
  return all;
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
  row["compute"] = json_of(study.compute_ns);
  row["kinds"] = rows_of(study.kinds);
  return row;
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
  if (!state.pinning.empty()) {
    json["pinning"] = rows_of(state.pinning);
  }
  if (!state.calls.empty()) {
    json["calls"] = rows_of(state.calls);
  }
  if (!state.steps.empty()) {
    json["steps"] = rows_of(state.steps);
  }
  return json;
}

}  // namespace bench::sweeps
