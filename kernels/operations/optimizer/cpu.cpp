// An optimizer's step on the CPU: one pass over the parameters, in vectors, parts of them on OpenMP threads.
//
// The loops are bound by memory. This file is compiled with -fno-math-errno: a square root that may set errno
// is a call, and no loop around one vectorises.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/operations/optimizer/optimizer.h"

namespace bench::kernels {
namespace {

struct Sgd {
  static constexpr int kStates = 0;
  float rate;

  [[gnu::always_inline]] float operator()(float w, float g, float& /*state1*/, float& /*state2*/) const {
    return w - rate * g;
  }
};

struct Momentum {
  static constexpr int kStates = 1;
  float rate;
  float momentum;

  [[gnu::always_inline]] float operator()(float w, float g, float& velocity, float& /*state2*/) const {
    velocity = momentum * velocity + g;
    return w - rate * velocity;
  }
};

struct Adam {
  static constexpr int kStates = 2;
  float beta1, rest1;  // rest = 1 − beta
  float beta2, rest2;
  float rate;   // over the correction of the first state
  float scale;  // 1 / √ of the correction of the second
  float epsilon;

  [[gnu::always_inline]] float operator()(float w, float g, float& first, float& second) const {
    first = beta1 * first + rest1 * g;
    second = beta2 * second + rest2 * g * g;
    return w - rate * first / (std::sqrt(second) * scale + epsilon);
  }
};

Adam adam_at(const Optimizer& spec, std::int64_t t) {
  const double beta1 = spec.beta1;
  const double beta2 = spec.beta2;
  const auto steps = static_cast<double>(t);
  return {.beta1 = spec.beta1,
          .rest1 = static_cast<float>(1 - beta1),
          .beta2 = spec.beta2,
          .rest2 = static_cast<float>(1 - beta2),
          .rate = static_cast<float>(spec.rate / (1 - std::pow(beta1, steps))),
          .scale = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, steps))),
          .epsilon = spec.epsilon};
}

template <class Element>
struct Arrays {
  const typename Element::Stored* gradient;
  typename Element::Stored* weights;
  float* master;  // the weights themselves in fp32
  float* state1;
  float* state2;
  float unscale;  // what gradients are multiplied by
};

template <class Element, class Update>
struct Step {
  Update update;
  Arrays<Element> arrays;

  [[gnu::always_inline]] void operator()(const std::int64_t i) const {
    float state1 = 0;
    float state2 = 0;
    if constexpr (Update::kStates > 0) {
      state1 = arrays.state1[i];
    }
    if constexpr (Update::kStates > 1) {
      state2 = arrays.state2[i];
    }
    const float w =
        update(arrays.master[i], arrays.unscale * Element::to(arrays.gradient[i]), state1, state2);
    arrays.master[i] = w;
    if constexpr (!std::is_same_v<Element, Fp32>) {
      arrays.weights[i] = Element::from(w);
    }
    if constexpr (Update::kStates > 0) {
      arrays.state1[i] = state1;
    }
    if constexpr (Update::kStates > 1) {
      arrays.state2[i] = state2;
    }
  }
};

template <class Element, class Update>
void step(const Update& update, const Arrays<Element>& arrays, const std::int64_t count) {
  for_each_element(count, Step<Element, Update>{update, arrays});
}

class CpuOptimizer final : public LoopsOf<Optimizer> {
 public:
  using LoopsOf::LoopsOf;

  void run(const SlotPointers& pointers) override {
    with_element(spec_.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    float unscale = 1;
    if (spec_.scaled) {
      const LossScale& scale = *static_cast<const LossScale*>(pointers[Slot::loss_scale]);
      if (scale.overflow != 0) {
        return;
      }
      unscale = 1 / scale.factor;
    }
    const Arrays<Element> arrays{
        .gradient = static_cast<const Stored*>(pointers[Slot::diff_weights]),
        .weights = static_cast<Stored*>(pointers[Slot::weights]),
        .master = static_cast<float*>(pointers[spec_.has_master() ? Slot::master : Slot::weights]),
        .state1 = static_cast<float*>(pointers[Slot::state1]),
        .state2 = static_cast<float*>(pointers[Slot::state2]),
        .unscale = unscale};
    switch (spec_.kind) {
      case Optimizer::Kind::sgd:
        return step(Sgd{.rate = spec_.rate}, arrays, spec_.count);
      case Optimizer::Kind::momentum:
        return step(Momentum{.rate = spec_.rate, .momentum = spec_.momentum}, arrays, spec_.count);
      case Optimizer::Kind::adam:
        return step(
            adam_at(spec_, *static_cast<std::int64_t*>(pointers[Slot::steps]) += spec_.counts ? 1 : 0),
            arrays, spec_.count);
    }
  }
};

const Registration<Implementation<Optimizer>> BENCH_REGISTERED{cpu_implementation<Optimizer, CpuOptimizer>(
    "openmp", 10,
    [](const Optimizer& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
