// Pooling on fibers: overlapping, touching and separate windows, padding, windows as large as the map,
// channels that fill an access and odd ones.
#include <array>

#include <fmt/format.h>

#include "kernels/operations/pool/cuda.cu"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::RunOptions;

std::vector<Pool> pools(Dtype dtype) {
  std::vector<Pool> all;
  for (const std::int64_t channels : {1, 5, 8, 24}) {
    const TensorDesc src{.n = 2, .c = channels, .h = 9, .w = 11, .dtype = dtype};
    for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::average}) {
      const auto add = [&](std::array<std::int64_t, 2> kernel, std::array<std::int64_t, 2> stride,
                           std::array<std::int64_t, 2> pad, std::int64_t end = 0) {
        all.push_back({.src = src,
                       .kind = kind,
                       .kernel_h = kernel[0],
                       .kernel_w = kernel[1],
                       .stride_h = stride[0],
                       .stride_w = stride[1],
                       .pad_h = pad[0],
                       .pad_w = pad[1],
                       .pad_bottom = end,
                       .pad_right = end,
                       .training = true});
      };
      add({3, 3}, {2, 2}, {1, 1});
      add({2, 2}, {2, 2}, {0, 0});
      add({3, 3}, {1, 1}, {1, 1});
      add({2, 2}, {3, 3}, {0, 0});
      add({3, 2}, {2, 1}, {0, 1});
      add({2, 2}, {1, 1}, {0, 0}, 1);
      add({4, 4}, {2, 2}, {1, 1}, 2);
      add({src.h, src.w}, {1, 1}, {0, 0});
      add({1, 1}, {1, 1}, {0, 0});
      // Dilated windows; padding that differs between the sides or counts; a result that is rounded up.
      add({3, 3}, {2, 1}, {1, 1}, 1);
      all.back().dilation_h = 2;
      all.back().dilation_w = 3;
      add({3, 3}, {3, 3}, {2, 2}, -1);
      all.back().beyond_w = 1;
      all.back().count_padding = kind == Pool::Kind::average;
    }
  }
  return all;
}

std::string described(const Pool& spec) {
  return fmt::format("{} {} of {}x{}x{} window {}x{} stride {}x{} pad {}x{}", name_of(spec.src.dtype),
                     spec.kind == Pool::Kind::max ? "maximum" : "average", spec.src.h, spec.src.w, spec.src.c,
                     spec.kernel_h, spec.kernel_w, spec.stride_h, spec.stride_w, spec.pad_h, spec.pad_w);
}

// Forward, then backward with what the implementation's own forward pass has saved.
void expect_both_passes_like_reference(const Pool& spec, std::int64_t offset = 0) {
  SCOPED_TRACE(described(spec));
  const Dtype dtype = spec.src.dtype;
  const auto passes = [&](Operation& forward, Operation& backward) {
    auto outputs = testing::run_exactly(forward, dtype, {.offset = offset});
    RunOptions options{.offset = offset};
    if (outputs.contains(Slot::saved)) {
      options.opaque[Slot::saved] = outputs.at(Slot::saved);
      outputs.erase(Slot::saved);
    }
    return std::pair{outputs, testing::run_exactly(backward, dtype, options)};
  };
  const auto forward = make_operation(spec, testing::cpu(), "reference");
  const auto backward = make_operation(backward_of(spec), testing::cpu(), "reference");
  const auto expected = passes(*forward, *backward);
  const auto answer = passes(*testing::on_fibers<cuda::PoolOperation>(spec),
                             *testing::on_fibers<cuda::PoolOperation>(backward_of(spec)));
  testing::expect_close(*forward, expected.first, answer.first, testing::tolerance_of(dtype));
  testing::expect_close(*backward, expected.second, answer.second, testing::tolerance_of(dtype));
}

TEST(CudaPool, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const Pool& spec : pools(dtype)) {
      expect_both_passes_like_reference(spec);
    }
  }
}

TEST(CudaPool, InfersLikeItsReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (Pool spec : pools(dtype)) {
      SCOPED_TRACE(described(spec));
      spec.training = false;
      expect_like_reference<cuda::PoolOperation>(spec, dtype, {.offset = bytes_of(dtype)});
    }
  }
}

// More taps than a byte can tell apart.
TEST(CudaPool, SavesTheTapsOfLargeWindows) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    for (const std::int64_t channels : {3, 8}) {
      expect_both_passes_like_reference({.src = {.n = 1, .c = channels, .h = 20, .w = 19, .dtype = dtype},
                                         .kernel_h = 17,
                                         .kernel_w = 18,
                                         .training = true});
    }
  }
}

// The first of equal values in reading order counts. After a ReLU, zeros are often all equal.
TEST(CudaPool, SendsTheGradientOfEqualsToTheFirst) {
  const Pool spec{.src = {.n = 1, .c = 8, .h = 2, .w = 2}, .kernel_h = 2, .kernel_w = 2, .training = true};
  const testing::Bytes zeros(static_cast<std::size_t>(spec.src.bytes()));
  auto outputs = testing::run_exactly(*testing::on_fibers<cuda::PoolOperation>(spec), Dtype::fp32,
                                      {.opaque = {{Slot::src, zeros}}});
  EXPECT_EQ(outputs.at(Slot::saved), testing::Bytes(8));
}

TEST(CudaAdaptivePool, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t channels : {1, 5, 16}) {
      for (const std::array<std::int64_t, 4>& size : {std::array<std::int64_t, 4>{7, 7, 7, 7},
                                                      {9, 11, 7, 3},
                                                      {3, 2, 7, 5},
                                                      {13, 1, 4, 1},
                                                      {1, 1, 6, 6}}) {
        SCOPED_TRACE(fmt::format("{} {}x{}x{} to {}x{}", name_of(dtype), size[0], size[1], channels, size[2],
                                 size[3]));
        const Pool spec{.src = {.n = 2, .c = channels, .h = size[0], .w = size[1], .dtype = dtype},
                        .kind = Pool::Kind::adaptive,
                        .height = size[2],
                        .width = size[3]};
        expect_like_reference<cuda::PoolOperation>(spec, dtype);
        expect_like_reference<cuda::PoolOperation>(backward_of(spec), dtype);
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
