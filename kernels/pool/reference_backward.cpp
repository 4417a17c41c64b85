// Gradient of pooling window by window, as it is defined in pool_backward.h.
#include <algorithm>

#include "kernels/pool/pool_backward.h"
#include "kernels/reference/reference_operation.h"
#include "kernels/window.h"

namespace bench::kernels {
namespace {

class ReferencePoolBackward final : public ReferenceOperation {
 public:
  explicit ReferencePoolBackward(const PoolBackward& spec)
      : spec_(spec),
        rows_{spec.forward.src.h, spec.forward.out_height(), spec.forward.kernel_h, spec.forward.stride_h,
              spec.forward.pad_h},
        columns_{spec.forward.src.w, spec.forward.out_width(), spec.forward.kernel_w, spec.forward.stride_w,
                 spec.forward.pad_w} {
    add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    if (spec.forward.kind == Pool::Kind::max) {
      add_opaque(Slot::saved, Role::input,
                 spec.forward.dst().elements() * static_cast<std::int64_t>(sizeof(std::int64_t)));
    }
    add_activation(Slot::diff_src, Role::output, spec.forward.src);
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const auto* const saved =
        find(Slot::saved) != nullptr ? static_cast<const std::int64_t*>(pointers[Slot::saved]) : nullptr;
    std::vector<double> sums(static_cast<std::size_t>(spec_.forward.src.elements()));
    std::int64_t output = 0;
    for (std::int64_t plane = 0; plane < spec_.forward.src.n * spec_.forward.src.c; ++plane) {
      double* const sum = &sums[plane * rows_.in * columns_.in];
      for (std::int64_t p = 0; p < rows_.out; ++p) {
        for (std::int64_t q = 0; q < columns_.out; ++q, ++output) {
          if (saved != nullptr) {
            sum[saved[output]] += diff_dst[output];
          } else {
            share(diff_dst[output], p, q, sum);
          }
        }
      }
    }
    std::vector<float> diff_src(sums.size());
    std::ranges::transform(sums, diff_src.begin(), [](double sum) { return static_cast<float>(sum); });
    write(pointers, Slot::diff_src, diff_src);
  }

  double flops() const override { return spec_.flops(); }

 private:
  // Adds to each of the window's real inputs its share.
  void share(double gradient, std::int64_t p, std::int64_t q, double* sum) const {
    const std::int64_t top = std::max<std::int64_t>(0, rows_.at(p, 0));
    const std::int64_t bottom = std::min(rows_.in - 1, rows_.at(p, rows_.kernel - 1));
    const std::int64_t left = std::max<std::int64_t>(0, columns_.at(q, 0));
    const std::int64_t right = std::min(columns_.in - 1, columns_.at(q, columns_.kernel - 1));
    const auto count = static_cast<double>((bottom - top + 1) * (right - left + 1));
    for (std::int64_t h = top; h <= bottom; ++h) {
      for (std::int64_t w = left; w <= right; ++w) {
        sum[h * columns_.in + w] += gradient / count;
      }
    }
  }

  PoolBackward spec_;
  WindowAxis rows_;
  WindowAxis columns_;
};

const Registration<Implementation<PoolBackward>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const PoolBackward& spec, const Device& /*device*/) -> std::optional<std::string> {
      return spec.forward.invalid();
    },
    .make = [](const PoolBackward& spec,
               Device& /*device*/) { return std::make_unique<ReferencePoolBackward>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
