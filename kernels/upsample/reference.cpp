// Repeating pixels, and its gradient, as they are defined in upsample.h and upsample_backward.h.
#include "kernels/reference/reference_operation.h"
#include "kernels/upsample/upsample_backward.h"

namespace bench::kernels {
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
  explicit ReferenceUpsample(const Upsample& spec) : spec_(spec) {
    add_activation(Slot::src, Role::input, spec.src);
    add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> src = read(pointers, Slot::src);
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
    for_each_value(spec_, [&](std::int64_t in, std::int64_t out) { dst[out] = src[in]; });
    write(pointers, Slot::dst, dst);
  }

  double flops() const override { return 0; }

 private:
  Upsample spec_;
};

class ReferenceUpsampleBackward final : public ReferenceOperation {
 public:
  explicit ReferenceUpsampleBackward(const UpsampleBackward& spec) : spec_(spec) {
    add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    add_activation(Slot::diff_src, Role::output, spec.forward.src);
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<double> sums(static_cast<std::size_t>(spec_.forward.src.elements()));
    for_each_value(spec_.forward, [&](std::int64_t in, std::int64_t out) { sums[in] += diff_dst[out]; });
    write(pointers, Slot::diff_src, std::vector<float>(sums.begin(), sums.end()));
  }

  double flops() const override { return spec_.flops(); }

 private:
  UpsampleBackward spec_;
};

const Registration<Implementation<Upsample>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Upsample& spec, const Device& /*device*/) { return spec.invalid(); },
    .make = [](const Upsample& spec,
               Device& /*device*/) { return std::make_unique<ReferenceUpsample>(spec); },
}};

const Registration<Implementation<UpsampleBackward>> registered_backward{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const UpsampleBackward& spec,
                      const Device& /*device*/) { return spec.forward.invalid(); },
    .make = [](const UpsampleBackward& spec,
               Device& /*device*/) { return std::make_unique<ReferenceUpsampleBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
