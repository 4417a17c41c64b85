// Attention and its gradient on a CUDA device: batched products by a library, the softmax between them and
// its gradient by our own kernels.
//
// Multiplier is what does the products: made of (Product, Device), it has workspace() in bytes, algorithm(),
// and run(Arguments), which queues one. The tests bring one that runs on the host.
//
// Scratch holds the squares of one round (AttentionProducts): fp32 scores or dP, and
// where the dtype is narrower also P or dS. So it grows with the larger of batch and heads, not with both.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cublaslt/tuned.h"
#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels::cuda {

// Attention's products as strided batches of matrices, where the heads lie in the rows of src, dst and their
// gradients. Asks no library and runs in every build.
//
// A batch has one stride, but heads lie at one distance and samples at another. So a pass is done in rounds:
// over the samples, all heads of one in a batch, or over the heads, that head of all samples in a batch;
// whichever makes fewer rounds.

// Where the heads' matrices are, in elements: from row to row, from matrix to matrix of a round, from the
// first matrix of a round to the next round's.
struct HeadSteps {
  std::int64_t row = 0, matrix = 0, round = 0;

  cublaslt::Stored stored(bool transposed = false) const {
    return {.transposed = transposed, .step = row, .batch_step = matrix};
  }
};

struct AttentionProducts {
  explicit AttentionProducts(const Attention& spec);

  std::int64_t rounds = 1;
  std::int64_t matrices = 1;  // of a round
  HeadSteps qkv;              // query, key or value within src and diff_src
  HeadSteps out;              // within dst and diff_dst
  HeadSteps saved;            // the squares of all heads, as `saved` holds them
  HeadSteps scratch;          // the squares of one round, which the next overwrites

  HeadSteps probabilities;  // P: in `saved`, or in scratch where nothing is saved
  HeadSteps scores;         // the fp32 squares: P's own memory where P is fp32, else scratch

  // Forward. The scores are fp32, and scaled with 1/√d.
  cublaslt::Product query_key;            // Q Kᵀ → scores
  cublaslt::Product probabilities_value;  // P V → O
  // Backward. dP is fp32; dS comes in the dtype.
  cublaslt::Product diff_value;          // Pᵀ dO
  cublaslt::Product diff_probabilities;  // dO Vᵀ → dP
  cublaslt::Product diff_query;          // dS K
  cublaslt::Product diff_key;            // dSᵀ Q
};

// Of everything that a round starts at: heads and squares need not fill an access.
inline std::int64_t alignment_of(const Attention& spec) {
  const std::int64_t each = bytes_of(spec.dtype);
  return std::gcd(std::int64_t{kAccess},
                  std::gcd(spec.head_size * each, spec.sequence * spec.sequence * each));
}

inline AttentionProducts::AttentionProducts(const Attention& spec) {
  const bool over_heads = spec.heads < spec.batch;
  rounds = over_heads ? spec.heads : spec.batch;
  matrices = over_heads ? spec.batch : spec.heads;
  const auto steps = [&](std::int64_t row, std::int64_t head, std::int64_t sample) {
    return HeadSteps{.row = row, .matrix = over_heads ? sample : head, .round = over_heads ? head : sample};
  };
  const std::int64_t length = spec.sequence;
  const std::int64_t square = length * length;
  qkv = steps(3 * spec.width(), spec.head_size, length * 3 * spec.width());
  out = steps(spec.width(), spec.head_size, length * spec.width());
  saved = steps(length, square, spec.heads * square);
  scratch = {.row = length, .matrix = square, .round = 0};
  const bool saves = (spec.training || !spec.forward());
  probabilities = saves ? saved : scratch;
  const bool narrow = bytes_of(spec.dtype) < bytes_of(Dtype::fp32);
  scores = narrow || !spec.forward() ? scratch : probabilities;

  const auto product = [&](std::int64_t inner, std::int64_t columns, const cublaslt::Stored& a,
                           const cublaslt::Stored& b, const HeadSteps& d) {
    return cublaslt::Product{.dtype = spec.dtype,
                             .result = spec.dtype,
                             .rows = length,
                             .inner = inner,
                             .columns = columns,
                             .a = a,
                             .b = b,
                             .d = d.stored(),
                             .batch = matrices,
                             .alignment = alignment_of(spec)};
  };
  const std::int64_t features = spec.head_size;
  query_key = product(features, length, qkv.stored(), qkv.stored(true), scores);
  query_key.result = Dtype::fp32;
  query_key.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(features)));
  probabilities_value = product(length, features, probabilities.stored(), qkv.stored(), out);

  diff_value = product(length, features, saved.stored(true), out.stored(), qkv);
  diff_probabilities = product(features, length, out.stored(), qkv.stored(true), scratch);
  diff_probabilities.result = Dtype::fp32;
  diff_query = product(length, features, scratch.stored(), qkv.stored(), qkv);
  diff_key = product(length, features, scratch.stored(true), qkv.stored(), qkv);
}

