// Softmax cross-entropy by our own kernels.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels::cuda {

// Softmax cross-entropy of rows with its gradient. Each block adds the losses of its rows, and one block
// those of all blocks: always in the same order, so that two runs give the same bits.

template <class Element, int kCount, int kGroup>
struct CrossEntropyRows {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "cross entropy";
  using Stored = typename Element::Stored;

  const Stored* src;
  const std::int32_t* labels;
  Stored* diff_src;  // may be src
  float* losses;     // one a block, not scaled
  std::int64_t rows;
  std::int64_t classes;
  float scale;
  const LossScale* loss_scale;  // of the gradient; nullptr where it is not scaled

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const std::int32_t label = row < rows ? labels[row] : -1;
    const bool known = label >= 0 && label < classes;  // the other rows still come to the barriers
    const Stored* const from = src + row * classes;
    const int lane = RowGroup<kGroup>::lane(thread);
    const std::int64_t first = std::int64_t{lane} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float largest = kBelowAll;
    for (std::int64_t c = first; known && c < classes; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        largest = x[i] > largest ? x[i] : largest;
      }
    }
    largest = join_group<kGroup>(thread, largest, Largest{}, room);
    float others = 0;  // classes that are not the label
    float right = 0;   // the label's logit less the largest
    for (std::int64_t c = first; known && c < classes; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        if (c + i == label) {
          right = x[i] - largest;
        } else {
          others += expf(x[i] - largest);
        }
      }
    }
    others = join_group<kGroup>(thread, others, Sum{}, room);
    right = join_group<kGroup>(thread, right, Sum{}, room);
    const float sum = others + expf(right);
    const float factor = loss_scale == nullptr ? scale : scale * loss_scale->factor;
    const float share = factor / sum;
    for (std::int64_t c = first; row < rows && c < classes; c += kStep) {
      float x[kCount] = {};
      if (known) {
        load_values<Element>(from + c, x);
        for (int i = 0; i < kCount; ++i) {
          // p − 1 of a confident row would cancel.
          x[i] = c + i == label ? -others * share : expf(x[i] - largest) * share;
        }
      }
      store_values<Element>(diff_src + row * classes + c, x);
    }
    const float loss = known && lane == 0 ? logf(sum) - right : 0.0F;
    const float all = join_group<kThreads>(thread, loss, Sum{}, room);
    if (thread.index() == 0) {
      losses[thread.block()] = all;
    }
  }
};

// loss = scale · Σ losses, by one block; in double, for there may be many.
struct SumLosses {
  static constexpr int kThreads = RowGroup<1>::kThreads;
  static constexpr const char* kName = "sum of losses";

  const float* losses;
  std::int64_t count;
  float scale;
  float* loss;

  using Shared = WarpValues<double>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    double sum = 0;
    for (std::int64_t i = thread.index(); i < count; i += kThreads) {
      sum += static_cast<double>(losses[i]);
    }
    sum = join_group<kThreads>(thread, sum, Sum{}, room);
    if (thread.index() == 0) {
      *loss = static_cast<float>(static_cast<double>(scale) * sum);
    }
  }
};

template <class Machine>
class CrossEntropyOperation final : public KernelOperation<Machine, CrossEntropy> {
 public:
  CrossEntropyOperation(const CrossEntropy& spec, Device& device)
      : KernelOperation<Machine, CrossEntropy>(spec, device),
        blocks_(blocks_of_rows(spec.rows, spec.classes)) {
    this->add_opaque(Slot::workspace, Role::scratch, blocks_ * static_cast<std::int64_t>(sizeof(float)));
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const src = stored<Element>(pointers, Slot::src);
      auto* const diff_src = stored<Element>(pointers, Slot::diff_src);
      const auto* const labels = static_cast<const std::int32_t*>(pointers[Slot::labels]);
      float* const losses = floats(pointers, Slot::workspace);
      const auto* const loss_scale =
          spec_.scaled ? static_cast<const LossScale*>(pointers[Slot::loss_scale]) : nullptr;
      with_row_access<Element>(
          spec_.classes,
          [&]<int kCount, int kGroup>() {
            this->launch(CrossEntropyRows<Element, kCount, kGroup>{src, labels, diff_src, losses, spec_.rows,
                                                                   spec_.classes, spec_.scale, loss_scale},
                         blocks_);
          },
          src, diff_src);
      this->launch(SumLosses{losses, blocks_, spec_.scale, floats(pointers, Slot::loss)}, 1);
    });
  }

 private:
  using KernelOperation<Machine, CrossEntropy>::spec_;
  std::int64_t blocks_;
};

template struct OnGpu<CrossEntropyOperation>;

}  // namespace bench::kernels::cuda
