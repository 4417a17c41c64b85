// The kernels that show what memory delivers, after McCalpin's STREAM (1995): each touches every byte once,
// and computes next to nothing.
//
//   copy   dst = src                      scale  dst = kScalar · src
//   add    dst = src + src1               triad  dst = src + kScalar · src1
//   read   dst = Σ src² of each row: squares, so that nothing cancels and the sum can be checked; in fp32,
//   for
//          fp16 ends at 65504
//
// Slots: src, src1 (add, triad) → dst; rows × count each, of read rows × 1.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Stream {
  static constexpr std::string_view kName = "stream";
  static constexpr float kScalar = 0.75F;
  enum class Kind { copy, scale, add, triad, read };

  Kind kind = Kind::triad;
  std::int64_t rows = 1;
  std::int64_t count = 1;  // elements of a row
  Dtype dtype = Dtype::fp32;

  bool has_src1() const { return kind == Kind::add || kind == Kind::triad; }
  TensorDesc src() const { return {rows, count, 1, 1, Layout::nhwc, dtype}; }
  TensorDesc dst() const {
    return kind == Kind::read ? TensorDesc{rows, 1, 1, 1, Layout::nhwc, Dtype::fp32} : src();
  }
  double flops() const {
    const auto elements = static_cast<double>(rows * count);
    switch (kind) {
      case Kind::copy:
        return 0;
      case Kind::scale:
      case Kind::add:
        return elements;
      case Kind::triad:
      case Kind::read:
        return 2 * elements;
    }
    return 0;
  }

  bool operator==(const Stream&) const = default;
};

PlainSlots plain_slots(const Stream& spec);

}  // namespace bench::kernels
