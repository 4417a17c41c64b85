// A network cut into stages, one behind the other: each reads one value and hands one on, so that ranks can
// have a stage each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/networks/graph/graph.h"

namespace bench::kernels {

// Which stages are alike: in what they compute, or in what each holds while it trains.
enum class Balance { compute, memory };

// A rank's part of a network whose layers are cut into stages, one for each rank.
struct StagePlace {
  int stage = 0;
  int stages = 1;
  std::int64_t micro_batches = 1;  // equal parts of the batch, one behind the other
  Balance balance = Balance::compute;
};

// The layers behind `begin` up to `end`, and the parameters that these alone read.
struct Stage {
  Graph::Value begin = 0;  // the network's input, or the value that the stage before hands on
  Graph::Value end = 0;
  double cost = 0;  // the sum of its stretches'
};

// What a layer costs a sample: its multiply-adds, or where it has none the bytes of what it reads and writes
// in fp32, each as kMacsOfAByte. A layer that computes nothing costs nothing.
inline constexpr double kMacsOfAByte = 8;  // about what a core does in fp32 while it moves one
double stage_cost(const Graph& graph, Graph::Value value);

// Values behind which the network can be cut, ascending: nothing else that depends on the input is read both
// sides, a layer computed it, and it is stored as a network's input could be (the batch is a dimension; no
// flattened maps).
std::vector<Graph::Value> cut_places(const Graph& graph);

// By stage: what the stretches between neighbouring places cost it, one more than there are places.
using StretchCosts = std::vector<std::vector<double>>;

// Where the costliest stage is as cheap as it can be. Each stage has a stretch at least. Returns the index of
// the last stretch of each stage. Throws std::invalid_argument where there are fewer stretches than stages.
std::vector<std::size_t> balanced(const StretchCosts& costs);
std::vector<Stage> cut_into_stages(const Graph& graph, const StretchCosts& costs);

// Of each stretch, by stage_cost().
std::vector<double> compute_costs(const Graph& graph);
// Of each stretch, for so many samples at a time: by stage_cost(), and once the bytes of its parameters, each
// as half of kMacsOfAByte, where they are no table of which few rows are read. With few pixels or samples
// these decide.
std::vector<double> inference_costs(const Graph& graph, std::int64_t batch);

// The layers that a stage has, ascending: value number i + 1 of its graph is the whole network's layers[i].
std::vector<Graph::Value> stage_layers(const Graph& graph, const Stage& stage);
// A stage as a network of its own, whose layers have the parameters of the whole network's. A table that a
// layer of an earlier stage has too is held by both stages.
Graph stage_graph(const Graph& graph, const Stage& stage);

}  // namespace bench::kernels
