// Attention and its gradient on a CUDA device: batched products by cuBLASLt, the softmax between them and its
// gradient by our own kernels (square_softmax.cuh).
//
// The products are strided batches of matrices, where the heads lie in the rows of src, dst and their
// gradients. A batch has one stride, but heads lie at one distance and samples at another. So a pass is done
// in rounds: over the samples, with all heads of one in a batch, or over the heads, with that head of all
// samples in a batch; whichever makes fewer rounds.
//
// Scratch holds the squares of one round: fp32 scores or dP, and where the dtype is narrower also P or dS. So
// it grows with the larger of batch and heads, not with both.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/attention/square_softmax.cuh"

namespace bench::kernels::cuda {

// Where the heads' matrices are, in elements: from row to row, from matrix to matrix of a round, from the
// first matrix of a round to the next round's.
struct HeadSteps {
  std::int64_t row = 0, matrix = 0, round = 0;

  cublaslt::Stored stored(bool transposed = false) const {
    return {.transposed = transposed, .step = row, .batch_step = matrix};
  }
};

// Asks no library.
struct AttentionProducts {
  enum Forward : std::size_t { kQueryKey, kProbabilitiesValue };
  enum Backward : std::size_t { kDiffValue, kDiffProbabilities, kDiffQuery, kDiffKey };

  explicit AttentionProducts(const Attention& spec);

  std::int64_t rounds = 1;
  std::int64_t matrices = 1;  // of a round
  HeadSteps queries;          // within src and diff_src
  HeadSteps keys;             // keys or values, within src, src1, src2 and their gradients
  HeadSteps out;              // within dst and diff_dst
  HeadSteps saved;            // the squares of all heads, as `saved` holds them
  HeadSteps scratch;          // the squares of one round, which the next overwrites
  HeadSteps probabilities;    // P: in `saved`, or in scratch where nothing is saved
  HeadSteps scores;           // the fp32 squares: P's own memory where P is fp32, else scratch
  float scale = 1;            // of the scores

  // Forward: Q Kᵀ → scores, fp32 and scaled; P V → O.
  // Backward: Pᵀ dO → dV; dO Vᵀ → dP, fp32; dS K → dQ and dSᵀ Q → dK, with dS in the dtype.
  std::vector<cublaslt::Product> all;
};

inline AttentionProducts::AttentionProducts(const Attention& spec) {
  const bool over_heads = spec.heads < spec.batch;
  rounds = over_heads ? spec.heads : spec.batch;
  matrices = over_heads ? spec.batch : spec.heads;
  const auto steps = [&](std::int64_t row, std::int64_t head, std::int64_t sample) {
    return HeadSteps{.row = row, .matrix = over_heads ? sample : head, .round = over_heads ? head : sample};
  };
  const std::int64_t length = spec.sequence;
  const std::int64_t key_count = spec.key_count();
  const std::int64_t features = spec.head_size;
  const std::int64_t square = length * key_count;
  const std::int64_t each = bytes_of(spec.dtype);
  queries = steps(spec.row(), features, length * spec.row());
  keys = steps(spec.row(), features, key_count * spec.row());
  out = steps(spec.width(), features, length * spec.width());
  saved = steps(key_count, square, spec.heads * square);
  scratch = {.row = key_count, .matrix = square, .round = 0};
  probabilities = spec.training || !spec.forward() ? saved : scratch;
  scores = each < bytes_of(Dtype::fp32) || !spec.forward() ? scratch : probabilities;
  scale = static_cast<float>(spec.factor());

  const auto add = [&](std::int64_t rows, std::int64_t inner, std::int64_t columns, const cublaslt::Stored& a,
                       const cublaslt::Stored& b, const HeadSteps& d) -> cublaslt::Product& {
    // Every address that a round starts at is aligned so: heads and squares need not fill an access.
    const std::int64_t alignment = std::gcd(std::int64_t{kAccess}, std::gcd(features * each, square * each));
    return all.emplace_back(cublaslt::Product{.dtype = spec.dtype,
                                              .result = spec.dtype,
                                              .rows = rows,
                                              .inner = inner,
                                              .columns = columns,
                                              .a = a,
                                              .b = b,
                                              .d = d.stored(),
                                              .batch = matrices,
                                              .alignment = alignment});
  };
  if (spec.forward()) {
    cublaslt::Product& query_key =
        add(length, features, key_count, queries.stored(), keys.stored(true), scores);
    query_key.result = Dtype::fp32;
    query_key.scale = scale;
    add(length, key_count, features, probabilities.stored(), keys.stored(), out);
  } else {
    add(key_count, length, features, saved.stored(true), out.stored(), keys);
    add(length, features, key_count, out.stored(), keys.stored(true), scratch).result = Dtype::fp32;
    add(length, key_count, features, scratch.stored(), keys.stored(), queries);
    add(key_count, length, features, scratch.stored(true), queries.stored(), keys);
  }
}

inline std::optional<std::string> unsupported_by_cublaslt(const Attention& spec, const Device& device) {
  if (const auto wrong = spec.invalid()) {
    return wrong;
  }
  if (spec.statistics) {
    return "it keeps probabilities";
  }
  return cublaslt::unsupported(spec.dtype, device, [&] {
    for (const cublaslt::Product& product : AttentionProducts(spec).all) {
      const cublaslt::TunedProduct planned(product, device);
    }
  });
}

// Multiplier does a product: constructed from (Product, Device), it has workspace() in bytes, algorithm(),
// and run(ProductArguments), which queues it. The tests bring one that runs on the host.
template <class Machine, class Multiplier>
class AttentionOperation final : public KernelOperation<Machine, Attention> {
 public:
  static Implementation<Attention> entry() {
    return {.name = "cublaslt",
            .device_kind = Machine::kDeviceKind,
            .preference = Machine::kPreference,
            .unsupported = unsupported_by_cublaslt,
            .make = [](const Attention& spec, Device& device) -> std::unique_ptr<Operation> {
              return std::make_unique<AttentionOperation>(spec, device);
            }};
  }

