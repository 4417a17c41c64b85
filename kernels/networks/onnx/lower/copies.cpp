// Operators that move elements: transpose, slice, split, concat, expand, tile and pad.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/graph/layer_options.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/constants/slices.h"
#include "kernels/networks/onnx/lower/batch_apart.h"
#include "kernels/networks/onnx/lower/copies.h"
#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels::onnx {
namespace {

// In which order the dimensions of more than one element come: where it stays, only the shape changes.
bool moves_nothing(const Shape& shape, const std::vector<std::size_t>& order) {
  std::size_t last = 0;
  for (const std::size_t d : order) {
    if (shape[d] != Extent(1)) {
      if (d < last) {
        return false;
      }
      last = d;
    }
  }
  return true;
}

Shape ordered(const Shape& shape, const std::vector<std::size_t>& order) {
  Shape result;
  for (const std::size_t d : order) {
    result.append(shape[d]);
  }
  return result;
}

void lower_transpose(Lowering& node) {
  const std::size_t rank = node.rank(0);
  std::vector<std::size_t> order;
  if (const auto given = integers_of(node.node, "perm")) {
    for (const std::int64_t each : *given) {
      order.push_back(axis_of(each, rank));
    }
  } else {
    for (std::size_t d = rank; d-- > 0;) {
      order.push_back(d);
    }
  }
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t d = 0; d < sorted.size(); ++d) {
    if (sorted[d] != d || sorted.size() != rank) {
      throw Refused("an order that does not have each dimension once");
    }
  }
  const Value& in = node.in(0);
  if (in.is_weight() && !in.layer && rank == 2 && order[0] == 1) {
    Value turned = in;
    turned.transposed = !in.transposed;
    turned.shape = {in.shape[1], in.shape[0]};
    turned.constant = nullptr;
    return node.set(std::move(turned));
  }
  const Shape shape = ordered(in.shape, order);
  if (node.all.is_tokens(node.in(0))) {  // they are only read where they are put together again
    return node.set(node.all.graph.image(), shape);
  }
  if (moves_nothing(in.shape, order)) {
    return node.set(node.elements(0), shape);
  }
  node.set(node.append({node.layer(0)}, TransposeOptions{.order = order}));
}

// A part without elements: what a concatenation leaves out.
Constant nothing_of(const Lowering& node, std::size_t dimension) {
  Extents dims = extents_of(node.shape(0));
  dims[dimension].size = 0;
  return Constant::uniform(node.in(0).type, dims, 0);
}

void lower_slice(Lowering& node) {
  const Evaluation evaluation = node.evaluation();
  for (std::size_t i = 1; i < node.inputs(); ++i) {
    if (node.has(i)) {
      node.known(i, "its bounds");
    }
  }
  const auto parts = slices_of(extents_of(node.shape(0)), slice_lists(evaluation), evaluation);
  if (parts.empty()) {
    return node.same(0);
  }
  if (const auto empty = std::ranges::find(parts, 0, &Sliced::size); empty != parts.end()) {
    return node.set(nothing_of(node, empty->dimension));
  }
  if (node.all.is_tokens(node.in(0))) {  // they are only read where they are put together again
    Shape shape = node.shape(0);
    for (const Sliced& part : parts) {
      if (part.step != 1) {
        throw Refused("it takes token ids in another order");
      }
      shape[part.dimension].size = part.size;
    }
    return node.set(node.all.graph.image(), shape);
  }
  Layers::Value layer = node.layer(0);
  for (const Sliced& part : parts) {
    layer = sliced(node, layer, part);
  }
  node.set(layer);
}

void lower_split(Lowering& node) {
  const std::size_t axis = node.axis(0);
  const auto sizes = split_sizes(node.shape(0)[axis], node.list("split", 1, "its sizes"),
                                 split_results(node.node), node.all.file_batch);
  if (sizes.size() == 1) {
    return node.same(0);
  }
  const Layers::Value from = node.layer(0);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) {
      node.set(nothing_of(node, axis), i);
    } else if (!node.node.outputs[i].empty()) {
      node.set(sliced(node, from, {.dimension = axis, .start = at, .step = 1, .size = sizes[i]}), i);
    }
    at += sizes[i];
  }
}

void lower_concat(Lowering& node) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    values.push_back(node.in(i));
  }
  node.set(concatenated(node, values, node.axis(0)));
}

void lower_expand(Lowering& node) {
  const Constant& target = node.known(1, "its sizes");
  if (target.elements() > static_cast<std::int64_t>(Shape::kMostDims)) {
    throw Refused("a shape of too many dimensions");
  }
  std::vector<Number> sizes;
  for (std::int64_t i = 0; i < target.elements(); ++i) {
    sizes.push_back(target.number(i));
  }
  const Shape shape = shape_of(expanded(extents_of(node.shape(0)), sizes, node.all.file_batch));
  if (shape == node.shape(0)) {
    return node.same(0);
  }
  const Shape& own = node.shape(0);
  if (const auto met = meeting({own, shape})) {
    const Layers::Value from = node.all.reshaped(node.elements(0), apart(own, *met));
    return node.set(node.append({from}, ExpandOptions{.shape = apart(shape, *met)}), shape);
  }
  node.set(node.append({node.layer(0)}, ExpandOptions{.shape = shape}));
}

