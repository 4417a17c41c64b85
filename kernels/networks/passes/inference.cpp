#include "kernels/networks/passes/inference.h"

#include <algorithm>
#include <utility>

#include "kernels/networks/program/placement.h"

namespace bench::kernels {
namespace {

// Operations a processor does in fp32 while a byte arrives from memory, about.
constexpr double kFlopsPerByte = 4;

double cost(const Operation& operation) {
  return operation.flops() + kFlopsPerByte * static_cast<double>(parameter_bytes(operation));
}

// From one algorithm of a layer to the next larger and faster one.
struct Upgrade {
  Graph::Value layer;
  std::int64_t level;  // extra parameter bytes of the layer once taken
  std::int64_t bytes;  // added by this step
  double saved;        // cost
};

// Whether a's saving a byte is above b's.
bool better(const Upgrade& a, const Upgrade& b) {
  return a.saved * static_cast<double>(b.bytes) > b.saved * static_cast<double>(a.bytes);
}

// In the order they build on each other: bytes grow, and the saving a byte falls (one that would not is
// merged with the one before it).
std::vector<Upgrade> upgrades_of(Graph::Value layer, std::int64_t scratch, Recorder& recorder) {
  const auto lean = recorder.with_extra(layer, {});
  if (lean == nullptr) {
    return {};
  }
  struct Level {
    std::int64_t bytes;
    double cost;
  };
  std::vector<Level> levels;  // the largest first
  std::int64_t limit = 4 * parameter_bytes(*lean);
  while (limit > 0) {
    const auto rich = recorder.with_extra(layer, {.parameters = limit, .scratch = scratch});
    const std::int64_t bytes = parameter_bytes(*rich) - parameter_bytes(*lean);
    if (rich->algorithm() == lean->algorithm()) {
      break;
    }
    levels.push_back({std::max<std::int64_t>(bytes, 1), cost(*rich)});
    limit = bytes - 1;
  }

  std::ranges::reverse(levels);
  std::vector<Upgrade> upgrades;
  Level reached{0, cost(*lean)};
  for (const Level& level : levels) {
    if (level.cost >= reached.cost) {
      continue;
    }
    Upgrade upgrade{layer, level.bytes, level.bytes - reached.bytes, reached.cost - level.cost};
    while (!upgrades.empty() && better(upgrade, upgrades.back())) {
      upgrade.bytes += upgrades.back().bytes;
      upgrade.saved += upgrades.back().saved;
      upgrades.pop_back();
    }
    upgrades.push_back(upgrade);
    reached = level;
  }
  return upgrades;
}

}  // namespace

std::int64_t parameter_bytes(const Operation& operation) {
  std::int64_t bytes = 0;
  for (const SlotInfo& slot : operation.slots()) {
    bytes += slot.role == Role::parameter ? aligned(slot.bytes) : 0;
  }
  return bytes;
}

ExtraBytes extra_budget(std::int64_t lean_parameter_bytes, std::int64_t activation_bytes) {
  const std::int64_t eighth = lean_parameter_bytes / 8;
  return {.parameters = std::max(eighth, activation_bytes / 4 * 3), .scratch = eighth + activation_bytes};
}

std::vector<ExtraBytes> share_extra_bytes(const ProgramPlan& lean, Device& device, OperationCache& cache) {
  ProgramPlan nothing(lean.graph, lean.target);
  Recorder recorder(nothing, device, cache);
  std::int64_t lean_parameters = 0;
  for (const Instruction& instruction : lean.program.instructions()) {
    lean_parameters += parameter_bytes(*instruction.operation);
  }
  ExtraBytes left = extra_budget(lean_parameters, place(lean.program).arena_bytes);

  std::vector<Upgrade> upgrades;
  for (Graph::Value value = 1; value < lean.graph.nodes().size(); ++value) {
    const auto more = upgrades_of(value, left.scratch, recorder);
    upgrades.insert(upgrades.end(), more.begin(), more.end());
  }
  std::ranges::stable_sort(upgrades, better);

  std::vector<ExtraBytes> granted(lean.graph.nodes().size());
  for (const Upgrade& upgrade : upgrades) {
    ExtraBytes& layer = granted[upgrade.layer];
    const std::int64_t bytes = upgrade.level - layer.parameters;  // a step before it may not have fitted
    if (bytes <= left.parameters) {
      layer = {.parameters = upgrade.level, .scratch = left.scratch};
      left.parameters -= bytes;
    }
  }
  return granted;
}

void record_forward(ProgramPlan& plan, Device& device, OperationCache& cache, std::vector<ExtraBytes> extra) {
  Recorder recorder(plan, device, cache);
  if (!extra.empty()) {
    recorder.set_extra(std::move(extra));
  }
  const BlockId input = plan.program.block("input", MemoryCategory::input);
  plan.inputs = {plan.program.keep(input, "samples", plan.input.bytes())};
  recorder.start_micro_batch(plan.inputs.front());
  for (Graph::Value value = 1; value < plan.graph.nodes().size(); ++value) {
    recorder.forward(value);
  }
  plan.program.set_output(recorder.value(plan.graph.output()));
}

ProgramPlan plan_inference(Graph graph, const Target& target, Device& device) {
  OperationCache cache;
  ProgramPlan plan(std::move(graph), target);
  record_forward(plan, device, cache);
  const std::vector<ExtraBytes> extra = share_extra_bytes(plan, device, cache);
  if (std::ranges::any_of(extra, [](const ExtraBytes& layer) { return layer != ExtraBytes{}; })) {
    plan = ProgramPlan(Graph(plan.graph), target);
    record_forward(plan, device, cache, extra);
  }
  const std::size_t further = tile_rows(plan, device, cache);
  finish_plan(plan, device, ScratchPlace::where_smaller);
  plan.library_bytes += compiled_code_bytes(further);
  if (device.host_accessible() && bytes_of(target.dtype) == 2) {
    plan.library_bytes += kSixteenBitInferenceCode;
  }
  return plan;
}

}  // namespace bench::kernels
