// Our own kernels on a GPU against the reference. The same kernels run on fibers in
// tests/kernels/backends/cuda, over more shapes; here it is the launches, the intrinsics and the device's
// arithmetic that are tried.
#include <gtest/gtest.h>

#include <array>

#include <fmt/format.h>

#include "kernels/devices/cuda/card.h"
#include "kernels/operations/batch_norm/batch_norm.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/embedding/embedding.h"
#include "kernels/operations/fma/fma.h"
#include "kernels/operations/launch/round_trip.h"
#include "kernels/operations/layer_norm/layer_norm.h"
#include "kernels/operations/pool/pool.h"
#include "kernels/operations/softmax/softmax.h"
#include "kernels/operations/stream/stream.h"
#include "occupancy.h"
#include "on_cuda.h"
#include "tests/kernels/operations/resize_cases.h"
#include "tests/kernels/operations/strided_copy_cases.h"

namespace bench::kernels {
namespace {

using testing::Saved;
using testing::Values;

class OwnKernels : public ::testing::TestWithParam<Dtype> {
 protected:
  template <class Spec>
  static void expect_right(const Spec& spec) {
    testing::expect_like_reference_on_cuda(spec, GetParam(), "cuda");
  }

  // Channels that fill an access and odd ones; small maps, one of several blocks, and one that fills a large
  // device.
  static std::vector<TensorDesc> tensors() {
    std::vector<TensorDesc> all;
    for (const std::array<std::int64_t, 4>& shape : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                                     {2, 3, 5, 7},
                                                     {3, 24, 9, 5},
                                                     {2, 67, 3, 3},
                                                     {4, 64, 28, 28},
                                                     {8, 64, 112, 112}}) {
      all.push_back({shape[0], shape[1], shape[2], shape[3], Layout::nhwc, GetParam()});
    }
    return all;
  }

  static std::string trace(const TensorDesc& tensor) {
    return fmt::format("{}x{}x{}x{}", tensor.n, tensor.c, tensor.h, tensor.w);
  }
};

INSTANTIATE_TEST_SUITE_P(All, OwnKernels, ::testing::ValuesIn(kAllDtypes),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(OwnKernels, AreRightElementByElement) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const TensorDesc& tensor : tensors()) {
    SCOPED_TRACE(trace(tensor));
    for (const Activation activation : {Activation::relu, Activation::relu6, Activation::leaky_relu}) {
      expect_right(Elementwise{tensor, activation});
      expect_right(backward_of(Elementwise{tensor, activation}));
      expect_right(backward_of(Elementwise{tensor, activation, 2}));
      expect_right(Elementwise{tensor, activation, 2});
    }
    expect_right(Elementwise{tensor, Activation::gelu, 2});
    expect_right(Elementwise{tensor, Activation::gelu});
    expect_right(backward_of(Elementwise{tensor, Activation::gelu}));
  }
}

TEST_P(OwnKernels, AreRightNormalising) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const TensorDesc& tensor : tensors()) {
    SCOPED_TRACE(trace(tensor));
    expect_right(BatchNorm{.tensor = tensor, .activation = Activation::relu});
    for (const Activation activation : {Activation::none, Activation::relu}) {
      expect_right(BatchNorm{.tensor = tensor, .training = true, .activation = activation});
      // relu's slope jumps at 0: of many elements one lies so near that rounding decides.
      if (activation == Activation::none || tensor.elements() < 1'000'000) {
        expect_right(backward_of(BatchNorm{.tensor = tensor, .activation = activation}));
      }
    }
  }
  for (const std::int64_t width : {1, 7, 100, 768, 5000}) {
    SCOPED_TRACE(width);
    expect_right(Softmax{{.n = 33, .c = width, .dtype = GetParam()}});
    const LayerNorm norm{.rows = 33, .width = width, .dtype = GetParam()};
    expect_right(norm);
    expect_right(LayerNorm{.rows = 33, .width = width, .training = true, .dtype = GetParam()});
    expect_right(backward_of(norm));
  }
}

TEST_P(OwnKernels, AreRightPooling) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const TensorDesc& tensor : tensors()) {
    SCOPED_TRACE(trace(tensor));
    expect_right(Pool{.src = tensor, .kind = Pool::Kind::adaptive, .height = 4, .width = 3});
    expect_right(backward_of(Pool{.src = tensor, .kind = Pool::Kind::adaptive, .height = 4, .width = 3}));
    if (tensor.h < 3) {
      continue;
    }
    Pool pool{.src = tensor,
              .kind = Pool::Kind::average,
              .kernel_h = 3,
              .kernel_w = 2,
              .stride_h = 2,
              .stride_w = 1};
    pool.pad_h = 1;
    expect_right(pool);
    expect_right(backward_of(pool));
    pool.kind = Pool::Kind::max;
    expect_right(pool);
  }
}

