// A copy as nests: see strided_copy.h.
#include <algorithm>
#include <iterator>
#include <utility>

#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

using Axis = StridedCopy::Axis;
using Part = StridedCopy::Part;

// Indices first to last − 1 of a dimension of dst, which read an input along `axis`.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  Axis axis{};
  bool inside = true;  // of the input
};

std::int64_t rounded_up(std::int64_t value, std::int64_t by) {
  return value >= 0 ? (value + by - 1) / by : -(-value / by);
}

// Where start + step · i lies in [0, size), for i in [0, extent).
Range inside_of(const Axis& axis, std::int64_t size, std::int64_t extent) {
  Range range{.first = 0, .last = extent, .axis = axis};
  if (axis.dimension < 0 || axis.step == 0) {
    return range;
  }
  // Backwards, the largest index comes first.
  const std::int64_t step = axis.step > 0 ? axis.step : -axis.step;
  const std::int64_t start = axis.step > 0 ? axis.start : size - 1 - axis.start;
  range.first = std::clamp<std::int64_t>(rounded_up(-start, step), 0, extent);
  range.last = std::clamp<std::int64_t>(rounded_up(size - start, step), range.first, extent);
  return range;
}

std::vector<Range> ranges_of(const StridedCopy& spec, const Part& part, std::size_t dimension) {
  const Axis& axis = part.axes[dimension];
  const std::int64_t extent = spec.dst.dims[dimension];
  const std::int64_t size = axis.dimension < 0 ? 1 : part.src.dims[static_cast<std::size_t>(axis.dimension)];
  std::vector<Range> ranges{inside_of(axis, size, extent)};
  if (spec.outside == StridedCopy::Outside::value) {
    return ranges;
  }
  const auto add = [&](std::int64_t first, std::int64_t last, std::int64_t border) {
    const bool edge = spec.outside == StridedCopy::Outside::edge;
    const Axis mirrored{axis.dimension, edge ? border : 2 * border - axis.start, edge ? 0 : -1};
    // A gradient sums what the border was repeated to: one by one, since a nest writes each element once.
    const std::int64_t each = edge && !spec.forward() ? 1 : last - first;
    for (std::int64_t from = first; from < last; from += each) {
      ranges.push_back({from, from + each, mirrored, false});
    }
  };
  const auto [first, last] = std::pair{ranges[0].first, ranges[0].last};
  add(0, first, 0);
  add(last, extent, size - 1);
  return ranges;
}

// Of an array, by its dimensions: the first index, and the one after the last.
using Box = std::vector<std::pair<std::int64_t, std::int64_t>>;

Box whole(const Dims& dims) {
  Box box;
  for (std::size_t d = 0; d < dims.rank(); ++d) {
    box.emplace_back(0, dims[d]);
  }
  return box;
}

// What is left of boxes without one that is taken out.
std::vector<Box> without(const std::vector<Box>& boxes, const Box& taken) {
  std::vector<Box> left;
  for (Box box : boxes) {
    bool apart = false;
    for (std::size_t d = 0; d < box.size(); ++d) {
      apart = apart || taken[d].second <= box[d].first || box[d].second <= taken[d].first;
    }
    if (apart) {
      left.push_back(std::move(box));
      continue;
    }
    for (std::size_t d = 0; d < box.size(); ++d) {
      for (const auto& side : {std::pair{box[d].first, taken[d].first}, {taken[d].second, box[d].second}}) {
        if (side.first < side.second) {
          left.push_back(box);
          left.back()[d] = side;
        }
      }
      box[d] = {std::max(box[d].first, taken[d].first), std::min(box[d].second, taken[d].second)};
    }
  }
  return left;
}

// The steps of the elements of dst in a choice of ranges.
void add_box(const StridedCopy& spec, std::size_t index, std::span<const Range> ranges,
             std::vector<CopySteps::Step>& steps) {
  const Part& part = spec.parts[index];
  Walk dst = Walk::over(spec.dst);
  Walk src{.array = part.src};
  Dims extents;
  bool inside = true;
  for (std::size_t dimension = 0; dimension < ranges.size(); ++dimension) {
    const Range& range = ranges[dimension];
    extents.append(range.last - range.first);
    dst.from[dimension] = range.first;
    dst.step[dimension] = 1;
    src.dimension[dimension] = range.axis.dimension;
    if (range.axis.dimension >= 0) {
      src.from[static_cast<std::size_t>(range.axis.dimension)] =
          range.axis.start + range.axis.step * range.first;
      src.step[dimension] = range.axis.step;
    }
    inside = inside && range.inside;
  }
  const std::array walks = spec.forward() ? std::array{dst, src} : std::array{src, dst};
  for (LoopNest& nest : nests(extents, walks)) {
    steps.push_back({index, std::move(nest), !spec.forward() && !inside});
  }
}

