// A product with weights and its gradients, sum by sum as in the formula of linear.h.
#include <algorithm>

#include "kernels/backends/reference/products.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

// The reference packs nothing: packed weights are the plain ones in fp32.
Dtype stored_weights(const Linear& spec) {
  return spec.packed ? Dtype::fp32 : spec.dtype;
}

}  // namespace

PlainSlots plain_slots(const Linear& spec) {
  PlainSlots slots;
  switch (spec.direction) {
    case Direction::forward:
      slots.add_activation(Slot::src, Role::input, spec.src());
      slots.add_values(Slot::weights, Role::parameter, spec.weight_count(), stored_weights(spec));
      if (spec.bias) {
        slots.add_values(Slot::bias, Role::parameter, spec.columns);
      }
      slots.add_activation(Slot::dst, Role::output, spec.dst());
      break;
    case Direction::backward_data:
      slots.add_activation(Slot::diff_dst, Role::input, spec.dst());
      slots.add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
      slots.add_activation(Slot::diff_src, Role::output, spec.src());
      break;
    case Direction::backward_weights:
      slots.add_activation(Slot::src, Role::input, spec.src());
      slots.add_activation(Slot::diff_dst, Role::input, spec.dst());
      slots.add_values(Slot::diff_weights, Role::output, spec.weight_count(), spec.dtype);
      if (spec.bias) {
        slots.add_values(Slot::diff_bias, Role::output, spec.columns);
      }
      break;
    case Direction::backward:
      break;
  }
  return slots;
}

namespace {

// The transpose of a row-major matrix.
std::vector<float> transposed(std::span<const float> matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      result[j * rows + i] = matrix[i * columns + j];
    }
  }
  return result;
}

class ReferenceLinear final : public ReferenceOf<Linear> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    switch (spec_.direction) {
      case Direction::forward:
        return forward(pointers);
      case Direction::backward_data:
        return backward_data(pointers);
      case Direction::backward_weights:
        return backward_weights(pointers);
      case Direction::backward:
        break;
    }
  }

 private:
  void forward(const SlotPointers& pointers) const {
    const std::vector<float> src = read(pointers, Slot::src);
    // Weights stored in fp32 need no copy.
    const bool wide = stored_weights(spec_) == Dtype::fp32;
    const std::vector<float> converted = wide ? std::vector<float>() : read_values(pointers, Slot::weights);
    const std::span<const float> weights =
        wide ? std::span<const float>(values(pointers, Slot::weights)) : std::span<const float>(converted);
    const std::span<const float> bias = spec_.bias ? values(pointers, Slot::bias) : std::span<float>();
    std::vector<float> dst(static_cast<std::size_t>(spec_.rows * spec_.columns));
    reference_product(spec_.rows, spec_.inner, spec_.columns, src, weights, bias, dst);
    if (spec_.activation != Activation::none) {
      std::ranges::transform(dst, dst.begin(), [&](float value) { return apply(spec_.activation, value); });
    }
    write(pointers, Slot::dst, dst);
  }

  void backward_data(const SlotPointers& pointers) const {
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const std::vector<float> weights =
        transposed(read_values(pointers, Slot::weights), spec_.columns, spec_.inner);
    std::vector<float> diff_src(static_cast<std::size_t>(spec_.rows * spec_.inner));
    reference_product(spec_.rows, spec_.columns, spec_.inner, diff_dst, weights, {}, diff_src);
    write(pointers, Slot::diff_src, diff_src);
  }

  void backward_weights(const SlotPointers& pointers) const {
    const std::vector<float> src = transposed(read(pointers, Slot::src), spec_.rows, spec_.inner);
    const std::vector<float> diff_dst = transposed(read(pointers, Slot::diff_dst), spec_.rows, spec_.columns);
    std::vector<float> diff_weights(static_cast<std::size_t>(spec_.weight_count()));
    reference_product(spec_.columns, spec_.rows, spec_.inner, diff_dst, src, {}, diff_weights);
    write_values(pointers, Slot::diff_weights, diff_weights);
    if (!spec_.bias) {
      return;
    }
    const std::span<float> diff_bias = values(pointers, Slot::diff_bias);
    for (std::int64_t n = 0; n < spec_.columns; ++n) {
      double sum = 0;
      for (std::int64_t m = 0; m < spec_.rows; ++m) {
        sum += static_cast<double>(diff_dst[n * spec_.rows + m]);
      }
      diff_bias[n] = static_cast<float>(sum);
    }
  }
};

const Registration<Implementation<Linear>> BENCH_REGISTERED{
    reference_implementation<Linear, ReferenceLinear>()};

}  // namespace
}  // namespace bench::kernels
