// Launches of next to nothing, and the wait for them.
#include "kernels/backends/cuda/gpu.cuh"
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
class RoundTripOperation final : public KernelOperation<Machine, RoundTrip> {
 public:
  static Dtype dtype_of(const RoundTrip& /*spec*/) { return Dtype::fp32; }

  RoundTripOperation(const RoundTrip& spec, Device& device)
      : KernelOperation<Machine, RoundTrip>(spec, device), device_(device) {}

  void run(const SlotPointers& pointers) override {
    for (std::int64_t i = 0; i < spec_.launches; ++i) {
      this->launch(StoreOne{floats(pointers, Slot::dst) + i}, 1);
    }
    device_.synchronize();
  }

 private:
  using KernelOperation<Machine, RoundTrip>::spec_;
  Device& device_;
};

template struct OnGpu<RoundTripOperation>;

}  // namespace bench::kernels::cuda
