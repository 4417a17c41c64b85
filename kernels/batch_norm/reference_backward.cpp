// Gradient of batch normalisation channel by channel, as it is defined in batch_norm_backward.h.
#include <cmath>

#include "kernels/batch_norm/batch_norm_backward.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceBatchNormBackward final : public ReferenceOperation {
 public:
  explicit ReferenceBatchNormBackward(const BatchNormBackward& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.tensor);
    add_values(Slot::mean, Role::input, spec.tensor.c);
    add_values(Slot::variance, Role::input, spec.tensor.c);
    add_values(Slot::scale, Role::parameter, spec.tensor.c);
    add_activation(Slot::diff_dst, Role::input, spec.tensor);
    add_activation(Slot::diff_src, Role::output, spec.tensor);
    add_values(Slot::diff_scale, Role::output, spec.tensor.c);
    add_values(Slot::diff_shift, Role::output, spec.tensor.c);
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> x = read(pointers, Slot::src);
    std::vector<float> gradient = read(pointers, Slot::diff_dst);
    const auto count = static_cast<double>(spec_.tensor.n * spec_.tensor.h * spec_.tensor.w);
    for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
      const double mean = values(pointers, Slot::mean)[c];
      const double deviation = std::sqrt(values(pointers, Slot::variance)[c] + double{spec_.epsilon});
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

  double flops() const override { return spec_.flops(); }

 private:
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

  BatchNormBackward spec_;
};

const Registration<Implementation<BatchNormBackward>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const BatchNormBackward& /*spec*/,
                      const Device& /*device*/) -> std::optional<std::string> { return std::nullopt; },
    .make = [](const BatchNormBackward& spec,
               Device& /*device*/) { return std::make_unique<ReferenceBatchNormBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
