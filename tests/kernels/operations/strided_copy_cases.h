// Copies of every kind, for the tests of each implementation.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels::testing {

struct CopyCase {
  std::string name;
  StridedCopy spec;
};

// dst's dimension d is dimension order[d] of the input.
inline StridedCopy transposed(const Array& src, const std::vector<int>& order, Layout layout = Layout::nchw) {
  StridedCopy copy{.parts = {{.src = src}}, .dst = {.dims = {}, .layout = layout, .dtype = src.dtype}};
  for (std::size_t d = 0; d < order.size(); ++d) {
    copy.parts[0].axes[d].dimension = order[d];
    copy.dst.dims.append(src.dims[static_cast<std::size_t>(order[d])]);
  }
  return copy;
}

inline StridedCopy padded(const Array& src, std::int64_t before, std::int64_t behind,
                          StridedCopy::Outside outside, float value = 0) {
  StridedCopy copy = StridedCopy::reorder(src, src);
  copy.outside = outside;
  copy.value = value;
  for (std::size_t d = src.dims.rank() < 3 ? 0 : src.dims.rank() - 2; d < src.dims.rank(); ++d) {
    copy.dst.dims[d] += before + behind;
    copy.parts[0].axes[d].start = -before;
  }
  return copy;
}

inline StridedCopy joined(const std::vector<Array>& sources, std::size_t along, Layout layout) {
  Array dst = sources[0];
  dst.layout = layout;
  dst.dims[along] = 0;
  for (const Array& src : sources) {
    for (std::size_t d = 0; d < dst.dims.rank(); ++d) {
      dst.dims[d] = d == along ? dst.dims[d] + src.dims[d] : std::max(dst.dims[d], src.dims[d]);
    }
  }
  return StridedCopy::joined(sources, dst, along);
}

inline std::vector<CopyCase> copy_cases(Dtype dtype, bool blocks) {
  using Outside = StridedCopy::Outside;
  std::vector<CopyCase> all;
  const auto array = [&](const Dims& dims, Layout layout = Layout::nchw) {
    return Array{.dims = dims, .layout = layout, .dtype = dtype};
  };
  for (const Dims& dims : {Dims{}, Dims{5}, Dims{3, 4}, Dims{2, 3, 5}, Dims{2, 3, 4, 5}, Dims{2, 3, 2, 4, 5},
                           Dims{2, 3, 2, 2, 3, 4}}) {
    const std::string rank = "rank " + std::to_string(dims.rank());
    all.emplace_back(rank + " as it is", StridedCopy::reorder(array(dims), array(dims)));
    if (dims.rank() == 0) {
      continue;
    }
    std::vector<int> back;
    for (int d = static_cast<int>(dims.rank()); d-- > 0;) {
      back.push_back(d);
    }
    all.emplace_back(rank + " turned round", transposed(array(dims), back));
    all.emplace_back(rank + " padded", padded(array(dims), 2, 1, Outside::value, 0.5F));
    all.emplace_back(rank + " edges", padded(array(dims), 3, 2, Outside::edge));
    all.emplace_back(rank + " reflected", padded(array(dims), 1, 2, Outside::reflect));
    all.emplace_back(rank + " joined",
                     joined({array(dims), array(dims), array(dims)}, dims.rank() - 1, Layout::nchw));
    StridedCopy slice = StridedCopy::reorder(array(dims), array(dims));
    slice.dst.dims[dims.rank() - 1] = 2;
    slice.parts[0].axes[dims.rank() - 1] = {static_cast<int>(dims.rank()) - 1, dims[dims.rank() - 1] - 1, -2};
    all.emplace_back(rank + " every other backwards", slice);
  }
  std::vector<Layout> layouts{Layout::nchw, Layout::nhwc};
  if (blocks) {
    layouts.push_back(Layout::nchw16c);
  }
  for (const std::int64_t channels : {3, 16, 32, 37}) {
    for (const Layout from : layouts) {
      const Array src = array({2, channels, 5, 3}, from);
      const std::string name = std::string(name_of(from)) + " " + std::to_string(channels) + " ";
      for (const Layout to : layouts) {
        const std::string pair = name + std::string(name_of(to)) + " ";
        Array dst = src;
        dst.layout = to;
        all.emplace_back(pair, StridedCopy::reorder(src, dst));
        all.emplace_back(pair + "last", transposed(src, {0, 2, 3, 1}, to));
        all.emplace_back(pair + "turned round", transposed(src, {3, 2, 1, 0}, to));
        StridedCopy slice = StridedCopy::reorder(src, dst);
        slice.dst.dims[1] = channels / 2;
        slice.parts[0].axes[1].start = channels / 3;
        all.emplace_back(pair + "middle channels", slice);
        all.emplace_back(pair + "joined", joined({src, array({2, 21, 5, 3}, to), src}, 1, to));
      }
      for (const Outside outside : {Outside::value, Outside::edge, Outside::reflect}) {
        all.emplace_back(name + "padded", padded(src, 2, 1, outside, outside == Outside::value ? 1.5F : 0));
      }
      StridedCopy steps = StridedCopy::reorder(src, src);
      steps.dst.dims[1] = (channels + 1) / 2;
      steps.parts[0].axes[1].step = 2;
      all.emplace_back(name + "every other channel", steps);
    }
  }
  for (const Layout layout : layouts) {
    const std::string name = std::string(name_of(layout)) + " centred ";
    const auto map = [&](std::int64_t c, std::int64_t h, std::int64_t w) {
      return array({2, c, h, w}, layout);
    };
    all.emplace_back(name + "8", joined({map(8, 9, 7), map(16, 8, 6)}, 1, layout));
    all.emplace_back(name + "3", joined({map(3, 4, 9), map(5, 9, 6), map(1, 7, 7)}, 1, layout));
    all.emplace_back(name + "16",
                     joined({map(16, 1, 1), map(16, 5, 5), map(16, 2, 3), map(3, 5, 4)}, 1, layout));
    all.emplace_back(name + "below each other", joined({map(5, 3, 7), map(4, 6, 4)}, 2, layout));
  }
  StridedCopy repeated{.parts = {{.src = array({3, 1, 4})}}, .dst = array({2, 3, 5, 4})};
  repeated.parts[0].axes = {{{}, {0, 0, 1}, {1, 0, 0}, {2, 0, 1}}};
  all.emplace_back("repeated", repeated);
  return all;
}

}  // namespace bench::kernels::testing
