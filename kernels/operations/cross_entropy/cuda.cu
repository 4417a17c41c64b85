// Softmax cross-entropy by our own kernels.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels::cuda {

// Softmax cross-entropy of rows with its gradient. Each block adds the losses of its rows, and one block
// those of all blocks: always in the same order, so that two runs give the same bits.

// The largest logit and the sum of exponentials are found in one pass, in which a larger one scales the sum;
// the gradient takes a second.
template <class Element, int kGroup>
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
  bool wide;                    // src and diff_src allow 16 bytes at the same elements

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const std::int32_t label = row < rows ? labels[row] : -1;
    const bool known = label >= 0 && label < classes;  // the other rows still come to the barriers
    const Stored* const from = src + row * classes;
    Stored* const to = diff_src + row * classes;
    const int lane = RowGroup<kGroup>::lane(thread);
    const RowAccesses<Element> accesses(from, classes, wide);

    float own = kLowest;     // the thread's largest
    float others = 0;        // classes that are not the label, relative to it
    float of_label[1] = {};  // its logit
    if (known) {
      load_values<Element>(from + label, of_label);
      accesses.template each<kGroup>(lane, [&]<int kCount>(std::int64_t c) {
        float x[kCount];
        load_values<Element>(from + c, x);
        float largest = own;
        for (int i = 0; i < kCount; ++i) {
          largest = fmaxf(largest, x[i]);  // NaN is in the sum
        }
        others *= exponential(own - largest);
        own = largest;
        const std::uint32_t at = place_of(label, c);
        BENCH_UNROLL
        for (std::uint32_t i = 0; i < kCount; ++i) {
          const float share = exponential(x[i] - largest);
          others += i == at ? 0.0F : share;
        }
      });
    }
    const float largest = join_group<kGroup>(thread, own, Largest{}, room);
    others = join_group<kGroup>(thread, others * exponential(own - largest), Sum{}, room);
    thread.sync_warp();  // before a lane writes the label's gradient where others have read its logit
    const float right = of_label[0] - largest;
    const float sum = others + exponential(right);
    const float factor = loss_scale == nullptr ? scale : scale * loss_scale->factor;
    const float share = factor / sum;
    if (known) {
      accesses.template each<kGroup>(lane, [&]<int kCount>(std::int64_t c) {
        float x[kCount];
        load_values<Element>(from + c, x);
        const std::uint32_t at = place_of(label, c);
        BENCH_UNROLL
        for (std::uint32_t i = 0; i < kCount; ++i) {
          // p − 1 of a confident row would cancel.
          const float p = exponential(x[i] - largest) * share;
          x[i] = i == at ? -others * share : p;
        }
        store_values<Element>(to + c, x);
      });
    } else if (row < rows) {
      accesses.template each<kGroup>(lane, [&]<int kCount>(std::int64_t c) {
        const float none[kCount] = {};
        store_values<Element>(to + c, none);
      });
    }
    const float loss = known && lane == 0 ? logf(sum) - right : 0.0F;
    const float all = join_group<kThreads>(thread, loss, Sum{}, room);
    if (thread.index() == 0) {
      losses[thread.block()] = all;
    }
  }

 private:
  // How many classes after class `first` the label is; of a label before it, more than there are classes.
  static BENCH_DEVICE std::uint32_t place_of(std::int32_t label, std::int64_t first) {
    return static_cast<std::uint32_t>(label) - static_cast<std::uint32_t>(first);
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
      const bool wide =
          (reinterpret_cast<std::uintptr_t>(src) - reinterpret_cast<std::uintptr_t>(diff_src)) % kAccess == 0;
      with_group(spec_.classes, [&]<int kGroup>() {
        this->launch(CrossEntropyRows<Element, kGroup>{src, labels, diff_src, losses, spec_.rows,
                                                       spec_.classes, spec_.scale, loss_scale, wide},
                     blocks_);
      });
      this->launch(SumLosses{losses, blocks_, spec_.scale, floats(pointers, Slot::loss)}, 1);
    });
  }

 private:
  using KernelOperation<Machine, CrossEntropy>::spec_;
  std::int64_t blocks_;
};

template struct OnGpu<CrossEntropyOperation>;

}  // namespace bench::kernels::cuda
