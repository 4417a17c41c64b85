// Pooling window by window, as it is defined in pool.h. Maximum pooling in training saves, for each output in
// NCHW order, where in its plane the maximum was: an int64.
#include <limits>

#include "kernels/pool/pool.h"
#include "kernels/reference/reference_operation.h"
#include "kernels/window.h"

namespace bench::kernels {
namespace {

class ReferencePool final : public ReferenceOperation {
 public:
  explicit ReferencePool(const Pool& spec)
      : spec_(spec),
        rows_{spec.src.h, spec.out_height(), spec.kernel_h, spec.stride_h, spec.pad_h},
        columns_{spec.src.w, spec.out_width(), spec.kernel_w, spec.stride_w, spec.pad_w} {
    add_activation(Slot::src, Role::input, spec.src);
    add_activation(Slot::dst, Role::output, spec.dst());
    if (spec.training && spec.kind == Pool::Kind::max) {
      add_opaque(Slot::saved, Role::output,
                 spec.dst().elements() * static_cast<std::int64_t>(sizeof(std::int64_t)));
    }
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> src = read(pointers, Slot::src);
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
    auto* const saved =
        find(Slot::saved) != nullptr ? static_cast<std::int64_t*>(pointers[Slot::saved]) : nullptr;
    std::int64_t output = 0;
    for (std::int64_t plane = 0; plane < spec_.src.n * spec_.src.c; ++plane) {
      for (std::int64_t p = 0; p < rows_.out; ++p) {
        for (std::int64_t q = 0; q < columns_.out; ++q, ++output) {
          const Pooled pooled = window(&src[plane * rows_.in * columns_.in], p, q);
          dst[output] = spec_.kind == Pool::Kind::max ? pooled.largest : pooled.average;
          if (saved != nullptr) {
            saved[output] = pooled.largest_at;
          }
        }
      }
    }
    write(pointers, Slot::dst, dst);
  }

  double flops() const override { return spec_.flops(); }

 private:
  struct Pooled {
    float average;
    float largest;
    std::int64_t largest_at;  // in the plane
  };

  Pooled window(const float* plane, std::int64_t p, std::int64_t q) const {
    double sum = 0;
    float largest = -std::numeric_limits<float>::infinity();
    std::int64_t largest_at = 0;
    std::int64_t count = 0;
    for (std::int64_t r = 0; r < rows_.kernel; ++r) {
      for (std::int64_t s = 0; s < columns_.kernel; ++s) {
        const std::int64_t h = rows_.at(p, r);
        const std::int64_t w = columns_.at(q, s);
        if (h >= 0 && h < rows_.in && w >= 0 && w < columns_.in) {
          const std::int64_t at = h * columns_.in + w;
          sum += plane[at];
          if (count == 0 || plane[at] > largest) {
            largest = plane[at];
            largest_at = at;
          }
          ++count;
        }
      }
    }
    return {static_cast<float>(sum / static_cast<double>(count)), largest, largest_at};
  }

  Pool spec_;
  WindowAxis rows_;
  WindowAxis columns_;
};

const Registration<Implementation<Pool>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Pool& spec, const Device& /*device*/) -> std::optional<std::string> {
      return spec.invalid();
    },
    .make = [](const Pool& spec, Device& /*device*/) { return std::make_unique<ReferencePool>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
