// Attention that is a single node: Attention (opset 23) and ONNX Runtime's MultiHeadAttention. The node
// becomes products and a softmax, which the attention pass (kernels/networks/passes/match_attention.h) finds
// again.
#include <cmath>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/networks/onnx/lower/pointwise.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels::onnx {
namespace {

// A node's attributes and inputs, whatever operator it is.
struct Attending {
  std::int64_t query_heads = 0;  // where the inputs do not have a dimension of heads
  std::int64_t key_heads = 0;
  std::optional<float> scale{};
  float cap = 0;  // of scores: cap · tanh(score / cap); 0: none
  bool causal = false;
  std::optional<std::size_t> mask{};  // inputs
  std::optional<std::size_t> past_key{}, past_value{};
};

// Splits rows that hold all heads: batch x heads x positions x width.
Value by_heads(Lowering& node, const Value& value, std::int64_t heads) {
  const Shape shape = value.shape;
  if (shape.rank() == 4) {
    return node.value(node.all.layer(value));
  }
  if (shape.rank() != 3 || heads < 1 || shape[2].per_sample || shape[2].size % heads != 0) {
    throw Refused(fmt::format("{} for {} heads", shape.text(), heads));
  }
  const Layers::Value apart =
      node.all.reshaped(node.all.elements(value), {shape[0], shape[1], heads, shape[2].size / heads});
  return node.value(node.append({apart}, TransposeOptions{.order = {0, 2, 1, 3}}));
}

// Grouped queries: repeats each head of keys or values for every head of queries that reads it.
Value for_each_query(Lowering& node, const Value& value, std::int64_t heads) {
  const Shape shape = value.shape;
  const std::int64_t own = shape[1].size;
  if (own == heads) {
    return value;
  }
  if (own < 1 || heads % own != 0) {
    throw Refused(fmt::format("{} heads of queries for {} of keys", heads, own));
  }
  const Layers::Value apart = node.all.reshaped(*value.layer, {shape[0], own, 1, shape[2], shape[3]});
  const Layers::Value repeated =
      node.append({apart}, ExpandOptions{.shape = {shape[0], own, heads / own, shape[2], shape[3]}});
  return node.value(node.all.reshaped(repeated, {shape[0], heads, shape[2], shape[3]}));
}

// Appends keys or values to those of earlier positions.
Value behind_past(Lowering& node, std::optional<std::size_t> past, const Value& now) {
  if (!past || !node.has(*past) || node.shape(*past).elements() == 0) {
    return now;
  }
  return node.value(node.append({node.layer(*past), *now.layer}, ConcatOptions{.dimension = 2}));
}

constexpr float kHidden = -1e9F;  // instead of the scores of hidden positions

// Query i reads the keys up to its own position, which is after those of the past.
Value causal_mask(Lowering& node, std::int64_t queries, std::int64_t keys, std::int64_t past) {
  node.all.budget.take(elements_of({queries, keys}));
  Constant mask{.type = ElementType::f32, .dims = {queries, keys}, .values = {}};
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      mask.values.push_back(j <= i + past ? 0 : kHidden);
    }
  }
  return node.value(std::move(mask));
}

Value masked(Lowering& node, const Value& scores, const Value& mask) {
  const bool chooses = mask.type == ElementType::boolean;
  if (const auto all = scalar_of(mask); all && *all == (chooses ? 1 : 0)) {
    return scores;
  }
  return chooses ? joined(node, PointwiseFunction::where,
                          {mask, scores, node.value(Constant::uniform(ElementType::f32, {}, kHidden))})
                 : joined(node, PointwiseFunction::add, {scores, mask});
}

void lower(Lowering& node, const Attending& options) {
  const std::size_t rank = node.rank(0);
  Value query = by_heads(node, node.in(0), options.query_heads);
  Value key = by_heads(node, node.in(1), options.key_heads);
  Value value = by_heads(node, node.in(2), options.key_heads);
  const std::int64_t before = key.shape[2].size;
  key = behind_past(node, options.past_key, key);
  value = behind_past(node, options.past_value, value);
  const std::int64_t past = key.shape[2].size - before;
  node.set(key, 1);
  node.set(value, 2);
  const std::int64_t heads = query.shape[1].size;
  key = for_each_query(node, key, heads);
  value = for_each_query(node, value, heads);
  const auto width = static_cast<float>(query.shape[3].size);
  Value scores = node.value(
      node.append({*query.layer, *key.layer},
                  MatmulOptions{.transpose_b = true, .scale = options.scale.value_or(1 / std::sqrt(width))}));
  if (options.cap > 0) {
    Layers::Value capped = *scores.layer;
    for (const Activation activation :
         {Activation::linear(1 / options.cap, 0), Activation::tanh, Activation::linear(options.cap, 0)}) {
      capped = node.append({capped}, ActivationOptions{.activation = activation});
    }
    scores = node.value(capped);
  }
  if (options.mask && node.has(*options.mask)) {
    scores = masked(node, scores, node.in(*options.mask));
  }
  if (options.causal) {
    scores = masked(node, scores, causal_mask(node, query.shape[2].size, key.shape[2].size, past));
  }
  const Layers::Value shares = node.append({node.all.layer(scores)}, SoftmaxOptions{.dimension = 3});
  const Layers::Value read = node.append({shares, *value.layer}, MatmulOptions{});
  if (rank == 4) {
    return node.set(read);
  }
  const Layers::Value turned = node.append({read}, TransposeOptions{.order = {0, 2, 1, 3}});
  const Shape apart = node.all.graph[turned].shape;
  node.set(node.all.reshaped(turned, {apart[0], apart[1], apart[2].size * apart[3].size}));
}

bool is_read(const Lowering& node, std::size_t output) {
  return node.node.outputs.size() > output && !node.all.index.readers(node.node.outputs[output]).empty();
}

void lower_attention(Lowering& node) {
  if (is_read(node, 3)) {
    throw Refused("it also gives the scores");
  }
  if (node.has(6)) {
    throw Refused("each sample has another number of keys");
  }
  Attending options{.query_heads = integer_of(node.node, "q_num_heads", 0),
                    .key_heads = integer_of(node.node, "kv_num_heads", 0),
                    .cap = number_of(node.node, "softcap", 0),
                    .causal = integer_of(node.node, "is_causal", 0) != 0,
                    .mask = 3,
                    .past_key = 4,
                    .past_value = 5};
  if (node.node.find("scale") != nullptr) {
    options.scale = number_of(node.node, "scale", 1);
  }
  lower(node, options);
}

void lower_several_heads(Lowering& node) {
  if (node.has(3) || node.has(4) || !node.has(1) || !node.has(2) || node.has(8) || node.has(9)) {
    throw Refused("a bias, a mask of keys, a cache, or queries, keys and values in one input");
  }
  const std::int64_t heads = integer_of(node.node, "num_heads", 0);
  Attending options{.query_heads = heads,
                    .key_heads = heads,
                    .causal = integer_of(node.node, "unidirectional", 0) != 0,
                    .mask = 5,
                    .past_key = 6,
                    .past_value = 7};
  if (const float scale = number_of(node.node, "scale", 0); scale != 0) {
    options.scale = scale;
  }
  lower(node, options);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Attention", lower_attention},
    {"com.microsoft.MultiHeadAttention", lower_several_heads},
};

}  // namespace
}  // namespace bench::kernels::onnx
