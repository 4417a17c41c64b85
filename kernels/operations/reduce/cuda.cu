// Reductions and their gradients as kernels over nests.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/reduce_nest.cuh"
#include "kernels/operations/reduce/reduce.h"
#include "kernels/operations/reduce/slopes.cuh"

namespace bench::kernels::cuda {

// An element of array 1, or its square.
template <class Element>
struct ReducedValue {
  static constexpr bool kOfOne = true;

  NestPointers<Element> arrays;
  bool square;

  template <bool kSquare>
  struct Known {
    static constexpr int kAhead = 8;

    BENCH_DEVICE float operator()(const NestPlaces<Element>& at) const {
      const float x = at.value(1);
      return kSquare ? x * x : x;
    }
  };

  template <class Visit>
  BENCH_DEVICE void known(const Visit& visit) const {
    square ? visit(Known<true>{}) : visit(Known<false>{});
  }
  BENCH_DEVICE float of(float x) const { return square ? x * x : x; }
};

// Arrays: diff_src, diff_dst, and of functions whose slope depends on values src, dst. By 16 bytes or else by
// an element.
template <class Element, bool kOfValues, int kCount>
struct ReduceGradient {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "reduce gradient";
  static constexpr int kArrays = kOfValues ? 4 : 2;

  NestLoops loops;  // of in_accesses(), where kCount is not 1
  NestPointers<Element> arrays;
  ReduceFunction function;
  float scale;  // of a sum or a mean

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    using F = ReduceFunction;
    if constexpr (!kOfValues) {
      map_accesses<kArrays, kCount>(thread, loops, arrays, [&](const auto& x) { return x[1] * scale; });
    } else {
      const auto known = [&]<F kFunction>() {
        map_accesses<kArrays, kCount>(thread, loops, arrays,
                                      [](const auto& x) { return x[1] * slope_of<kFunction>(x[2], x[3]); });
      };
      function == F::product          ? known.template operator()<F::product>()
      : function == F::sum_of_squares ? known.template operator()<F::sum_of_squares>()
                                      : known.template operator()<F::l2>();
    }
  }
};

template <class Machine>
class ReduceOperation final : public KernelOperation<Machine, Reduce> {
 public:
  static Dtype dtype_of(const Reduce& spec) { return spec.dst.dtype; }
  static std::optional<std::string> unsupported(const Reduce& spec) {
    return unsupported_nests(spec.nests(), spec.written(), !spec.forward(), Machine::kMostCounted);
  }

  ReduceOperation(const Reduce& spec, Device& device)
      : KernelOperation<Machine, Reduce>(spec, device), nests_(spec.nests()) {}

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dst.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using F = ReduceFunction;
    const F function = spec_.function;
    const float mean = function == F::mean ? 1.0F / static_cast<float>(spec_.each()) : 1.0F;
    for (const LoopNest& nest : nests_) {
      if (!spec_.forward()) {
        const NestPointers<Element> arrays{
            stored<Element>(pointers, Slot::diff_src),
            {nullptr, stored<Element>(pointers, Slot::diff_dst), stored<Element>(pointers, Slot::src),
             stored<Element>(pointers, Slot::dst)}};
        function == F::sum || function == F::mean ? backward<Element, false>(nest, arrays, mean)
                                                  : backward<Element, true>(nest, arrays, mean);
        continue;
      }
      const NestPointers<Element> arrays{stored<Element>(pointers, Slot::dst),
                                         {nullptr, stored<Element>(pointers, Slot::src)}};
      const bool square = function == F::sum_of_squares || function == F::l2;
      const auto launch = [&]<NestJoin kJoin>() {
        launch_reduction<Element, kJoin>(this->queue(), nest, arrays.written, mean, function == F::l2,
                                         ReducedValue<Element>{arrays, square});
      };
      switch (function) {
        case F::product:
          launch.template operator()<NestJoin::product>();
          break;
        case F::maximum:
          launch.template operator()<NestJoin::largest>();
          break;
        case F::minimum:
          launch.template operator()<NestJoin::smallest>();
          break;
        default:
          launch.template operator()<NestJoin::sum>();
      }
    }
  }

  template <class Element, bool kOfValues>
  void backward(const LoopNest& nest, const NestPointers<Element>& arrays, float mean) const {
    const auto launch = [&]<int kCount>(const LoopNest& accesses) {
      using Kernel = ReduceGradient<Element, kOfValues, kCount>;
      launch_nest<Machine>(
          this->queue(), accesses,
          [&](const NestLoops& loops) {
            return Kernel{loops, arrays, spec_.function, mean};
          },
          kNestAccesses);
    };
    const std::optional<LoopNest> wide =
        by_accesses(nest, arrays, ReduceGradient<Element, kOfValues, 1>::kArrays);
    wide ? launch.template operator()<kLanes<Element>>(*wide) : launch.template operator()<1>(nest);
  }

  using KernelOperation<Machine, Reduce>::spec_;
  std::vector<LoopNest> nests_;
};

template struct OnGpu<ReduceOperation>;

}  // namespace bench::kernels::cuda
