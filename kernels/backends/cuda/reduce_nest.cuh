// Functions of the elements of a nest's arrays, several at a time. And nests whose array 0 stays where it is
// in some loops: an element of it joins what these loops give. Each is joined by a thread, by several, a warp
// or a block, always in the same order.
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
  const Stored* read[LoopNest::kMostArrays] = {};

  BENCH_DEVICE float value(int array, const std::int64_t (&at)[LoopNest::kMostArrays]) const {
    float one[1];
    load_values<Element>(read[array] + at[array], one);
    return one[0];
  }
};

// Elements of an array, from `at` on. One that stays where it is in the innermost loop gives an element to
// all.
template <class Element, int kCount>
BENCH_DEVICE void load_access(const NestLoops& loops, const NestPointers<Element>& arrays, int array,
                              std::int64_t at, float (&values)[kCount]) {
  const auto* const from = arrays.read[array] + at;
  if (kCount > 1 && loops.steps[0][array] == 0) {
    float one[1];
    load_values<Element>(from, one);
    for (float& value : values) {
      value = one[0];
    }
  } else {
    load_values<Element>(from, values);
  }
}

// Each element written is of(x), x the elements of the first kArrays arrays there, which are read, and for
// the others 0. A thread has every so many accesses of `loops`, of kCount elements each.
template <int kArrays, int kCount, class Element, class Thread, class Of>
BENCH_DEVICE void map_accesses(const Thread& thread, const NestLoops& loops,
                               const NestPointers<Element>& arrays, const Of& of) {
  const std::uint32_t step = static_cast<std::uint32_t>(thread.blocks()) * NestLoops::kThreads;
  BENCH_ROLLED
  for (std::uint32_t access = static_cast<std::uint32_t>(thread.block()) * NestLoops::kThreads +
                              static_cast<std::uint32_t>(thread.index());
       access < loops.count; access += step) {
    std::int64_t at[kArrays];
    loops.place_rolled(access, at);
    float x[LoopNest::kMostArrays][kCount] = {};
    BENCH_UNROLL
    for (int array = 1; array < kArrays; ++array) {
      load_access(loops, arrays, array, at[array], x[array]);
    }
    float result[kCount];
    BENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float values[LoopNest::kMostArrays] = {0.0F, x[1][i], x[2][i], x[3][i]};
      result[i] = of(values);
    }
    store_values<Element>(arrays.written + at[0], result);
  }
}

// Of a thread of such a kernel, where there are many.
inline constexpr int kNestAccesses = 4;

// The nest by 16 bytes, where its loops and the addresses of the first `count` arrays allow it.
template <class Element>
std::optional<LoopNest> by_accesses(const LoopNest& nest, const NestPointers<Element>& arrays,
                                    std::size_t count) {
  std::optional<LoopNest> wide = in_accesses(nest, count, kLanes<Element>);
  for (std::size_t array = 1; wide && array < count; ++array) {
    if (wide->loops.back().steps[array] != 0 && !aligned(kAccess, 0, arrays.read[array])) {
      wide.reset();
    }
  }
  return aligned(kAccess, 0, arrays.written) ? wide : std::nullopt;
}

// Where an element of each array is that is read.
template <class Element>
struct NestPlaces {
  const typename Element::Stored* read[LoopNest::kMostArrays];

  BENCH_DEVICE NestPlaces(const NestPointers<Element>& arrays,
                          const std::int64_t (&at)[LoopNest::kMostArrays]) {
    for (int array = 1; array < NestLoops::kArrays; ++array) {
      read[array] = arrays.read[array] + at[array];
    }
  }
  BENCH_DEVICE void move(const std::int64_t (&by)[LoopNest::kMostArrays]) {
    for (int array = 1; array < NestLoops::kArrays; ++array) {
      read[array] += by[array];
    }
  }
  BENCH_DEVICE float value(int array) const {
    float one[1];
    load_values<Element>(read[array], one);
    return one[0];
  }
};

enum class NestJoin { sum, product, largest, smallest };

