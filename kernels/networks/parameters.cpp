#include "kernels/networks/parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

#include "kernels/batch_norm/batch_norm.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kWorthThreads = 1 << 15;

// FNV-1a: stable between platforms, unlike std::hash.
std::uint64_t stream_of(std::string_view layer, std::string_view parameter) {
  std::uint64_t hash = 14695981039346656037U;
  for (const std::string_view part : {layer, std::string_view("."), parameter}) {
    for (const char c : part) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    }
  }
  return hash;
}

// Uniform in [centre - spread, centre + spread). Tables have a hundred million values.
void fill_uniform(std::span<float> values, double centre, double spread, std::uint64_t seed,
                  std::uint64_t stream, std::int64_t from = 0) {
  const auto count = static_cast<std::int64_t>(values.size());
  fill_random(values, seed, stream, static_cast<std::uint64_t>(from));
#pragma omp parallel for schedule(static) if (count > kWorthThreads)
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(centre + spread * static_cast<double>(values[i]));
  }
}

std::vector<float> uniform(std::int64_t count, double centre, double spread, std::uint64_t seed,
                           std::uint64_t stream) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_uniform(values, centre, spread, seed, stream);
  return values;
}

// A uniform distribution of half-width a has variance a²/3.
double spread_of(double deviation) {
  return std::numbers::sqrt3 * deviation;
}

std::vector<float> norm_parameter(const FoldedNorm& norm, std::int64_t channels, Slot slot,
                                  std::uint64_t seed) {
  switch (slot) {
    case Slot::scale:
      return uniform(channels, norm.gain, 0.2 * norm.gain, seed, stream_of(norm.name, "weight"));
    case Slot::shift:
      return uniform(channels, 0, 0.2, seed, stream_of(norm.name, "bias"));
    case Slot::mean:
      return uniform(channels, 0, 0.2, seed, stream_of(norm.name, "running_mean"));
    case Slot::variance:
      return uniform(channels, 1, 0.5, seed, stream_of(norm.name, "running_var"));
    default:
      throw std::logic_error(norm.name + ": a batch norm has no parameter " + std::string(name_of(slot)));
  }
}

// The factor and the offset a folded batch norm applies to each channel of the convolution's plain result.
struct Affine {
  std::vector<float> factor, offset;
};

Affine affine_of(const FoldedNorm& norm, std::int64_t channels, std::uint64_t seed) {
  const auto scale = norm_parameter(norm, channels, Slot::scale, seed);
  const auto shift = norm_parameter(norm, channels, Slot::shift, seed);
  const auto mean = norm_parameter(norm, channels, Slot::mean, seed);
  const auto variance = norm_parameter(norm, channels, Slot::variance, seed);
  Affine affine{std::vector<float>(scale.size()), std::vector<float>(scale.size())};
  for (std::size_t k = 0; k < scale.size(); ++k) {
    affine.factor[k] = scale[k] / std::sqrt(variance[k] + BatchNorm{}.epsilon);
    affine.offset[k] = shift[k] - mean[k] * affine.factor[k];
  }
  return affine;
}

std::vector<float> weights_of(const Graph& graph, Graph::Value value, std::uint64_t seed) {
  const Layer& layer = graph[value];
  const Shape in = graph.input_of(value);
  std::int64_t fan_in = in.c;
  std::int64_t count = layer.shape.c * fan_in;
  if (layer.kind == LayerKind::conv2d) {
    fan_in = in.c / layer.groups * layer.kernel * layer.kernel;
    count = layer.shape.c * fan_in;
  } else if (layer.kind == LayerKind::conv_transpose) {  // its patches do not overlap: fan-in is a pixel
    count *= layer.kernel * layer.kernel;
  }
  const double deviation =
      layer.deviation > 0 ? layer.deviation : std::sqrt(2.0 / static_cast<double>(fan_in));
  auto weights = uniform(count, 0, spread_of(deviation), seed, stream_of(layer.name, "weight"));
  if (layer.norm) {
    const Affine affine = affine_of(*layer.norm, layer.shape.c, seed);
    auto row = weights.begin();
    for (const float factor : affine.factor) {
      const auto next = row + fan_in;
      std::transform(row, next, row, [factor](float w) { return w * factor; });
      row = next;
    }
  }
  return weights;
}

std::vector<float> bias_of(const Layer& layer, std::uint64_t seed) {
  // A convolution behind which a batch norm was folded had no bias of its own.
  const double spread = layer.deviation > 0 ? spread_of(layer.deviation) : 0.2;
  return layer.norm ? affine_of(*layer.norm, layer.shape.c, seed).offset
                    : uniform(layer.shape.c, 0, spread, seed, stream_of(layer.name, "bias"));
}

}  // namespace

std::vector<float> plain_parameter(const Graph& graph, Graph::Value value, Slot slot, std::uint64_t seed) {
  if (const Graph::Value owner = graph.owner_of(value, slot); owner != value) {
    return plain_parameter(graph, owner, slot, seed);
  }
  const Layer& layer = graph[value];
  if (layer.rows > 0 && slot == Slot::weights) {
    std::vector<float> table(static_cast<std::size_t>(layer.rows * layer.shape.c));
    plain_table(graph, value, seed, 0, table);
    return table;
  }
  const bool of_layer_norm =
      layer.kind == LayerKind::layer_norm && (slot == Slot::scale || slot == Slot::shift);
  if (layer.kind == LayerKind::batch_norm || of_layer_norm) {
    return norm_parameter({layer.name, layer.gain}, layer.shape.c, slot, seed);
  }
  if (layer.kind == LayerKind::conv2d || layer.kind == LayerKind::linear ||
      layer.kind == LayerKind::conv_transpose) {
    if (slot == Slot::weights) {
      return weights_of(graph, value, seed);
    }
    if (slot == Slot::bias && layer.bias) {
      return bias_of(layer, seed);
    }
  }
  throw std::logic_error(layer.name + " has no parameter " + std::string(name_of(slot)));
}

void plain_table(const Graph& graph, Graph::Value value, std::uint64_t seed, std::int64_t from,
                 std::span<float> values) {
  const Layer& layer = graph[value];
  fill_uniform(values, 0, spread_of(layer.deviation), seed, stream_of(layer.name, "weight"), from);
}

std::vector<float> seeded_image(Shape shape, std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t stream = stream_of("image", std::to_string(index));
  std::vector<float> image(static_cast<std::size_t>(shape.elements()));
  fill_random(image, seed, stream);

  // Each channel: noise, a wave of its own direction and length, and a brightness.
  constexpr std::size_t kTraits = 4;
  std::vector<float> traits(kTraits * static_cast<std::size_t>(shape.c));
  fill_random(traits, seed, stream + 1);
  const double contrast = index % 2 == 0 ? 1.0 : 0.4;
  std::size_t at = 0;
  for (std::int64_t c = 0; c < shape.c; ++c) {
    const float* trait = &traits[kTraits * static_cast<std::size_t>(c)];
    const double across = 20.0 * static_cast<double>(trait[0]) / static_cast<double>(shape.w);
    const double down = 20.0 * static_cast<double>(trait[1]) / static_cast<double>(shape.h);
    const auto brightness = static_cast<double>(trait[2]);
    for (std::int64_t y = 0; y < shape.h; ++y) {
      for (std::int64_t x = 0; x < shape.w; ++x, ++at) {
        const double wave =
            std::sin(across * static_cast<double>(x) + down * static_cast<double>(y) + trait[3]);
        image[at] = static_cast<float>(contrast * (0.5 * static_cast<double>(image[at]) + wave) + brightness);
      }
    }
  }
  return image;
}

}  // namespace bench::kernels
