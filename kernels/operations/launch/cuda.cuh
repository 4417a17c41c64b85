// Launches of next to nothing, and the wait for them.
#pragma once

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/operations/launch/round_trip.h"

namespace bench::kernels::cuda {

// The smallest kernel that can be seen to have run.

struct StoreOne {
  static constexpr int kThreads = 32;
  static constexpr const char* kName = "launch";

  float* to;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (thread.index() == 0) {
      *to = 1.0F;
    }
  }
};

template <class Machine>
class RoundTripOperation final : public KernelOperation<Machine> {
 public:
  using Spec = RoundTrip;
  static Dtype dtype_of(const RoundTrip& /*spec*/) { return Dtype::fp32; }
  static std::optional<std::string> unsupported(const RoundTrip& /*spec*/) { return std::nullopt; }

  RoundTripOperation(const RoundTrip& spec, Device& device)
      : KernelOperation<Machine>(device), device_(device), spec_(spec) {
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    for (std::int64_t i = 0; i < spec_.launches; ++i) {
      this->queue().launch(StoreOne{this->floats(pointers, Slot::dst) + i}, 1);
    }
    device_.synchronize();
  }

  double flops() const override { return 0; }

 private:
  Device& device_;
  RoundTrip spec_;
};

}  // namespace bench::kernels::cuda
