// What a network will run and where everything lies, before anything is allocated or run: the operations in
// order, the place of every tensor and parameter, and the bytes of each region.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/memory.h"
#include "bench/workload.h"
#include "kernels/networks/graph.h"
#include "kernels/networks/input.h"
#include "kernels/networks/lower.h"
#include "kernels/networks/parameters.h"
#include "kernels/operation.h"

namespace bench::kernels {

// One device allocation each. Activations share the arena; scratch of the operations lies in it too where
// that takes less than a region of its own.
enum class Region { weights, arena, input, workspace };
inline constexpr std::size_t kRegions = 4;

struct Place {
  Region region = Region::arena;
  std::int64_t offset = 0;  // bytes, a multiple of 64 and of what the slot asks for
};

struct PlannedStep {
  Graph::Value layer = 0;
  std::shared_ptr<Operation> operation;        // shared by equal layers
  ExtraBytes extra;                            // granted to it, see Conv2d
  std::vector<std::pair<Slot, Place>> places;  // one for each slot of the operation
  std::int64_t live_activations = 0;           // bytes of activations needed while it runs
};

struct NetworkPlan {
  NetworkPlan(Graph layers, Target wanted) : graph(std::move(layers)), target(std::move(wanted)) {}

  Graph graph;
  Target target;
  std::vector<PlannedStep> steps;
  InputBatch input;
  TensorDesc output;  // of a sequence: rows of all positions of all samples
  Place output_place;
  std::array<std::int64_t, kRegions> region_bytes{};
  std::int64_t library_bytes = 0;  // of compiled code, estimated
  PlainParameter largest_plain;    // drawn on the host; nothing where that is not the device's memory

  std::int64_t bytes(Region region) const { return region_bytes[static_cast<std::size_t>(region)]; }
  // The regions; or, before all but the weights are there, the weights with the largest parameter in its
  // plain form.
  MemoryPlan memory() const;
  std::vector<MemoryMoment> timeline() const;
  Work work() const;
};

// Throws Unsupported. Creates descriptions only: nothing is compiled, nothing allocated on the device.
NetworkPlan plan_network(Graph graph, const Target& target, Device& device);

}  // namespace bench::kernels