template <NestJoin kJoin>
struct JoinValues {
  static BENCH_DEVICE float none() {
    return kJoin == NestJoin::sum       ? 0.0F
           : kJoin == NestJoin::product ? 1.0F
           : kJoin == NestJoin::largest ? kBelowAll
                                        : -kBelowAll;
  }
  BENCH_DEVICE float operator()(float a, float b) const {
    return kJoin == NestJoin::sum       ? a + b
           : kJoin == NestJoin::product ? a * b
           : kJoin == NestJoin::largest ? (a < b ? b : a)
                                        : (b < a ? b : a);
  }
};

// Which threads join an element: kGroup ones side by side.
template <int kGroup>
struct SideBySide : RowGroup<kGroup> {
  static constexpr int kSize = kGroup;
  using Shared = WarpValues<float>;

  template <class Thread, class Join>
  static BENCH_DEVICE float join(const Thread& thread, float value, const Join& join, Shared& room) {
    return join_group<kGroup>(thread, value, join, room);
  }
};

// One of each warp: a warp's are those of 32 elements side by side.
struct Warps {
  static constexpr int kThreads = 256;
  static constexpr int kSize = kThreads / kWarp;
  using Shared = float[kThreads];

  static std::int64_t blocks(std::int64_t elements) { return blocks_for(elements, kWarp); }
  template <class Thread>
  static BENCH_DEVICE std::int64_t row(const Thread& thread) {
    return std::int64_t{thread.block()} * kWarp + thread.index() % kWarp;
  }
  template <class Thread>
  static BENCH_DEVICE int lane(const Thread& thread) {
    return thread.index() / kWarp;
  }
  // Every thread of the block must come; the first warp's get the result.
  template <class Thread, class Join>
  static BENCH_DEVICE float join(const Thread& thread, float value, const Join& join, Shared& room) {
    room[thread.index()] = value;
    thread.sync();
    for (int warp = 1; warp < kSize && lane(thread) == 0; ++warp) {
      value = join(value, room[warp * kWarp + thread.index()]);
    }
    return value;
  }
};

// written[kept] = scale · join over gone of value(places), or its root. value.known(visit) calls visit with
// its function of NestPlaces, which the compiler knows, before a loop; value.arrays are those it reads.
template <class Element, class Group, NestJoin kJoin, class Value>
struct ReduceNest {
  static constexpr int kThreads = Group::kThreads;
  static constexpr const char* kName = "reduce";
  using Stored = typename Element::Stored;

  NestLoops kept;
  NestLoops gone;
  Stored* written;
  float scale;
  bool root;
  Value value;