  AttentionOperation(const Attention& spec, Device& device)
      : KernelOperation<Machine, Attention>(spec, device), products_(spec) {
    std::int64_t workspace = 0;
    for (const cublaslt::Product& product : products_.all) {
      multipliers_.emplace_back(product, device);
      workspace = std::max(workspace, multipliers_.back().workspace());
    }
    const std::int64_t elements = products_.matrices * spec.sequence * spec.key_count();
    // fp32 scores become P where they are, dP becomes dS.
    if (is_narrow() || !spec.saves()) {
      narrow_at_ = before_library_scratch(elements * bytes_of(Dtype::fp32));
    }
    library_at_ = narrow_at_;
    if (is_narrow() && !spec.saves()) {
      library_at_ += before_library_scratch(elements * bytes_of(spec.dtype));
    }
    if (library_at_ + workspace > 0) {
      this->add_opaque(Slot::workspace, Role::scratch, library_at_ + workspace, kLibraryScratchAlignment);
    }
  }

  std::string algorithm() const override {
    std::string all;
    for (const Multiplier& multiplier : multipliers_) {
      all += (all.empty() ? "" : "; ") + multiplier.algorithm();
    }
    return all;
  }

  void run(const SlotPointers& pointers) override {
    for (std::int64_t round = 0; round < products_.rounds; ++round) {
      if (spec_.forward()) {
        forward(pointers, round);
      } else {
        backward(pointers, round);
      }
    }
  }

 private:
  bool is_narrow() const { return bytes_of(spec_.dtype) < bytes_of(Dtype::fp32); }

  // Element `at` of a slot that holds the dtype.
  std::byte* element(const SlotPointers& pointers, Slot slot, std::int64_t at) const {
    return static_cast<std::byte*>(pointers[slot]) + at * bytes_of(spec_.dtype);
  }
  // Query, key or value (0, 1, 2) of a round's first head, or its gradient.
  std::byte* part(const SlotPointers& pointers, const std::array<Slot, 3>& slots, std::int64_t round,
                  std::size_t which) const {
    const HeadSteps& steps = which == 0 ? products_.queries : products_.keys;
    return part_of(spec_, pointers, slots, which) + round * steps.round * bytes_of(spec_.dtype);
  }
  static std::byte* scratch(const SlotPointers& pointers, std::int64_t offset) {
    auto* const workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    return workspace == nullptr ? nullptr : workspace + offset;
  }

