// A pass of attention as an operation graph of cuDNN's.
#include <limits>
#include <utility>

#include "kernels/backends/cudnn/toolkit/operation_graph.h"

namespace bench::kernels::cudnn {
namespace {

// Each n, heads, positions, features.
//
// A head's features within rows of `row`: query, key or value of all three, or those or the result of all
// heads.
Tensor in_rows(const Attention& spec, std::int64_t positions, std::int64_t row) {
  return {.dims = {spec.batch, spec.heads, positions, spec.head_size},
          .strides = {positions * row, spec.head_size, row, 1}};
}
// A head's matrix of rows × columns after the other.
Tensor dense(const Attention& spec, std::int64_t columns) {
  const std::int64_t matrix = spec.sequence * columns;
  return {.dims = {spec.batch, spec.heads, spec.sequence, columns},
          .strides = {spec.heads * matrix, matrix, columns, 1}};
}
// With positions and features swapped.
Tensor transposed(Tensor tensor) {
  std::swap(tensor.dims[2], tensor.dims[3]);
  std::swap(tensor.strides[2], tensor.strides[3]);
  return tensor;
}

// cuDNN before 9.10 wants a number there.
float below_all() {
  constexpr std::size_t kTakesInfinity = 91000;
  return api().cudnnGetVersion() < kTakesInfinity ? std::numeric_limits<float>::lowest()
                                                  : -std::numeric_limits<float>::infinity();
}

// As NVIDIA's front end of version 1.23 puts them together for cuDNN before 9.21: its log of a graph is the
// same, except for strides of a tensor that is never in memory.
class Describer {
 public:
  Describer(const Attention& spec, OperationGraph& graph)
      : spec_(spec), graph_(graph), type_(type_of(spec.dtype)) {}

  void forward() {
    const Descriptor& query = graph_.stored(kQuery, queries_, type_);
    const Descriptor& key = graph_.stored(kKey, transposed(keys_), type_);
    const Descriptor& value = graph_.stored(kValue, keys_, type_);
    const Descriptor& seen = masked(scaled(product(query, key, square())));
    const Descriptor& largest = reduced(CUDNN_REDUCE_TENSOR_MAX, seen, row());
    const Descriptor& weights =
        unary(CUDNN_POINTWISE_EXP, binary(CUDNN_POINTWISE_SUB, seen, largest, square()));
    const Descriptor& sum = reduced(CUDNN_REDUCE_TENSOR_ADD, weights, row());
    // In inference nothing reads them, but cuDNN knows no graph without.
    const Descriptor& log = row();
    graph_.add_pointwise(pointwise(CUDNN_POINTWISE_LOG), sum, nullptr, log);
    binary(CUDNN_POINTWISE_ADD, largest, log,
           spec_.training ? graph_.stored(kStatistics, row_, kSum) : row());
    const Descriptor& probabilities =
        binary(CUDNN_POINTWISE_DIV, weights, sum, graph_.between(square_, type_));
    product(probabilities, value, graph_.stored(kOut, out_, type_));
  }

  void backward() {
    const Descriptor& query = graph_.stored(kQuery, queries_, type_);
    const Descriptor& key = graph_.stored(kKey, transposed(keys_), type_);
    const Descriptor& value = graph_.stored(kValue, transposed(keys_), type_);
    const Descriptor& out = graph_.stored(kOut, out_, type_);
    const Descriptor& diff_out = graph_.stored(kDiffOut, out_, type_);
    const Descriptor& statistics = graph_.stored(kStatistics, row_, kSum);
    // Σ dO ∘ O of each row, which is Σ_j dP ∘ P.
    const Descriptor& along =
        binary(CUDNN_POINTWISE_MUL,
               reduced(CUDNN_REDUCE_TENSOR_ADD,
                       binary(CUDNN_POINTWISE_MUL, diff_out, out, graph_.between(dense_, kSum)), row()),
               graph_.constant(1.0F), graph_.stored(kRowSums, row_, kSum));
    const Descriptor& probabilities = unary(
        CUDNN_POINTWISE_EXP,
        masked(binary(CUDNN_POINTWISE_SUB, scaled(product(query, key, square())), statistics, square())));
    product(turned(probabilities), diff_out, graph_.stored(kDiffValue, keys_, type_));
    const Descriptor& scores_gradient = scaled(binary(
        CUDNN_POINTWISE_MUL, binary(CUDNN_POINTWISE_SUB, product(diff_out, value, square()), along, square()),
        probabilities, square()));
    product(turned(scores_gradient), query, graph_.stored(kDiffKey, keys_, type_));
    const Descriptor& sum = product(scores_gradient, reshaped(key, graph_.between(keys_, kSum)),
                                    graph_.stored(kDiffQuerySum, dense_, kSum));
    graph_.add_pointwise(pointwise(CUDNN_POINTWISE_IDENTITY), sum, nullptr,
                         graph_.stored(kDiffQuery, queries_, type_));
  }

