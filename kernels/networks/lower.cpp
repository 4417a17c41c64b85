#include "kernels/networks/lower.h"

#include <algorithm>

#include "kernels/networks/parameters.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr std::int64_t kGroup = 16;  // of Layout::nchw16c

// Output i of an adaptive pool averages the inputs from ⌊i·in/out⌋ to ⌈(i+1)·in/out⌉. Where all those windows
// are equally large and equally far apart, an ordinary pool does it.
std::optional<std::pair<std::int64_t, std::int64_t>> regular_window(std::int64_t in, std::int64_t out) {
  const auto first = [&](std::int64_t i) { return i * in / out; };
  const auto last = [&](std::int64_t i) { return ((i + 1) * in + out - 1) / out; };
  const std::int64_t kernel = last(0);
  const std::int64_t stride = out > 1 ? first(1) : 1;
  for (std::int64_t i = 0; i < out; ++i) {
    if (stride < 1 || first(i) != i * stride || last(i) != first(i) + kernel) {
      return std::nullopt;
    }
  }
  return std::pair{kernel, stride};
}

// The tensor a linear layer sees flattened, or nullopt.
std::optional<TensorDesc> flattened(const Graph& graph, Value linear, const Target& target) {
  Value value = graph[linear].inputs[0];
  while (graph[value].kind == LayerKind::activation) {
    value = graph[value].inputs[0];
  }
  if (graph[value].kind != LayerKind::flatten) {
    return std::nullopt;
  }
  TensorDesc tensor = tensor_of(graph, graph[value].inputs[0], target);
  tensor.n = 1;
  return tensor;
}

std::vector<TensorDesc> inputs_of(const Graph& graph, Value value, const Target& target) {
  std::vector<TensorDesc> all;
  for (const Value input : graph[value].inputs) {
    all.push_back(tensor_of(graph, input, target));
  }
  return all;
}

// Where element (c, y, x) of a single image is stored.
std::int64_t stored_index(const TensorDesc& t, std::int64_t c, std::int64_t y, std::int64_t x) {
  switch (t.layout) {
    case Layout::nchw:
      return (c * t.h + y) * t.w + x;
    case Layout::nhwc:
      return (y * t.w + x) * t.c + c;
    case Layout::nchw16c:
      return ((c / kGroup * t.h + y) * t.w + x) * kGroup + c % kGroup;
  }
  return 0;
}

}  // namespace

Conv2d conv2d_of(const Graph& graph, Value value, const Target& target, const ExtraBytes& extra) {
  const Layer& layer = graph[value];
  const TensorDesc src = tensor_of(graph, layer.inputs[0], target);
  Conv2d spec;
  spec.batch = target.batch;
  spec.in_channels = src.c;
  spec.height = src.h;
  spec.width = src.w;
  spec.out_channels = layer.shape.c;
  spec.kernel_h = spec.kernel_w = layer.kernel;
  spec.stride_h = spec.stride_w = layer.stride;
  spec.pad_h = spec.pad_w = layer.pad;
  spec.groups = layer.groups;
  spec.bias = layer.bias;
  spec.residual = layer.residual;
  spec.activation = layer.activation;
  spec.dtype = target.dtype;
  spec.src_layout = src.layout;
  spec.dst_layout = target.layouts.inner;
  spec.extra = extra;
  return spec;
}

Pool max_pool_of(const Layer& layer, const TensorDesc& src) {
  Pool pool;
  pool.src = src;
  pool.kind = Pool::Kind::max;
  pool.kernel_h = pool.kernel_w = layer.kernel;
  pool.stride_h = pool.stride_w = layer.stride;
  pool.pad_h = pool.pad_w = layer.pad;
  pool.pad_bottom = pool.pad_right = layer.end_pad;
  return pool;
}

Concat concat_of(const Graph& graph, Value value, const Target& target) {
  return {.inputs = inputs_of(graph, value, target)};
}

Rows rows_of(const Graph& graph, Value value, const Target& target) {
  return {.maps = inputs_of(graph, value, target), .classes = graph[value].shape.c};
}

