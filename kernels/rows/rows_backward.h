// Gradient of rows for one of its maps: the part of diff_dst that it was copied to, back in the map's layout.
// Slots: diff_dst → diff_src.
#pragma once

#include <string_view>

#include "kernels/rows/rows.h"

namespace bench::kernels {

struct RowsBackward {
  static constexpr std::string_view kName = "rows_backward";
  Rows forward;
  std::size_t index = 0;  // which map

  std::optional<std::string> invalid() const {
    return index < forward.maps.size() ? forward.invalid()
                                       : std::optional<std::string>("rows: there is no such map");
  }
  const TensorDesc& src() const { return forward.maps[index]; }

  bool operator==(const RowsBackward&) const = default;
};

}  // namespace bench::kernels
