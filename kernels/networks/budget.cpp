#include "kernels/networks/budget.h"

#include <algorithm>

#include "kernels/networks/arena.h"

namespace bench::kernels {
namespace {

struct Candidate {
  Graph::Value layer;
  std::int64_t bytes;  // parameters beyond the lean form's
  double saved_flops;
};

std::int64_t scratch_bytes(const Operation& operation) {
  const SlotInfo* scratch = operation.find(Slot::workspace);
  return scratch == nullptr ? 0 : scratch->bytes;
}

}  // namespace

std::int64_t parameter_bytes(const Operation& operation) {
  std::int64_t bytes = 0;
  for (const SlotInfo& slot : operation.slots()) {
    bytes += slot.role == Role::parameter ? aligned(slot.bytes) : 0;
  }
  return bytes;
}

std::int64_t extra_parameter_budget(std::int64_t lean_parameter_bytes, std::int64_t activation_bytes) {
  return std::max(lean_parameter_bytes / 10, activation_bytes);
}

std::vector<std::int64_t> share_extra_bytes(const Graph& graph, const Target& target,
                                            std::int64_t activation_bytes, Device& device,
                                            OperationCache& cache) {
  std::vector<std::int64_t> granted(graph.layers().size(), 0);
  std::vector<Candidate> candidates;
  std::int64_t lean_parameters = 0;
  for (Graph::Value value = 0; value < graph.layers().size(); ++value) {
    const auto lean = lower(graph, value, target, 0, device, cache);
    if (lean == nullptr) {
      continue;
    }
    lean_parameters += parameter_bytes(*lean);
    if (graph[value].kind != LayerKind::conv2d) {
      continue;
    }
    const auto rich = lower(graph, value, target, kAnyExtraBytes, device, cache);
    const double saved = lean->flops() - rich->flops();
    if (saved > 0 && scratch_bytes(*rich) <= activation_bytes) {
      candidates.push_back({value, parameter_bytes(*rich) - parameter_bytes(*lean), saved});
    }
  }

  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.saved_flops * static_cast<double>(std::max<std::int64_t>(b.bytes, 1)) >
           b.saved_flops * static_cast<double>(std::max<std::int64_t>(a.bytes, 1));
  });
  std::int64_t left = extra_parameter_budget(lean_parameters, activation_bytes);
  for (const Candidate& candidate : candidates) {
    if (candidate.bytes <= left) {
      granted[candidate.layer] = kAnyExtraBytes;
      left -= std::max<std::int64_t>(candidate.bytes, 0);
    }
  }
  return granted;
}

}  // namespace bench::kernels
