// Pooling window by window, as it is defined in pool.h.
#include <algorithm>
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
  }

  void run(const SlotPointers& pointers) override {
    const std::vector<float> src = read(pointers, Slot::src);
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
    for (std::int64_t plane = 0; plane < spec_.src.n * spec_.src.c; ++plane) {
      for (std::int64_t p = 0; p < rows_.out; ++p) {
        for (std::int64_t q = 0; q < columns_.out; ++q) {
          dst[(plane * rows_.out + p) * columns_.out + q] =
              window(&src[plane * rows_.in * columns_.in], p, q);
        }
      }
    }
    write(pointers, Slot::dst, dst);
  }

  double flops() const override { return spec_.flops(); }

 private:
  float window(const float* plane, std::int64_t p, std::int64_t q) const {
    double sum = 0;
    float largest = -std::numeric_limits<float>::infinity();
    std::int64_t count = 0;
    for (std::int64_t r = 0; r < rows_.kernel; ++r) {
      for (std::int64_t s = 0; s < columns_.kernel; ++s) {
        const std::int64_t h = rows_.at(p, r);
        const std::int64_t w = columns_.at(q, s);
        if (h >= 0 && h < rows_.in && w >= 0 && w < columns_.in) {
          const float value = plane[h * columns_.in + w];
          sum += value;
          largest = std::max(largest, value);
          ++count;
        }
      }
    }
    return spec_.kind == Pool::Kind::max ? largest : static_cast<float>(sum / static_cast<double>(count));
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
