// Pointwise functions as kernels over nests: by 16 bytes where the arrays allow it, else a thread for each
// element, and threads for each sum of a gradient. A function by 16 bytes is a kernel of its own. The kernels
// of gradients choose the function once, around loops of each.
#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/nest.cuh"
#include "kernels/backends/cuda/reduce_nest.cuh"
#include "kernels/operations/pointwise/functions.cuh"
#include "kernels/operations/pointwise/pointwise.h"

namespace bench::kernels::cuda {

template <class Element>
struct PointwiseKernel {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "pointwise";
  using Stored = typename Element::Stored;

  NestLoops loops;
  NestPointers<Element> arrays;  // dst, then the inputs
  PointwiseFunction function;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[LoopNest::kMostArrays]; loops.place(thread, at)) {
      const float a = arrays.value(1, at);
      const float b = arrays.value(2, at);
      const float c = function == PointwiseFunction::where ? arrays.value(3, at) : 0.0F;
      const float result[1] = {with_function(
          function, [&]<PointwiseFunction kFunction>() { return value_of<kFunction>(a, b, c); })};
      store_values<Element>(arrays.written + at[0], result);
    }
  }
};

// The same by 16 bytes.
template <class Element, PointwiseFunction kFunction>
struct PointwiseAccesses {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr int kCount = kLanes<Element>;
  static constexpr int kInputs = kFunction == PointwiseFunction::where ? 3 : 2;
  // In 16 bits a quotient is rounded to far fewer digits than an inverse has; an exact one branches.
  static constexpr bool kByInverse =
      kFunction == PointwiseFunction::divide && sizeof(typename Element::Stored) < sizeof(float);
  static constexpr const char* kName = "pointwise";
  using Stored = typename Element::Stored;

  NestLoops loops;  // of in_accesses()
  NestPointers<Element> arrays;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[kInputs + 1]; loops.place(thread, at)) {
      float x[3][kCount] = {};
      BENCH_UNROLL
      for (int input = 0; input < kInputs; ++input) {
        load_access(loops, arrays, input + 1, at[input + 1], x[input]);
      }
      float result[kCount];
      BENCH_UNROLL
      for (int i = 0; i < kCount; ++i) {
        if constexpr (kByInverse) {
          result[i] = x[0][i] * inverse(x[1][i]);
        } else {
          result[i] = value_of<kFunction>(x[0][i], x[1][i], x[2][i]);
        }
      }
      store_values<Element>(arrays.written + at[0], result);
    }
  }
};

// diff · slope at a place: arrays 1 is diff, after it are the inputs that the slope depends on.
template <class Element, PointwiseFunction kFunction, int kIndex>
struct PointwiseSlope {
  // Values read before the first is used. A power takes long, and more registers.
  static constexpr int kAhead = kFunction == PointwiseFunction::power ? 1 : 8;
  static constexpr int kFirst = slope_reads(kFunction, kIndex, 0) ? 2 : 0;  // 0: not read
  static constexpr int kSecond = slope_reads(kFunction, kIndex, 1) ? (kFirst != 0 ? 3 : 2) : 0;
  static constexpr int kArrays = 2 + (kFirst != 0 ? 1 : 0) + (kSecond != 0 ? 1 : 0);

  static BENCH_DEVICE float of(float diff, float x, float y) {
    return diff * slope_of<kFunction, kIndex>(x, y, 0.0F);
  }
  BENCH_DEVICE float operator()(const NestPlaces<Element>& at) const {
    return of(at.value(1), kFirst != 0 ? at.value(kFirst) : 0.0F, kSecond != 0 ? at.value(kSecond) : 0.0F);
  }
};

template <PointwiseFunction kFunction>
inline constexpr bool kHasGradient = has_gradient(kFunction);

// Calls visit with the function and the number of the input as template arguments. Those of a sum are the
// same, and so are those of a product, of which each slope is the other input.
template <bool kPowers, bool kOthers, class Visit>
BENCH_DEVICE void with_slope(PointwiseFunction function, int index, const Visit& visit) {
  with_function(function, [&]<PointwiseFunction kFunction>() {
    using F = PointwiseFunction;
    if constexpr (kHasGradient<kFunction> && (kFunction == F::power ? kPowers : kOthers)) {
      if (index == 0 || kFunction == F::add || kFunction == F::multiply) {
        visit.template operator()<kFunction, 0>();
      } else if constexpr (kFunction != F::add && kFunction != F::multiply) {
        if (kFunction != F::where || index == 1) {
          visit.template operator()<kFunction, 1>();
        } else if constexpr (kFunction == F::where) {
          visit.template operator()<kFunction, 2>();
        }
      }
    }
  });
}