  using Shared = typename Group::Shared;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = Group::row(thread);
    const bool inside = row < kept.count;  // the others still come to the barriers
    std::int64_t first[LoopNest::kMostArrays] = {};
    float joined = Join::none();
    if (inside) {
      kept.place_rolled(static_cast<std::uint32_t>(row), first);
      const auto lane = static_cast<std::uint32_t>(Group::lane(thread));
      if (in_order()) {
        joined = join_row(first, lane);
      } else {
        value.known([&](const auto& of_place) {
          joined = gone.loops > 1 ? join_nest(of_place, first, lane) : join_loop(of_place, first, lane);
        });
      }
    }
    joined = Group::join(thread, joined, Join{}, room);
    if (inside && Group::lane(thread) == 0) {
      const float result[1] = {root ? sqrtf(joined) : joined * scale};
      store_values<Element>(written + first[0], result);
    }
  }

 private:
  using Join = JoinValues<kJoin>;
  using Places = std::int64_t[LoopNest::kMostArrays];
  static constexpr std::uint32_t kSize = Group::kSize;
  // Whether elements that lie side by side may be read together.
  static constexpr bool kRows = Value::kOfOne && Group::kSize >= kWarp;

  BENCH_DEVICE bool in_order() const { return kRows && gone.loops == 1 && gone.steps[0][1] == 1; }

  template <class OfPlace>
  BENCH_DEVICE float join_nest(const OfPlace& of_place, const Places& first, std::uint32_t lane) const {
    float joined = Join::none();
    BENCH_ROLLED
    for (std::uint32_t i = lane; i < gone.count; i += kSize) {
      Places at;
      gone.place_rolled(i, at);
      for (int array = 0; array < NestLoops::kArrays; ++array) {
        at[array] += first[array];
      }
      joined = Join{}(joined, of_place(NestPlaces<Element>(value.arrays, at)));
    }
    return joined;
  }

  // A single loop, as of most reductions: steps from place to place, and kAhead elements read before the
  // first is joined.
  template <class OfPlace>
  BENCH_DEVICE float join_loop(const OfPlace& of_place, const Places& first, std::uint32_t lane) const {
    constexpr int kAhead = OfPlace::kAhead;
    float joined = Join::none();
    Places start;
    Places step;
    for (int array = 0; array < NestLoops::kArrays; ++array) {
      start[array] = first[array] + lane * gone.steps[0][array];
      step[array] = gone.steps[0][array] * kSize;
    }
    NestPlaces<Element> at(value.arrays, start);
    const auto next = [&] {
      const float read = of_place(at);
      at.move(step);
      return read;
    };
    std::uint32_t left = lane < gone.count ? (gone.count - lane + kSize - 1) / kSize : 0;
    BENCH_ROLLED
    for (; left >= kAhead; left -= kAhead) {
      float values[kAhead];
      BENCH_UNROLL
      for (float& one : values) {
        one = next();
      }
      BENCH_UNROLL
      for (const float one : values) {
        joined = Join{}(joined, one);
      }
    }
    BENCH_ROLLED
    for (; left > 0; --left) {
      joined = Join{}(joined, next());
    }
    return joined;
  }

  // A row of array 1, by 16 bytes.
  BENCH_DEVICE float join_row(const Places& first, std::uint32_t lane) const {
    float joined = Join::none();
    if constexpr (kRows) {
      const Stored* const from = value.arrays.read[1] + first[1] + gone.first[1];
      const RowAccesses<Element> accesses(from, gone.count, true);
      accesses.template each<Group::kSize>(static_cast<int>(lane), [&]<int kCount>(std::int64_t at) {
        float x[kCount];
        load_values<Element>(from + at, x);
        BENCH_UNROLL
        for (const float one : x) {
          joined = Join{}(joined, value.of(one));
        }
      });
    }
    return joined;
  }
};

// Why nests cannot be done; nullopt where they can. `maps`: each element of array 0 is written once anyway.
inline std::optional<std::string> unsupported_nests(const std::vector<LoopNest>& nests, const Array& written,
                                                    bool maps, std::int64_t most) {
  if (written.layout == Layout::nchw16c) {
    return "the CUDA kernels have no nchw16c";
  }
  for (const LoopNest& nest : nests) {
    if (!maps && nest.elements() > most) {
      return "the CUDA kernels count to " + std::to_string(most) + ", a sum has " +
             std::to_string(nest.elements()) + " elements";
    }
  }
  return std::nullopt;
}

template <class Element, NestJoin kJoin, class Queue, class Value>
void launch_reduction(const Queue& queue, const LoopNest& nest, typename Element::Stored* written,
                      float scale, bool root, const Value& value) {
  LoopNest kept{.loops = {}, .first = nest.first};
  LoopNest gone;
  for (const LoopNest::Loop& loop : nest.loops) {
    (loop.steps[0] == 0 ? gone : kept).loops.push_back(loop);
  }
  const auto launch = [&]<class Group>() {
    queue.launch(ReduceNest<Element, Group, kJoin, Value>{NestLoops(kept), NestLoops(gone), written, scale,
                                                          root, value},
                 Group::blocks(kept.elements()));
  };
  // A row in memory is read side by side: by an element's threads where it is joined, else by those of
  // neighbouring elements, if there are enough of them; a thread each where that fills a device.
  constexpr std::int64_t kEnough = 1 << 11;
  constexpr std::int64_t kPlenty = 1 << 18;
  const bool neighbours = !nest.loops.empty() && nest.loops.back().steps[0] != 0;
  if (neighbours && group_of(gone.elements()) > 1 && kept.elements() >= kEnough &&
      kept.elements() < kPlenty) {
    return launch.template operator()<Warps>();
  }
  with_group(neighbours && kept.elements() >= kPlenty ? 1 : gone.elements(),
             [&]<int kGroup>() { launch.template operator()<SideBySide<kGroup>>(); });
}

}  // namespace bench::kernels::cuda
