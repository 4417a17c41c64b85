// Multiply-adds by kernels of our own: chains on the ordinary units, tiles on tensor cores.
#include <cmath>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/fma/fma.h"

namespace bench::kernels::cuda {

// A register's worth of an element's chains: one in fp32, a pair of fp16 or bf16, which the GPU computes with
// one instruction and rounds after each step.
template <class Element>
struct FmaStep {
  std::uint32_t factor;
  std::uint32_t summand;

  static BENCH_DEVICE FmaStep make() {
    FmaStep step{Element::from(Fma::kFactor), Element::from(Fma::kSummand)};
    if constexpr (sizeof(typename Element::Stored) == 2) {
      step.factor |= step.factor << 16;
      step.summand |= step.summand << 16;
    }
    return step;
  }

  BENCH_DEVICE std::uint32_t operator()(std::uint32_t x) const {
    if constexpr (sizeof(typename Element::Stored) == 2) {
      return Element::multiply_add_pair(x, factor, summand);
    } else {
      return Element::from(fmaf(Element::to(x), Element::to(factor), Element::to(summand)));
    }
  }
};

// Multiply-adds on chains that do not wait for each other. A thread has kAccesses accesses of 16 bytes, four
// registers each: 16 chains hide a multiply-add's four or
// six cycles even from a lone warp. kUnrolled steps follow each other without a branch, so that the loop
// itself costs next to nothing.
template <class Element, int kAccesses>
struct FmaChains {
  static constexpr int kThreads = 256;
  static constexpr int kUnrolled = 16;
  static constexpr int kRegisters = kAccess / 4;
  static constexpr const char* kName = "fma";
  using Stored = typename Element::Stored;

  const Stored* src;
  Stored* dst;
  std::int64_t count;
  std::int64_t vectors;  // whole accesses, from the start; 0 where a pointer is not aligned to one
  std::int64_t steps;

  using Share = GridStride<kThreads, kAccesses>;
  static std::int64_t blocks(std::int64_t accesses) { return Share::blocks(accesses); }

  template <int kChains>
  BENCH_DEVICE void advance(std::uint32_t (&x)[kChains]) const {
    const auto step = FmaStep<Element>::make();
    std::int64_t left = steps;
    for (; left >= kUnrolled; left -= kUnrolled) {
      BENCH_UNROLL
      for (int s = 0; s < kUnrolled; ++s) {
        BENCH_UNROLL
        for (int i = 0; i < kChains; ++i) {
          x[i] = step(x[i]);
        }
      }
    }
    for (; left > 0; --left) {
      BENCH_UNROLL
      for (int i = 0; i < kChains; ++i) {
        x[i] = step(x[i]);
      }
    }
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    constexpr int kWidth = kLanes<Element>;
    const std::int64_t first = Share::first(thread);
    if (first < vectors) {
      std::uint32_t x[kAccesses * kRegisters] = {};
      BENCH_UNROLL
      for (int a = 0; a < kAccesses; ++a) {
        if (const std::int64_t at = first + a * kThreads; at < vectors) {
          const Vector<kAccess> words = load_vector<Element, kWidth>(src + at * kWidth);
          BENCH_UNROLL
          for (int i = 0; i < kRegisters; ++i) {
            x[a * kRegisters + i] = words.word[i];
          }
        }
      }
      advance(x);
      BENCH_UNROLL
      for (int a = 0; a < kAccesses; ++a) {
        if (const std::int64_t at = first + a * kThreads; at < vectors) {
          Vector<kAccess> words;
          BENCH_UNROLL
          for (int i = 0; i < kRegisters; ++i) {
            words.word[i] = x[a * kRegisters + i];
          }
          Element::Memory::store(dst + at * kWidth, words);
        }
      }
    }
    Share::each(thread, vectors * kWidth, count, [&](std::int64_t at) {
      std::uint32_t x[1] = {load_vector<Element, 1>(src + at).word[0]};
      advance(x);
      Element::Memory::store(dst + at, Vector<kBytesOf<Element, 1>>{{x[0]}});
    });
  }
};

// Multiply-adds on tensor cores: tiles multiplied again and again in registers, sums in fp32. A warp has
// kMine tiles, whose sums do not wait for each other. Memory is touched before the first product and after
// the last one only. kCount: elements of one access to memory, 8 where rows and addresses allow it, else 1.
template <class Element, class Tiles, int kCount>
struct FmaTiles {
  using Stored = typename Element::Stored;
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "fma on tensor cores";
  static constexpr int kWarps = kThreads / 32;
  static constexpr int kMine = 4;
  static constexpr int kEight = 8;  // a lane's neighbours in a tile
  static constexpr int kRowEights = kTile / kEight;
  static constexpr std::int64_t kBlockElements = kWarps * kMine * Fma::kTileElements;
  static_assert(Fma::kTileSide == kTile && Fma::kTileElements == 32 * kEight && kThreads == kTile * kTile);

  const Stored* src;
  Stored* dst;
  std::int64_t count;  // elements of a row
  std::int64_t parts;  // blocks of a row
  std::int64_t steps;

