// The packed convolution (packed.cpp): the order of its output pixels, and the input pixels that each reads.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/window.h"

namespace bench::kernels::packed {

// Groups the output pixels of all samples by the taps that fall into the padding, so that a tile skips those
// taps.
class PixelOrder {
 public:
  explicit PixelOrder(const Conv2d& spec);

  // Looks up pixels [first, first + count) of the order. inputs[t · count + i] becomes the address that tap t
  // of pixel i reads: `padding` outside the map. places[i] becomes the pixel's offset in dst, in floats.
  void find(std::int64_t first, std::int64_t count, const float* src, const float* padding,
            const float** inputs, std::int64_t* places) const;

 private:
  void find_inputs(std::int64_t n, std::int64_t pixel, const float* src, const float* padding,
                   const float** inputs, std::int64_t step) const;

  Conv2d spec_;
  WindowAxis rows_, columns_;
  std::vector<std::int32_t> pixels_;  // of a map, class by class
  struct Class {
    std::int64_t first = 0, count = 0;  // in pixels_
  };
  std::vector<Class> classes_;
};

}  // namespace bench::kernels::packed
