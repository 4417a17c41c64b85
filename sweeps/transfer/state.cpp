// The studies of the transfer sweep as the file has them.
#include <algorithm>
#include <string>
#include <vector>

#include "bench/result/json_members.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

void time_members(auto& io, std::string_view key, auto& ns, auto& samples) {
  io.object(key, [&](auto& time) {
    time("median_ns", ns.value);
    time.whole("ci95_ns", ns.ci95);
    time.maybe_whole("samples_ns", samples);  // files of early versions have none
  });
}

}  // namespace

void members(auto& io, Of<PinningCost> auto& cost) {
  io("bytes", cost.bytes);
  io.unless_empty("unsupported", cost.unsupported);
  if (!cost.unsupported.empty()) {
    return;
  }
  io("pin_ns", cost.pin_ns.value);
  io.whole("pin_ci95_ns", cost.pin_ns.ci95);
  io("unpin_ns", cost.unpin_ns);
  io("pageable_ns", cost.pageable_ns);
  io("free_ns", cost.free_ns);
  io("taken_bytes", cost.taken_bytes);
}

void members(auto& io, Of<CallTime> auto& call) {
  io("direction", call.direction);
  io("host_memory", call.kind);
  io("bytes", call.bytes);
  io("returns_ns", call.returns_ns.value);
  io.whole("returns_ci95_ns", call.returns_ns.ci95);
  io("done_ns", call.done_ns.value);
  io.whole("done_ci95_ns", call.done_ns.ci95);
  io("cpu_ns", call.cpu_ns);
}

void members(auto& io, Of<KindSteps> auto& kind) {
  io("host_memory", kind.name);
  io.unless_empty("unsupported", kind.unsupported);
  if (!kind.unsupported.empty()) {
    return;
  }
  time_members(io, "copy", kind.copy_ns, kind.samples.copy);
  time_members(io, "serial", kind.serial_ns, kind.samples.serial);
  time_members(io, "beside", kind.overlapped_ns, kind.samples.overlapped);
  time_members(io, "compute_beside", kind.compute_overlapped_ns, kind.samples.compute_overlapped);
}

void members(auto& io, Of<StepStudy> auto& study) {
  io("workload", study.workload);
  io("mode", study.mode);
  io("dtype", study.dtype);
  io("batch", study.batch);
  io.unless_empty("bytes", study.bytes);
  io.unless_empty("unsupported", study.unsupported);
  if (!study.unsupported.empty()) {
    return;
  }
  io("rounds", study.rounds);
  time_members(io, "compute", study.compute_ns, study.compute_samples);
  io("kinds", study.kinds);
}

void members(auto& io, Of<TransferState> auto& state) {
  io("crosses_bus", state.crosses_bus);
  io("workers", state.workers);
  io("prefetch", state.prefetch);
  io("node", state.node);
  io.unless_empty("pinning", state.pinning);
  io.unless_empty("calls", state.calls);
  io.unless_empty("steps", state.steps);
}

const KindSteps* StepStudy::kind(const std::string& name) const {
  const auto at = std::ranges::find(kinds, name, &KindSteps::name);
  return at == kinds.end() || !at->unsupported.empty() ? nullptr : &*at;
}

Json to_json(const TransferState& state) {
  return write_struct(state);
}

TransferState transfer_state_in(const ResultDocument& document) {
  const Field sweep(document.sweep.state, "sweep");
  const auto transfer = sweep.find("transfer");
  return transfer ? read_struct<TransferState>(*transfer) : TransferState{};
}

}  // namespace bench::sweeps
