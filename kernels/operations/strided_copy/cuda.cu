// Strided copies as kernels over their nests.
#include "kernels/backends/cuda/copy_nest.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/nest.cuh"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels::cuda {

// Sums in place: each element of a nest is another.
template <class Element>
struct AddNest {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "add strided copy";
  using Stored = typename Element::Stored;

  NestLoops loops;
  Stored* to;
  const Stored* from;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[2]; loops.place(thread, at)) {
      float sum[1];
      float added[1];
      load_values<Element>(to + at[0], sum);
      load_values<Element>(from + at[1], added);
      sum[0] += added[0];
      store_values<Element>(to + at[0], sum);
    }
  }
};

template <class Element>
struct FillNest {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "fill";
  using Stored = typename Element::Stored;

  NestLoops loops;
  Stored* to;
  float value;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[1]; loops.place(thread, at)) {
      const float values[1] = {value};
      store_values<Element>(to + at[0], values);
    }
  }
};

template <class Machine>
class StridedCopyOperation final : public KernelOperation<Machine, StridedCopy> {
 public:
  static Dtype dtype_of(const StridedCopy& spec) { return spec.dst.dtype; }

  StridedCopyOperation(const StridedCopy& spec, Device& device)
      : KernelOperation<Machine, StridedCopy>(spec, device), all_(steps_of(spec)) {}

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dst.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    auto* const to = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_src);
    fill<Element>(all_.value, spec_.forward() ? spec_.value : 0.0F, to);
    fill<Element>(all_.padding, 0, to);
    for (const CopySteps::Step& step : all_.steps) {
      const auto* const from =
          stored<Element>(pointers, spec_.forward() ? kSources[step.part] : Slot::diff_dst);
      if (step.add) {
        launch_nest<Machine>(this->queue(), step.nest, [&](const NestLoops& loops) {
          return AddNest<Element>{loops, to, from};
        });
      } else {
        copy_nest<Machine>(this->queue(), step.nest, bytes_of(spec_.dst.dtype),
                           reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from));
      }
    }
  }

  template <class Element>
  void fill(const std::vector<Nest>& nests, float value, typename Element::Stored* to) const {
    for (const Nest& nest : nests) {
      launch_nest<Machine>(this->queue(), nest, [&](const NestLoops& loops) {
        return FillNest<Element>{loops, to, value};
      });
    }
  }

  using KernelOperation<Machine, StridedCopy>::spec_;
  CopySteps all_;
};

template struct OnGpu<StridedCopyOperation>;

}  // namespace bench::kernels::cuda
