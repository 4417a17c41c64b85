// Looking up rows of a table, and the table's gradient, by our own kernels.
#pragma once

#include "kernels/cuda/copy_launch.h"
#include "kernels/embedding/embedding.cuh"
#include "kernels/embedding/embedding.h"

namespace bench::kernels::cuda {

template <class Machine>
class EmbeddingOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Embedding;
  static Dtype dtype_of(const Embedding& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Embedding& spec) { return not_nhwc(spec.dst()); }

  EmbeddingOperation(const Embedding& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_opaque(Slot::src, Role::input, spec.token_bytes());
    if (spec.direction == Embedding::Direction::forward) {
      this->add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
      this->mark_looked_up(Slot::weights, spec.dst().bytes());
      this->add_activation(Slot::dst, Role::output, spec.dst());
    } else {
      this->add_activation(Slot::diff_dst, Role::input, spec.dst());
      this->add_values(Slot::diff_weights, spec.add ? Role::state : Role::output, spec.weight_count(),
                       spec.dtype);
    }
  }

  void run(const SlotPointers& pointers) override {
    const auto* const tokens = static_cast<const std::int32_t*>(pointers[Slot::src]);
    const auto vocabulary = static_cast<std::int32_t>(spec_.vocabulary);
    if (spec_.direction == Embedding::Direction::forward) {
      const auto* const table = static_cast<const std::byte*>(pointers[Slot::weights]);
      auto* const dst = static_cast<std::byte*>(pointers[Slot::dst]);
      const std::int64_t bytes = spec_.width * bytes_of(spec_.dtype);
      with_bytes(
          bytes,
          [&]<int kBytes>() {
            const Units units(spec_.rows, 1, 1, bytes / kBytes);
            this->queue().launch(
                LookUp<typename Machine::Memory, kBytes>{units, tokens, vocabulary, table, dst},
                units.blocks());
          },
          table, dst);
      return;
    }
    if (!spec_.add) {
      zero(pointers[Slot::diff_weights]);
    }
    this->with_element(spec_.dtype, [&]<class Element>() {
      const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
      auto* const table = this->template stored<Element>(pointers, Slot::diff_weights);
      with_access<Element>(
          spec_.width,
          [&]<int kCount>() {
            using Kernel = EmbeddingGradient<Element, kCount>;
            const std::int64_t tiles = blocks_for(spec_.width, kWarp * kCount);
            this->queue().launch(Kernel{tokens, spec_.rows, vocabulary, spec_.width,
                                        static_cast<std::int32_t>(tiles), diff_dst, table},
                                 Kernel::blocks(spec_.rows * tiles));
          },
          diff_dst, table);
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  void zero(void* table) const {
    using Kernel = ZeroBytes<typename Machine::Memory>;
    const std::int64_t bytes = spec_.weight_count() * bytes_of(spec_.dtype);
    auto* const first = static_cast<std::byte*>(table);
    const std::int64_t whole = aligned(kAccess, 0, first) ? bytes / kAccess : 0;
    this->queue().launch(Kernel{first, bytes, whole},
                         blocks_for(blocks_for(bytes, kAccess), Kernel::kThreads));
  }

  Embedding spec_;
};

}  // namespace bench::kernels::cuda
