// Batch normalisation channel by channel, as it is defined in batch_norm.h.
#include <cmath>

#include "kernels/batch_norm/batch_norm.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceBatchNorm final : public ReferenceOperation {
 public:
  explicit ReferenceBatchNorm(const BatchNorm& spec) : spec_(spec) {
    const Role statistic = spec.training ? Role::output : Role::parameter;
    add_activation(Slot::src, Role::input, spec.tensor);
    add_values(Slot::scale, Role::parameter, spec.tensor.c);
    add_values(Slot::shift, Role::parameter, spec.tensor.c);
    add_values(Slot::mean, statistic, spec.tensor.c);
    add_values(Slot::variance, statistic, spec.tensor.c);
    add_activation(Slot::dst, Role::output, spec.tensor);
  }

  void run(const SlotPointers& pointers) override {
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
        for_channel(x, c, [&](float value) { mean += value / count; });
        variance = 0;
        for_channel(x, c, [&](float value) { variance += (value - mean) * (value - mean) / count; });
        means[c] = static_cast<float>(mean);
        variances[c] = static_cast<float>(variance);
      }
      const double factor = scale[c] / std::sqrt(variance + spec_.epsilon);
      for_channel(x, c, [&](float& value) {
        value = apply(spec_.activation, static_cast<float>(factor * (value - mean) + shift[c]));
      });
    }
    write(pointers, Slot::dst, x);
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Visit>
  void for_channel(std::vector<float>& nchw, std::int64_t c, Visit visit) const {
    const std::int64_t area = spec_.tensor.h * spec_.tensor.w;
    for (std::int64_t n = 0; n < spec_.tensor.n; ++n) {
      for (std::int64_t i = 0; i < area; ++i) {
        visit(nchw[(n * spec_.tensor.c + c) * area + i]);
      }
    }
  }

  BatchNorm spec_;
};

const Registration<Implementation<BatchNorm>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const BatchNorm& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const BatchNorm& spec,
               Device& /*device*/) { return std::make_unique<ReferenceBatchNorm>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