// The softmax of attention and its gradient, over rows that see only what stands before them: of the rows of
// a square, row i takes part up to its element i. What lies behind is not read and is written as zeros.

// The rows of several squares, each of `length` rows of `length` elements.
struct SquareRows {
  std::int64_t squares;
  std::int64_t length;

  std::int64_t count() const { return squares * length; }

  struct Row {
    std::int64_t square;
    std::int64_t within;  // where it begins in its square
    std::int64_t seen;    // elements that take part
    bool inside;          // whether there is such a row
  };
  // Of one thread's group. What is outside sees nothing.
  template <int kGroup, class Thread>
  BENCH_DEVICE Row row(const Thread& thread) const {
    const std::int64_t index = RowGroup<kGroup>::row(thread);
    const std::int64_t square = index / length;
    const std::int64_t i = index - square * length;
    const bool inside = square < squares;
    return {square, i * length, inside ? i + 1 : 0, inside};
  }
};

// `kCount` elements of a row from element `first` on, `rest` of which it sees: zero behind them.
template <int kCount>
BENCH_DEVICE void hide(float (&values)[kCount], std::int64_t rest) {
  for (int i = 0; i < kCount; ++i) {
    values[i] = i < rest ? values[i] : 0.0F;
  }
}

// From fp32 scores, which dst may be itself where it is fp32.
template <class Element, int kCount, int kGroup>
struct CausalSoftmax {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "causal softmax";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  SquareRows rows;
  const float* scores;
  std::int64_t scores_step;  // from one square to the next
  Stored* dst;
  std::int64_t dst_step;

  struct Shared {
    WarpValues<float> room;
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const auto row = rows.template row<kGroup>(thread);
    const float* const from = scores + row.square * scores_step + row.within;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float largest = kBelowAll;
    for (std::int64_t c = first; c < row.seen; c += kStep) {
      float x[kCount];
      load_floats<Memory>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        largest = c + i < row.seen && x[i] > largest ? x[i] : largest;
      }
    }
    largest = join_group<kGroup>(thread, largest, Largest{}, shared.room);
    float sum = 0;
    for (std::int64_t c = first; c < row.seen; c += kStep) {
      float x[kCount];
      load_floats<Memory>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        x[i] = expf(x[i] - largest);
      }
      hide(x, row.seen - c);
      for (int i = 0; i < kCount; ++i) {
        sum += x[i];
      }
    }
    sum = join_group<kGroup>(thread, sum, Sum{}, shared.room);
    const float share = 1.0F / sum;
    for (std::int64_t c = first; row.inside && c < rows.length; c += kStep) {
      float x[kCount] = {};
      if (c < row.seen) {
        load_floats<Memory>(from + c, x);
        for (int i = 0; i < kCount; ++i) {
          x[i] = expf(x[i] - largest) * share;
        }
        hide(x, row.seen - c);
      }
      store_values<Element>(dst + row.square * dst_step + row.within + c, x);
    }
  }
};

// dS = P ∘ (dP − Σ dP ∘ P) · scale of each row. dst has a square behind the other, and so has dP; they may be
// the same memory where dst is fp32.
template <class Element, int kCount, int kGroup>
struct CausalSoftmaxGradient {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "causal softmax gradient";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  SquareRows rows;
  const Stored* probabilities;
  std::int64_t probabilities_step;  // from one square to the next
  const float* gradient;
  Stored* dst;
  float scale;

  struct Shared {
    WarpValues<float> room;
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const auto row = rows.template row<kGroup>(thread);
    const std::int64_t dense = row.square * rows.length * rows.length + row.within;
    const Stored* const p_row = probabilities + row.square * probabilities_step + row.within;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float along = 0;
    for (std::int64_t c = first; c < row.seen; c += kStep) {
      float p[kCount];
      float dp[kCount];
      load_values<Element>(p_row + c, p);
      load_floats<Memory>(gradient + dense + c, dp);
      for (int i = 0; i < kCount; ++i) {
        p[i] *= dp[i];
      }
      hide(p, row.seen - c);
      for (int i = 0; i < kCount; ++i) {
        along += p[i];
      }
    }
    along = join_group<kGroup>(thread, along, Sum{}, shared.room);
    for (std::int64_t c = first; row.inside && c < rows.length; c += kStep) {
      float p[kCount] = {};
      if (c < row.seen) {
        float dp[kCount];
        load_values<Element>(p_row + c, p);
        load_floats<Memory>(gradient + dense + c, dp);
        for (int i = 0; i < kCount; ++i) {
          p[i] *= (dp[i] - along) * scale;
        }
        hide(p, row.seen - c);
      }
      store_values<Element>(dst + dense + c, p);
    }
  }
};

