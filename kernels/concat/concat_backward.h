// Gradient of concat for one of its inputs: the part of diff_dst that it was copied to.
// Slots: diff_dst → diff_src.
#pragma once

#include <string_view>

#include "kernels/concat/concat.h"

namespace bench::kernels {

struct ConcatBackward {
  static constexpr std::string_view kName = "concat_backward";
  Concat forward;
  std::size_t index = 0;  // which input

  std::optional<std::string> invalid() const {
    return index < forward.inputs.size() ? forward.invalid()
                                         : std::optional<std::string>("concat: there is no such input");
  }
  const TensorDesc& src() const { return forward.inputs[index]; }

  bool operator==(const ConcatBackward&) const = default;
};

}  // namespace bench::kernels
