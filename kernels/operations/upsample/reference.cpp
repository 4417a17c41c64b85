// Repeating pixels, and its gradient, as they are defined in upsample.h.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/upsample/upsample.h"

namespace bench::kernels {

PlainSlots plain_slots(const Upsample& spec) {
  return PlainSlots::without_parameters(spec.forward(), spec.src, spec.dst());
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

class ReferenceUpsample final : public ReferenceOf<Upsample> {
 public:
  using ReferenceOf::ReferenceOf;

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
};

const Registration<Implementation<Upsample>> BENCH_REGISTERED{
    reference_implementation<Upsample, ReferenceUpsample>()};

}  // namespace
}  // namespace bench::kernels
