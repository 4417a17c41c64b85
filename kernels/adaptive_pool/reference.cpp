// The only implementation on the CPU: a network has at most one such layer, on its smallest tensor.
#include <array>

#include "bench/registry.h"
#include "kernels/adaptive_pool/adaptive_pool.h"
#include "kernels/adaptive_pool/adaptive_windows.h"

namespace bench::kernels {
namespace {

class ReferenceAdaptivePool final : public Operation {
 public:
  explicit ReferenceAdaptivePool(const AdaptivePool& spec)
      : src_(spec.src),
        dst_(spec.dst()),
        rows_(adaptive_windows(src_.h, dst_.h)),
        columns_(adaptive_windows(src_.w, dst_.w)),
        slots_{SlotInfo{Slot::src, Role::input, src_.bytes(), src_, 0},
               SlotInfo{Slot::dst, Role::output, dst_.bytes(), dst_, 0}} {}

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  void pack(Slot slot, std::span<const float> /*plain*/, void* /*packed*/) override { no_parameter(slot); }
  void unpack(Slot slot, const void* /*packed*/, std::span<float> /*plain*/) override { no_parameter(slot); }

  void run(const SlotPointers& pointers) override {
    TensorDesc src = src_;
    TensorDesc dst = dst_;
    src.n = dst.n = 1;  // sample by sample keeps the copies small
    std::vector<float> in(static_cast<std::size_t>(src.elements()));
    std::vector<float> out(static_cast<std::size_t>(dst.elements()));
    for (std::int64_t n = 0; n < src_.n; ++n) {
      load(src, static_cast<const std::byte*>(pointers[Slot::src]) + n * src.bytes(), in);
      for (std::int64_t c = 0; c < src.c; ++c) {
        average_plane(&in[static_cast<std::size_t>(c * src.h * src.w)],
                      &out[static_cast<std::size_t>(c * dst.h * dst.w)]);
      }
      store(dst, out, static_cast<std::byte*>(pointers[Slot::dst]) + n * dst.bytes());
    }
  }

  double flops() const override {
    return static_cast<double>(dst_.n * dst_.c * inputs_averaged(rows_, columns_));
  }
  std::string algorithm() const override { return "adaptive_average"; }

 private:
  void average_plane(const float* in, float* out) const {
    for (const AdaptiveWindow& row : rows_) {
      for (const AdaptiveWindow& column : columns_) {
        double sum = 0;
        for (std::int64_t r = row.first; r < row.last; ++r) {
          for (std::int64_t c = column.first; c < column.last; ++c) {
            sum += static_cast<double>(in[r * src_.w + c]);
          }
        }
        *out++ = static_cast<float>(sum / static_cast<double>(row.size() * column.size()));
      }
    }
  }

  [[noreturn]] static void no_parameter(Slot slot) {
    throw std::logic_error("adaptive_pool has no parameter " + std::string(name_of(slot)));
  }

  TensorDesc src_;
  TensorDesc dst_;
  std::vector<AdaptiveWindow> rows_;
  std::vector<AdaptiveWindow> columns_;
  std::array<SlotInfo, 2> slots_;
};

const Registration<Implementation<AdaptivePool>> registered{
    {.name = "reference",
     .device_kind = "cpu",
     .preference = 0,
     .unsupported = [](const AdaptivePool& spec, const Device&) -> std::optional<std::string> {
       if (spec.height < 1 || spec.width < 1 || spec.src.elements() < 1) {
         return "adaptive_pool needs at least one pixel in and out";
       }
       return std::nullopt;
     },
     .make = [](const AdaptivePool& spec, Device&) -> std::unique_ptr<Operation> {
       return std::make_unique<ReferenceAdaptivePool>(spec);
     }}};

}  // namespace
}  // namespace bench::kernels