// Takes what is copied to out of `gaps`.
void add_part(const StridedCopy& spec, std::size_t index, std::vector<CopySteps::Step>& steps,
              std::vector<Box>& gaps) {
  std::vector<std::vector<Range>> ranges;
  for (std::size_t dimension = 0; dimension < spec.dst.dims.rank(); ++dimension) {
    ranges.push_back(ranges_of(spec, spec.parts[index], dimension));
  }
  std::vector<std::size_t> choice(ranges.size(), 0);  // all inside first: a gradient adds the others to it
  while (true) {
    std::vector<Range> chosen;
    for (std::size_t dimension = 0; dimension < ranges.size(); ++dimension) {
      chosen.push_back(ranges[dimension][choice[dimension]]);
    }
    if (std::ranges::all_of(chosen, [](const Range& range) { return range.first < range.last; })) {
      add_box(spec, index, chosen, steps);
      Box box;
      for (const Range& range : chosen) {
        box.emplace_back(range.first, range.last);
      }
      gaps = without(gaps, box);
    }
    std::size_t dimension = 0;
    while (dimension < ranges.size() && ++choice[dimension] == ranges[dimension].size()) {
      choice[dimension++] = 0;
    }
    if (dimension == ranges.size()) {
      return;
    }
  }
}

}  // namespace

CopySteps steps_of(const StridedCopy& spec) {
  CopySteps all;
  std::vector<Box> gaps{whole(spec.dst.dims)};
  for (std::size_t index = 0; index < spec.parts.size(); ++index) {
    if (spec.forward() || index == spec.index) {
      add_part(spec, index, all.steps, gaps);
    }
  }
  const Array& written = spec.written();
  if (!spec.forward()) {  // elements that were left out may lie between others
    std::int64_t covered = 0;
    for (const CopySteps::Step& step : all.steps) {
      covered += step.add ? 0 : step.nest.elements();
    }
    gaps.clear();
    if (covered < written.dims.elements()) {
      gaps.push_back(whole(written.dims));
    }
  }
  for (const Box& gap : gaps) {
    Walk walk = Walk::over(written);
    Dims extents;
    for (std::size_t d = 0; d < gap.size(); ++d) {
      walk.from[d] = gap[d].first;
      extents.append(gap[d].second - gap[d].first);
    }
    std::ranges::move(nests(extents, std::span(&walk, 1)), std::back_inserter(all.value));
  }
  if (auto padding = padding_of(written)) {
    all.padding.push_back(std::move(*padding));
  }
  return all;
}

bool StridedCopy::is_of_whole_pixels() const {
  const auto is_nhwc = [](const Array& array) {
    return array.dims.rank() == 4 && array.layout == Layout::nhwc;
  };
  std::int64_t channels = 0;
  for (const Part& part : parts) {
    bool plain = is_nhwc(part.src) && part.axes[0].start == 0 && part.axes[1].start == -channels &&
                 part.src.dims[0] == dst.dims[0];
    for (std::size_t d = 0; d < dst.dims.rank(); ++d) {
      plain = plain && part.axes[d].dimension == static_cast<int>(d) && part.axes[d].step == 1;
    }
    if (!plain) {
      return false;
    }
    channels += part.src.dims[1];
  }
  return is_nhwc(dst) && channels == dst.dims[1] && outside == Outside::value && value == 0;
}

bool StridedCopy::is_the_same_memory() const {
  if (parts.size() != 1 || parts[0].src.tensor().bytes() != dst.tensor().bytes()) {
    return false;
  }
  const CopySteps all = steps_of(*this);
  return all.value.empty() && all.padding.empty() && all.steps.size() == 1 &&
         all.steps[0].nest.elements() == dst.dims.elements() && all.steps[0].nest.is_one_row(2);
}

}  // namespace bench::kernels
