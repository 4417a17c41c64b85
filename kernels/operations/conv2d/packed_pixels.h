// The order in which the packed convolution (packed.cpp) goes through output pixels, and what each of them
// reads.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::packed {

// Pixels with the same taps in the padding are together, those of all samples: so tiles of them leave those
// taps out.
class PixelOrder {
 public:
  explicit PixelOrder(const Conv2d& spec);

  // For `count` pixels from `first` on: what tap t of the i-th reads, to inputs[t · count + i], and where it
  // lies in dst, to places[i], in floats. `padding` is read outside the map.
  void find(std::int64_t first, std::int64_t count, const float* src, const float* padding,
            const float** inputs, std::int64_t* places) const;

 private:
  void find_inputs(std::int64_t n, std::int64_t pixel, const float* src, const float* padding,
                   const float** inputs, std::int64_t step) const;

  Conv2d spec_;
  std::vector<std::int32_t> pixels_;  // of a map, class by class
  struct Class {
    std::int64_t first = 0, count = 0;  // in pixels_
  };
  std::vector<Class> classes_;
};

}  // namespace bench::kernels::packed
