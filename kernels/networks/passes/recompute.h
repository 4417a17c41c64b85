// Which values a backward pass computes again, in place of keeping them (Chen et al. 2016, arXiv:1604.06174).
#pragma once

#include <vector>

#include "kernels/networks/graph/graph.h"
#include "kernels/networks/program/recorder.h"

namespace bench::kernels {

// A block of layers between two values on which everything later depends alone, but for skip connections to a
// concatenation.
struct Segment {
  Graph::Value first = 0;
  Graph::Value last = 0;
  std::vector<Graph::Value> inner{};  // whose results no later block reads
};
std::vector<Segment> segments(const Graph& graph);

// Records the backward pass from `logits` on, block by block: a block's inner values are computed again from
// the value before it, which is kept, as is what a concatenation reads from an earlier block.
void record_backward_by_segments(Recorder& recorder, const Graph& graph, Graph::Value logits);

}  // namespace bench::kernels
