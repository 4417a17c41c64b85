#include "kernels/networks/program/input.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/networks/graph/parameters.h"

namespace bench::kernels {
namespace {

constexpr std::uint64_t kTokenStream = 0x746f6b656eULL;  // apart from parameters' streams

}  // namespace

InputBatch::InputBatch(const Graph& graph, Graph::Value input, const TensorDesc& tensor, std::int64_t batch)
    : tensor_(tensor),
      batch_(batch),
      pieces_(graph[input].shape.pieces_of_sample()),
      maps_(graph[input].shape.is_maps()),
      tokens_(input == graph.image() && graph.tokens().has_value()) {}

void InputBatch::store_sample(std::span<const float> sample, void* stored) const {
  const std::int64_t count = tensor_.elements() / batch_;
  if (!tokens_) {
    TensorDesc one{.n = 1, .c = count, .dtype = tensor_.dtype};
    if (maps_) {
      one = tensor_;
      one.n = 1;
    }
    return store(one, sample, stored);
  }
  if (static_cast<std::int64_t>(sample.size()) != count) {
    throw std::invalid_argument("a sequence of " + std::to_string(count) + " tokens was given " +
                                std::to_string(sample.size()));
  }
  std::ranges::transform(sample, static_cast<std::int32_t*>(stored),
                         [](float token) { return static_cast<std::int32_t>(token); });
}

void InputBatch::upload_sample(std::int64_t index, std::span<const std::byte> stored, Device& device,
                               std::byte* batch) const {
  const std::int64_t bytes = sample_bytes() / pieces_;
  for (std::int64_t piece = 0; piece < pieces_; ++piece) {
    device.upload(batch + (piece * batch_ + index) * bytes, stored.data() + piece * bytes, bytes);
  }
}

Sample seeded_sample(const Graph& graph, std::uint64_t seed, std::uint64_t index) {
  const Shape& shape = graph[graph.image()].shape;
  if (graph.tokens()) {
    const std::vector<std::int32_t> tokens =
        seeded_tokens(*graph.tokens(), graph.tokens()->sequence, seed, index);
    return {tokens.begin(), tokens.end()};
  }
  Sample sample;
  if (shape.is_maps()) {
    sample = seeded_image(shape.image(), seed, index);
  } else {
    sample.resize(static_cast<std::size_t>(shape.elements()));
    fill_random(sample, seed, stream_of("input", std::to_string(index)));
  }
  if (graph.lowest_byte()) {
    constexpr float kMiddle = 128;
    constexpr float kContrast = 50;
    constexpr float kMost = 255;
    for (float& value : sample) {
      value = std::clamp(std::round(kMiddle + kContrast * value), 0.0F, kMost) +
              static_cast<float>(*graph.lowest_byte());
    }
  }
  return sample;
}

std::vector<Sample> seeded_samples(const Graph& graph, std::uint64_t seed, std::uint64_t first,
                                   std::uint64_t count) {
  std::vector<Sample> samples;
  for (std::uint64_t index = first; index < first + count; ++index) {
    samples.push_back(seeded_sample(graph, seed, index));
  }
  return samples;
}

std::vector<std::int32_t> seeded_tokens(const Tokens& kind, std::int64_t count, std::uint64_t seed,
                                        std::uint64_t index) {
  std::vector<float> drawn(static_cast<std::size_t>(count));
  fill_random(drawn, seed, kTokenStream + index);
  std::int64_t largest = kind.vocabulary - 1;
  while (kind.absent.contains(largest)) {
    --largest;
  }
  std::vector<std::int32_t> tokens;
  for (const float value : drawn) {
    const double place = (static_cast<double>(value) + 1) / 2 * static_cast<double>(kind.vocabulary);
    std::int64_t token = std::min(static_cast<std::int64_t>(place), kind.vocabulary - 1);
    while (kind.absent.contains(token) || (kind.largest_is_last && token == largest)) {
      token = (token + 1) % kind.vocabulary;
    }
    tokens.push_back(static_cast<std::int32_t>(token));
  }
  if (kind.largest_is_last && count >= kind.sequence) {
    tokens[static_cast<std::size_t>(kind.sequence - 1)] = static_cast<std::int32_t>(largest);
  }
  return tokens;
}

}  // namespace bench::kernels
