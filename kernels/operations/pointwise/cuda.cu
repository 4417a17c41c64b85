// Pointwise functions as kernels over nests: a thread for each access of 16 bytes, else for each element, and
// for a gradient threads for each of its sums. Only of the first is the function known to the compiler.
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
    if (std::int64_t at[Nest::kMostArrays]; loops.place(thread, at)) {
      const float a = arrays.value(1, at);
      const float b = arrays.value(2, at);
      const float c = function == PointwiseFunction::where ? arrays.value(3, at) : 0.0F;
      const float result[1] = {with_function(
          function, [&]<PointwiseFunction kFunction>() { return value_of<kFunction>(a, b, c); })};
      store_values<Element>(arrays.written + at[0], result);
    }
  }
};

// The same by 16 bytes; an input that stays where it is in the innermost loop gives one element to all.
template <class Element, PointwiseFunction kFunction>
struct PointwiseAccesses {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr int kCount = kLanes<Element>;
  static constexpr int kInputs = kFunction == PointwiseFunction::where ? 3 : 2;
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
        const Stored* const from = arrays.read[input + 1] + at[input + 1];
        if (loops.steps[0][input + 1] == 0) {
          float one[1];
          load_values<Element>(from, one);
          for (float& value : x[input]) {
            value = one[0];
          }
        } else {
          load_values<Element>(from, x[input]);
        }
      }
      float result[kCount];
      BENCH_UNROLL
      for (int i = 0; i < kCount; ++i) {
        result[i] = value_of<kFunction>(x[0][i], x[1][i], x[2][i]);
      }
      store_values<Element>(arrays.written + at[0], result);
    }
  }
};

// diff · slope at an element; arrays 1 is diff, after it are the inputs that the slope depends on.
template <class Element>
struct PointwiseGradient {
  static constexpr bool kOfOne = false;
  static constexpr int kAhead = 1;  // many functions: unrolled, they would not fit the cache of instructions

  NestPointers<Element> arrays;
  PointwiseFunction function;
  int index;
  bool reads_first;
  int b;  // the second input's array: 2 or 3; 0: not read

  BENCH_DEVICE float operator()(const std::int64_t (&at)[Nest::kMostArrays]) const {
    const float x = reads_first ? arrays.value(2, at) : 0.0F;
    const float y = b == 0 ? 0.0F : b == 2 ? arrays.value(2, at) : arrays.value(3, at);
    const float slope = with_function(function, [&]<PointwiseFunction kFunction>() {
      return index == 0   ? slope_of<kFunction, 0>(x, y, 0.0F)
             : index == 1 ? slope_of<kFunction, 1>(x, y, 0.0F)
                          : slope_of<kFunction, 2>(x, y, 0.0F);
    });
    return arrays.value(1, at) * slope;
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
      const bool reads_first = spec_.reads(0);
      const int b = spec_.reads(1) ? (reads_first ? 3 : 2) : 0;
      for (const Nest& nest : nests_) {
        if (spec_.forward()) {
          forward<Element>(nest, arrays);
        } else {
          launch_reduction<Element, NestJoin::sum>(
              this->queue(), nest, arrays.written, 1.0F, false,
              PointwiseGradient<Element>{arrays, spec_.function, static_cast<int>(spec_.index), reads_first,
                                         b});
        }
      }
    });
  }

 private:
  template <class Element>
  void forward(const Nest& nest, const NestPointers<Element>& arrays) const {
    const std::size_t inputs = spec_.inputs.size();
    std::optional<Nest> wide = in_accesses(nest, inputs + 1, kLanes<Element>);
    for (std::size_t input = 0; wide && input < inputs; ++input) {
      if (wide->loops.back().steps[input + 1] != 0 && !aligned(kAccess, 0, arrays.read[input + 1])) {
        wide.reset();
      }
    }
    if (!wide || !aligned(kAccess, 0, arrays.written)) {
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

  using KernelOperation<Machine, Pointwise>::spec_;
  std::vector<Nest> nests_;
};

template struct OnGpu<PointwiseOperation>;

}  // namespace bench::kernels::cuda
