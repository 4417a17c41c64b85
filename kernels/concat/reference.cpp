// Concatenation as it is defined in concat.h.
#include <algorithm>

#include "kernels/concat/concat.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceConcat final : public ReferenceOperation {
 public:
  explicit ReferenceConcat(const Concat& spec) : spec_(spec) {
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
      add_activation(kSources[i], Role::input, spec.inputs[i]);
    }
    add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    const TensorDesc out = spec_.dst();
    std::vector<float> dst(static_cast<std::size_t>(out.elements()), 0.0F);
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      const TensorDesc& in = spec_.inputs[i];
      const std::vector<float> src = read(pointers, kSources[i]);
      const std::int64_t top = (out.h - in.h) / 2;
      const std::int64_t left = (out.w - in.w) / 2;
      const float* row = src.data();
      for (std::int64_t n = 0; n < in.n; ++n) {
        for (std::int64_t c = 0; c < in.c; ++c) {
          for (std::int64_t h = 0; h < in.h; ++h) {
            const std::int64_t channel = n * out.c + spec_.first_channel(i) + c;
            std::copy_n(row, in.w, &dst[(channel * out.h + top + h) * out.w + left]);
            row += in.w;
          }
        }
      }
    }
    write(pointers, Slot::dst, dst);
  }

  double flops() const override { return 0; }

 private:
  Concat spec_;
};

const Registration<Implementation<Concat>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Concat& spec, const Device& /*device*/) { return spec.invalid(); },
    .make = [](const Concat& spec, Device& /*device*/) { return std::make_unique<ReferenceConcat>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
