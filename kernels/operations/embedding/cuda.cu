// Rows of a table, and the table's gradient, by kernels of our own.
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/embedding/embedding.h"
#include "kernels/operations/embedding/sort_tokens.cuh"

namespace bench::kernels::cuda {

// Units are rows of accesses of kBytes; a token that names no row of the table gives zeros.
template <class Memory, int kBytes>
struct LookUp {
  static constexpr const char* kName = "embedding";

  const std::int32_t* tokens;
  std::int32_t vocabulary;
  const std::byte* table;
  std::byte* dst;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const std::int32_t token = tokens[unit.n];
    Vector<kBytes> words{};
    if (token >= 0 && token < vocabulary) {
      words =
          Memory::template load<kBytes>(table + (std::int64_t{token} * unit.columns + unit.column) * kBytes);
    }
    Memory::store(dst + std::int64_t{unit.index} * kBytes, words);
  }
};

// Adds to each row of the table the gradients of the places that name it, in their order. A warp takes one of
// the sorted places and 32 accesses of its features; the first of a token's places goes on through the
// others, which have nothing to do. So nothing is added to by two threads. Of one token's places kAhead are
// read at a time: a token that many places name is summed by few warps, which wait for memory.
template <class Element, int kCount>
struct EmbeddingGradient {
  static constexpr int kThreads = 128;
  static constexpr const char* kName = "embedding backward";
  static constexpr int kAhead = 4;
  using Stored = typename Element::Stored;

  const TokenPlace* sorted;
  std::int64_t rows;
  std::uint32_t vocabulary;
  std::int64_t width;
  std::int32_t tiles;  // of 32 · kCount features
  const Stored* diff_dst;
  Stored* table;

  static std::int64_t blocks(std::int64_t warps) {
    constexpr int kWarps = kThreads / kWarp;
    return (warps + kWarps - 1) / kWarps;
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t warp = (std::int64_t{thread.block()} * kThreads + thread.index()) / kWarp;
    const std::int64_t first = warp / tiles;
    const std::int64_t feature = ((warp - first * tiles) * kWarp + thread.index() % kWarp) * kCount;
    if (first >= rows || feature >= width) {
      return;
    }
    const std::uint32_t token = sorted[first].token;
    if (token == vocabulary || (first > 0 && sorted[first - 1].token == token)) {
      return;
    }
    Stored* const out = table + token * width + feature;
    float sum[kCount];
    load_values<Element>(out, sum);  // zero, or what is to be added to
    bool more = true;
    for (std::int64_t at = first; more; at += kAhead) {
      float gradient[kAhead][kCount] = {};
      BENCH_UNROLL
      for (int i = 0; i < kAhead; ++i) {
        if (at + i < rows && sorted[at + i].token == token) {
          load_values<Element>(diff_dst + sorted[at + i].place * width + feature, gradient[i]);
        } else {
          more = false;
        }
      }
      BENCH_UNROLL
      for (int i = 0; i < kAhead; ++i) {
        for (int k = 0; k < kCount; ++k) {
          sum[k] += gradient[i][k];
        }
      }
    }
    store_values<Element>(out, sum);
  }
};

// A thread does a unit of dst: samples of `sequence` rows. dst may be src: each thread reads what it writes
// before it does.
template <class Element, int kCount>
struct AddPositions {
  static constexpr const char* kName = "position embedding";
  using Stored = typename Element::Stored;

  const Stored* src;
  const Stored* table;
  Stored* dst;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    float x[kCount];
    float vector[kCount];
    load_values<Element>(src + std::int64_t{unit.index} * kCount, x);
    load_values<Element>(table + (std::int64_t{unit.y} * unit.columns + unit.column) * kCount, vector);
    for (int i = 0; i < kCount; ++i) {
      x[i] += vector[i];
    }
    store_values<Element>(dst + std::int64_t{unit.index} * kCount, x);
  }
};

// A thread does a unit of the table, whose vectors collect from all samples; those after the sequence have
// none.
template <class Element, int kCount>
struct PositionGradient {
  static constexpr const char* kName = "position embedding backward";
  using Stored = typename Element::Stored;

  std::int64_t batch;
  std::int64_t sequence;
  const Stored* diff_dst;
  Stored* table;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    float sum[kCount] = {};
    for (std::int64_t n = 0; n < batch && unit.y < sequence; ++n) {
      float gradient[kCount];
      load_values<Element>(diff_dst + ((n * sequence + unit.y) * unit.columns + unit.column) * kCount,
                           gradient);
      for (int i = 0; i < kCount; ++i) {
        sum[i] += gradient[i];
      }
    }
    store_values<Element>(table + std::int64_t{unit.index} * kCount, sum);
  }
};