  struct alignas(16) Eight {
    Vector<16> words;
  };
  static constexpr int kSumStride = kTile + 4;
  // Rows are longer than they need be: those of a tile then lie in different banks.
  struct alignas(32) Shared {
    Stored matrix[kTile][kTile + kEight];
    union Room {  // of a warp: a tile on its way in, or its sums on their way out
      Eight tile[kTile][kRowEights + 1];
      float sums[kTile * kSumStride];
    } rooms[kWarps];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const int me = thread.index();
    const int lane = me % 32;
    auto& room = shared.rooms[me / 32];
    const std::int64_t row = thread.block() / parts;
    const std::int64_t part = thread.block() - row * parts;
    // In the row: this lane's first element of the warp's first tile.
    const std::int64_t first = part * kBlockElements + me / 32 * (kMine * Fma::kTileElements) + lane * kEight;

    Eight eights[kMine] = {};
    BENCH_UNROLL
    for (int t = 0; t < kMine; ++t) {
      BENCH_UNROLL
      for (int i = 0; i < kEight; i += kCount) {
        if (const std::int64_t at = first + t * Fma::kTileElements + i; at < count) {
          const auto words = load_vector<Element, kCount>(src + (row * count + at));
          if constexpr (kCount == kEight) {
            eights[t].words = words;
          } else {
            put(eights[t].words, i, static_cast<Stored>(words.word[0]));
          }
        }
      }
    }
    shared.matrix[me / kTile][me % kTile] = Element::from(fma_matrix(me / kTile, me % kTile));
    typename Tiles::Left tiles[kMine];
    typename Tiles::Sums sums[kMine];
    BENCH_UNROLL
    for (int t = 0; t < kMine; ++t) {
      room.tile[lane / kRowEights][lane % kRowEights] = eights[t];
      thread.sync();
      tiles[t].load(&room.tile[0][0], (kRowEights + 1) * kEight);
      sums[t].clear(thread);
      thread.sync();
    }
    typename Tiles::Right matrix;
    matrix.load(&shared.matrix[0][0], kTile + kEight);

    for (std::int64_t left = steps; left > 0; --left) {
      BENCH_UNROLL
      for (int t = 0; t < kMine; ++t) {
        sums[t].add(tiles[t], matrix);
      }
    }

    BENCH_UNROLL
    for (int t = 0; t < kMine; ++t) {
      sums[t].store(room.sums, kSumStride);
      thread.sync();
      BENCH_UNROLL
      for (int i = 0; i < kEight; i += kCount) {
        if (const std::int64_t at = first + t * Fma::kTileElements + i; at < count) {
          float values[kCount];
          for (int k = 0; k < kCount; ++k) {
            values[k] = room.sums[lane / kRowEights * kSumStride + lane % kRowEights * kEight + i + k];
          }
          store_values<Element>(dst + (row * count + at), values);
        }
      }
      thread.sync();
    }
  }
};

template <class Machine>
class FmaOperation final : public KernelOperation<Machine, Fma> {
 public:
  static std::optional<std::string> unsupported(const Fma& spec) {
    if (spec.kind == Fma::Kind::tiles && bytes_of(spec.dtype) != 2) {
      return "fma on tensor cores is done in fp16 and bf16, not " + std::string(name_of(spec.dtype));
    }
    return std::nullopt;
  }

  using KernelOperation<Machine, Fma>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    if (spec_.kind == Fma::Kind::chains) {
      return with_element<Machine>(spec_.dtype,
                                   [&]<class Element>() { this->run_chains<Element>(pointers); });
    }
    spec_.dtype == Dtype::fp16 ? run_tiles<typename Machine::Fp16>(pointers)
                               : run_tiles<typename Machine::Bf16>(pointers);
  }

 private:
  template <class Element>
  void run_chains(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    auto* const dst = stored<Element>(pointers, Slot::dst);
    const std::int64_t count = stored_elements(spec_.tensor());
    using Kernel = FmaChains<Element, 4>;
    this->launch(Kernel{.src = src,
                        .dst = dst,
                        .count = count,
                        .vectors = whole_accesses<Element>(count, src, dst),
                        .steps = spec_.steps},
                 Kernel::blocks(blocks_for(count, kLanes<Element>)));
  }

  // Every access begins at a row's eighth element: rows must be whole eights.
  template <class Element>
  void run_tiles(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    auto* const dst = stored<Element>(pointers, Slot::dst);
    const auto launch = [&]<int kCount>() {
      using Kernel = FmaTiles<Element, typename Machine::template Tiles<Element>, kCount>;
      const std::int64_t parts = blocks_for(spec_.count, Kernel::kBlockElements);
      this->launch(Kernel{.src = src, .dst = dst, .count = spec_.count, .parts = parts, .steps = spec_.steps},
                   spec_.rows * parts);
    };
    with_access<Element>(spec_.count, launch, src, dst);
  }

  using KernelOperation<Machine, Fma>::spec_;
};

template struct OnGpu<FmaOperation>;

}  // namespace bench::kernels::cuda
