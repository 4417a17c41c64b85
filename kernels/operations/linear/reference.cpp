// A linear layer and its gradients, sum by sum as in the formula of linear.h.
#include "kernels/backends/reference/products.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/linear/linear.h"

namespace bench::kernels {
namespace {

class ReferenceLinear final : public ReferenceOperation {
 public:
  explicit ReferenceLinear(const Linear& spec) : spec_(spec) {
    switch (spec.direction) {
      case Linear::Direction::forward:
        add_activation(Slot::src, Role::input, spec.src());
        add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
        if (spec.bias) {
          add_values(Slot::bias, Role::parameter, spec.columns);
        }
        add_activation(Slot::dst, Role::output, spec.dst());
        break;
      case Linear::Direction::backward_data:
        add_activation(Slot::diff_dst, Role::input, spec.dst());
        add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
        add_activation(Slot::diff_src, Role::output, spec.src());
        break;
      case Linear::Direction::backward_weights:
        add_activation(Slot::src, Role::input, spec.src());
        add_activation(Slot::diff_dst, Role::input, spec.dst());
        add_values(Slot::diff_weights, Role::output, spec.weight_count(), spec.dtype);
        if (spec.bias) {
          add_values(Slot::diff_bias, Role::output, spec.columns);
        }
        break;
      case Linear::Direction::backward:
        break;
    }
  }

  void run(const SlotPointers& pointers) override {
    switch (spec_.direction) {
      case Linear::Direction::forward:
        return forward(pointers);
      case Linear::Direction::backward_data:
        return backward_data(pointers);
      case Linear::Direction::backward_weights:
        return backward_weights(pointers);
      case Linear::Direction::backward:
        break;
    }
  }

  double flops() const override { return spec_.flops(); }

 private:
  void forward(const SlotPointers& pointers) const {
    const std::vector<float> src = read(pointers, Slot::src);
    // Weights stored in fp32 need no copy.
    const bool wide = spec_.dtype == Dtype::fp32;
    const std::vector<float> converted = wide ? std::vector<float>() : read_values(pointers, Slot::weights);
    const std::span<const float> weights =
        wide ? std::span<const float>(values(pointers, Slot::weights)) : std::span<const float>(converted);
    const std::span<const float> bias = spec_.bias ? values(pointers, Slot::bias) : std::span<float>();
    std::vector<float> dst(static_cast<std::size_t>(spec_.rows * spec_.columns));
    reference_product(spec_.rows, spec_.inner, spec_.columns, src, weights, bias, dst);
    write(pointers, Slot::dst, dst);
  }

  void backward_data(const SlotPointers& pointers) const {
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const std::vector<float> weights = read_values(pointers, Slot::weights);
    std::vector<float> diff_src(static_cast<std::size_t>(spec_.rows * spec_.inner));
#pragma omp parallel for collapse(2)
    for (std::int64_t m = 0; m < spec_.rows; ++m) {
      for (std::int64_t k = 0; k < spec_.inner; ++k) {
        double sum = 0;
        for (std::int64_t n = 0; n < spec_.columns; ++n) {
          sum += static_cast<double>(diff_dst[m * spec_.columns + n]) * weights[n * spec_.inner + k];
        }
        diff_src[m * spec_.inner + k] = static_cast<float>(sum);
      }
    }
    write(pointers, Slot::diff_src, diff_src);
  }

  void backward_weights(const SlotPointers& pointers) const {
    const std::vector<float> src = read(pointers, Slot::src);
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<float> diff_weights(static_cast<std::size_t>(spec_.weight_count()));
#pragma omp parallel for collapse(2)
    for (std::int64_t n = 0; n < spec_.columns; ++n) {
      for (std::int64_t k = 0; k < spec_.inner; ++k) {
        double sum = 0;
        for (std::int64_t m = 0; m < spec_.rows; ++m) {
          sum += static_cast<double>(diff_dst[m * spec_.columns + n]) * src[m * spec_.inner + k];
        }
        diff_weights[n * spec_.inner + k] = static_cast<float>(sum);
      }
    }
    write_values(pointers, Slot::diff_weights, diff_weights);
    if (!spec_.bias) {
      return;
    }
    const std::span<float> diff_bias = values(pointers, Slot::diff_bias);
    for (std::int64_t n = 0; n < spec_.columns; ++n) {
      double sum = 0;
      for (std::int64_t m = 0; m < spec_.rows; ++m) {
        sum += static_cast<double>(diff_dst[m * spec_.columns + n]);
      }
      diff_bias[n] = static_cast<float>(sum);
    }
  }

  Linear spec_;
};

const Registration<Implementation<Linear>> registered{reference_implementation<Linear, ReferenceLinear>()};

}  // namespace
}  // namespace bench::kernels
