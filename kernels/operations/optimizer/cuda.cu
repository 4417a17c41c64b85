// An optimizer's step by our own kernels: one launch over all parameters, and for Adam one that counts the
// step.
#include <cmath>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/operations/optimizer/optimizer.h"

namespace bench::kernels::cuda {

// An optimizer's step over the parameters, each read and written once.

// The rule for one weight and its states; begin() is called once a thread.
struct SgdRule {
  static constexpr int kStates = 0;
  float rate;

  BENCH_DEVICE void begin() {}
  BENCH_DEVICE float operator()(float w, float g, float& /*state1*/, float& /*state2*/) const {
    return w - rate * g;
  }
};

struct MomentumRule {
  static constexpr int kStates = 1;
  float rate;
  float momentum;

  BENCH_DEVICE void begin() {}
  BENCH_DEVICE float operator()(float w, float g, float& velocity, float& /*state2*/) const {
    velocity = momentum * velocity + g;
    return w - rate * velocity;
  }
};

// 1 − beta^t is −expm1(t · ln beta): one minus a power near one would have few digits left in fp32.
struct AdamRule {
  static constexpr int kStates = 2;
  float beta1, rest1, log1;  // rest = 1 − beta, log = ln beta
  float beta2, rest2, log2;
  float rate;
  float epsilon;
  const std::int64_t* steps;  // counted up already
  float corrected_rate = 0;   // set by begin()
  float corrected_scale = 0;

  BENCH_DEVICE void begin() {
    const auto t = static_cast<float>(*steps);
    corrected_rate = rate / -expm1f(t * log1);
    corrected_scale = 1.0F / sqrtf(-expm1f(t * log2));
  }
  BENCH_DEVICE float operator()(float w, float g, float& first, float& second) const {
    first = beta1 * first + rest1 * g;
    second = beta2 * second + rest2 * g * g;
    return w - corrected_rate * first / (sqrtf(second) * corrected_scale + epsilon);
  }
};

template <class Element, class Rule>
struct OptimizerStep {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "optimizer";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;
  static constexpr bool kMaster = sizeof(Stored) == 2;
  static constexpr int kWidth = kLanes<Element>;

  const Stored* gradient;
  Stored* weights;  // 16-bit ones, the rounding of `master`; else unused
  float* master;    // the weights in fp32
  float* state1;
  float* state2;
  std::int64_t count;
  std::int64_t vectors;    // whole accesses, from the start
  const LossScale* scale;  // nullptr where gradients are not scaled
  Rule rule;

  using Share = GridStride<kThreads, 1>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    float unscale = 1;
    if (scale != nullptr) {
      if (scale->overflow != 0) {
        return;
      }
      unscale = 1.0F / scale->factor;
    }
    Rule begun = rule;
    begun.begin();
    Share::each(thread, 0, vectors, [&](std::int64_t at) { update<kWidth>(begun, unscale, at * kWidth); });
    Share::each(thread, vectors * kWidth, count, [&](std::int64_t at) { update<1>(begun, unscale, at); });
  }

 private:
  template <int kCount>
  BENCH_DEVICE void update(const Rule& begun, float unscale, std::int64_t at) const {
    float g[kCount];
    float w[kCount];
    float first[kCount] = {};
    float second[kCount] = {};
    load_values<Element>(gradient + at, g);
    load_floats<Memory>(master + at, w);
    if constexpr (Rule::kStates > 0) {
      load_floats<Memory>(state1 + at, first);
    }
    if constexpr (Rule::kStates > 1) {
      load_floats<Memory>(state2 + at, second);
    }
    for (int i = 0; i < kCount; ++i) {
      w[i] = begun(w[i], unscale * g[i], first[i], second[i]);
    }
    store_floats<Memory>(master + at, w);
    if constexpr (kMaster) {
      store_values<Element>(weights + at, w);
    }
    if constexpr (Rule::kStates > 0) {
      store_floats<Memory>(state1 + at, first);
    }
    if constexpr (Rule::kStates > 1) {
      store_floats<Memory>(state2 + at, second);
    }
  }
};

// A launch of its own before the step: all of its blocks read the count.
struct CountStep {
  static constexpr int kThreads = 32;
  static constexpr const char* kName = "count steps";

  std::int64_t* steps;
  const LossScale* scale;  // as above

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() == 0 && (scale == nullptr || scale->overflow == 0)) {
      ++*steps;
    }
  }
};

template <class Machine>
class OptimizerOperation final : public KernelOperation<Machine, Optimizer> {
 public:
  static std::optional<std::string> unsupported(const Optimizer& spec) {
    return spec.dtype == Dtype::tf32 ? std::optional<std::string>("parameters are not stored in tf32")
                                     : std::nullopt;
  }

  using KernelOperation<Machine, Optimizer>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    switch (spec_.kind) {
      case Optimizer::Kind::sgd:
        return step(pointers, SgdRule{.rate = spec_.rate});
      case Optimizer::Kind::momentum:
        return step(pointers, MomentumRule{.rate = spec_.rate, .momentum = spec_.momentum});
      case Optimizer::Kind::adam: {
        auto* const steps = static_cast<std::int64_t*>(pointers[Slot::steps]);
        if (spec_.counts) {
          this->launch(CountStep{steps, loss_scale(pointers)}, 1);
        }
        return step(pointers, adam(steps));
      }
    }
  }

 private:
  const LossScale* loss_scale(const SlotPointers& pointers) const {
    return spec_.scaled ? static_cast<const LossScale*>(pointers[Slot::loss_scale]) : nullptr;
  }
  AdamRule adam(const std::int64_t* steps) const {
    const double beta1 = spec_.beta1;
    const double beta2 = spec_.beta2;
    return {.beta1 = spec_.beta1,
            .rest1 = static_cast<float>(1 - beta1),
            .log1 = static_cast<float>(std::log(beta1)),
            .beta2 = spec_.beta2,
            .rest2 = static_cast<float>(1 - beta2),
            .log2 = static_cast<float>(std::log(beta2)),
            .rate = spec_.rate,
            .epsilon = spec_.epsilon,
            .steps = steps};
  }

  template <class Rule>
  void step(const SlotPointers& pointers, const Rule& rule) const {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      using Kernel = OptimizerStep<Element, Rule>;
      Kernel kernel{.gradient = stored<Element>(pointers, Slot::diff_weights),
                    .weights = stored<Element>(pointers, Slot::weights),
                    .master = floats(pointers, spec_.has_master() ? Slot::master : Slot::weights),
                    .state1 = floats(pointers, Slot::state1),
                    .state2 = floats(pointers, Slot::state2),
                    .count = spec_.count,
                    .vectors = 0,
                    .scale = loss_scale(pointers),
                    .rule = rule};
      if (aligned(kAccess, 0, kernel.gradient, kernel.weights, kernel.master, kernel.state1, kernel.state2)) {
        kernel.vectors = spec_.count / kLanes<Element>;
      }
      this->launch(kernel, blocks_for(blocks_for(spec_.count, kLanes<Element>), Kernel::kThreads));
    });
  }

  using KernelOperation<Machine, Optimizer>::spec_;
};

template struct OnGpu<OptimizerOperation>;

}  // namespace bench::kernels::cuda
