#include "kernels/networks/program/input.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/networks/graph/parameters.h"

namespace bench::kernels {
namespace {

constexpr std::uint64_t kTokenStream = 0x746f6b656eULL;  // apart from parameters' streams

}  // namespace

void InputBatch::store_sample(std::span<const float> sample, void* stored) const {
  if (!tokens) {
    TensorDesc one = tensor;
    one.n = 1;
    store(one, sample, stored);
    return;
  }
  if (static_cast<std::int64_t>(sample.size()) != tensor.c) {
    throw std::invalid_argument("a sequence of " + std::to_string(tensor.c) + " tokens was given " +
                                std::to_string(sample.size()));
  }
  std::ranges::transform(sample, static_cast<std::int32_t*>(stored),
                         [](float token) { return static_cast<std::int32_t>(token); });
}

Sample seeded_sample(const Graph& graph, std::uint64_t seed, std::uint64_t index) {
  if (!graph.tokens()) {
    return seeded_image(graph[graph.image()].shape.image(), seed, index);
  }
  const std::vector<std::int32_t> tokens =
      seeded_tokens(graph.tokens()->vocabulary, graph.tokens()->sequence, seed, index);
  return {tokens.begin(), tokens.end()};
}

std::vector<std::int32_t> seeded_tokens(std::int64_t vocabulary, std::int64_t count, std::uint64_t seed,
                                        std::uint64_t index) {
  std::vector<float> drawn(static_cast<std::size_t>(count));
  fill_random(drawn, seed, kTokenStream + index);
  std::vector<std::int32_t> tokens;
  for (const float value : drawn) {
    const double place = (static_cast<double>(value) + 1) / 2 * static_cast<double>(vocabulary);
    tokens.push_back(static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(place), vocabulary - 1)));
  }
  return tokens;
}

}  // namespace bench::kernels
