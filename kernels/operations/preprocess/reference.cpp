// Preprocessing as it is defined in preprocess.h.
#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/preprocess/preprocess.h"

namespace bench::kernels {

std::optional<std::string> Preprocess::invalid() const {
  if (dst.n < 1 || dst.c < 1 || dst.h < 1 || dst.w < 1) {
    return std::string("preprocess: sizes must be at least 1");
  }
  if (dst.c > static_cast<std::int64_t>(kMostChannels)) {
    return fmt::format("preprocess: images have 1 to {} channels, not {}", kMostChannels, dst.c);
  }
  if (dst.layout == Layout::nchw16c) {
    return std::string("preprocess: the result is nhwc or nchw");
  }
  for (std::int64_t c = 0; c < dst.c; ++c) {
    if (!(deviation[static_cast<std::size_t>(c)] > 0)) {
      return fmt::format("preprocess: the deviation of channel {} must be above 0", c);
    }
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Preprocess& spec) {
  PlainSlots slots;
  slots.add_opaque(Slot::src, Role::input, spec.src_bytes());
  slots.add_activation(Slot::dst, Role::output, spec.dst);
  return slots;
}

namespace {

class ReferencePreprocess final : public ReferenceOf<Preprocess> {
 public:
  using ReferenceOf::ReferenceOf;

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
};

const Registration<Implementation<Preprocess>> registered{
    reference_implementation<Preprocess, ReferencePreprocess>()};

}  // namespace
}  // namespace bench::kernels
