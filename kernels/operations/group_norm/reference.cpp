// Group normalisation and its gradient group by group, as they are defined in group_norm.h.
#include <cmath>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/group_norm/group_norm.h"

namespace bench::kernels {

std::optional<std::string> GroupNorm::invalid() const {
  if (groups < 1 || tensor.n < 1 || tensor.c < 1 || tensor.h < 1 || tensor.w < 1 || tensor.c % groups != 0) {
    return fmt::format("group norm: {} groups do not divide {} channels", groups, tensor.c);
  }
  return std::nullopt;
}

PlainSlots plain_slots(const GroupNorm& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.tensor);
  if (spec.affine) {
    slots.add_values(Slot::scale, Role::parameter, spec.tensor.c);
  }
  if (spec.training || !spec.forward()) {
    const Role statistic = spec.saves() ? Role::output : Role::input;
    slots.add_values(Slot::mean, statistic, spec.tensor.n * spec.groups);
    slots.add_values(Slot::variance, statistic, spec.tensor.n * spec.groups);
  }
  if (spec.forward()) {
    if (spec.affine) {
      slots.add_values(Slot::shift, Role::parameter, spec.tensor.c);
    }
    slots.add_activation(Slot::dst, Role::output, spec.tensor);
    return slots;
  }
  slots.add_activation(Slot::diff_dst, Role::input, spec.tensor);
  slots.add_activation(Slot::diff_src, Role::output, spec.tensor);
  if (spec.affine) {
    slots.add_values(Slot::diff_scale, Role::output, spec.tensor.c);
    slots.add_values(Slot::diff_shift, Role::output, spec.tensor.c);
  }
  return slots;
}

namespace {

class ReferenceGroupNorm final : public ReferenceOf<GroupNorm> {
 public:
  using ReferenceOf::ReferenceOf;

  // A group's values lie together in NCHW order.
  void run(const SlotPointers& pointers) override {
    const std::vector<float> x = read(pointers, Slot::src);
    const bool forward = spec_.forward();
    std::vector<float> made = forward ? x : read(pointers, Slot::diff_dst);
    std::vector<double> diff_scale(static_cast<std::size_t>(spec_.tensor.c));
    std::vector<double> diff_shift(diff_scale.size());
    for (std::int64_t index = 0; index < spec_.tensor.n * spec_.groups; ++index) {
      const std::int64_t first = index * size();
      if (forward) {
        normalize(pointers, index, &made[first]);
      } else {
        gradient(pointers, index, &x[first], &made[first], diff_scale, diff_shift);
      }
    }
    write(pointers, forward ? Slot::dst : Slot::diff_src, made);
    if (!forward && spec_.affine) {
      write_values(pointers, Slot::diff_scale, std::vector<float>(diff_scale.begin(), diff_scale.end()));
      write_values(pointers, Slot::diff_shift, std::vector<float>(diff_shift.begin(), diff_shift.end()));
    }
  }

 private:
  std::int64_t area() const { return spec_.tensor.h * spec_.tensor.w; }
  std::int64_t size() const { return spec_.group_channels() * area(); }
  std::int64_t channel(std::int64_t index, std::int64_t i) const {
    return index % spec_.groups * spec_.group_channels() + i / area();
  }
  double parameter(const SlotPointers& pointers, Slot slot, std::int64_t channel, double otherwise) const {
    return spec_.affine ? values(pointers, slot)[static_cast<std::size_t>(channel)] : otherwise;
  }

  void normalize(const SlotPointers& pointers, std::int64_t index, float* x) const {
    const auto count = static_cast<double>(size());
    double mean = 0;
    double variance = 0;
    for (std::int64_t i = 0; i < size(); ++i) {
      mean += x[i] / count;
    }
    for (std::int64_t i = 0; i < size(); ++i) {
      variance += (x[i] - mean) * (x[i] - mean) / count;
    }
    const double deviation = std::sqrt(variance + double{spec_.epsilon});
    for (std::int64_t i = 0; i < size(); ++i) {
      const std::int64_t c = channel(index, i);
      x[i] = static_cast<float>(parameter(pointers, Slot::scale, c, 1) * ((x[i] - mean) / deviation) +
                                parameter(pointers, Slot::shift, c, 0));
    }
    if (spec_.saves()) {
      values(pointers, Slot::mean)[index] = static_cast<float>(mean);
      values(pointers, Slot::variance)[index] = static_cast<float>(variance);
    }
  }

  void gradient(const SlotPointers& pointers, std::int64_t index, const float* x, float* diff,
                std::vector<double>& diff_scale, std::vector<double>& diff_shift) const {
    const double mean = values(pointers, Slot::mean)[index];
    const double factor = 1 / std::sqrt(values(pointers, Slot::variance)[index] + double{spec_.epsilon});
    const auto count = static_cast<double>(size());
    double plain = 0;
    double products = 0;
    for (std::int64_t i = 0; i < size(); ++i) {
      const std::int64_t c = channel(index, i);
      const double normalized = (x[i] - mean) * factor;
      diff_shift[c] += diff[i];
      diff_scale[c] += diff[i] * normalized;
      const double scaled = parameter(pointers, Slot::scale, c, 1) * diff[i];
      plain += scaled / count;
      products += scaled * normalized / count;
    }
    for (std::int64_t i = 0; i < size(); ++i) {
      const double scaled = parameter(pointers, Slot::scale, channel(index, i), 1) * diff[i];
      diff[i] = static_cast<float>(factor * (scaled - plain - (x[i] - mean) * factor * products));
    }
  }
};

const Registration<Implementation<GroupNorm>> BENCH_REGISTERED{
    reference_implementation<GroupNorm, ReferenceGroupNorm>()};

}  // namespace
}  // namespace bench::kernels
