// Layer normalisation and its gradient row by row, as they are defined in layer_norm.h.
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/layer_norm/layer_norm.h"

namespace bench::kernels {

PlainSlots plain_slots(const LayerNorm& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.tensor());
  if (spec.scale) {
    slots.add_values(Slot::scale, Role::parameter, spec.width);
  }
  if (spec.training || !spec.forward()) {
    const Role statistic = spec.saves() ? Role::output : Role::input;
    slots.add_values(Slot::mean, statistic, spec.rows);
    slots.add_values(Slot::variance, statistic, spec.rows);
  }
  if (!spec.forward()) {
    slots.add_activation(Slot::diff_dst, Role::input, spec.tensor());
    slots.add_activation(Slot::diff_src, Role::output, spec.tensor());
    if (spec.scale) {
      slots.add_values(Slot::diff_scale, Role::output, spec.width);
    }
    if (spec.shift) {
      slots.add_values(Slot::diff_shift, Role::output, spec.width);
    }
  } else {
    if (spec.shift) {
      slots.add_values(Slot::shift, Role::parameter, spec.width);
    }
    slots.add_activation(Slot::dst, Role::output, spec.tensor());
  }
  return slots;
}

namespace {

class ReferenceLayerNorm final : public ReferenceOf<LayerNorm> {
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
  std::vector<float> parameter(const SlotPointers& pointers, Slot slot, bool is_there,
                               float otherwise) const {
    return is_there ? read_values(pointers, slot)
                    : std::vector<float>(static_cast<std::size_t>(spec_.width), otherwise);
  }

  void forward(const SlotPointers& pointers) const {
    std::vector<float> x = read(pointers, Slot::src);
    const std::vector<float> scale = parameter(pointers, Slot::scale, spec_.scale, 1);
    const std::vector<float> shift = parameter(pointers, Slot::shift, spec_.shift, 0);
    const auto width = static_cast<double>(spec_.width);
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      const std::span<float> values_of_row(x.data() + row * spec_.width,
                                           static_cast<std::size_t>(spec_.width));
      double mean = 0;
      for (const float value : values_of_row) {
        mean += value / width;
      }
      double variance = 0;
      for (const float value : values_of_row) {
        variance += (value - mean) * (value - mean) / width;
      }
      const double deviation = std::sqrt(variance + double{spec_.epsilon});
      for (std::size_t i = 0; i < values_of_row.size(); ++i) {
        const double normalized = (values_of_row[i] - mean) / deviation;
        values_of_row[i] = static_cast<float>(scale[i] * normalized + shift[i]);
      }
      if (spec_.saves()) {
        values(pointers, Slot::mean)[row] = static_cast<float>(mean);
        values(pointers, Slot::variance)[row] = static_cast<float>(variance);
      }
    }
    write(pointers, Slot::dst, x);
  }

  void backward(const SlotPointers& pointers) const {
    const std::vector<float> x = read(pointers, Slot::src);
    std::vector<float> gradient = read(pointers, Slot::diff_dst);
    const std::vector<float> scale = parameter(pointers, Slot::scale, spec_.scale, 1);
    const auto width = static_cast<double>(spec_.width);
    std::vector<double> diff_scale(scale.size());
    std::vector<double> diff_shift(scale.size());
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      const double mean = values(pointers, Slot::mean)[row];
      const double deviation = std::sqrt(values(pointers, Slot::variance)[row] + double{spec_.epsilon});
      const std::int64_t start = row * spec_.width;
      const auto normalized = [&](std::int64_t i) { return (x[start + i] - mean) / deviation; };
      double mean_of_g = 0;
      double mean_of_gx = 0;
      for (std::int64_t i = 0; i < spec_.width; ++i) {
        const double diff = gradient[start + i];
        diff_scale[i] += diff * normalized(i);
        diff_shift[i] += diff;
        mean_of_g += scale[i] * diff / width;
        mean_of_gx += scale[i] * diff * normalized(i) / width;
      }
      for (std::int64_t i = 0; i < spec_.width; ++i) {
        const double g = static_cast<double>(scale[i]) * gradient[start + i];
        gradient[start + i] = static_cast<float>((g - mean_of_g - normalized(i) * mean_of_gx) / deviation);
      }
    }
    write(pointers, Slot::diff_src, gradient);
    if (spec_.scale) {
      write_values(pointers, Slot::diff_scale, std::vector<float>(diff_scale.begin(), diff_scale.end()));
    }
    if (spec_.shift) {
      write_values(pointers, Slot::diff_shift, std::vector<float>(diff_shift.begin(), diff_shift.end()));
    }
  }
};

const Registration<Implementation<LayerNorm>> BENCH_REGISTERED{
    reference_implementation<LayerNorm, ReferenceLayerNorm>()};

}  // namespace
}  // namespace bench::kernels
