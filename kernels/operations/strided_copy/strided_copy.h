// Copies of arrays in which each dimension of the result moves one dimension of an input by a step: layouts,
// transposition, slices, repetition, padding and concatenation.
//
//   dst[i] = part.src[j],   j[part.axes[d].dimension] = part.axes[d].start + part.axes[d].step · i[d]
//
// for the part in which j lies; of several parts, which are the inputs of a concatenation, an element belongs
// to one at most. Elsewhere `outside` says what dst is: a value, or for a single part its nearest element
// (edge), or the element on the other side of the border (reflect).
//
// backward: the gradient of part `index`: each element has the sum of diff_dst where it was copied to.
//
// Slots. forward:  src, src1, … as there are parts → dst.
//        backward: diff_dst → diff_src.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/operations/array.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

struct StridedCopy {
  static constexpr std::string_view kName = "strided copy";
  enum class Outside { value, edge, reflect };

  struct Axis {
    int dimension = -1;  // of the input; -1: none, the input is repeated
    std::int64_t start = 0;
    std::int64_t step = 1;  // 0: its element `start` is repeated; below 0: backwards
    bool operator==(const Axis&) const = default;
  };
  struct Part {
    Array src;
    std::array<Axis, Dims::kMost> axes{};  // by dst's dimensions
    bool operator==(const Part&) const = default;
  };

  std::vector<Part> parts;
  Array dst;
  Outside outside = Outside::value;
  float value = 0;
  Direction direction = Direction::forward;
  std::size_t index = 0;  // backward: which part

  // A part whose dimensions are dst's.
  static Part same(const Array& src);
  // The same values in another layout.
  static StridedCopy reorder(const Array& src, const Array& dst);
  // Arrays side by side along a dimension of dst. In the others a smaller one is centred among zeros; of an
  // odd difference the smaller half lies before it, as U-Net pads the maps it has scaled up.
  static StridedCopy joined(const std::vector<Array>& sources, const Array& dst, std::size_t along);

  bool forward() const { return direction == Direction::forward; }
  static double flops() { return 0; }
  // Why the description is invalid; nullopt where it is valid. A gradient of repeated elements is refused: it
  // is a sum.
  std::optional<std::string> invalid() const;
  // Whether dst has the bytes of its only input.
  bool is_the_same_memory() const;
  // Whether all parts and dst are maps in nhwc, and every pixel of dst has the channels of each part's pixel
  // one after the other, or zeros.
  bool is_of_whole_pixels() const;
  const Array& written() const { return forward() ? dst : parts[index].src; }

  bool operator==(const StridedCopy&) const = default;
};

PlainSlots plain_slots(const StridedCopy& spec);

// How a copy is done: values are written where no input goes, then each step copies along a nest, whose array
// 0 is written and whose array 1 read.
struct CopySteps {
  struct Step {
    std::size_t part = 0;
    LoopNest nest;
    bool add = false;  // to what earlier steps wrote
  };
  std::vector<LoopNest> value;    // where `value` is written first: where nothing is copied to, at least
  std::vector<LoopNest> padding;  // where zeros are
  std::vector<Step> steps;
};
CopySteps steps_of(const StridedCopy& spec);

}  // namespace bench::kernels