// What both passes share: where their squares lie in the scratch.
template <class Machine, class Multiplier>
class AttentionBase : public KernelOperation<Machine> {
 public:
  double flops() const override { return spec_.flops(); }

 protected:
  AttentionBase(const Attention& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec), products_(spec) {}

  // After the other slots. `wide`: bytes of the fp32 squares, `narrow`: of those in the dtype.
  void add_scratch(bool wide, bool narrow, std::int64_t multipliers) {
    const std::int64_t elements = products_.matrices * spec_.sequence * spec_.sequence;
    narrow_at_ = wide ? before_library_scratch(elements * bytes_of(Dtype::fp32)) : 0;
    rest_at_ = narrow_at_ + (narrow ? before_library_scratch(elements * bytes_of(spec_.dtype)) : 0);
    if (rest_at_ + multipliers > 0) {
      this->add_opaque(Slot::workspace, Role::scratch, rest_at_ + multipliers, kLibraryScratchAlignment);
    }
  }

  bool is_narrow() const { return bytes_of(spec_.dtype) < bytes_of(Dtype::fp32); }
  SquareRows rows() const { return {products_.matrices, spec_.sequence}; }

  // Element `at` of a slot that holds the dtype.
  std::byte* element(const SlotPointers& pointers, Slot slot, std::int64_t at) const {
    return static_cast<std::byte*>(pointers[slot]) + at * bytes_of(spec_.dtype);
  }
  // Query, key or value (0, 1, 2) of a round's first head, in src or diff_src.
  std::byte* part(const SlotPointers& pointers, Slot slot, std::int64_t round, int which) const {
    return element(pointers, slot, round * products_.qkv.round + which * spec_.width());
  }
  std::byte* wide_scratch(const SlotPointers& pointers) const { return at_scratch(pointers, 0); }
  std::byte* narrow_scratch(const SlotPointers& pointers) const { return at_scratch(pointers, narrow_at_); }

  void multiply(Multiplier& multiplier, const SlotPointers& pointers, const void* a, const void* b,
                void* d) const {
    multiplier.run({.a = a, .b = b, .d = d, .bias = nullptr, .workspace = at_scratch(pointers, rest_at_)});
  }

  Attention spec_;
  AttentionProducts products_;

 private:
  static std::byte* at_scratch(const SlotPointers& pointers, std::int64_t offset) {
    auto* const workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    return workspace == nullptr ? nullptr : workspace + offset;
  }

  std::int64_t narrow_at_ = 0;
  std::int64_t rest_at_ = 0;
};

template <class Machine, class Multiplier>
class AttentionForward final : public AttentionBase<Machine, Multiplier> {
 public:
  AttentionForward(const Attention& spec, Device& device)
      : AttentionBase<Machine, Multiplier>(spec, device),
        query_key_(this->products_.query_key, device),
        probabilities_value_(this->products_.probabilities_value, device) {
    const bool saves = spec.saves();
    this->add_activation(Slot::src, Role::input, spec.src());
    if (saves) {
      this->add_opaque(Slot::saved, Role::output, spec.probabilities().bytes());
    }
    this->add_activation(Slot::dst, Role::output, spec.dst());
    // fp32 scores become P where they are.
    this->add_scratch(this->is_narrow() || !saves, this->is_narrow() && !saves,
                      std::max(query_key_.workspace(), probabilities_value_.workspace()));
  }

  std::string algorithm() const override {
    return query_key_.algorithm() + "; " + probabilities_value_.algorithm();
  }

  void run(const SlotPointers& pointers) override {
    for (std::int64_t round = 0; round < this->products_.rounds; ++round) {
      std::byte* const squares = probabilities(pointers, round);
      std::byte* const scores = this->is_narrow() ? this->wide_scratch(pointers) : squares;
      this->multiply(query_key_, pointers, this->part(pointers, Slot::src, round, 0),
                     this->part(pointers, Slot::src, round, 1), scores);
      soften(scores, squares);
      this->multiply(probabilities_value_, pointers, squares, this->part(pointers, Slot::src, round, 2),
                     this->element(pointers, Slot::dst, round * this->products_.out.round));
    }
  }

 private:
  std::byte* probabilities(const SlotPointers& pointers, std::int64_t round) const {
    if (this->spec_.saves()) {
      return this->element(pointers, Slot::saved, round * this->products_.saved.round);
    }
    return this->is_narrow() ? this->narrow_scratch(pointers) : this->wide_scratch(pointers);
  }

