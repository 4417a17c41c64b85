// Products of matrices side by side.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"
#include "kernels/operations/reduce/reduce.h"

namespace bench::kernels {
namespace {

struct Matrix {
  Extent rows, columns;
};

// The last two dimensions of an operand.
Matrix matrix_of(const Shape& shape, bool transposed) {
  const Matrix stored{shape[shape.rank() - 2], shape[shape.rank() - 1]};
  return transposed ? Matrix{stored.columns, stored.rows} : stored;
}

class MatmulLayer final : public LayerOf<MatmulLayer, MatmulOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& name, std::span<const Shape> inputs) const override {
    require(inputs.size() == 2, name, "multiplies two values");
    for (const Shape& input : inputs) {
      require(input.rank() >= 2, name, "needs matrices", input);
    }
    const Matrix a = matrix_of(inputs[0], options_.transpose_a);
    const Matrix b = matrix_of(inputs[1], options_.transpose_b);
    require(a.columns == b.rows, name, "needs as many columns of the first matrix as rows of the second",
            inputs[1]);
    require(!a.columns.per_sample, name, "needs dimensions that keep samples apart", inputs[0]);
    Shape result;
    const std::size_t rank = std::max(inputs[0].rank(), inputs[1].rank());
    for (std::size_t dimension = 0; dimension + 2 < rank; ++dimension) {
      Extent extent = 1;
      for (const Shape& input : inputs) {
        const Extent own = dimension + input.rank() < rank ? 1 : input[dimension + input.rank() - rank];
        require(own == Extent(1) || extent == Extent(1) || own == extent, name,
                "needs leading dimensions that are alike or 1, counted from the last", input);
        extent = own == Extent(1) ? extent : own;
      }
      result.append(extent);
    }
    result.append(a.rows);
    result.append(b.columns);
    const auto batch = result.batch_dimension();
    require(!batch || result.is_fixed_from(*batch + 1), name, "would multiply samples with each other",
            result);
    return result;
  }
  std::int64_t macs(const LayerPlace& place) const override {
    return capped_product(place.shape.elements(),
                          matrix_of(place.input(), options_.transpose_a).columns.size);
  }
  StoredValue stored(const Shape& shape, std::span<const StoredValue> /*inputs*/,
                     const Target& target) const override {
    return {stored_as(shape, target, Layout::nchw)};
  }
  bool reads_any_layout() const override { return true; }

  void forward(Recorder& recorder) const override {
    const ArrayTensor a = recorder.array(0, Layout::nchw);
    const ArrayTensor b = recorder.array(1, Layout::nchw);
    recorder.record(spec(recorder, a.array.dims, b.array.dims),
                    {{Slot::src, a.id}, {Slot::src1, b.id}, {Slot::dst, recorder.result()}});
  }

  void backward(Recorder& recorder) const override {
    for (const std::size_t index : {0, 1}) {
      if (recorder.wants_gradient(index)) {
        record_gradient(recorder, index);
      }
    }
  }

  // With one matrix for all samples and rows it is a linear layer.
  EagerOperations eager(const LayerPlace& place) const override {
    const Matrix a = matrix_of(place.inputs[0], options_.transpose_a);
    const Matrix b = matrix_of(place.inputs[1], options_.transpose_b);
    const auto size = [](const Extent& extent) { return static_cast<double>(extent.size); };
    const auto values = static_cast<double>(place.shape.elements());
    const auto matrix = static_cast<double>(place.inputs[1].elements());
    const bool is_linear = !place.inputs[1].batch_dimension() && matrix == size(b.rows) * size(b.columns);
    if (is_linear) {
      return {eager::product(place, {.kind = ProductClass::linear,
                                     .rows = values / size(b.columns),
                                     .columns = size(b.columns),
                                     .depth = size(b.rows)})};
    }
    return {eager::product(place, {.kind = ProductClass::batched,
                                   .rows = size(a.rows),
                                   .columns = size(b.columns),
                                   .depth = size(b.rows),
                                   .count = values / (size(a.rows) * size(b.columns))})};
  }

