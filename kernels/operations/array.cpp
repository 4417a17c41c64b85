#include "kernels/operations/array.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace bench::kernels {
namespace {

constexpr std::int64_t kBlock = 16;  // channels that stay together in nChw16c
constexpr std::size_t kChannels = 1;

// Indices first, first + 1, … of a loop, `length` of them, and the same again `periods` times, kBlock apart.
struct LoopSegment {
  std::int64_t first = 0;
  std::int64_t length = 1;
  std::int64_t periods = 1;
};

// Whether a loop takes an array through its blocks of channels.
bool moves_blocks(const Walk& walk, std::size_t loop) {
  return walk.array.layout == Layout::nchw16c && walk.dimension[loop] == static_cast<int>(kChannels) &&
         walk.step[loop] != 0;
}

// A loop cut so that within a segment each array's place moves by one step, and by another from a period to
// the next.
std::vector<LoopSegment> segments_of(std::int64_t extent, std::span<const Walk> walks, std::size_t loop) {
  std::vector<std::int64_t> cuts;  // where an array comes to its next block, within a period
  for (const Walk& walk : walks) {
    if (!moves_blocks(walk, loop)) {
      continue;
    }
    if (walk.step[loop] != 1) {
      std::vector<LoopSegment> each;
      for (std::int64_t i = 0; i < extent; ++i) {
        each.push_back({.first = i});
      }
      return each;
    }
    cuts.push_back((kBlock - walk.from[kChannels] % kBlock) % kBlock);
  }
  if (cuts.empty()) {
    return {{.length = extent}};
  }
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  std::vector<LoopSegment> all;
  const auto add = [&](std::int64_t first, std::int64_t last, std::int64_t periods) {
    last = std::min(last, extent);
    if (first < last && periods > 0) {
      all.push_back({first, last - first, periods});
    }
  };
  add(0, cuts.front(), 1);
  const std::int64_t periods = std::max<std::int64_t>(extent - cuts.front(), 0) / kBlock;
  const std::int64_t rest = periods * kBlock;
  cuts.push_back(cuts.front() + kBlock);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    add(cuts[i], cuts[i + 1], periods);
    add(cuts[i] + rest, cuts[i + 1] + rest, 1);
  }
  return all;
}

std::int64_t place_at(const Walk& walk, std::span<const std::int64_t> index) {
  std::array<std::int64_t, Dims::kMost> at = walk.from;
  for (std::size_t loop = 0; loop < index.size(); ++loop) {
    if (walk.dimension[loop] >= 0) {
      at[static_cast<std::size_t>(walk.dimension[loop])] += walk.step[loop] * index[loop];
    }
  }
  return walk.array.place(at);
}

// Outer and inner as one loop, where that is one.
bool merge(LoopNest::Loop& outer, const LoopNest::Loop& inner) {
  for (std::size_t array = 0; array < LoopNest::kMostArrays; ++array) {
    if (outer.steps[array] != inner.steps[array] * inner.extent) {
      return false;
    }
  }
  outer = {.extent = outer.extent * inner.extent, .steps = inner.steps};
  return true;
}

LoopNest nest_of(std::span<const LoopSegment> segments, std::span<const Walk> walks, std::size_t leading) {
  std::vector<std::int64_t> start;
  for (const LoopSegment& segment : segments) {
    start.push_back(segment.first);
  }
  LoopNest nest;
  for (std::size_t array = 0; array < walks.size(); ++array) {
    nest.first[array] = place_at(walks[array], start);
  }
  std::vector<LoopNest::Loop> loops;
  const auto add = [&](std::size_t loop, std::int64_t extent, std::int64_t distance) {
    if (extent == 1) {
      return;
    }
    LoopNest::Loop made{.extent = extent};
    std::vector<std::int64_t> next = start;
    next[loop] += distance;
    for (std::size_t array = 0; array < walks.size(); ++array) {
      made.steps[array] = place_at(walks[array], next) - nest.first[array];
    }
    loops.push_back(made);
  };
  for (std::size_t loop = 0; loop < segments.size(); ++loop) {
    add(loop, segments[loop].periods, kBlock);
    add(loop, segments[loop].length, 1);
  }
  std::ranges::stable_sort(loops, std::ranges::greater{},
                           [&](const LoopNest::Loop& loop) { return std::abs(loop.steps[leading]); });
  for (const LoopNest::Loop& loop : loops) {
    if (nest.loops.empty() || !merge(nest.loops.back(), loop)) {
      nest.loops.push_back(loop);
    }
  }
  return nest;
}

}  // namespace

