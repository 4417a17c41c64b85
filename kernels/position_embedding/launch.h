// Position embeddings and their gradient by our own kernels.
#pragma once

#include "kernels/cuda/kernel_operation.h"
#include "kernels/position_embedding/position_embedding.cuh"
#include "kernels/position_embedding/position_embedding.h"

namespace bench::kernels::cuda {

template <class Machine>
class PositionEmbeddingOperation final : public KernelOperation<Machine> {
 public:
  using Spec = PositionEmbedding;
  using Direction = PositionEmbedding::Direction;
  static Dtype dtype_of(const PositionEmbedding& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const PositionEmbedding& spec) {
    return not_nhwc(spec.tensor());
  }

  PositionEmbeddingOperation(const PositionEmbedding& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    if (spec.direction == Direction::forward) {
      this->add_activation(Slot::src, Role::input, spec.tensor());
      this->add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
      this->mark_looked_up(Slot::weights, spec.tensor().bytes());
      this->add_activation(Slot::dst, Role::output, spec.tensor());
    } else {
      this->add_activation(Slot::diff_dst, Role::input, spec.tensor());
      this->add_values(Slot::diff_weights, Role::output, spec.weight_count(), spec.dtype);
    }
  }

  void run(const SlotPointers& pointers) override {
    const bool forward = spec_.direction == Direction::forward;
    this->with_element(spec_.dtype, [&]<class Element>() {
      const auto* const in = this->template stored<Element>(pointers, forward ? Slot::src : Slot::diff_dst);
      auto* const table =
          this->template stored<Element>(pointers, forward ? Slot::weights : Slot::diff_weights);
      auto* const dst = this->template stored<Element>(pointers, Slot::dst);
      const auto run = [&]<int kCount>() {
        if (forward) {
          const Units units(spec_.batch, spec_.sequence, 1, spec_.width / kCount);
          this->queue().launch(AddPositions<Element, kCount>{units, in, table, dst}, units.blocks());
        } else {
          const Units units(1, spec_.positions, 1, spec_.width / kCount);
          this->queue().launch(
              PositionGradient<Element, kCount>{units, spec_.batch, spec_.sequence, in, table},
              units.blocks());
        }
      };
      with_access<Element>(spec_.width, run, in, table, dst);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  PositionEmbedding spec_;
};

}  // namespace bench::kernels::cuda