// What the forward pass saves is the implementation's own: its backward pass reads it.
TEST_P(OwnKernels, SendGradientsToTheMaxima) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  Device& device = *testing::cuda_device();
  for (const std::int64_t channels : {5, 64}) {
    const Pool pool{.src = {2, channels, 9, 11, Layout::nhwc, GetParam()},
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .stride_h = 2,
                    .stride_w = 2,
                    .pad_h = 1,
                    .pad_w = 1,
                    .training = true};
    const auto forward = make_operation(pool, testing::cpu(), "reference");
    const auto backward = make_operation(backward_of(pool), testing::cpu(), "reference");
    const Values inputs = testing::inputs_for(*forward, GetParam());
    const Values gradients = testing::inputs_for(*backward, GetParam());
    Saved saved;
    Saved saved_on_cuda;
    const auto on_cuda = make_operation(pool, device, "cuda");
    const auto back_on_cuda = make_operation(backward_of(pool), device, "cuda");
    testing::run_operation(*forward, inputs, testing::Sum::apart, &saved);
    testing::run_operation(*on_cuda, inputs, testing::Sum::apart, &saved_on_cuda, {.device = device});
    EXPECT_TRUE(testing::close_to(testing::run_operation(*backward, gradients, testing::Sum::apart, &saved),
                                  testing::run_operation(*back_on_cuda, gradients, testing::Sum::apart,
                                                         &saved_on_cuda, {.device = device}),
                                  testing::cuda_tolerance(GetParam())));
  }
}

TEST_P(OwnKernels, AreRightMoving) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const std::int64_t channels : {1, 6, 32}) {
    SCOPED_TRACE(channels);
    const TensorDesc large{2, channels, 9, 8, Layout::nhwc, GetParam()};
    const TensorDesc small{2, 2 * channels, 4, 5, Layout::nhwc, GetParam()};
    StridedCopy concat = testing::joined({array_of(large), array_of(small)}, 1, Layout::nhwc);
    expect_right(concat);
    for (const std::size_t index : {0U, 1U}) {
      concat.index = index;
      expect_right(backward_of(concat));
    }
    expect_right(testing::repeated(small, 2));
    expect_right(backward_of(testing::repeated(small, 2)));
    const Embedding positions{.rows = 15,
                              .vocabulary = 9,
                              .width = channels,
                              .dtype = GetParam(),
                              .kind = Embedding::Kind::positions,
                              .sequence = 5};
    expect_right(positions);
    expect_right(backward_of(positions));
  }
}

TEST_P(OwnKernels, AreRightAsBenchmarks) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const std::int64_t count : {5, 4096, 70'001, 40'000'000}) {
    SCOPED_TRACE(count);
    for (const auto kind : {Stream::Kind::copy, Stream::Kind::scale, Stream::Kind::add, Stream::Kind::triad,
                            Stream::Kind::read}) {
      SCOPED_TRACE(static_cast<int>(kind));
      expect_right(
          Stream{.kind = kind, .rows = count < 100'000 ? 3 : 1, .count = count, .dtype = GetParam()});
    }
    expect_right(Fma{.rows = 1, .count = count, .steps = 1, .dtype = GetParam()});
    if (GetParam() == Dtype::fp16 || GetParam() == Dtype::bf16) {
      expect_right(Fma{.rows = 2, .count = count, .steps = 3, .dtype = GetParam(), .kind = Fma::Kind::tiles});
    }
  }
  expect_right(RoundTrip{.launches = 3});
}

TEST(OwnKernelsOnTheCard, HaveTheRoomThatLaunchesCountWith) {
  BENCH_SKIP_WITHOUT_CUDA(Dtype::fp32);
  const int capability = cuda::card_of(*testing::cuda_device()).compute_capability();
  for (const testing::Occupancy& kernel : testing::occupancies(capability)) {
    EXPECT_GE(kernel.found, kernel.counted) << kernel.kernel << " on compute capability " << capability;
  }
}

// Where a step rounds to 16 bits the errors of many add up.
TEST(OwnKernelsInFp32, AreRightOverManySteps) {
  BENCH_SKIP_WITHOUT_CUDA(Dtype::fp32);
  testing::expect_like_reference_on_cuda(Fma{.rows = 2, .count = 5003, .steps = 1000}, Dtype::fp32, "cuda");
}

// Small maps, odd channels, and enough blocks for each of the larger tiles.
TEST_P(OwnKernels, ConvolveAsAnImplicitProduct) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  if (GetParam() != Dtype::fp32 && GetParam() != Dtype::fp16) {
    EXPECT_THROW(make_operation(Conv2d{.dtype = GetParam()}, *testing::cuda_device(), "implicit_gemm"),
                 Unsupported);
    return;
  }
  for (const std::array<std::int64_t, 4>& shape : {std::array<std::int64_t, 4>{2, 3, 5, 9},
                                                   {1, 24, 136, 7},
                                                   {12, 8, 64, 56},
                                                   {12, 8, 128, 56},
                                                   {12, 7, 131, 56}}) {
    const Conv2d spec{.batch = shape[0],
                      .in_channels = shape[1],
                      .height = shape[3],
                      .width = shape[3] + 1,
                      .out_channels = shape[2],
                      .kernel_h = 3,
                      .kernel_w = 3,
                      .pad_h = 1,
                      .pad_w = 1,
                      .dtype = GetParam()};
    SCOPED_TRACE(fmt::format("{}x{} to {} channels of {}", shape[0], shape[1], shape[2], shape[3]));
    testing::expect_like_reference_on_cuda(spec, GetParam(), "implicit_gemm");
  }
}

}  // namespace
}  // namespace bench::kernels
