// Loss scaling by our own kernels.
#pragma once

#include <cfloat>
#include <cmath>

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels::cuda {

// Looks for gradients that are not finite, and adapts the factor of the loss.

// Threads that find one all write the same.
template <class Element>
struct FindOverflowKernel {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "find overflow";
  using Stored = typename Element::Stored;
  static constexpr int kWidth = kLanes<Element>;

  const Stored* gradient;
  std::int64_t count;
  std::int64_t vectors;  // whole accesses, from the start
  LossScale* scale;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t first = std::int64_t{thread.block()} * kThreads + thread.index();
    const std::int64_t step = std::int64_t{thread.blocks()} * kThreads;
    bool finite = true;
    for (std::int64_t at = first; at < vectors; at += step) {
      finite = finite && all_finite<kWidth>(at * kWidth);
    }
    for (std::int64_t at = vectors * kWidth + first; at < count; at += step) {
      finite = finite && all_finite<1>(at);
    }
    if (!finite) {
      scale->overflow = 1;
    }
  }

 private:
  template <int kCount>
  BENCH_DEVICE bool all_finite(std::int64_t at) const {
    float g[kCount];
    load_values<Element>(gradient + at, g);
    bool finite = true;
    for (int i = 0; i < kCount; ++i) {
      finite = finite && fabsf(g[i]) <= FLT_MAX;
    }
    return finite;
  }
};

struct UpdateLossScaleKernel {
  static constexpr int kThreads = 32;
  static constexpr const char* kName = "update loss scale";

  LossScale* scale;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() != 0) {
      return;
    }
    const bool overflow = scale->overflow != 0;
    const std::int32_t good_steps = overflow ? 0 : scale->good_steps + 1;
    const bool grows = good_steps == LossScale::kGrowthInterval;
    scale->factor *= overflow ? 0.5F : grows ? 2.0F : 1.0F;
    scale->overflow = 0;
    scale->good_steps = grows ? 0 : good_steps;
  }
};

template <class Machine>
class FindOverflowOperation final : public KernelOperation<Machine> {
 public:
  using Spec = FindOverflow;
  static Dtype dtype_of(const FindOverflow& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const FindOverflow& /*spec*/) { return std::nullopt; }

  FindOverflowOperation(const FindOverflow& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_values(Slot::diff_weights, Role::input, spec.count, spec.dtype);
    this->add_opaque(Slot::loss_scale, Role::state, sizeof(LossScale));
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.dtype, [&]<class Element>() {
      using Kernel = FindOverflowKernel<Element>;
      const auto* const gradient = this->template stored<Element>(pointers, Slot::diff_weights);
      const Kernel kernel{.gradient = gradient,
                          .count = spec_.count,
                          .vectors = whole_accesses<Element>(spec_.count, gradient),
                          .scale = static_cast<LossScale*>(pointers[Slot::loss_scale])};
      this->queue().launch(kernel, blocks_for(blocks_for(spec_.count, kLanes<Element>), Kernel::kThreads));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  FindOverflow spec_;
};

template <class Machine>
class UpdateLossScaleOperation final : public KernelOperation<Machine> {
 public:
  using Spec = UpdateLossScale;
  static Dtype dtype_of(const UpdateLossScale& /*spec*/) { return Dtype::fp32; }
  static std::optional<std::string> unsupported(const UpdateLossScale& /*spec*/) { return std::nullopt; }

  UpdateLossScaleOperation(const UpdateLossScale& /*spec*/, Device& device)
      : KernelOperation<Machine>(device) {
    this->add_opaque(Slot::loss_scale, Role::state, sizeof(LossScale));
  }

  void run(const SlotPointers& pointers) override {
    this->queue().launch(UpdateLossScaleKernel{static_cast<LossScale*>(pointers[Slot::loss_scale])}, 1);
  }

  double flops() const override { return UpdateLossScale::flops(); }
};

}  // namespace bench::kernels::cuda
