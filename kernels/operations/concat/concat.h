// Joins maps along their channels: dst holds the channels of src, then those of src1, src2 and src3. A map
// that is smaller than the largest is centred in it with zeros around; of an odd difference the smaller half
// lies above and to the left, as U-Net pads the maps it has scaled up.
// backward: the gradient of one input, `index`: the part of diff_dst that it was copied to.
//
// Slots. forward:  src, src1, and src2 and src3 as there are inputs → dst.
//        backward: diff_dst → diff_src.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Concat {
  static constexpr std::string_view kName = "concat";
  std::vector<TensorDesc> inputs;  // two to four, alike but for channels, height and width
  Direction direction = Direction::forward;
  std::size_t index = 0;  // backward: which input

  bool forward() const { return direction == Direction::forward; }
  static double flops() { return 0; }
  TensorDesc dst() const;
  std::int64_t first_channel(std::size_t input) const;  // of an input, in dst
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const Concat&) const = default;
};

PlainSlots plain_slots(const Concat& spec);

}  // namespace bench::kernels
