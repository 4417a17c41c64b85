// Seeded values of a network's parameters and inputs, made when asked for, so that the whole network's plain
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
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

// Random numbers of a name's own: the same on every platform.
std::uint64_t stream_of(std::string_view layer, std::string_view parameter);
// A parameter's values `from`, from + 1, …
void draw(std::span<float> values, const Uniform& start, std::string_view layer, Slot slot,
          std::uint64_t seed, std::int64_t from = 0);
// Normal, around 0, with this standard deviation.
Uniform of_deviation(double deviation);
// Normal, around 0, with the deviation gain · √(2 / fan_in).
Uniform of_fan_in(std::int64_t fan_in, double gain = 1);
// Scale, shift, mean or variance of a normalisation.
Uniform norm_start(Slot slot, double gain = 1);

// A parameter in the plain form of its operation. Throws std::logic_error where the layer has none.
std::vector<float> plain_parameter(const Graph& graph, Graph::Value value, Slot slot, std::uint64_t seed);

// A parameter in its plain form, on the host.
struct PlainParameter {
  std::string name;  // "classifier.0 weights"; empty: none
  std::int64_t bytes = 0;
};
// The most that init_parameter() holds while it runs.
PlainParameter plain_while_initialised(const Graph& graph, Graph::Value value, const SlotInfo& parameter);

// Makes a parameter's first values, packs them for the operation and writes them to `place` in device memory.
// `input` is how the layer's input is stored, `dtype` what the network computes in. A table, which is stored
// as it is drawn, a piece at a time; others as a whole.
void init_parameter(const Graph& graph, Graph::Value value, Slot slot, const StoredValue& input, Dtype dtype,
                    std::uint64_t seed, Operation& operation, Device& device, std::byte* place);
// Packs plain values and writes them to `place` in device memory.
void write_parameter(Operation& operation, Slot slot, std::span<const float> plain, Device& device,
                     std::byte* place);

// Image number `index`, NCHW in fp32. Images differ in brightness, contrast and pattern, not only in noise:
// networks of random weights answer noise of one kind with nearly the same logits, and a mixed-up row would
// go unseen.
std::vector<float> seeded_image(const Image& shape, std::uint64_t seed, std::uint64_t index);

}  // namespace bench::kernels
