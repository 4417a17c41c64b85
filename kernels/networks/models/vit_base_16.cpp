// ViT-B/16, Dosovitskiy et al. 2020 (arXiv:2010.11929), layer for layer as torchvision names them. An image
// is a sequence of patches of 16×16 pixels behind a class token; positions are learned, so that another image
// size has another table of them. Its dropout is 0.
#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr std::int64_t kVitPatch = 16;  // pixels a side
constexpr std::int64_t kVitWidth = 768;
constexpr std::int64_t kVitLayers = 12;
constexpr std::int64_t kVitHeads = 12;
constexpr double kVitDeviation =
    0.02;  // of weights that a residual branch ends with, positions and the token
constexpr LayerNormOptions kVitNorm{.epsilon = 1e-6F};

Value vit_block(Graph& g, const std::string& name, Value x) {
  Value y = g.layer_norm(name + ".ln_1", x, kVitNorm);
  y = g.linear(name + ".self_attention.in_proj", y, {.features = 3 * kVitWidth, .deviation = kVitDeviation});
  y = g.append(name + ".self_attention", {y}, AttentionOptions{.heads = kVitHeads, .causal = false});
  y = g.linear(name + ".self_attention.out_proj", y, {.features = kVitWidth, .deviation = kVitDeviation});
  x = g.add(name + ".add1", x, y);
  y = g.layer_norm(name + ".ln_2", x, kVitNorm);
  y = g.linear(name + ".mlp.0", y, {.features = 4 * kVitWidth, .deviation = kVitDeviation});
  y = g.activation(name + ".mlp.1", y, Activation::gelu_erf);
  y = g.linear(name + ".mlp.3", y, {.features = kVitWidth, .deviation = kVitDeviation});
  return g.add(name + ".add2", x, y);
}

Graph vit_base_16(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  const std::int64_t side = image_size / kVitPatch;
  const std::int64_t patches = side * side;
  Value x =
      g.conv2d("conv_proj", g.image(),
               {.channels = kVitWidth, .kernel = kVitPatch, .stride = kVitPatch, .bias = true, .gain = 0.7});
  x = g.append("patches", {x}, ReshapeOptions{{kBatch, kVitWidth, patches}});
  x = g.append("sequence", {x}, TransposeOptions{{0, 2, 1}});
  const Value token =
      g.append("class_token", {}, ParameterOptions{.shape = {1, 1, kVitWidth}, .values = {}, .start = {}});
  x = g.append("concat", {g.append("class_tokens", {token}, ExpandOptions{{kBatch, 1, kVitWidth}}), x},
               ConcatOptions{.dimension = 1});
  x = g.position_embedding("encoder.pos_embedding", x, {.rows = patches + 1, .deviation = kVitDeviation});
  for (std::int64_t layer = 0; layer < kVitLayers; ++layer) {
    x = vit_block(g, fmt::format("encoder.layers.encoder_layer_{}", layer), x);
  }
  x = g.layer_norm("encoder.ln", x, kVitNorm);
  x = g.append("class", {x}, SliceOptions{.dimension = 1, .size = 1});
  x = g.append("features", {x}, ReshapeOptions{Shape::features(kVitWidth)});
  g.linear("heads.head", x, 1000);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "vit_base_16",
    .description = "ViT-B/16, 86.6 M parameters, 17.6 GMAC at 224 (torchvision)",
    .build = vit_base_16,
    .published_parameters = 86'567'656,
    .published_macs = 17.56e9,
    .image_step = kVitPatch,
}};

}  // namespace
}  // namespace bench::kernels
