#include "network_convolutions.h"

#include <algorithm>

#include "bench/registry.h"
#include "kernels/networks/models/network.h"
#include "kernels/networks/passes/inference.h"

namespace bench::kernels::testing {
namespace {

using Direction = Conv2d::Direction;

// The forward convolutions of a graph, each description once.
std::vector<Conv2d> forward_convolutions(const Graph& graph, std::int64_t batch, Dtype dtype) {
  const auto host = registry<DeviceKind>().find("cpu")->open("cpu");
  OperationCache cache;
  ProgramPlan plan(graph, {.batch = batch, .dtype = dtype, .layouts = {}, .implementation = "reference"});
  record_forward(plan, *host, cache);
  std::vector<Conv2d> found;
  for (const auto& [spec, operation] : cache.all<Conv2d>()) {
    found.push_back(spec);
  }
  return found;
}

}  // namespace

std::vector<Conv2d> network_convolutions(std::int64_t batch, Dtype dtype) {
  std::vector<Conv2d> all;
  const auto add = [&](const Conv2d& spec) {
    if (std::ranges::find(all, spec) == all.end()) {
      all.push_back(spec);
    }
  };
  for (const auto& network : registry<NetworkType>().entries()) {
    if (!network->reads_images()) {
      continue;
    }
    const Graph graph = build_network(*network, {});
    std::ranges::for_each(forward_convolutions(fuse_for_inference(graph), batch, dtype), add);
    for (Conv2d spec : forward_convolutions(graph, batch, dtype)) {
      spec.training = true;
      add(spec);
      spec.direction = Direction::backward_weights;
      add(spec);
      spec.direction = Direction::backward_data;
      spec.bias = false;
      add(spec);
    }
  }
  return all;
}

}  // namespace bench::kernels::testing
