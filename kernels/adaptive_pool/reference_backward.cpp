// The only implementation on the CPU: a network has at most one such layer, on its smallest tensor.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/registry.h"
#include "kernels/adaptive_pool/adaptive_pool_backward.h"
#include "kernels/adaptive_pool/adaptive_windows.h"

namespace bench::kernels {
namespace {

class ReferenceAdaptivePoolBackward final : public Operation {
 public:
  explicit ReferenceAdaptivePoolBackward(const AdaptivePool& forward)
      : src_(forward.src),
        dst_(forward.dst()),
        rows_(adaptive_windows(src_.h, dst_.h)),
        columns_(adaptive_windows(src_.w, dst_.w)),
        slots_{SlotInfo{Slot::diff_dst, Role::input, dst_.bytes(), dst_, 0},
               SlotInfo{Slot::diff_src, Role::output, src_.bytes(), src_, 0}} {}

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  void pack(Slot slot, std::span<const float> /*plain*/, void* /*packed*/) override { no_parameter(slot); }
  void unpack(Slot slot, const void* /*packed*/, std::span<float> /*plain*/) override { no_parameter(slot); }

  void run(const SlotPointers& pointers) override {
    const auto* const diff_dst = static_cast<const std::byte*>(pointers[Slot::diff_dst]);
    auto* const diff_src = static_cast<std::byte*>(pointers[Slot::diff_src]);
    TensorDesc src = src_;
    TensorDesc dst = dst_;
    src.n = dst.n = 1;  // sample by sample keeps the copies small
    std::vector<float> out(static_cast<std::size_t>(dst.elements()));
    std::vector<float> in(static_cast<std::size_t>(src.elements()));
    std::vector<double> sums(static_cast<std::size_t>(src.h * src.w));
    for (std::int64_t n = 0; n < src_.n; ++n) {
      load(dst, diff_dst + n * dst.bytes(), out);
      for (std::int64_t c = 0; c < src.c; ++c) {
        std::ranges::fill(sums, 0.0);
        share_plane(&out[static_cast<std::size_t>(c * dst.h * dst.w)], sums.data());
        std::ranges::transform(sums, &in[static_cast<std::size_t>(c * src.h * src.w)],
                               [](double sum) { return static_cast<float>(sum); });
      }
      store(src, in, diff_src + n * src.bytes());
    }
  }

  double flops() const override {
    return static_cast<double>(dst_.n * dst_.c * inputs_averaged(rows_, columns_));
  }
  std::string algorithm() const override { return "adaptive_average"; }

 private:
  // Adds each output's gradient to the inputs it averaged.
  void share_plane(const float* out, double* sums) const {
    for (const AdaptiveWindow& row : rows_) {
      for (const AdaptiveWindow& column : columns_) {
        const double share = static_cast<double>(*out++) / static_cast<double>(row.size() * column.size());
        for (std::int64_t r = row.first; r < row.last; ++r) {
          for (std::int64_t c = column.first; c < column.last; ++c) {
            sums[r * src_.w + c] += share;
          }
        }
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

const Registration<Implementation<AdaptivePoolBackward>> registered{
    {.name = "reference",
     .device_kind = "cpu",
     .preference = 0,
     .unsupported = [](const AdaptivePoolBackward& spec, const Device&) -> std::optional<std::string> {
       if (spec.forward.height < 1 || spec.forward.width < 1 || spec.forward.src.elements() < 1) {
         return "adaptive_pool_backward needs at least one pixel in and out";
       }
       return std::nullopt;
     },
     .make = [](const AdaptivePoolBackward& spec, Device&) -> std::unique_ptr<Operation> {
       return std::make_unique<ReferenceAdaptivePoolBackward>(spec.forward);
     }}};

}  // namespace
}  // namespace bench::kernels
