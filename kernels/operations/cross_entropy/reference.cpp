// Softmax cross-entropy as it is defined in cross_entropy.h, sums in double.
#include <algorithm>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {

PlainSlots plain_slots(const CrossEntropy& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.tensor());
  slots.add_opaque(Slot::labels, Role::input, spec.rows * static_cast<std::int64_t>(sizeof(std::int32_t)));
  slots.add_values(Slot::loss, Role::output, 1);
  if (spec.scaled) {
    slots.add_opaque(Slot::loss_scale, Role::input, sizeof(LossScale));
  }
  slots.add_activation(Slot::diff_src, Role::output, spec.tensor());
  return slots;
}

namespace {

class ReferenceCrossEntropy final : public ReferenceOf<CrossEntropy> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::vector<float> logits = read(pointers, Slot::src);
    const auto* const labels = static_cast<const std::int32_t*>(pointers[Slot::labels]);
    const double factor =
        spec_.scaled ? static_cast<const LossScale*>(pointers[Slot::loss_scale])->factor : 1;
    double loss = 0;
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      const std::span<float> x(logits.data() + row * spec_.classes, static_cast<std::size_t>(spec_.classes));
      const std::int32_t label = labels[row];
      if (label < 0 || label >= spec_.classes) {
        std::ranges::fill(x, 0.0F);
        continue;
      }
      const double largest = std::ranges::max(x);
      double sum = 0;
      for (const float value : x) {
        sum += std::exp(value - largest);
      }
      loss += std::log(sum) - (x[label] - largest);
      for (std::int64_t c = 0; c < spec_.classes; ++c) {
        const double p = std::exp(x[c] - largest) / sum;
        x[c] = static_cast<float>(factor * spec_.scale * (p - (c == label ? 1 : 0)));
      }
    }
    values(pointers, Slot::loss).front() = static_cast<float>(spec_.scale * loss);
    write(pointers, Slot::diff_src, logits);
  }
};

const Registration<Implementation<CrossEntropy>> BENCH_REGISTERED{
    reference_implementation<CrossEntropy, ReferenceCrossEntropy>()};

}  // namespace
}  // namespace bench::kernels
