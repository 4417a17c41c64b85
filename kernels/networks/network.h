// The networks, found by name. A network is one file that describes its layers and registers itself:
//
//   Graph tiny(std::int64_t image_size) { Graph g({3, image_size, image_size}); … return g; }
//   const NetworkRegistration registered{{.name = "tiny", …, .build = tiny}};
//
// That alone makes it a workload of the program, with every mode networks have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/workload.h"
#include "kernels/networks/graph.h"

namespace bench::kernels {

struct NetworkType {
  std::string name;
  std::string description;
  // Layers for a square image of that many pixels a side. May throw ShapeTooSmall.
  std::function<Graph(std::int64_t image_size)> build;
  // At image_size pixels, from the source the description names; asserted in the tests.
  std::int64_t published_parameters = 0;
  double published_macs = 0;
  std::int64_t image_size = 224;  // unless --image-size says otherwise
  std::int64_t image_step = 1;    // accepted sizes are multiples of it
};

inline constexpr std::int64_t kLargestImage = 4096;

// The option's value. Throws UsageError naming --image-size, what was given and what the network accepts.
std::int64_t image_size(const NetworkType& network, const WorkloadSpec& spec);
// The network at the spec's image size; throws as image_size() does.
Graph build_network(const NetworkType& network, const WorkloadSpec& spec);

// Registers the network and the workload made of it.
struct NetworkRegistration {
  explicit NetworkRegistration(const NetworkType& network);
};

}  // namespace bench::kernels
