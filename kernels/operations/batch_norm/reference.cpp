// Batch normalisation and its gradient channel by channel, as they are defined in batch_norm.h.
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels {

PlainSlots plain_slots(const BatchNorm& spec) {
  PlainSlots slots;
  const Role statistic = !spec.forward() ? Role::input : spec.training ? Role::output : Role::parameter;
  slots.add_activation(Slot::src, Role::input, spec.tensor);
  slots.add_values(Slot::scale, Role::parameter, spec.tensor.c);
  slots.add_values(Slot::mean, statistic, spec.tensor.c);
  slots.add_values(Slot::variance, statistic, spec.tensor.c);
  if (spec.forward() || spec.activation != Activation::none) {
    slots.add_values(Slot::shift, Role::parameter, spec.tensor.c);
  }
  if (spec.forward()) {
    slots.add_activation(Slot::dst, Role::output, spec.tensor);
  } else {
    slots.add_activation(Slot::diff_dst, Role::input, spec.tensor);
    slots.add_activation(Slot::diff_src, Role::output, spec.tensor);
    slots.add_values(Slot::diff_scale, Role::output, spec.tensor.c);
    slots.add_values(Slot::diff_shift, Role::output, spec.tensor.c);
  }
  return slots;
}

namespace {

class ReferenceBatchNorm final : public ReferenceOf<BatchNorm> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    if (spec_.forward()) {
      forward(pointers);
    } else {
      backward(pointers);
    }
  }

 private:
  void forward(const SlotPointers& pointers) const {
    std::vector<float> x = read(pointers, Slot::src);
    const std::span<const float> scale = values(pointers, Slot::scale);
    const std::span<const float> shift = values(pointers, Slot::shift);
    const std::span<float> means = values(pointers, Slot::mean);
    const std::span<float> variances = values(pointers, Slot::variance);
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      double mean = means[c];
      double variance = variances[c];
      if (spec_.training) {
        const auto count = static_cast<double>(spec_.tensor.n * spec_.tensor.h * spec_.tensor.w);
        mean = 0;
        for_channel(c, [&](std::int64_t i) { mean += x[i] / count; });
        variance = 0;
        for_channel(c, [&](std::int64_t i) { variance += (x[i] - mean) * (x[i] - mean) / count; });
        means[c] = static_cast<float>(mean);
        variances[c] = static_cast<float>(variance);
      }
      const double factor = scale[c] / std::sqrt(variance + spec_.epsilon);
      for_channel(c, [&](std::int64_t i) {
        x[i] = apply(spec_.activation, static_cast<float>(factor * (x[i] - mean) + shift[c]));
      });
    }
    write(pointers, Slot::dst, x);
  }

  void backward(const SlotPointers& pointers) const {
    const std::vector<float> x = read(pointers, Slot::src);
    std::vector<float> gradient = read(pointers, Slot::diff_dst);
    const auto count = static_cast<double>(spec_.tensor.n * spec_.tensor.h * spec_.tensor.w);
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      const double mean = values(pointers, Slot::mean)[c];
      const double deviation = std::sqrt(values(pointers, Slot::variance)[c] + double{spec_.epsilon});
      if (spec_.activation != Activation::none) {
        const double scale = values(pointers, Slot::scale)[c] / deviation;
        const double shift = values(pointers, Slot::shift)[c];
        for_channel(c, [&](std::int64_t i) {
          const float result = apply(spec_.activation, static_cast<float>(scale * (x[i] - mean) + shift));
          gradient[i] *= slope(spec_.activation, result);
        });
      }
      double diff_scale = 0;
      double diff_shift = 0;
      for_channel(c, [&](std::int64_t i) {
        diff_scale += gradient[i] * (x[i] - mean) / deviation;
        diff_shift += gradient[i];
      });
      values(pointers, Slot::diff_scale)[c] = static_cast<float>(diff_scale);
      values(pointers, Slot::diff_shift)[c] = static_cast<float>(diff_shift);
      const double factor = values(pointers, Slot::scale)[c] / deviation;
      for_channel(c, [&](std::int64_t i) {
        const double normalized = (x[i] - mean) / deviation;
        gradient[i] =
            static_cast<float>(factor * (gradient[i] - diff_shift / count - normalized * diff_scale / count));
      });
    }
    write(pointers, Slot::diff_src, gradient);
  }

  // Visits the positions of a channel's values in NCHW order.
  template <class Visit>
  void for_channel(std::int64_t c, Visit visit) const {
    const std::int64_t area = spec_.tensor.h * spec_.tensor.w;
    for (std::int64_t n = 0; n < spec_.tensor.n; ++n) {
      for (std::int64_t i = 0; i < area; ++i) {
        visit((n * spec_.tensor.c + c) * area + i);
      }
    }
  }
};

const Registration<Implementation<BatchNorm>> BENCH_REGISTERED{
    reference_implementation<BatchNorm, ReferenceBatchNorm>()};

}  // namespace
}  // namespace bench::kernels
