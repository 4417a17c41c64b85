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

// The gradient of a table of tokens: the places of a batch in the order of their tokens, cut into pieces of
// kPiece places. A run of one token that crosses pieces is summed by several warps; each takes 32 accesses of
// the features.
struct TokenRuns {
  static constexpr int kThreads = 128;
  static constexpr int kPiece = 128;
  static constexpr int kAhead = 4;  // gradients that a thread reads before it needs the first

  const TokenPlace* sorted;
  std::int64_t rows;
  std::uint32_t vocabulary;
  std::int64_t width;
  std::int32_t tiles;  // of 32 accesses

  static std::int64_t blocks(std::int64_t warps) {
    constexpr int kWarps = kThreads / kWarp;
    return (warps + kWarps - 1) / kWarps;
  }
  // Pieces that may begin with what a run before them left.
  static std::int64_t pieces(std::int64_t rows) { return (rows - 1) / kPiece; }

  struct Share {
    std::int64_t unit;  // a place or a piece
    std::int64_t feature;
  };
  template <int kCount, class Thread>
  BENCH_DEVICE Share share(const Thread& thread) const {
    const std::int64_t warp = (std::int64_t{thread.block()} * kThreads + thread.index()) / kWarp;
    const std::int64_t unit = warp / tiles;
    return {unit, ((warp - unit * tiles) * kWarp + thread.index() % kWarp) * kCount};
  }
  // Whether the run of the place before goes on here.
  BENCH_DEVICE bool goes_on(std::int64_t at) const {
    return at > 0 && sorted[at - 1].token == sorted[at].token;
  }

  // Adds what load(at, values) gives at `first` and every `step` places on, as long as they are the token's.
  template <int kCount, class Load>
  BENCH_DEVICE void add(std::int64_t first, std::int64_t last, std::int64_t step, std::uint32_t token,
                        float (&sum)[kCount], const Load& load) const {
    bool more = true;
    for (std::int64_t from = first; more; from += kAhead * step) {
      float values[kAhead][kCount] = {};
      BENCH_UNROLL
      for (int i = 0; i < kAhead; ++i) {
        if (const std::int64_t at = from + i * step; at < last && sorted[at].token == token) {
          load(at, values[i]);
        } else {
          more = false;
        }
      }
      BENCH_UNROLL
      for (int i = 0; i < kAhead; ++i) {
        for (int k = 0; k < kCount; ++k) {
          sum[k] += values[i][k];
        }
      }
    }
  }
  // The places of a piece from `first` on.
  template <class Element, int kCount>
  BENCH_DEVICE void add_piece(std::int64_t first, std::int64_t feature, std::uint32_t token,
                              const typename Element::Stored* diff_dst, float (&sum)[kCount]) const {
    const std::int64_t end = (first / kPiece + 1) * kPiece;
    add(first, end < rows ? end : rows, 1, token, sum, [&](std::int64_t at, float(&values)[kCount]) {
      load_values<Element>(diff_dst + sorted[at].place * width + feature, values);
    });
  }
};

// partial[piece − 1]: the sum of what a run that began before the piece has in it.
template <class Element, int kCount>
struct EmbeddingPieces {
  static constexpr int kThreads = TokenRuns::kThreads;
  static constexpr const char* kName = "embedding backward, long runs";

  TokenRuns runs;
  const typename Element::Stored* diff_dst;
  float* partial;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const TokenRuns::Share share = runs.share<kCount>(thread);
    const std::int64_t feature = share.feature;
    const std::int64_t first = (share.unit + 1) * TokenRuns::kPiece;
    if (first >= runs.rows || feature >= runs.width || !runs.goes_on(first)) {
      return;
    }
    const std::uint32_t token = runs.sorted[first].token;
    if (token == runs.vocabulary) {
      return;
    }
    float sum[kCount] = {};
    runs.add_piece<Element>(first, feature, token, diff_dst, sum);
    store_floats<typename Element::Memory>(partial + share.unit * runs.width + feature, sum);
  }
};

// Adds to each row of the table the gradients of the places that name it. The first place of a run goes on
// through its piece, then through the sums of the pieces after it, always in the same order; so nothing is
// added to by two threads.
template <class Element, int kCount>
struct EmbeddingGradient {
  static constexpr int kThreads = TokenRuns::kThreads;
  static constexpr const char* kName = "embedding backward";
  using Stored = typename Element::Stored;

  TokenRuns runs;
  const Stored* diff_dst;
  const float* partial;
  Stored* table;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    constexpr int kPiece = TokenRuns::kPiece;
    const TokenRuns::Share share = runs.share<kCount>(thread);
    const std::int64_t first = share.unit;
    const std::int64_t feature = share.feature;
    if (first >= runs.rows || feature >= runs.width || runs.goes_on(first)) {
      return;
    }
    const std::uint32_t token = runs.sorted[first].token;
    if (token == runs.vocabulary) {
      return;
    }
    Stored* const out = table + token * runs.width + feature;
    float sum[kCount];
    load_values<Element>(out, sum);  // zero, or what is to be added to
    runs.add_piece<Element>(first, feature, token, diff_dst, sum);
    runs.add((first / kPiece + 1) * kPiece, runs.rows, kPiece, token, sum,
             [&](std::int64_t at, float(&values)[kCount]) {
               load_floats<typename Element::Memory>(partial + (at / kPiece - 1) * runs.width + feature,
                                                     values);
             });
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
      this->add_opaque(Slot::workspace, Role::scratch,
                       partial_at() + TokenRuns::pieces(spec.rows) * spec.width * bytes_of(Dtype::fp32));
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
  // Sums of pieces, in the scratch.
  std::int64_t partial_at() const { return before_library_scratch(sort_.scratch_bytes()); }

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
    auto* const partial =
        reinterpret_cast<float*>(static_cast<std::byte*>(pointers[Slot::workspace]) + partial_at());
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const diff_dst = stored<Element>(pointers, Slot::diff_dst);
      auto* const table = stored<Element>(pointers, Slot::diff_weights);
      with_access<Element>(
          spec_.width,
          [&]<int kCount>() {
            const std::int64_t tiles = blocks_for(spec_.width, kWarp * kCount);
            const TokenRuns runs{sorted, spec_.rows, static_cast<std::uint32_t>(vocabulary), spec_.width,
                                 static_cast<std::int32_t>(tiles)};
            this->launch(EmbeddingPieces<Element, kCount>{runs, diff_dst, partial},
                         TokenRuns::blocks(TokenRuns::pieces(spec_.rows) * tiles));
            this->launch(EmbeddingGradient<Element, kCount>{runs, diff_dst, partial, table},
                         TokenRuns::blocks(spec_.rows * tiles));
          },
          diff_dst, table, partial);
    });
  }

  using KernelOperation<Machine, Embedding>::spec_;
  Device& device_;
  TokenSort sort_;
};

template struct OnGpu<EmbeddingOperation>;

}  // namespace bench::kernels::cuda
