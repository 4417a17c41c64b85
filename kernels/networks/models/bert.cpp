// BERT, Devlin et al. 2018 (arXiv:1810.04805), and DistilBERT, Sanh et al. 2019 (arXiv:1910.01108), layer for
// layer as Hugging Face names them: encoders of the uncased vocabulary, and a classifier of two classes on
// the first token, as they are fine-tuned. Dropout and the mask of padding are left out.
//
// Multiply-adds a sample of s tokens, with L layers of width d:
//   s · L · 12 · d² + L · 2 · s² · d + d² + 2 · d       (linear layers; attention's two products; classifier)
#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr double kBertDeviation = 0.02;
constexpr LayerNormOptions kBertNorm{.epsilon = 1e-12F};
constexpr std::int64_t kBertPositions = 512;

struct Encoder {
  std::int64_t width;
  std::int64_t layers;
  std::int64_t heads;
  bool is_distilled;  // without token types, and with a rectifier in the classifier
};

constexpr Encoder kBertBase{768, 12, 12, false};
constexpr Encoder kBertLarge{1024, 24, 16, false};
constexpr Encoder kDistilBert{768, 6, 12, true};

Value bert_linear(Graph& g, const std::string& name, Value x, std::int64_t features) {
  return g.linear(name, x, {.features = features, .deviation = kBertDeviation});
}

// The norms follow the sums.
Value bert_layer(Graph& g, const std::string& name, Value x, const Encoder& encoder) {
  const std::string self = name + ".attention.self";
  const Value query = bert_linear(g, self + ".query", x, encoder.width);
  const Value key = bert_linear(g, self + ".key", x, encoder.width);
  const Value value = bert_linear(g, self + ".value", x, encoder.width);
  Value y = g.append(self, {query, key, value}, AttentionOptions{.heads = encoder.heads, .causal = false});
  y = bert_linear(g, name + ".attention.output.dense", y, encoder.width);
  x = g.layer_norm(name + ".attention.output.LayerNorm", g.add(name + ".attention.output.add", x, y),
                   kBertNorm);
  y = bert_linear(g, name + ".intermediate.dense", x, 4 * encoder.width);
  y = g.activation(name + ".intermediate.act", y, Activation::gelu_erf);
  y = bert_linear(g, name + ".output.dense", y, encoder.width);
  return g.layer_norm(name + ".output.LayerNorm", g.add(name + ".output.add", x, y), kBertNorm);
}

Value bert_embeddings(Graph& g, const Encoder& encoder) {
  const TableOptions words{.width = encoder.width, .deviation = kBertDeviation};
  Value x = g.embedding("embeddings.word_embeddings", g.image(), words);
  x = g.position_embedding("embeddings.position_embeddings", x,
                           {.rows = kBertPositions, .deviation = kBertDeviation});
  if (!encoder.is_distilled) {  // every token is of the first type
    const Value types = g.append("embeddings.token_type_embeddings", {},
                                 ParameterOptions{.shape = {2, encoder.width}, .values = {}, .start = {}});
    const Value first = g.append("embeddings.token_type", {types}, SliceOptions{.dimension = 0, .size = 1});
    x = g.append("embeddings.add", {x, first}, PointwiseOptions{PointwiseFunction::add});
  }
  return g.layer_norm("embeddings.LayerNorm", x, kBertNorm);
}

Graph bert(const NetworkSizes& sizes, const Encoder& encoder) {
  constexpr std::int64_t kVocabulary = 30522;
  Graph g(Tokens{.sequence = sizes.at("sequence"), .vocabulary = kVocabulary});
  Value x = bert_embeddings(g, encoder);
  for (std::int64_t i = 0; i < encoder.layers; ++i) {
    x = bert_layer(g, fmt::format("encoder.layer.{}", i), x, encoder);
  }
  x = g.append("first_token", {x}, SliceOptions{.dimension = 1, .size = 1});
  x = g.append("first_features", {x}, ReshapeOptions{Shape::features(encoder.width)});
  x = bert_linear(g, encoder.is_distilled ? "pre_classifier" : "pooler.dense", x, encoder.width);
  x = g.activation("pooler.activation", x, encoder.is_distilled ? Activation::relu : Activation::tanh);
  bert_linear(g, "classifier", x, 2);
  return g;
}

const std::vector<WholeOption> kBertSizes{{"sequence", 128, 1, kBertPositions, "tokens a sample"}};

const NetworkRegistration bert_base{{
    .name = "bert_base",
    .description = "BERT base, 109 M parameters, 11.2 GMAC for 128 tokens (Hugging Face)",
    .build = nullptr,
    .published_parameters = 109'483'778,
    .published_macs = 11.17e9,  // by the formula above
    .options = kBertSizes,
    .build_sized = [](const NetworkSizes& sizes) { return bert(sizes, kBertBase); },
}};

const NetworkRegistration bert_large{{
    .name = "bert_large",
    .description = "BERT large, 335 M parameters, 39.5 GMAC for 128 tokens (Hugging Face)",
    .build = nullptr,
    .published_parameters = 335'143'938,
    .published_macs = 39.46e9,
    .options = kBertSizes,
    .build_sized = [](const NetworkSizes& sizes) { return bert(sizes, kBertLarge); },
}};

const NetworkRegistration distilbert{{
    .name = "distilbert",
    .description = "DistilBERT, 67 M parameters, 5.6 GMAC for 128 tokens (Hugging Face)",
    .build = nullptr,
    .published_parameters = 66'955'010,
    .published_macs = 5.59e9,
    .options = kBertSizes,
    .build_sized = [](const NetworkSizes& sizes) { return bert(sizes, kDistilBert); },
}};

}  // namespace
}  // namespace bench::kernels
