// The networks, found by name. A network is one file that describes its layers and registers itself:
//
//   Graph tiny(std::int64_t image_size) { Graph g({3, image_size, image_size}); … return g; }
//   const NetworkRegistration BENCH_REGISTERED{{.name = "tiny", …, .build = tiny}};
//
// It is then a workload of the program, with every mode networks have.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {

using NetworkSizes = std::map<std::string, std::int64_t>;  // option → value

struct NetworkType {
  std::string name;
  std::string description;
  // Layers for a square image of that many pixels a side. May throw ShapeTooSmall.
  std::function<Graph(std::int64_t image_size)> build;
  // At image_size pixels or at the options' defaults, from the source the description names; asserted in the
  // tests.
  std::int64_t published_parameters = 0;
  double published_macs = 0;
  std::int64_t image_size = 224;  // unless --image-size says otherwise
  std::int64_t image_step = 1;    // accepted sizes are multiples of it
  // For a network that does not read images, in place of `build` and --image-size: its options, and its
  // layers for values of them all.
  std::vector<WholeOption> options{};
  std::function<Graph(const NetworkSizes& sizes)> build_sized{};

  bool reads_images() const { return !build_sized; }
};

inline constexpr std::int64_t kLargestImage = 4096;

// The option's value. Throws UsageError naming --image-size, what was given and what the network accepts.
std::int64_t image_size(const NetworkType& network, const WorkloadSpec& spec);
// The network at the spec's image size, or at the values of its own options; throws as image_size() does.
Graph build_network(const NetworkType& network, const WorkloadSpec& spec);
// The network at small sizes, the smallest first, and at the spec's own: for comparisons with the slow
// reference.
std::vector<Graph> small_networks(const NetworkType& network, const WorkloadSpec& spec);
// The options that decide which network is built, as the command line has them.
std::vector<CommandOption> size_options(const NetworkType& network);

// Registers the network and the workload made of it.
struct NetworkRegistration {
  explicit NetworkRegistration(const NetworkType& network);
};

}  // namespace bench::kernels
