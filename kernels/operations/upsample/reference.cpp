// Repeating pixels, and its gradient, as they are defined in upsample.h.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/upsample/upsample.h"

namespace bench::kernels {

PlainSlots plain_slots(const Upsample& spec) {
  PlainSlots slots;
  if (spec.forward()) {
    slots.add_activation(Slot::src, Role::input, spec.src);
    slots.add_activation(Slot::dst, Role::output, spec.dst());
  } else {
    slots.add_activation(Slot::diff_dst, Role::input, spec.dst());
    slots.add_activation(Slot::diff_src, Role::output, spec.src);
  }
  return slots;
}

namespace {

// For each value of dst in NCHW order, with the place of the value of src that it repeats.
template <class Visit>
void for_each_value(const Upsample& spec, Visit visit) {
  const TensorDesc dst = spec.dst();
  std::int64_t at = 0;
  for (std::int64_t plane = 0; plane < dst.n * dst.c; ++plane) {
    for (std::int64_t y = 0; y < dst.h; ++y) {
      for (std::int64_t x = 0; x < dst.w; ++x, ++at) {
        visit((plane * spec.src.h + y / spec.factor) * spec.src.w + x / spec.factor, at);
      }
    }
  }
}

class ReferenceUpsample final : public ReferenceOperation {
 public:
  explicit ReferenceUpsample(const Upsample& spec) : ReferenceOperation(plain_slots(spec)), spec_(spec) {}

  void run(const SlotPointers& pointers) override {
    if (spec_.forward()) {
      const std::vector<float> src = read(pointers, Slot::src);
      std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
      for_each_value(spec_, [&](std::int64_t in, std::int64_t out) { dst[out] = src[in]; });
      return write(pointers, Slot::dst, dst);
    }
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<double> sums(static_cast<std::size_t>(spec_.src.elements()));
    for_each_value(spec_, [&](std::int64_t in, std::int64_t out) { sums[in] += diff_dst[out]; });
    write(pointers, Slot::diff_src, std::vector<float>(sums.begin(), sums.end()));
  }

  double flops() const override { return spec_.flops(); }

 private:
  Upsample spec_;
};

const Registration<Implementation<Upsample>> registered{
    reference_implementation<Upsample, ReferenceUpsample>()};

}  // namespace
}  // namespace bench::kernels
