// Attention and its gradient on a CUDA device: batched products by cuBLASLt, the softmax between them and its
// gradient by our own kernels (square_softmax.cuh).
//
// The products are strided batches of matrices, where the heads lie in the rows of src, dst and their
// gradients. A batch has one stride, but heads lie at one distance and samples at another. So a pass is done
// in rounds: over the samples, with all heads of one in a batch, or over the heads, with that head of all
// samples in a batch; whichever makes fewer rounds. A card would wait between many rounds of little work
// each, so there the heads are copied first, one matrix after the other, and one batch holds them all.
//
// Scratch holds the squares of one round: fp32 scores or dP, and where the dtype is narrower also P or dS. So
// it grows with the larger of batch and heads, not with both, once they are no longer gathered.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backends/cublaslt/product.h"
#include "kernels/backends/cuda/copy_nest.cuh"
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

  AttentionProducts(const Attention& spec, int multiprocessors);

  // Heads are gathered where at least so many rounds have so little work each that a card is expected to
  // spend most of a round starting its three or five kernels: copying that round's rows is expected to take
  // less, on a T4 as on an H200. All rounds' rows are copied by seven launches at most. No card has measured
  // this.
  static constexpr std::int64_t kFewestRounds = 4;
  static constexpr std::int64_t kMostOfARound = 2048;  // elements of its queries or keys a multiprocessor
  static constexpr std::int64_t kMostScratch = std::int64_t{16} << 20;  // elements

  bool gathered = false;  // one round, its matrices in scratch
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

