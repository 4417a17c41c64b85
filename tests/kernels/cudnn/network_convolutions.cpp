#include "network_convolutions.h"

#include <algorithm>

#include "bench/registry.h"
#include "kernels/networks/fuse.h"
#include "kernels/networks/lower.h"
#include "kernels/networks/network.h"

namespace bench::kernels::testing {
namespace {

using Direction = Conv2d::Direction;

class Collector {
 public:
  explicit Collector(const Target& target) : target_(target) {}

  void add(const Graph& graph, bool training) {
    for (Graph::Value value = 0; value < graph.layers().size(); ++value) {
      if (graph[value].kind != LayerKind::conv2d) {
        continue;
      }
      Conv2d spec = conv2d_of(graph, value, target_, {});
      spec.training = training;
      add(spec);
      if (training) {
        spec.direction = Direction::backward_weights;
        add(spec);
        spec.direction = Direction::backward_data;
        spec.bias = false;
        add(spec);
      }
    }
  }

  std::vector<Conv2d> all() && { return std::move(all_); }

 private:
  void add(const Conv2d& spec) {
    if (std::ranges::find(all_, spec) == all_.end()) {
      all_.push_back(spec);
    }
  }

  Target target_;
  std::vector<Conv2d> all_;
};

}  // namespace

std::vector<Conv2d> network_convolutions(std::int64_t batch, Dtype dtype) {
  Collector collector({.batch = batch, .dtype = dtype, .layouts = {}, .implementation = {}});
  for (const auto& network : registry<NetworkType>().entries()) {
    if (network->reads_images()) {
      const Graph graph = published_graph(*network);
      collector.add(fuse_for_inference(graph), false);
      collector.add(graph, true);
    }
  }
  return std::move(collector).all();
}

}  // namespace bench::kernels::testing