  void multiply(std::size_t product, const SlotPointers& pointers, const void* a, const void* b, void* d) {
    multipliers_[product].run(
        {.a = a, .b = b, .d = d, .bias = nullptr, .workspace = scratch(pointers, library_at_)});
  }

  void forward(const SlotPointers& pointers, std::int64_t round) {
    const auto src = [&](std::size_t which) { return part(pointers, kAttentionInputs, round, which); };
    std::byte* const p = spec_.saves() ? element(pointers, Slot::saved, round * products_.saved.round)
                                       : scratch(pointers, is_narrow() ? narrow_at_ : 0);
    std::byte* const scores = is_narrow() ? scratch(pointers, 0) : p;
    multiply(AttentionProducts::kQueryKey, pointers, src(0), src(1), scores);
    soften(scores, p);
    multiply(AttentionProducts::kProbabilitiesValue, pointers, p, src(2),
             element(pointers, Slot::dst, round * products_.out.round));
  }

  void backward(const SlotPointers& pointers, std::int64_t round) {
    const auto src = [&](std::size_t which) { return part(pointers, kAttentionInputs, round, which); };
    const auto diff_src = [&](std::size_t which) {
      return part(pointers, kAttentionGradients, round, which);
    };
    std::byte* const p = element(pointers, Slot::saved, round * products_.saved.round);
    std::byte* const diff_out = element(pointers, Slot::diff_dst, round * products_.out.round);
    std::byte* const dp = scratch(pointers, 0);
    std::byte* const ds = is_narrow() ? scratch(pointers, narrow_at_) : dp;
    multiply(AttentionProducts::kDiffValue, pointers, p, diff_out, diff_src(2));
    multiply(AttentionProducts::kDiffProbabilities, pointers, diff_out, src(2), dp);
    through_softmax(p, dp, ds);
    multiply(AttentionProducts::kDiffQuery, pointers, ds, src(1), diff_src(0));
    multiply(AttentionProducts::kDiffKey, pointers, ds, src(0), diff_src(1));
  }

  void soften(std::byte* scores, std::byte* squares) const {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const from = reinterpret_cast<const float*>(scores);
      auto* const to = reinterpret_cast<typename Element::Stored*>(squares);
      const SquareRows rows = this->rows();
      with_row_access<Element>(
          rows.columns,
          [&]<int kCount, int kGroup>() {
            this->launch(SquareSoftmax<Element, kCount, kGroup>{rows, from, products_.scores.matrix, to,
                                                                products_.probabilities.matrix},
                         RowGroup<kGroup>::blocks(rows.count()));
          },
          from, to);
    });
  }

  void through_softmax(std::byte* p, std::byte* dp, std::byte* ds) const {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      using Stored = typename Element::Stored;
      const auto* const probabilities = reinterpret_cast<const Stored*>(p);
      const auto* const gradient = reinterpret_cast<const float*>(dp);
      auto* const dst = reinterpret_cast<Stored*>(ds);
      const SquareRows rows = this->rows();
      with_row_access<Element>(
          rows.columns,
          [&]<int kCount, int kGroup>() {
            this->launch(
                SquareSoftmaxGradient<Element, kCount, kGroup>{rows, probabilities, products_.saved.matrix,
                                                               gradient, dst, products_.scale},
                RowGroup<kGroup>::blocks(rows.count()));
          },
          probabilities, gradient, dst);
    });
  }

  SquareRows rows() const { return {products_.matrices, spec_.sequence, spec_.key_count(), spec_.causal}; }

  using KernelOperation<Machine, Attention>::spec_;

  AttentionProducts products_;
  std::vector<Multiplier> multipliers_;
  // In the scratch, after the fp32 squares.
  std::int64_t narrow_at_ = 0;
  std::int64_t library_at_ = 0;
};

template <class Machine>
using CublasltAttention = AttentionOperation<Machine, cublaslt::TunedProduct>;

template struct OnGpu<CublasltAttention>;

}  // namespace bench::kernels::cuda