  void soften(std::byte* scores, std::byte* squares) const {
    this->with_element(this->spec_.dtype, [&]<class Element>() {
      const auto* const from = reinterpret_cast<const float*>(scores);
      auto* const to = reinterpret_cast<typename Element::Stored*>(squares);
      const SquareRows rows = this->rows();
      with_access<Element>(
          rows.length,
          [&]<int kCount>() {
            with_group(rows.length, [&]<int kGroup>() {
              this->queue().launch(
                  CausalSoftmax<Element, kCount, kGroup>{rows, from, this->products_.scores.matrix, to,
                                                         this->products_.probabilities.matrix},
                  RowGroup<kGroup>::blocks(rows.count()));
            });
          },
          from, to);
    });
  }

  Multiplier query_key_;
  Multiplier probabilities_value_;
};

template <class Machine, class Multiplier>
class AttentionBackward final : public AttentionBase<Machine, Multiplier> {
 public:
  AttentionBackward(const Attention& spec, Device& device)
      : AttentionBase<Machine, Multiplier>(spec, device),
        diff_value_(this->products_.diff_value, device),
        diff_probabilities_(this->products_.diff_probabilities, device),
        diff_query_(this->products_.diff_query, device),
        diff_key_(this->products_.diff_key, device) {
    this->add_activation(Slot::src, Role::input, spec.src());
    this->add_opaque(Slot::saved, Role::input, spec.probabilities().bytes());
    this->add_activation(Slot::diff_dst, Role::input, spec.dst());
    this->add_activation(Slot::diff_src, Role::output, spec.src());
    this->add_scratch(true, this->is_narrow(),
                      std::max({diff_value_.workspace(), diff_probabilities_.workspace(),
                                diff_query_.workspace(), diff_key_.workspace()}));
  }

  std::string algorithm() const override {
    return diff_value_.algorithm() + "; " + diff_probabilities_.algorithm() + "; " + diff_query_.algorithm() +
           "; " + diff_key_.algorithm();
  }

  void run(const SlotPointers& pointers) override {
    for (std::int64_t round = 0; round < this->products_.rounds; ++round) {
      std::byte* const p = this->element(pointers, Slot::saved, round * this->products_.saved.round);
      std::byte* const diff_out = this->element(pointers, Slot::diff_dst, round * this->products_.out.round);
      std::byte* const dp = this->wide_scratch(pointers);
      std::byte* const ds = this->is_narrow() ? this->narrow_scratch(pointers) : dp;
      const auto src = [&](int which) { return this->part(pointers, Slot::src, round, which); };
      const auto diff_src = [&](int which) { return this->part(pointers, Slot::diff_src, round, which); };
      this->multiply(diff_value_, pointers, p, diff_out, diff_src(2));
      this->multiply(diff_probabilities_, pointers, diff_out, src(2), dp);
      through_softmax(p, dp, ds);
      this->multiply(diff_query_, pointers, ds, src(1), diff_src(0));
      this->multiply(diff_key_, pointers, ds, src(0), diff_src(1));
    }
  }

 private:
  void through_softmax(std::byte* p, std::byte* dp, std::byte* ds) const {
    this->with_element(this->spec_.dtype, [&]<class Element>() {
      using Stored = typename Element::Stored;
      const auto* const probabilities = reinterpret_cast<const Stored*>(p);
      const auto* const gradient = reinterpret_cast<const float*>(dp);
      auto* const dst = reinterpret_cast<Stored*>(ds);
      const SquareRows rows = this->rows();
      const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(this->spec_.head_size)));
      with_access<Element>(
          rows.length,
          [&]<int kCount>() {
            with_group(rows.length, [&]<int kGroup>() {
              this->queue().launch(
                  CausalSoftmaxGradient<Element, kCount, kGroup>{
                      rows, probabilities, this->products_.saved.matrix, gradient, dst, scale},
                  RowGroup<kGroup>::blocks(rows.count()));
            });
          },
          probabilities, gradient, dst);
    });
  }

  Multiplier diff_value_;
  Multiplier diff_probabilities_;
  Multiplier diff_query_;
  Multiplier diff_key_;
};

template <class Machine, class Multiplier>
std::unique_ptr<Operation> make_attention(const Attention& spec, Device& device) {
  if (!spec.forward()) {
    return std::make_unique<AttentionBackward<Machine, Multiplier>>(spec, device);
  }
  return std::make_unique<AttentionForward<Machine, Multiplier>>(spec, device);
}

}  // namespace bench::kernels::cuda
