#include "kernels/workloads/network/composition.h"

#include <algorithm>
#include <map>
#include <set>

namespace bench::kernels {
namespace {

double bytes_moved(const Instruction& instruction) {
  double bytes = 0;
  for (const SlotInfo& slot : instruction.operation->slots()) {
    const bool moved = slot.role == Role::input || slot.role == Role::output || slot.role == Role::parameter;
    const bool looked_up = slot.role == Role::parameter && slot.looked_up > 0;
    bytes += moved ? static_cast<double>(looked_up ? slot.looked_up : slot.bytes) : 0;
  }
  return bytes;
}

}  // namespace

Composition composition_of(const Graph& written) {
  Composition composition;
  composition.parameters = written.parameter_count();
  for (Graph::Value value = 1; value < written.nodes().size(); ++value) {
    const Layer& layer = *written[value].layer;
    const LayerPlace place = written.place(value);
    for (const LayerParameter& parameter : layer.parameters(place)) {
      if (parameter.trained) {
        composition.largest_parameter = std::max(composition.largest_parameter, parameter.count);
      } else {
        composition.statistics += parameter.count;
      }
    }
    composition.macs += static_cast<double>(layer.macs(place));
    composition.activations += static_cast<double>(layer.product_values(place));
  }
  return composition;
}

Composition composition_of(const Graph& written, const ProgramPlan& plan) {
  Composition composition = composition_of(written);
  std::map<std::string, OperationShare> by_kind;
  std::set<Graph::Value> counted;
  for (const Instruction& instruction : plan.program.instructions()) {
    const auto& layers = instruction.layers;
    OperationShare& share = by_kind[layers.empty() ? "step" : plan.graph[layers.front()].type->name];
    share.bytes += bytes_moved(instruction);
    share.count += layers.empty() ? 1 : 0;
    for (const Graph::Value layer : layers) {
      if (counted.insert(layer).second) {
        ++share.count;
        share.macs += static_cast<double>(plan.graph[layer].layer->macs(plan.graph.place(layer)));
      }
    }
  }
  for (auto& [kind, share] : by_kind) {
    share.kind = kind;
    composition.operations.push_back(share);
  }
  std::ranges::stable_sort(composition.operations, [](const OperationShare& a, const OperationShare& b) {
    return a.macs != b.macs ? a.macs > b.macs : a.bytes > b.bytes;
  });
  return composition;
}

}  // namespace bench::kernels
