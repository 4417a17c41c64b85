// Preprocessing as it is defined in preprocess.h.
#include "kernels/preprocess/preprocess.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferencePreprocess final : public ReferenceOperation {
 public:
  explicit ReferencePreprocess(const Preprocess& spec) : spec_(spec) {
    add_opaque(Slot::src, Role::input, spec.src_bytes());
    add_activation(Slot::dst, Role::output, spec.dst);
  }

  void run(const SlotPointers& pointers) override {
    const auto* const src = static_cast<const std::uint8_t*>(pointers[Slot::src]);
    const TensorDesc& dst = spec_.dst;
    const std::int64_t area = dst.h * dst.w;
    std::vector<float> nchw(static_cast<std::size_t>(dst.elements()));
    for (std::int64_t n = 0; n < dst.n; ++n) {
      for (std::int64_t c = 0; c < dst.c; ++c) {
        const double mean = spec_.mean[static_cast<std::size_t>(c)];
        const double deviation = spec_.deviation[static_cast<std::size_t>(c)];
        for (std::int64_t pixel = 0; pixel < area; ++pixel) {
          const double value = src[(n * area + pixel) * dst.c + c];
          nchw[(n * dst.c + c) * area + pixel] = static_cast<float>((value / 255 - mean) / deviation);
        }
      }
    }
    write(pointers, Slot::dst, nchw);
  }

  double flops() const override { return spec_.flops(); }

 private:
  Preprocess spec_;
};

const Registration<Implementation<Preprocess>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Preprocess& spec, const Device& /*device*/) { return spec.invalid(); },
    .make = [](const Preprocess& spec,
               Device& /*device*/) { return std::make_unique<ReferencePreprocess>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
