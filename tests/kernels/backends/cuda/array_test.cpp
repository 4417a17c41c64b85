// Pointwise functions and reductions on fibers: every function, repeated inputs, rows that a thread, a warp
// or a block joins.
#include <vector>

#include <fmt/format.h>

#include "kernels/operations/parameter/cuda.cu"
#include "kernels/operations/pointwise/cuda.cu"
#include "kernels/operations/reduce/cuda.cu"
#include "on_fibers.h"
#include "tests/kernels/operations/array_cases.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;

// Numbers of 0.25 and more: of a negative one a power is none, and a product of many small ones is 0.
testing::RunOptions positive(const Operation& operation) {
  testing::RunOptions options;
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role == Role::input) {
      std::vector<float> values(static_cast<std::size_t>(slot.tensor.elements()));
      fill_random(values, 1, static_cast<std::uint64_t>(slot.slot));
      for (float& value : values) {
        value = std::fabs(value) + 0.25F;
      }
      options.opaque[slot.slot].resize(static_cast<std::size_t>(slot.bytes));
      store(slot.tensor, values, options.opaque[slot.slot].data());
    }
  }
  return options;
}

template <template <class> class Op, class Spec>
void expect_all(const Spec& spec, Dtype dtype) {
  const auto reference = make_operation(spec, testing::cpu(), "reference");
  expect_like_reference<Op>(spec, dtype, positive(*reference), 2 * testing::tolerance_of(dtype));
}

TEST(CudaPointwise, BothPassesAreLikeTheReference) {
  for (int i = 0; i <= static_cast<int>(PointwiseFunction::where); ++i) {
    const auto function = static_cast<PointwiseFunction>(i);
    // Every shape with one function, every function with every dtype.
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
      auto cases = testing::pointwise_cases(function, dtype, false);
      if (function != PointwiseFunction::multiply) {
        cases.resize(10);
      }
      for (const auto& [name, spec] : cases) {
        SCOPED_TRACE(fmt::format("{} {}", name_of(dtype), name));
        expect_all<cuda::PointwiseOperation>(spec, dtype);
        for (std::size_t index = 0; index < spec.inputs.size(); ++index) {
          Pointwise gradient = backward_of(spec);
          gradient.index = index;
          if (!gradient.invalid()) {
            expect_all<cuda::PointwiseOperation>(gradient, dtype);
          }
        }
      }
    }
  }
}

// More than a thread has one access of, by 16 bytes and by an element.
TEST(CudaPointwise, LongGradientsAreLikeTheReference) {
  for (const std::int64_t columns : {16000, 16001}) {
    for (const auto function :
         {PointwiseFunction::divide, PointwiseFunction::power, PointwiseFunction::prelu}) {
      const Array array{.dims = {5, columns}, .dtype = Dtype::fp16};
      const Array gate{.dims = {5, 1}, .dtype = Dtype::fp16};
      Pointwise spec{.function = function, .inputs = {array, gate}, .dst = array};
      SCOPED_TRACE(fmt::format("{} of {} columns", name_of(function), columns));
      expect_all<cuda::PointwiseOperation>(backward_of(spec), Dtype::fp16);
    }
  }
}

// The blocks of each launch of a device that holds 1000 threads.
struct CountedLaunches {
  std::vector<std::int64_t>& blocks;

  static std::int64_t threads() { return 1000; }
  void launch(const cuda::NestLoops& /*kernel*/, std::int64_t count) const { blocks.push_back(count); }
};

TEST(CudaNest, ThreadsHaveSeveralElementsWhereThatLeavesNoneIdle) {
  const auto blocks_of = [](std::int64_t elements, int each) {
    const LoopNest nest{.loops = {{.extent = elements, .steps = {1}}}, .first = {}};
    std::vector<std::int64_t> blocks;
    cuda::launch_nest<testing::Fibers>(
        CountedLaunches{blocks}, nest, [](const cuda::NestLoops& loops) { return loops; }, each);
    return blocks;
  };
  using Blocks = std::vector<std::int64_t>;
  EXPECT_EQ(blocks_of(3999, 4), Blocks{16});
  EXPECT_EQ(blocks_of(4000, 4), Blocks{4});
  EXPECT_EQ(blocks_of(4000, 1), Blocks{16});
  EXPECT_EQ(blocks_of(257, 4), Blocks{2});
}

TEST(CudaReduce, BothPassesAreLikeTheReference) {
  for (int i = 0; i <= static_cast<int>(ReduceFunction::l2); ++i) {
    const auto function = static_cast<ReduceFunction>(i);
    for (const auto& [name, spec] : testing::reduce_cases(function, Dtype::fp32, false)) {
      if (function == ReduceFunction::product && spec.each() > 50) {
        continue;
      }
      SCOPED_TRACE(name);
      expect_all<cuda::ReduceOperation>(spec, Dtype::fp32);
      if (!backward_of(spec).invalid()) {
        expect_all<cuda::ReduceOperation>(backward_of(spec), Dtype::fp32);
      }
    }
  }
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
    const Reduce spec{.function = ReduceFunction::mean,
                      .src = {.dims = {3, 5, 70}, .dtype = dtype},
                      .dst = {.dims = {3, 1, 70}, .dtype = dtype}};
    expect_all<cuda::ReduceOperation>(spec, dtype);
    expect_all<cuda::ReduceOperation>(backward_of(spec), dtype);
  }
}

// Neighbouring results are joined by neighbouring threads where there are many, and by several each if not
// more.
TEST(CudaReduce, ManyColumnsAreLikeTheReference) {
  const auto expect_columns = [](ReduceFunction function, std::int64_t rows, std::int64_t columns) {
    SCOPED_TRACE(fmt::format("{} of {}x{}", name_of(function), rows, columns));
    const Reduce spec{.function = function, .src = {.dims = {rows, columns}}, .dst = {.dims = {1, columns}}};
    expect_all<cuda::ReduceOperation>(spec, Dtype::fp32);
  };
  for (const auto function : {ReduceFunction::sum, ReduceFunction::maximum, ReduceFunction::l2}) {
    for (const std::int64_t rows : {3, 30, 83}) {
      expect_columns(function, rows, 2048 + 5);
    }
  }
  expect_columns(ReduceFunction::sum, 18, (1 << 18) + 5);
}

// Rows that begin and end between accesses of 16 bytes, joined by a warp and by a block.
TEST(CudaReduce, OddRowsAreLikeTheReference) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    for (const auto function :
         {ReduceFunction::mean, ReduceFunction::maximum, ReduceFunction::sum_of_squares}) {
      for (const std::int64_t columns : {17, 701, 4999}) {
        SCOPED_TRACE(fmt::format("{} {} of {}", name_of(dtype), name_of(function), columns));
        const Reduce spec{.function = function,
                          .src = {.dims = {9, columns}, .dtype = dtype},
                          .dst = {.dims = {9, 1}, .dtype = dtype}};
        expect_all<cuda::ReduceOperation>(spec, dtype);
      }
    }
  }
}

TEST(CudaParameter, IsACopy) {
  for (const Dtype dtype : kAllDtypes) {
    const Parameter spec{.count = 1003, .dtype = dtype};
    expect_like_reference<cuda::ParameterOperation>(spec, dtype, {}, 1e-30);
    expect_like_reference<cuda::ParameterOperation>(backward_of(spec), dtype, {}, 1e-30);
  }
}

}  // namespace
}  // namespace bench::kernels