ConvTranspose conv_transpose_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  return {.src = tensor_of(graph, layer.inputs[0], target),
          .out_channels = layer.shape.c,
          .kernel = layer.kernel,
          .stride = layer.stride,
          .bias = layer.bias};
}

std::optional<Pool> average_pool_of(const Layer& layer, const TensorDesc& src) {
  const auto rows = regular_window(src.h, layer.size);
  const auto columns = regular_window(src.w, layer.size);
  if (!rows || !columns) {
    return std::nullopt;
  }
  Pool pool;
  pool.src = src;
  pool.kind = Pool::Kind::average;
  std::tie(pool.kernel_h, pool.stride_h) = *rows;
  std::tie(pool.kernel_w, pool.stride_w) = *columns;
  return pool;
}

std::int64_t rows_of(const TensorDesc& sequence) {
  return sequence.n * sequence.h * sequence.w;
}

Embedding embedding_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  return {.rows = target.batch * layer.shape.h,
          .vocabulary = layer.rows,
          .width = layer.shape.c,
          .dtype = target.dtype};
}

PositionEmbedding position_embedding_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  return {.batch = target.batch,
          .sequence = layer.shape.h,
          .positions = layer.rows,
          .width = layer.shape.c,
          .dtype = target.dtype};
}

LayerNorm layer_norm_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  return {.rows = target.batch * layer.shape.h, .width = layer.shape.c, .dtype = target.dtype};
}

Attention attention_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  return {.batch = target.batch,
          .sequence = layer.shape.h,
          .heads = layer.heads,
          .head_size = layer.shape.c / layer.heads,
          .dtype = target.dtype};
}

Linear linear_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  const TensorDesc src = tensor_of(graph, layer.inputs[0], target);
  return {.rows = rows_of(src),
          .inner = src.c,
          .columns = layer.shape.c,
          .bias = layer.bias,
          .dtype = target.dtype};
}

TensorDesc tensor_of(const Graph& graph, Value value, const Target& target) {
  const Layer& layer = graph[value];
  const Shape& shape = layer.shape;
  TensorDesc tensor{target.batch, shape.c, shape.h, shape.w, Layout::nhwc, target.dtype};
  switch (layer.kind) {
    case LayerKind::input:
      if (graph.tokens()) {
        tensor.dtype = Dtype::fp32;
      } else {
        tensor.layout = target.layouts.image;
      }
      break;
    case LayerKind::conv2d:
      tensor.layout = target.layouts.inner;
      break;
    case LayerKind::linear:
    case LayerKind::softmax:
    case LayerKind::rows:
    case LayerKind::embedding:
    case LayerKind::attention:
      break;
    case LayerKind::flatten: {
      // Channel padding is flattened along: the columns it meets are zero.
      const TensorDesc source = tensor_of(graph, layer.inputs[0], target);
      tensor.c = source.bytes() / bytes_of(source.dtype) / source.n;
      break;
    }
    default: {
      const TensorDesc source = tensor_of(graph, layer.inputs[0], target);
      tensor.layout = source.layout;
      if (shape.h == 1 && shape.w == 1) {
        tensor.c = source.c;  // behind a flatten the padding stays
      }
      break;
    }
  }
  return tensor;
}

TensorDesc output_of(const Graph& graph, const Target& target) {
  const TensorDesc output = tensor_of(graph, graph.output(), target);
  return graph.tokens() ? TensorDesc{rows_of(output), output.c, 1, 1, Layout::nhwc, output.dtype} : output;
}