// Each repeated dimension gets another before it, which is expanded.
void lower_tile(Lowering& node) {
  const Constant& repeats = node.known(1, "its repetitions");
  const Shape shape = node.shape(0);
  if (repeats.elements() != static_cast<std::int64_t>(shape.rank())) {
    throw Refused("repetitions of other dimensions");
  }
  Extents inserted;
  Extents expanded;
  Extents result;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const Number times = repeats.number(static_cast<std::int64_t>(d));
    const bool batch = times.per_batch != 0;
    const Extent count = batch ? Extent(to_whole(times.per_batch), true) : Extent(to_whole(times.fixed));
    if (count.size < 1 || (batch && (times.fixed != 0 || shape[d].per_sample))) {
      throw Refused("it repeats the batch");
    }
    if (shape[d].per_sample && count != Extent(1)) {
      // A sample's copies lie together, so that each sample has its own at every batch.
      node.all.assume_of("Each sample is repeated, not the batch, by {}.", node.name());
      inserted.insert(inserted.end(), {kBatch, Extent(1), Extent(shape[d].size)});
      expanded.insert(expanded.end(), {kBatch, count, Extent(shape[d].size)});
      result.emplace_back(elements_of({shape[d].size, count.size}), true);
      continue;
    }
    if (count != Extent(1) && shape[d] != Extent(1)) {
      inserted.emplace_back(1);
      expanded.push_back(count);
    }
    const bool alone = count != Extent(1) && shape[d] == Extent(1);
    inserted.push_back(shape[d]);
    expanded.push_back(alone ? count : shape[d]);
    result.emplace_back(elements_of({shape[d].size, count.size}), shape[d].per_sample || batch);
  }
  if (shape_of(result) == shape) {
    return node.same(0);
  }
  const Layers::Value in = node.all.reshaped(node.elements(0), shape_of(inserted));
  node.set(node.append({in}, ExpandOptions{.shape = shape_of(expanded)}), shape_of(result));
}

void lower_pad(Lowering& node) {
  const Shape shape = node.shape(0);
  const std::size_t rank = shape.rank();
  std::vector<std::int64_t> sizes;
  double border = 0;
  if (node.all.opset() < 11) {
    sizes = integers_of(node.node, node.all.opset() < 2 ? "paddings" : "pads").value_or(sizes);
    border = number_of(node.node, "value", 0);
  } else {
    sizes = node.known(1, "its sizes").wholes();
    border = node.has(2) ? node.known(2, "its border").value(0) : 0;
  }
  PadOptions options{.before = std::vector<std::int64_t>(rank, 0),
                     .behind = std::vector<std::int64_t>(rank, 0)};
  std::vector<std::size_t> axes;
  if (node.has(3)) {
    for (const std::int64_t axis : node.known(3, "its axes").wholes()) {
      axes.push_back(axis_of(axis, rank));
    }
  } else {
    for (std::size_t d = 0; d < rank; ++d) {
      axes.push_back(d);
    }
  }
  if (sizes.size() != 2 * axes.size()) {
    throw Refused(fmt::format("it has {} pads for {} dimensions; two for each are accepted", sizes.size(),
                              axes.size()));
  }
  bool none = true;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (!std::ranges::all_of(sizes, [](std::int64_t size) { return size > -kMost && size < kMost; })) {
    throw Refused("a pad is beyond 2^40");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    options.before[axes[i]] = sizes[i];
    options.behind[axes[i]] = sizes[i + axes.size()];
    none &= sizes[i] == 0 && sizes[i + axes.size()] == 0;
    if (shape[axes[i]].per_sample && (sizes[i] != 0 || sizes[i + axes.size()] != 0)) {
      throw Refused("it pads the batch");
    }
  }
  if (none) {
    return node.same(0);
  }
  const std::string mode = text_of(node.node, "mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    throw Refused(fmt::format("its mode is '{}'; constant, edge and reflect are accepted", mode));
  }
  options.outside = mode == "edge"      ? StridedCopy::Outside::edge
                    : mode == "reflect" ? StridedCopy::Outside::reflect
                                        : StridedCopy::Outside::value;
  options.value = static_cast<float>(std::clamp(border, -3.4028234663852886e38, 3.4028234663852886e38));
  const Layers::Value made = node.append({node.layer(0)}, options);
  Value value;
  value.shape = node.all.graph[made].shape;
  value.layer = made;
  if (mode == "constant") {
    value.padded = std::make_shared<Padded>(Padded{.of = std::make_shared<Value>(node.in(0)),
                                                   .before = options.before,
                                                   .behind = options.behind,
                                                   .border = border});
  }
  node.set(std::move(value));
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Transpose", lower_transpose}, {"Slice", lower_slice}, {"Split", lower_split}, {"Concat", lower_concat},
    {"Expand", lower_expand},       {"Tile", lower_tile},   {"Pad", lower_pad},
};

}  // namespace
}  // namespace bench::kernels::onnx
