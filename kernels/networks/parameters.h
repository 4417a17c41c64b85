// Seeded parameters of a network, drawn layer by layer when asked for, so that the whole network's plain
// weights are never held at once. A value depends on the seed, the layer's name and its place only: the fused
// graph and the plain one, on every device and in every dtype, are the same network.
//
// Weights are uniform with variance 2 / fan_in (He et al. 2015, arXiv:1502.01852), which keeps the energy of
// activations through ReLU networks, unless the layer states their deviation; a norm's scale is drawn around
// its gain, its variance around 1, mean and shift around 0.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/networks/graph.h"
#include "kernels/operation.h"

namespace bench::kernels {

// A parameter as it is drawn, before it is packed.
struct PlainParameter {
  std::string name;  // "classifier.0 weights"; empty: none
  std::int64_t bytes = 0;
};

// In the plain form of kernels/*/*.h, batch norms folded in where the layer says so.
// Throws std::logic_error where the layer has no such parameter.
std::vector<float> plain_parameter(const Graph& graph, Graph::Value value, Slot slot, std::uint64_t seed);

// Values `from`, from + 1, … of an embedding's table, as plain_parameter() has them.
void plain_table(const Graph& graph, Graph::Value value, std::uint64_t seed, std::int64_t from,
                 std::span<float> values);

// Image number `index`, NCHW in fp32. Images differ in brightness, contrast and pattern, not only in noise:
// networks of random weights answer noise of one kind with nearly the same logits, and a mixed-up row would
// go unseen.
std::vector<float> seeded_image(Shape shape, std::uint64_t seed, std::uint64_t index);

}  // namespace bench::kernels
