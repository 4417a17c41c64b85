// Turns maps of scores into rows of classes, one after the other: what a loss over pixels or over predicted
// boxes reads. A map has the scores of one or more rows at each pixel: channel a · classes + k is class k of
// the pixel's row a. Rows follow each other map by map, then pixel by pixel in reading order, then a:
//
//   dst[n, k, first row of the map + (y · w + x) · rows a pixel + a] = map[n, a · classes + k, y, x]
//
// dst is {n, c = classes, h = rows, w = 1} in nhwc, so that a row's scores lie together.
// backward: the gradient of one map, `index`: the part of diff_dst that it was copied to, in the map's
// layout.
//
// Slots. forward:  src, and src1, src2 and src3 as there are maps → dst.
//        backward: diff_dst → diff_src.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Rows {
  static constexpr std::string_view kName = "rows";
  std::vector<TensorDesc> maps;  // one to four, of the same batch and dtype
  std::int64_t classes = 1;
  Direction direction = Direction::forward;
  std::size_t index = 0;  // backward: which map

  bool forward() const { return direction == Direction::forward; }
  static double flops() { return 0; }
  TensorDesc dst() const;
  std::int64_t first_row(std::size_t map) const;  // of a map, in a sample's rows
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  bool operator==(const Rows&) const = default;
};

PlainSlots plain_slots(const Rows& spec);

}  // namespace bench::kernels