Dims::Dims(std::initializer_list<std::int64_t> extents) {
  for (const std::int64_t extent : extents) {
    append(extent);
  }
}

void Dims::append(std::int64_t extent) {
  if (rank_ == kMost) {
    throw std::logic_error("a value has at most six dimensions");
  }
  extents_[rank_++] = extent;
}

std::int64_t Dims::elements() const {
  std::int64_t count = 1;
  for (std::size_t dimension = 0; dimension < rank_; ++dimension) {
    count *= extents_[dimension];
  }
  return count;
}

TensorDesc Array::tensor() const {
  if (dims.rank() == 4) {
    return {.n = dims[0], .c = dims[1], .h = dims[2], .w = dims[3], .layout = layout, .dtype = dtype};
  }
  return {.n = 1, .c = dims.elements(), .dtype = dtype};
}

std::int64_t Array::place(const std::array<std::int64_t, Dims::kMost>& index) const {
  if (layout != Layout::nchw) {
    return stored_index(tensor(), index[0], index[1], index[2], index[3]);
  }
  std::int64_t place = 0;
  for (std::size_t dimension = 0; dimension < dims.rank(); ++dimension) {
    place = place * dims[dimension] + index[dimension];
  }
  return place;
}

Walk Walk::over(const Array& array) {
  return along(array, array.dims);
}

Walk Walk::along(const Array& array, const Dims& dims) {
  Walk walk{.array = array};
  const std::size_t lacking = dims.rank() - array.dims.rank();
  for (std::size_t dimension = 0; dimension < array.dims.rank(); ++dimension) {
    walk.dimension[lacking + dimension] = static_cast<int>(dimension);
    walk.step[lacking + dimension] = array.dims[dimension] == 1 ? 0 : 1;
  }
  return walk;
}

std::int64_t LoopNest::elements() const {
  std::int64_t count = 1;
  for (const Loop& loop : loops) {
    count *= loop.extent;
  }
  return count;
}

bool LoopNest::is_one_row(std::size_t arrays) const {
  if (loops.size() > 1) {
    return false;
  }
  for (std::size_t array = 0; array < arrays && !loops.empty(); ++array) {
    if (loops.front().steps[array] != 1) {
      return false;
    }
  }
  return true;
}

std::vector<LoopNest> nests(const Dims& extents, std::span<const Walk> walks, std::size_t leading) {
  std::vector<std::vector<LoopSegment>> cut;
  for (std::size_t loop = 0; loop < extents.rank(); ++loop) {
    cut.push_back(segments_of(extents[loop], walks, loop));
  }
  // One nest for each choice of a segment in every loop.
  std::vector<std::size_t> choice(cut.size(), 0);
  std::vector<LoopNest> all;
  while (true) {
    std::vector<LoopSegment> chosen;
    for (std::size_t loop = 0; loop < cut.size(); ++loop) {
      chosen.push_back(cut[loop][choice[loop]]);
    }
    all.push_back(nest_of(chosen, walks, leading));
    std::size_t loop = 0;
    while (loop < cut.size() && ++choice[loop] == cut[loop].size()) {
      choice[loop++] = 0;
    }
    if (loop == cut.size()) {
      return all;
    }
  }
}

std::optional<LoopNest> padding_of(const Array& array) {
  if (array.layout != Layout::nchw16c || array.dims[kChannels] % kBlock == 0) {
    return std::nullopt;
  }
  // The last block's lanes as channels of their own.
  Array padded = array;
  padded.dims[kChannels] += kBlock - array.dims[kChannels] % kBlock;
  Walk walk = Walk::over(padded);
  walk.from[kChannels] = array.dims[kChannels];
  walk.step[kChannels] = 1;
  Dims extents = padded.dims;
  extents[kChannels] -= array.dims[kChannels];
  return nests(extents, std::span(&walk, 1)).front();
}

}  // namespace bench::kernels