 private:
  const Descriptor& square() { return graph_.between(square_, kSum); }
  const Descriptor& row() { return graph_.between(row_, kSum); }

  // Tensors belong to the graph, so that a reference to one stays valid.
  // NOLINTBEGIN(bugprone-return-const-ref-from-parameter)
  const Descriptor& product(const Descriptor& a, const Descriptor& b, const Descriptor& to) {
    Descriptor product(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    product.set(CUDNN_ATTR_MATMUL_COMP_TYPE, kSum);
    product.finalize();
    Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to);
    operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, product);
    graph_.add(std::move(operation));
    return to;
  }
  const Descriptor& binary(cudnnPointwiseMode_t mode, const Descriptor& a, const Descriptor& b,
                           const Descriptor& to) {
    graph_.add_pointwise(pointwise(mode), a, &b, to);
    return to;
  }
  const Descriptor& unary(cudnnPointwiseMode_t mode, const Descriptor& of) {
    const Descriptor& to = square();
    graph_.add_pointwise(pointwise(mode), of, nullptr, to);
    return to;
  }
  const Descriptor& scaled(const Descriptor& of) {
    if (scale_ == nullptr) {
      scale_ = &graph_.constant(static_cast<float>(spec_.factor()));
    }
    return binary(CUDNN_POINTWISE_MUL, of, *scale_, square());
  }
  const Descriptor& reduced(cudnnReduceTensorOp_t by, const Descriptor& from, const Descriptor& to) {
    Descriptor reduction(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    reduction.set(CUDNN_ATTR_REDUCTION_OPERATOR, by);
    reduction.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, kSum);
    reduction.finalize();
    Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, from);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
    operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction);
    graph_.add(std::move(operation));
    return to;
  }
  const Descriptor& reshaped(const Descriptor& from, const Descriptor& to) {
    Descriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, from);
    operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
    graph_.add(std::move(operation));
    return to;
  }
  // NOLINTEND(bugprone-return-const-ref-from-parameter)
  // The same square by columns, in the dtype.
  const Descriptor& turned(const Descriptor& of) {
    return reshaped(of, graph_.between(transposed(square_), type_));
  }

  // Row (2) or column (3) of each element of a square.
  const Descriptor& index(std::int64_t axis, const Descriptor& of) {
    Descriptor mode(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    mode.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_GEN_INDEX);
    mode.set(CUDNN_ATTR_POINTWISE_MATH_PREC, kSum);
    mode.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    mode.finalize();
    const Descriptor& to = graph_.between(square_, CUDNN_DATA_INT32);
    graph_.add_pointwise(mode, of, nullptr, to);
    return to;
  }
  // Where it is causal, a row sees the elements up to its own.
  const Descriptor& masked(const Descriptor& of) {
    if (!spec_.causal) {
      return of;  // NOLINT(bugprone-return-const-ref-from-parameter): a descriptor of the graph
    }
    const Descriptor& row_index = index(2, of);
    const Descriptor& column_index = index(3, of);
    const Descriptor& seen = graph_.between(square_, CUDNN_DATA_BOOLEAN);
    graph_.add_pointwise(pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN), row_index, &column_index,
                         seen);
    const Descriptor& to = square();
    graph_.add_pointwise(pointwise(CUDNN_POINTWISE_BINARY_SELECT), of, &graph_.constant(below_all()), to,
                         &seen);
    return to;
  }

  const Attention& spec_;
  OperationGraph& graph_;
  cudnnDataType_t type_;
  Tensor queries_ = in_rows(spec_, spec_.sequence, spec_.row());
  Tensor keys_ = in_rows(spec_, spec_.key_count(), spec_.row());  // and values
  Tensor out_ = in_rows(spec_, spec_.sequence, spec_.width());
  Tensor dense_ = dense(spec_, spec_.head_size);
  Tensor square_ = dense(spec_, spec_.key_count());  // scores
  Tensor row_ = dense(spec_, 1);                     // a number for each row of scores
  const Descriptor* scale_ = nullptr;
};

}  // namespace

void describe(const Attention& spec, OperationGraph& graph) {
  Describer describer(spec, graph);
  if (spec.forward()) {
    describer.forward();
  } else {
    describer.backward();
  }
}

}  // namespace bench::kernels::cudnn