inline AttentionProducts::AttentionProducts(const Attention& spec, int multiprocessors) {
  const std::int64_t length = spec.sequence;
  const std::int64_t key_count = spec.key_count();
  const std::int64_t features = spec.head_size;
  const std::int64_t square = length * key_count;
  const std::int64_t each = bytes_of(spec.dtype);
  rounds = std::min(spec.batch, spec.heads);
  matrices = std::max(spec.batch, spec.heads);
  const std::int64_t of_a_head = square + 4 * (length + key_count) * features;  // at most
  gathered = rounds >= kFewestRounds &&
             matrices * std::max(length, key_count) * features <= kMostOfARound * multiprocessors &&
             matrices * rounds <= kMostScratch / of_a_head;
  if (gathered) {
    matrices *= std::exchange(rounds, 1);
  }
  const bool over_heads = !gathered && spec.heads < spec.batch;
  const auto steps = [&](std::int64_t row, std::int64_t head, std::int64_t sample) {
    return HeadSteps{.row = row, .matrix = over_heads ? sample : head, .round = over_heads ? head : sample};
  };
  // Of `rows` rows a sample, whose heads lie side by side.
  const auto heads_of = [&](std::int64_t rows, std::int64_t row) {
    return gathered ? HeadSteps{.row = features, .matrix = rows * features, .round = 0}
                    : steps(row, features, rows * row);
  };
  queries = heads_of(length, spec.row());
  keys = heads_of(key_count, spec.row());
  out = heads_of(length, spec.width());
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
    const AttentionProducts products(spec, card_of(device).multiprocessors());
    for (const cublaslt::Product& product : products.all) {
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
      : KernelOperation<Machine, Attention>(spec, device), products_(spec, this->queue().multiprocessors()) {
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
    gathered_at_ = narrow_at_;
    if (is_narrow() && !spec.saves()) {
      gathered_at_ += before_library_scratch(elements * bytes_of(spec.dtype));
    }
    library_at_ = gathered_at_;
    if (products_.gathered) {
      const std::int64_t inputs = spec.sequence + 2 * spec.key_count();  // rows of a head
      const std::int64_t rows = (spec.forward() ? inputs : 2 * inputs) + spec.sequence;
      library_at_ += before_library_scratch(spec.batch * rows * spec.width() * bytes_of(spec.dtype));
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
    const Places slots = in_slots(pointers);
    if (!products_.gathered) {
      for (std::int64_t round = 0; round < products_.rounds; ++round) {
        pass(pointers, slots, round);
      }
      return;
    }
    const Places heads = in_scratch(pointers);
    copy_parts(Copied::gathered, heads.in, slots.in);
    if (!spec_.forward()) {
      copy_heads(Copied::gathered, heads.out, slots.out, spec_.sequence, spec_.width());
    }
    pass(pointers, heads, 0);
    if (spec_.forward()) {
      copy_heads(Copied::back, heads.out, slots.out, spec_.sequence, spec_.width());
    } else {
      copy_parts(Copied::back, heads.gradients, slots.gradients);
    }
  }

 private:
  using Parts = std::array<std::byte*, 3>;  // of query, key and value, or of their gradients
  // Where a pass has its tensors: in the slots, or gathered in scratch.
  struct Places {
    Parts in{};
    std::byte* out = nullptr;  // or its gradient
    Parts gradients{};
  };
  enum class Copied { gathered, back };

  bool is_narrow() const { return bytes_of(spec_.dtype) < bytes_of(Dtype::fp32); }

  // Element `at` of a slot that holds the dtype.
  std::byte* element(const SlotPointers& pointers, Slot slot, std::int64_t at) const {
    return static_cast<std::byte*>(pointers[slot]) + at * bytes_of(spec_.dtype);
  }
  std::int64_t rows_of(std::size_t which) const { return which == 0 ? spec_.sequence : spec_.key_count(); }

  Places in_slots(const SlotPointers& pointers) const {
    Places places;
    places.out = element(pointers, spec_.forward() ? Slot::dst : Slot::diff_dst, 0);
    for (std::size_t which = 0; which < 3; ++which) {
      places.in[which] = part_of(spec_, pointers, kAttentionInputs, which);
      if (!spec_.forward()) {
        places.gradients[which] = part_of(spec_, pointers, kAttentionGradients, which);
      }
    }
    return places;
  }
  Places in_scratch(const SlotPointers& pointers) const {
    std::byte* next = scratch(pointers, gathered_at_);
    const auto take = [&](std::int64_t rows) {
      return std::exchange(next, next + spec_.batch * rows * spec_.width() * bytes_of(spec_.dtype));
    };
    Places places;
    places.out = take(spec_.sequence);
    for (std::size_t which = 0; which < 3; ++which) {
      places.in[which] = take(rows_of(which));
    }
    for (std::size_t which = 0; which < 3 && !spec_.forward(); ++which) {
      places.gradients[which] = take(rows_of(which));
    }
    return places;
  }

  void copy_parts(Copied copied, const Parts& gathered, const Parts& among_others) const {
    if (spec_.packed) {
      return copy_heads(copied, gathered[0], among_others[0], spec_.sequence, spec_.row());
    }
    for (std::size_t which = 0; which < 3; ++which) {
      copy_heads(copied, gathered[which], among_others[which], rows_of(which), spec_.row());
    }
  }

  // Tensors of `rows` rows a sample, side by side in rows of `row` elements, gathered one after the other.
  void copy_heads(Copied copied, std::byte* gathered, std::byte* among_others, std::int64_t rows,
                  std::int64_t row) const {
    const std::int64_t features = spec_.head_size;
    const bool back = copied == Copied::back;
    const auto loop = [&](std::int64_t extent, std::int64_t in_gathered, std::int64_t in_others) {
      return LoopNest::Loop{.extent = extent,
                            .steps = {back ? in_others : in_gathered, back ? in_gathered : in_others}};
    };
    LoopNest nest;
    nest.loops = {loop(row / spec_.width(), spec_.batch * rows * spec_.width(), spec_.width()),
                  loop(spec_.batch, rows * spec_.width(), rows * row), loop(rows, features, row),
                  loop(spec_.heads, rows * features, features), loop(features, 1, 1)};
    copy_nest<Machine>(this->queue(), nest, bytes_of(spec_.dtype), back ? among_others : gathered,
                       back ? gathered : among_others);
  }

  // Query, key or value (0, 1, 2) of a round's first head, or its gradient.
  std::byte* part(const Parts& tensors, std::int64_t round, std::size_t which) const {
    const HeadSteps& steps = which == 0 ? products_.queries : products_.keys;
    return tensors[which] + round * steps.round * bytes_of(spec_.dtype);
  }
  std::byte* out(const Places& places, std::int64_t round) const {
    return places.out + round * products_.out.round * bytes_of(spec_.dtype);
  }
  static std::byte* scratch(const SlotPointers& pointers, std::int64_t offset) {
    auto* const workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    return workspace == nullptr ? nullptr : workspace + offset;
  }

  void multiply(std::size_t product, const SlotPointers& pointers, const void* a, const void* b, void* d) {
    multipliers_[product].run(
        {.a = a, .b = b, .d = d, .bias = nullptr, .workspace = scratch(pointers, library_at_)});
  }

  void pass(const SlotPointers& pointers, const Places& places, std::int64_t round) {
    if (spec_.forward()) {
      forward(pointers, places, round);
    } else {
      backward(pointers, places, round);
    }
  }

  void forward(const SlotPointers& pointers, const Places& places, std::int64_t round) {
    const auto src = [&](std::size_t which) { return part(places.in, round, which); };
    std::byte* const p = spec_.saves() ? element(pointers, Slot::saved, round * products_.saved.round)
                                       : scratch(pointers, is_narrow() ? narrow_at_ : 0);
    std::byte* const scores = is_narrow() ? scratch(pointers, 0) : p;
    multiply(AttentionProducts::kQueryKey, pointers, src(0), src(1), scores);
    soften(scores, p);
    multiply(AttentionProducts::kProbabilitiesValue, pointers, p, src(2), out(places, round));
  }

  void backward(const SlotPointers& pointers, const Places& places, std::int64_t round) {
    const auto src = [&](std::size_t which) { return part(places.in, round, which); };
    const auto diff_src = [&](std::size_t which) { return part(places.gradients, round, which); };
    std::byte* const p = element(pointers, Slot::saved, round * products_.saved.round);
    std::byte* const diff_out = out(places, round);
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
  std::int64_t gathered_at_ = 0;
  std::int64_t library_at_ = 0;
};

template <class Machine>
using CublasltAttention = AttentionOperation<Machine, cublaslt::TunedProduct>;

template struct OnGpu<CublasltAttention>;

}  // namespace bench::kernels::cuda