 private:
  BatchedMatmul spec(const Recorder& recorder, const Dims& a, const Dims& b) const {
    BatchedMatmul spec{.transpose_a = options_.transpose_a,
                       .transpose_b = options_.transpose_b,
                       .scale = options_.scale,
                       .dtype = recorder.target().dtype};
    const auto lead = [](const Dims& dims, BatchedMatmul::Leading& leading) {
      for (std::size_t dimension = 0; dimension + 2 < dims.rank(); ++dimension) {
        leading[dimension + 2 + leading.size() - dims.rank()] = dims[dimension];
      }
    };
    lead(a, spec.a_leading);
    lead(b, spec.b_leading);
    spec.rows = a[a.rank() - (spec.transpose_a ? 1 : 2)];
    spec.inner = a[a.rank() - (spec.transpose_a ? 2 : 1)];
    spec.columns = b[b.rank() - (spec.transpose_b ? 2 : 1)];
    // All rows meet one matrix: a single product, whose gradient is one as well.
    if (!spec.transpose_a && std::ranges::all_of(spec.b_leading, [](std::int64_t i) { return i == 1; })) {
      spec.rows *= spec.matrices();
      spec.a_leading = {1, 1, 1, 1};
    }
    return spec;
  }

  // Where the operand is repeated, its gradient is the sum over the repetitions.
  static void record_sum(Recorder& recorder, std::size_t index, const BatchedMatmul& product,
                         const BatchedMatmul::Leading& own, TensorId parts) {
    Reduce sum{.function = ReduceFunction::sum, .src = {.dims = {}, .dtype = product.dtype}, .dst = {}};
    for (const std::int64_t extent : product.leading()) {
      sum.src.dims.append(extent);
    }
    sum.src.dims.append(product.rows * product.columns);
    sum.dst = sum.src;
    for (std::size_t i = 0; i < own.size(); ++i) {
      sum.dst.dims[i] = own[i];
    }
    const TensorId made = recorder.input_gradient_array(index, Layout::nchw).id;
    recorder.record(sum, {{Slot::src, parts}, {Slot::dst, made}}, {}, fmt::format(" (sum {})", index));
  }

  void record_gradient(Recorder& recorder, std::size_t index) const {
    const ArrayTensor a = recorder.array(0, Layout::nchw);
    const ArrayTensor b = recorder.array(1, Layout::nchw);
    const TensorId diff = recorder.diff_array(Layout::nchw).id;
    const BatchedMatmul spec = this->spec(recorder, a.array.dims, b.array.dims);
    const MatmulGradient gradient = gradient_of(spec, index);
    const BatchedMatmul& product = gradient.product;
    const auto operand = [&](MatmulGradient::Operand wanted) {
      using Operand = MatmulGradient::Operand;
      return wanted == Operand::src ? a.id : wanted == Operand::src1 ? b.id : diff;
    };
    const BatchedMatmul::Leading& own = index == 0 ? spec.a_leading : spec.b_leading;
    const bool repeated = own != product.leading();
    const TensorId made = repeated ? recorder.temporary(fmt::format("gradients of input {}", index),
                                                        product.dst().bytes(), Content::activation_gradient)
                                   : recorder.input_gradient_array(index, Layout::nchw).id;
    recorder.record(
        product,
        {{Slot::src, operand(gradient.first)}, {Slot::src1, operand(gradient.second)}, {Slot::dst, made}}, {},
        fmt::format(" (input {})", index));
    if (repeated) {
      record_sum(recorder, index, product, own, made);
    }
  }
};

const LayerRegistration<MatmulOptions, MatmulLayer> BENCH_REGISTERED{"matmul"};

}  // namespace
}  // namespace bench::kernels