std::shared_ptr<Operation> lower(const Graph& graph, Value value, const Target& target,
                                 const ExtraBytes& extra, Device& device, OperationCache& cache) {
  const Layer& layer = graph[value];
  if (layer.kind == LayerKind::input || layer.kind == LayerKind::flatten) {
    return nullptr;
  }
  const std::string& implementation = target.implementation;
  const TensorDesc src = tensor_of(graph, layer.inputs[0], target);
  switch (layer.kind) {
    case LayerKind::conv2d:
      return cache.make(conv2d_of(graph, value, target, extra), device, implementation);
    case LayerKind::batch_norm:
      return cache.make(BatchNorm{.tensor = src}, device, implementation);
    case LayerKind::activation:
      if (layer.activation == Activation::gelu) {
        return cache.make(Gelu{.tensor = src}, device, implementation);
      }
      return cache.make(Relu{.tensor = src, .activation = layer.activation}, device, implementation);
    case LayerKind::max_pool:
      return cache.make(max_pool_of(layer, src), device, implementation);
    case LayerKind::average_pool:
      if (const auto pool = average_pool_of(layer, src)) {
        return cache.make(*pool, device, implementation);
      }
      return cache.make(AdaptivePool{.src = src, .height = layer.size, .width = layer.size}, device,
                        implementation);
    case LayerKind::add:
      if (tensor_of(graph, layer.inputs[1], target) != src) {
        throw Unsupported(layer.name + " adds tensors stored in different layouts");
      }
      return cache.make(Add{.tensor = src, .activation = layer.activation}, device, implementation);
    case LayerKind::embedding:
      return cache.make(embedding_of(graph, value, target), device, implementation);
    case LayerKind::position_embedding:
      return cache.make(position_embedding_of(graph, value, target), device, implementation);
    case LayerKind::layer_norm:
      return cache.make(layer_norm_of(graph, value, target), device, implementation);
    case LayerKind::attention:
      return cache.make(attention_of(graph, value, target), device, implementation);
    case LayerKind::linear:
      if (layer.shares) {  // a table is looked up in: its layout cannot be the product's choice
        if (layer.activation != Activation::none) {
          throw Unsupported(layer.name + " applies an activation over shared weights");
        }
        return cache.make(linear_of(graph, value, target), device, implementation);
      }
      return cache.make(Matmul{.rows = rows_of(src),
                               .inner = src.c,
                               .columns = layer.shape.c,
                               .bias = layer.bias,
                               .activation = layer.activation,
                               .dtype = target.dtype},
                        device, implementation);
    case LayerKind::softmax:
      return cache.make(Softmax{.tensor = src}, device, implementation);
    case LayerKind::concat:
      return cache.make(concat_of(graph, value, target), device, implementation);
    case LayerKind::upsample:
      return cache.make(Upsample{.src = src}, device, implementation);
    case LayerKind::conv_transpose:
      return cache.make(conv_transpose_of(graph, value, target), device, implementation);
    case LayerKind::rows:
      return cache.make(rows_of(graph, value, target), device, implementation);
    default:
      throw std::logic_error(layer.name + ": no operation computes it");
  }
}

std::vector<float> lowered_parameter(const Graph& graph, Value value, Slot slot, const Target& target,
                                     std::uint64_t seed) {
  std::vector<float> plain = plain_parameter(graph, value, slot, seed);
  if (graph[value].kind != LayerKind::linear || slot != Slot::weights) {
    return plain;
  }
  const auto tensor = flattened(graph, value, target);
  if (!tensor || tensor->layout == Layout::nchw ||
      (tensor->h * tensor->w == 1 && tensor->bytes() == tensor->elements() * bytes_of(tensor->dtype))) {
    return plain;
  }

  std::vector<std::int64_t> column;  // plain column → stored column
  column.reserve(static_cast<std::size_t>(tensor->elements()));
  for (std::int64_t c = 0; c < tensor->c; ++c) {
    for (std::int64_t y = 0; y < tensor->h; ++y) {
      for (std::int64_t x = 0; x < tensor->w; ++x) {
        column.push_back(stored_index(*tensor, c, y, x));
      }
    }
  }
  const std::int64_t rows = graph[value].shape.c;
  const auto narrow = static_cast<std::int64_t>(column.size());
  const std::int64_t wide = tensor->bytes() / bytes_of(tensor->dtype);
  // In place, since these can be the network's largest weights: rows move apart from the last on.
  plain.resize(static_cast<std::size_t>(rows * wide));
  std::vector<float> row(column.size());
  for (std::int64_t r = rows - 1; r >= 0; --r) {
    std::copy_n(plain.begin() + r * narrow, narrow, row.begin());
    std::fill_n(plain.begin() + r * wide, wide, 0.0F);
    for (std::size_t i = 0; i < column.size(); ++i) {
      plain[static_cast<std::size_t>(r * wide + column[i])] = row[i];
    }
  }
  return plain;
}

}  // namespace bench::kernels
