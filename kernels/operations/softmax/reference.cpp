// Softmax and its gradient as they are defined in softmax.h.
#include <algorithm>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/softmax/softmax.h"

namespace bench::kernels {

PlainSlots plain_slots(const Softmax& spec) {
  PlainSlots slots;
  slots.add_activation(spec.forward() ? Slot::src : Slot::dst, Role::input, spec.tensor);
  if (!spec.forward()) {
    slots.add_activation(Slot::diff_dst, Role::input, spec.tensor);
  }
  slots.add_activation(spec.forward() ? Slot::dst : Slot::diff_src, Role::output, spec.tensor);
  return slots;
}

namespace {

class ReferenceSoftmax final : public ReferenceOf<Softmax> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, spec_.forward() ? Slot::src : Slot::dst);
    const std::vector<float> diff = spec_.forward() ? std::vector<float>() : read(pointers, Slot::diff_dst);
    const std::int64_t step = spec_.tensor.h * spec_.tensor.w;  // from channel to channel
    for (std::int64_t pixel = 0; pixel < spec_.tensor.n * step; ++pixel) {
      const std::int64_t first = pixel / step * spec_.tensor.c * step + pixel % step;
      if (spec_.forward()) {
        forward(&values[first], step);
      } else {
        backward(&values[first], &diff[first], step);
      }
    }
    write(pointers, spec_.forward() ? Slot::dst : Slot::diff_src, values);
  }

 private:
  void forward(float* x, std::int64_t step) const {
    double largest = x[0];
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      largest = std::max<double>(largest, x[c * step]);
    }
    double sum = 0;
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      sum += std::exp(x[c * step] - largest);
    }
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      const double above = x[c * step] - largest;
      x[c * step] = static_cast<float>(spec_.log ? above - std::log(sum) : std::exp(above) / sum);
    }
  }

  // The gradient in the place of the result.
  void backward(float* y, const float* diff, std::int64_t step) const {
    double along = 0;
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      along += static_cast<double>(diff[c * step]) * (spec_.log ? 1.0F : y[c * step]);
    }
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      const double value = y[c * step];
      const double given = diff[c * step];
      y[c * step] = static_cast<float>(spec_.log ? given - std::exp(value) * along : value * (given - along));
    }
  }
};

const Registration<Implementation<Softmax>> BENCH_REGISTERED{
    reference_implementation<Softmax, ReferenceSoftmax>()};

}  // namespace
}  // namespace bench::kernels
