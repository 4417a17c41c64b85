// Decoded images made ready for a network: bytes to normalised numbers,
//   dst[n,c,h,w] = (src[n,h,w,c] / 255 − mean[c]) / deviation[c]
// Slots: src (uint8, samples one behind the other, each in height, width, channel order) → dst, in nhwc or
// nchw.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Preprocess {
  static constexpr std::string_view kName = "preprocess";
  static constexpr std::size_t kMostChannels = 4;

  TensorDesc dst;
  // One a channel, the rest unused. ImageNet's, as torchvision has them.
  std::array<float, kMostChannels> mean{0.485F, 0.456F, 0.406F, 0.5F};
  std::array<float, kMostChannels> deviation{0.229F, 0.224F, 0.225F, 0.5F};

  std::int64_t src_bytes() const { return dst.elements(); }
  // A difference and two quotients an element.
  double flops() const { return 3.0 * static_cast<double>(dst.elements()); }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const Preprocess&) const = default;
};

PlainSlots plain_slots(const Preprocess& spec);

}  // namespace bench::kernels