// A gradient that is a sum of several elements.
template <class Element>
struct PointwiseGradient {
  static constexpr bool kOfOne = false;

  NestPointers<Element> arrays;
  PointwiseFunction function;
  int index;

  template <class Visit>
  BENCH_DEVICE void known(const Visit& visit) const {
    with_slope<true, true>(function, index, [&]<PointwiseFunction kFunction, int kIndex>() {
      visit(PointwiseSlope<Element, kFunction, kIndex>{});
    });
  }
};

// A gradient without sums, by 16 bytes or else by an element. Powers have a kernel of their own: they need
// more registers.
template <class Element, bool kPowers, int kCount>
struct PointwiseSlopes {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "pointwise gradient";

  NestLoops loops;  // of in_accesses(), where kCount is not 1
  NestPointers<Element> arrays;
  PointwiseFunction function;
  int index;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    with_slope<kPowers, !kPowers>(function, index, [&]<PointwiseFunction kFunction, int kIndex>() {
      using Slope = PointwiseSlope<Element, kFunction, kIndex>;
      map_accesses<Slope::kArrays, kCount>(thread, loops, arrays, [](const auto& x) {
        return Slope::of(x[1], x[Slope::kFirst], x[Slope::kSecond]);
      });
    });
  }
};

template <class Machine>
class PointwiseOperation final : public KernelOperation<Machine, Pointwise> {
 public:
  static Dtype dtype_of(const Pointwise& spec) { return spec.dst.dtype; }
  static std::optional<std::string> unsupported(const Pointwise& spec) {
    return unsupported_nests(spec.nests(), spec.written(), spec.forward(), Machine::kMostCounted);
  }

  PointwiseOperation(const Pointwise& spec, Device& device)
      : KernelOperation<Machine, Pointwise>(spec, device), nests_(spec.nests()) {}

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dst.dtype, [&]<class Element>() {
      const std::vector<Slot> operands = spec_.operands();
      NestPointers<Element> arrays{stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_src)};
      for (std::size_t i = 0; i < operands.size(); ++i) {
        arrays.read[i + 1] = stored<Element>(pointers, operands[i]);
      }
      for (const LoopNest& nest : nests_) {
        spec_.forward() ? forward<Element>(nest, arrays) : backward<Element>(nest, arrays);
      }
    });
  }

 private:
  template <class Element>
  void forward(const LoopNest& nest, const NestPointers<Element>& arrays) const {
    const std::optional<LoopNest> wide = by_accesses(nest, arrays, spec_.operands().size() + 1);
    if (!wide) {
      return launch_nest<Machine>(this->queue(), nest, [&](const NestLoops& loops) {
        return PointwiseKernel<Element>{loops, arrays, spec_.function};
      });
    }
    with_function(spec_.function, [&]<PointwiseFunction kFunction>() {
      launch_nest<Machine>(this->queue(), *wide, [&](const NestLoops& loops) {
        return PointwiseAccesses<Element, kFunction>{loops, arrays};
      });
    });
  }

  template <class Element>
  void backward(const LoopNest& nest, const NestPointers<Element>& arrays) const {
    const auto index = static_cast<int>(spec_.index);
    const bool sums =
        std::ranges::any_of(nest.loops, [](const LoopNest::Loop& loop) { return loop.steps[0] == 0; });
    if (sums) {
      return launch_reduction<Element, NestJoin::sum>(
          this->queue(), nest, arrays.written, 1.0F, false,
          PointwiseGradient<Element>{arrays, spec_.function, index});
    }
    const auto launch = [&]<bool kPowers, int kCount>(const LoopNest& accesses) {
      using Kernel = PointwiseSlopes<Element, kPowers, kCount>;
      launch_nest<Machine>(
          this->queue(), accesses,
          [&](const NestLoops& loops) {
            return Kernel{loops, arrays, spec_.function, index};
          },
          kNestAccesses);
    };
    const std::optional<LoopNest> wide = by_accesses(nest, arrays, spec_.operands().size() + 1);
    const auto launch_by = [&]<int kCount>(const LoopNest& accesses) {
      spec_.function == PointwiseFunction::power ? launch.template operator()<true, kCount>(accesses)
                                                 : launch.template operator()<false, kCount>(accesses);
    };
    wide ? launch_by.template operator()<kLanes<Element>>(*wide) : launch_by.template operator()<1>(nest);
  }

  using KernelOperation<Machine, Pointwise>::spec_;
  std::vector<LoopNest> nests_;
};

template struct OnGpu<PointwiseOperation>;

}  // namespace bench::kernels::cuda
