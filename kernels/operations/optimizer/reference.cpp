// An optimizer's step as its formulas are written in optimizer.h, in double, rounded where it is stored.
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/operations/optimizer/optimizer.h"

namespace bench::kernels {

PlainSlots plain_slots(const Optimizer& spec) {
  PlainSlots slots;
  slots.add_values(Slot::diff_weights, Role::input, spec.count, spec.dtype);
  slots.add_values(Slot::weights, Role::state, spec.count, spec.dtype);
  if (spec.has_master()) {
    slots.add_values(Slot::master, Role::state, spec.count);
  }
  if (spec.states() > 0) {
    slots.add_values(Slot::state1, Role::state, spec.count);
  }
  if (spec.states() > 1) {
    slots.add_values(Slot::state2, Role::state, spec.count);
    slots.add_opaque(Slot::steps, Role::state, sizeof(std::int64_t));
  }
  if (spec.scaled) {
    slots.add_opaque(Slot::loss_scale, Role::input, sizeof(LossScale));
  }
  return slots;
}

namespace {

class ReferenceOptimizer final : public ReferenceOf<Optimizer> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::vector<float> gradient = read_values(pointers, Slot::diff_weights);
    if (spec_.scaled) {
      const LossScale& scale = *static_cast<const LossScale*>(pointers[Slot::loss_scale]);
      if (scale.overflow != 0) {
        return;
      }
      for (float& g : gradient) {
        g /= scale.factor;
      }
    }
    const std::span<float> weights = values(pointers, spec_.has_master() ? Slot::master : Slot::weights);
    switch (spec_.kind) {
      case Optimizer::Kind::sgd:
        sgd(gradient, weights);
        break;
      case Optimizer::Kind::momentum:
        momentum(gradient, weights, values(pointers, Slot::state1));
        break;
      case Optimizer::Kind::adam:
        adam(gradient, weights, values(pointers, Slot::state1), values(pointers, Slot::state2),
             *static_cast<std::int64_t*>(pointers[Slot::steps]) += spec_.counts ? 1 : 0);
        break;
    }
    if (spec_.has_master()) {
      write_values(pointers, Slot::weights, weights);
    }
  }

 private:
  void sgd(std::span<const float> gradient, std::span<float> weights) const {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double g = gradient[i];
      weights[i] = static_cast<float>(weights[i] - spec_.rate * g);
    }
  }

  void momentum(std::span<const float> gradient, std::span<float> weights, std::span<float> state) const {
    const double kept = spec_.momentum;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double velocity = kept * state[i] + gradient[i];
      state[i] = static_cast<float>(velocity);
      weights[i] = static_cast<float>(weights[i] - spec_.rate * velocity);
    }
  }

  void adam(std::span<const float> gradient, std::span<float> weights, std::span<float> state1,
            std::span<float> state2, std::int64_t t) const {
    const double beta1 = spec_.beta1;
    const double beta2 = spec_.beta2;
    const double correction1 = 1 - std::pow(beta1, t);
    const double correction2 = 1 - std::pow(beta2, t);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double g = gradient[i];
      const double first = beta1 * state1[i] + (1 - beta1) * g;
      const double second = beta2 * state2[i] + (1 - beta2) * g * g;
      state1[i] = static_cast<float>(first);
      state2[i] = static_cast<float>(second);
      weights[i] = static_cast<float>(weights[i] - spec_.rate * (first / correction1) /
                                                       (std::sqrt(second / correction2) + spec_.epsilon));
    }
  }
};

const Registration<Implementation<Optimizer>> BENCH_REGISTERED{
    cpu_implementation<Optimizer, ReferenceOptimizer>(
        "reference", -1, [](const Optimizer& spec, const Device& /*device*/) -> std::optional<std::string> {
          return spec.dtype == Dtype::tf32 ? std::optional<std::string>("parameters are not stored in tf32")
                                           : std::nullopt;
        })};

}  // namespace
}  // namespace bench::kernels
