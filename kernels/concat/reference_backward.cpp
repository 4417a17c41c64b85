// Gradient of concatenation as it is defined in concat_backward.h.
#include "kernels/concat/concat_backward.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceConcatBackward final : public ReferenceOperation {
 public:
  explicit ReferenceConcatBackward(const ConcatBackward& spec) : spec_(spec) {
    add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    add_activation(Slot::diff_src, Role::output, spec.src());
  }

  void run(const SlotPointers& pointers) override {
    const TensorDesc& in = spec_.src();
    const TensorDesc out = spec_.forward.dst();
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const std::int64_t top = (out.h - in.h) / 2;
    const std::int64_t left = (out.w - in.w) / 2;
    std::vector<float> diff_src;
    for (std::int64_t n = 0; n < in.n; ++n) {
      for (std::int64_t c = 0; c < in.c; ++c) {
        for (std::int64_t h = 0; h < in.h; ++h) {
          for (std::int64_t w = 0; w < in.w; ++w) {
            const std::int64_t channel = n * out.c + spec_.forward.first_channel(spec_.index) + c;
            diff_src.push_back(diff_dst[(channel * out.h + top + h) * out.w + left + w]);
          }
        }
      }
    }
    write(pointers, Slot::diff_src, diff_src);
  }

  double flops() const override { return 0; }

 private:
  ConcatBackward spec_;
};

const Registration<Implementation<ConcatBackward>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const ConcatBackward& spec, const Device& /*device*/) { return spec.invalid(); },
    .make = [](const ConcatBackward& spec,
               Device& /*device*/) { return std::make_unique<ReferenceConcatBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
