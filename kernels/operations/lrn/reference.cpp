// Local response normalisation as it is defined in lrn.h.
#include <algorithm>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/lrn/lrn.h"

namespace bench::kernels {

PlainSlots plain_slots(const Lrn& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.tensor);
  if (!spec.forward()) {
    slots.add_activation(Slot::diff_dst, Role::input, spec.tensor);
  }
  slots.add_activation(spec.forward() ? Slot::dst : Slot::diff_src, Role::output, spec.tensor);
  return slots;
}

namespace {

class ReferenceLrn final : public ReferenceOf<Lrn> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const std::vector<float> x = read(pointers, Slot::src);
    const std::vector<float> diff = spec_.forward() ? std::vector<float>() : read(pointers, Slot::diff_dst);
    std::vector<float> made(x.size());
    for_each([&](std::int64_t first, std::int64_t c) {
      const std::int64_t at = first + c * area();
      const double power = std::pow(divisor(x, first, c), -double{spec_.beta});
      if (spec_.forward()) {
        made[at] = static_cast<float>(x[at] * power);
        return;
      }
      double along = 0;
      over_neighbours(c, [&](std::int64_t other) {
        const std::int64_t there = first + other * area();
        along += static_cast<double>(diff[there]) * x[there] *
                 std::pow(divisor(x, first, other), -double{spec_.beta} - 1);
      });
      const double factor = 2.0 * spec_.alpha * spec_.beta / static_cast<double>(spec_.size);
      made[at] = static_cast<float>(diff[at] * power - factor * x[at] * along);
    });
    write(pointers, spec_.forward() ? Slot::dst : Slot::diff_src, made);
  }

 private:
  std::int64_t area() const { return spec_.tensor.h * spec_.tensor.w; }

  // Calls visit(place of channel 0 of a pixel, channel).
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::int64_t n = 0; n < spec_.tensor.n; ++n) {
      for (std::int64_t c = 0; c < spec_.tensor.c; ++c) {
        for (std::int64_t pixel = 0; pixel < area(); ++pixel) {
          visit(n * spec_.tensor.c * area() + pixel, c);
        }
      }
    }
  }
  template <class Visit>
  void over_neighbours(std::int64_t c, Visit visit) const {
    const std::int64_t away = (spec_.size - 1) / 2;
    for (std::int64_t i = std::max<std::int64_t>(0, c - away); i <= std::min(spec_.tensor.c - 1, c + away);
         ++i) {
      visit(i);
    }
  }
  double divisor(const std::vector<float>& x, std::int64_t first, std::int64_t c) const {
    double squares = 0;
    over_neighbours(c, [&](std::int64_t i) {
      const double value = x[first + i * area()];
      squares += value * value;
    });
    return spec_.k + spec_.alpha / static_cast<double>(spec_.size) * squares;
  }
};

const Registration<Implementation<Lrn>> BENCH_REGISTERED{reference_implementation<Lrn, ReferenceLrn>()};

}  // namespace
}  // namespace bench::kernels
