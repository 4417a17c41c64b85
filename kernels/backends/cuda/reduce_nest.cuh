// Nests whose array 0 stays where it is in some loops: an element of it joins what these loops give. Each is
// joined by a thread, a warp or a block, always in the same order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/backends/cuda/nest.cuh"
#include "kernels/backends/cuda/row_group.cuh"

namespace bench::kernels::cuda {

// The arrays of a nest; 0 is written.
template <class Element>
struct NestPointers {
  using Stored = typename Element::Stored;
  Stored* written = nullptr;
  const Stored* read[Nest::kMostArrays] = {};

  BENCH_DEVICE float value(int array, const std::int64_t (&at)[Nest::kMostArrays]) const {
    float one[1];
    load_values<Element>(read[array] + at[array], one);
    return one[0];
  }
};

enum class NestJoin { sum, product, largest, smallest };

struct JoinValues {
  NestJoin join;
  BENCH_DEVICE float none() const {
    return join == NestJoin::sum       ? 0.0F
           : join == NestJoin::product ? 1.0F
           : join == NestJoin::largest ? kBelowAll
                                       : -kBelowAll;
  }
  BENCH_DEVICE float operator()(float a, float b) const {
    return join == NestJoin::sum       ? a + b
           : join == NestJoin::product ? a * b
           : join == NestJoin::largest ? (a < b ? b : a)
                                       : (b < a ? b : a);
  }
};

// written[kept] = scale · join over gone of value(places), or its root. kGroup threads an element.
template <class Element, int kGroup, class Value>
struct ReduceNest {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "reduce";
  using Stored = typename Element::Stored;

  NestLoops kept;
  NestLoops gone;
  Stored* written;
  JoinValues join;
  float scale;
  bool root;
  Value value;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const bool inside = row < kept.count;  // the others still come to the barriers
    std::int64_t first[Nest::kMostArrays] = {};
    float joined = join.none();
    if (inside) {
      kept.place_of(static_cast<std::uint32_t>(row), first);
      const auto lane = static_cast<std::uint32_t>(RowGroup<kGroup>::lane(thread));
      joined = gone.loops == 1 ? join_loop(first, lane, joined) : join_nest(first, lane, joined);
    }
    joined = join_group<kGroup>(thread, joined, join, room);
    if (inside && RowGroup<kGroup>::lane(thread) == 0) {
      const float result[1] = {root ? sqrtf(scale * joined) : scale * joined};
      store_values<Element>(written + first[0], result);
    }
  }

 private:
  using Places = std::int64_t[Nest::kMostArrays];

  BENCH_DEVICE float join_nest(const Places& first, std::uint32_t lane, float joined) const {
    for (std::uint32_t i = lane; i < gone.count; i += kGroup) {
      Places at;
      gone.place_of(i, at);
      for (int array = 0; array < NestLoops::kArrays; ++array) {
        at[array] += first[array];
      }
      joined = join(joined, value(at));
    }
    return joined;
  }

  // A single loop, as of most reductions: steps from place to place, and Value::kAhead elements read before
  // the first is joined.
  BENCH_DEVICE float join_loop(const Places& first, std::uint32_t lane, float joined) const {
    constexpr int kAhead = Value::kAhead;
    Places at;
    for (int array = 0; array < NestLoops::kArrays; ++array) {
      at[array] = first[array] + lane * gone.steps[0][array];
    }
    const auto next = [&] {
      const float read = value(at);
      for (int array = 0; array < NestLoops::kArrays; ++array) {
        at[array] += gone.steps[0][array] * kGroup;
      }
      return read;
    };
    std::uint32_t left = lane < gone.count ? (gone.count - lane + kGroup - 1) / kGroup : 0;
    for (; left >= kAhead; left -= kAhead) {
      float values[kAhead];
      BENCH_UNROLL
      for (float& one : values) {
        one = next();
      }
      BENCH_UNROLL
      for (const float one : values) {
        joined = join(joined, one);
      }
    }
    for (; left > 0; --left) {
      joined = join(joined, next());
    }
    return joined;
  }
};

// Why nests cannot be done; nullopt where they can. `maps`: each element of array 0 is written once anyway.
inline std::optional<std::string> unsupported_nests(const std::vector<Nest>& nests, const Array& written,
                                                    bool maps, std::int64_t most) {
  if (written.layout == Layout::nchw16c) {
    return "the CUDA kernels have no nchw16c";
  }
  for (const Nest& nest : nests) {
    if (!maps && nest.elements() > most) {
      return "the CUDA kernels count to " + std::to_string(most) + ", a sum has " +
             std::to_string(nest.elements()) + " elements";
    }
  }
  return std::nullopt;
}

template <class Element, class Queue, class Value>
void launch_reduction(const Queue& queue, const Nest& nest, typename Element::Stored* written, NestJoin join,
                      float scale, bool root, const Value& value) {
  Nest kept{.loops = {}, .first = nest.first};
  Nest gone;
  for (const Nest::Loop& loop : nest.loops) {
    (loop.steps[0] == 0 ? gone : kept).loops.push_back(loop);
  }
  // A row in memory is read side by side: by an element's threads where it is joined, else by those of
  // neighbouring elements, if there are enough of them.
  constexpr std::int64_t kEnough = 1 << 14;
  const bool neighbours =
      !nest.loops.empty() && nest.loops.back().steps[0] != 0 && kept.elements() >= kEnough;
  with_group(neighbours ? 1 : gone.elements(), [&]<int kGroup>() {
    queue.launch(
        ReduceNest<Element, kGroup, Value>{
            NestLoops(kept), NestLoops(gone), written, {join}, scale, root, value},
        RowGroup<kGroup>::blocks(kept.elements()));
  });
}

}  // namespace bench::kernels::cuda