template <class Machine>
class EmbeddingOperation final : public KernelOperation<Machine, Embedding> {
 public:
  // A table's gradient is not cut: it is a sum over the batch, whose elements are counted in 64 bits, and its
  // places in 32.
  static Batch batch_of(const Embedding& spec) {
    const bool tokens = spec.kind == Embedding::Kind::tokens;
    if (!spec.forward()) {
      return {1, tokens ? spec.rows : spec.weight_count()};
    }
    const std::int64_t rows = tokens ? 1 : spec.sequence;  // of a sample
    return {spec.rows / rows, rows * spec.width};
  }
  static Embedding of_samples(Embedding spec, std::int64_t samples) {
    spec.rows = spec.kind == Embedding::Kind::tokens ? samples : samples * spec.sequence;
    return spec;
  }

  EmbeddingOperation(const Embedding& spec, Device& device)
      : KernelOperation<Machine, Embedding>(spec, device),
        device_(device),
        sort_(spec.rows, spec.vocabulary) {
    if (sorts()) {
      this->add_opaque(Slot::workspace, Role::scratch, sort_.scratch_bytes());
    }
  }

  void run(const SlotPointers& pointers) override {
    if (spec_.kind == Embedding::Kind::positions) {
      run_positions(pointers);
    } else {
      run_tokens(pointers);
    }
  }

 private:
  bool sorts() const { return spec_.kind == Embedding::Kind::tokens && !spec_.forward(); }

  void run_positions(const SlotPointers& pointers) const {
    const bool forward = spec_.forward();
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const in = stored<Element>(pointers, forward ? Slot::src : Slot::diff_dst);
      auto* const table = stored<Element>(pointers, forward ? Slot::weights : Slot::diff_weights);
      auto* const dst = stored<Element>(pointers, Slot::dst);
      const std::int64_t samples = spec_.rows / spec_.sequence;
      const auto run = [&]<int kCount>() {
        if (forward) {
          launch_units(this->queue(), {samples, spec_.sequence, 1, spec_.width / kCount},
                       AddPositions<Element, kCount>{in, table, dst});
        } else {
          launch_units(this->queue(), {1, spec_.vocabulary, 1, spec_.width / kCount},
                       PositionGradient<Element, kCount>{samples, spec_.sequence, in, table});
        }
      };
      with_access<Element>(spec_.width, run, in, table, dst);
    });
  }

  void run_tokens(const SlotPointers& pointers) const {
    const auto* const tokens = static_cast<const std::int32_t*>(pointers[Slot::src]);
    const auto vocabulary = static_cast<std::int32_t>(spec_.vocabulary);
    if (spec_.forward()) {
      const auto* const table = static_cast<const std::byte*>(pointers[Slot::weights]);
      auto* const dst = static_cast<std::byte*>(pointers[Slot::dst]);
      const std::int64_t bytes = spec_.width * bytes_of(spec_.dtype);
      with_bytes(
          bytes,
          [&]<int kBytes>() {
            launch_units(this->queue(), {spec_.rows, 1, 1, bytes / kBytes},
                         LookUp<typename Machine::Memory, kBytes>{tokens, vocabulary, table, dst});
          },
          table, dst);
      return;
    }
    if (!spec_.add) {
      device_.fill(pointers[Slot::diff_weights], std::byte{0}, spec_.weight_count() * bytes_of(spec_.dtype));
    }
    const TokenPlace* const sorted = sort_.run(this->queue(), tokens, pointers[Slot::workspace]);
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const diff_dst = stored<Element>(pointers, Slot::diff_dst);
      auto* const table = stored<Element>(pointers, Slot::diff_weights);
      with_access<Element>(
          spec_.width,
          [&]<int kCount>() {
            using Kernel = EmbeddingGradient<Element, kCount>;
            const std::int64_t tiles = blocks_for(spec_.width, kWarp * kCount);
            this->launch(Kernel{sorted, spec_.rows, static_cast<std::uint32_t>(vocabulary), spec_.width,
                                static_cast<std::int32_t>(tiles), diff_dst, table},
                         Kernel::blocks(spec_.rows * tiles));
          },
          diff_dst, table);
    });
  }

  using KernelOperation<Machine, Embedding>::spec_;
  Device& device_;
  TokenSort sort_;
};

template struct OnGpu<EmbeddingOperation>;

}  // namespace bench::kernels::cuda
