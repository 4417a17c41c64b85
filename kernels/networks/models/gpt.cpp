// GPT-2 small, Radford et al. 2019 (Language Models are Unsupervised Multitask Learners), layer for layer as
// its release names them: normalisation before attention and before the MLP, a last one after the blocks,
// and logits by the table of token embeddings. Its dropout is left out.
//
// Multiply-adds a sample of s tokens, with L layers of width d and a vocabulary of V:
//   s · (L · 12 · d² + d · V) + L · 2 · s² · d        (linear layers and head; attention's two products)
#include "kernels/networks/models/gpt.h"

#include <cmath>

#include <fmt/format.h>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// GPT-2 draws weights with a deviation of 0.02 at its width. Logits are products of `width` terms with a
// table row, so that other widths keep their size with this.
double deviation_of(const GptSizes& sizes) {
  return 0.02 * std::sqrt(768.0 / static_cast<double>(sizes.width));
}

// Each layer adds less to the residual stream the more layers there are, as in the release: the stream does
// not grow with the depth.
double residual_deviation_of(const GptSizes& sizes) {
  return deviation_of(sizes) / std::sqrt(2.0 * static_cast<double>(sizes.layers));
}

Value block(Graph& g, const std::string& name, Value x, const GptSizes& sizes) {
  const double deviation = deviation_of(sizes);
  const double residual = residual_deviation_of(sizes);
  Value y = g.layer_norm(name + ".ln_1", x);
  y = g.linear(name + ".attn.c_attn", y, {.features = 3 * sizes.width, .deviation = deviation});
  y = g.attention(name + ".attn", y, sizes.heads);
  y = g.linear(name + ".attn.c_proj", y, {.features = sizes.width, .deviation = residual});
  x = g.add(name + ".attn.add", x, y);
  y = g.layer_norm(name + ".ln_2", x);
  y = g.linear(name + ".mlp.c_fc", y, {.features = 4 * sizes.width, .deviation = deviation});
  y = g.gelu(name + ".mlp.act", y);
  y = g.linear(name + ".mlp.c_proj", y, {.features = sizes.width, .deviation = residual});
  return g.add(name + ".mlp.add", x, y);
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "gpt_small",
    .description = "GPT-2 small, 124 M parameters, 32.8 GMAC for 256 tokens (Radford 2019)",
    .build = nullptr,
    .published_parameters = 124'439'808,
    .published_macs = 32.83e9,  // by the formula above
    .options = {{"sequence", 256, 1, GptSizes{}.positions, "tokens a sample"}},
    .build_sized = [](const NetworkSizes& sizes) { return gpt({.sequence = sizes.at("sequence")}); },
}};

}  // namespace

Graph gpt(const GptSizes& sizes) {
  Graph g(Tokens{.sequence = sizes.sequence, .vocabulary = sizes.vocabulary});
  const double deviation = deviation_of(sizes);
  const Value table = g.embedding("wte", g.image(), {.width = sizes.width, .deviation = deviation});
  Value x = g.position_embedding("wpe", table, {.rows = sizes.positions, .deviation = deviation});
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    x = block(g, fmt::format("h.{}", layer), x, sizes);
  }
  g.tied_linear("lm_head", g.layer_norm("ln_f", x), table);
  return g;
}

}  // namespace bench::kernels
