// cuDNN's and cuBLASLt's implementations on a GPU against the reference, over the shapes that the CPU's are
// tried with; with BENCH_FEW_PLANS=1 over some of them.
#include <gtest/gtest.h>

#include <array>

#include <fmt/format.h>

#include "conv2d_shapes.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"
#include "kernels/operations/linear/linear.h"
#include "on_cuda.h"
#include "product_shapes.h"

namespace bench::kernels {
namespace {

using testing::Conv2dShape;
using testing::expect_like_reference_on_cuda;
using testing::some_of;
using testing::Sum;

// Those that are taken of few plans, the first and the fourth, are the networks' most frequent.
constexpr std::array kActivations{Activation::none, Activation::relu6, Activation::leaky_relu,
                                  Activation::relu, Activation::gelu};

class CudnnConv2d : public ::testing::TestWithParam<std::tuple<Conv2dShape, Dtype>> {
 protected:
  Conv2d spec(Conv2d::Direction direction, bool bias, bool training) const {
    Conv2d spec = std::get<0>(GetParam()).spec;
    spec.dtype = std::get<1>(GetParam());
    spec.direction = direction;
    spec.bias = bias;
    spec.training = training;
    return spec;
  }
};

INSTANTIATE_TEST_SUITE_P(All, CudnnConv2d,
                         ::testing::Combine(::testing::ValuesIn(some_of(testing::conv2d_shapes(), 3)),
                                            ::testing::ValuesIn(kAllDtypes)),
                         [](const auto& tested) {
                           return fmt::format("{}_{}", std::get<0>(tested.param).name,
                                              name_of(std::get<1>(tested.param)));
                         });

TEST_P(CudnnConv2d, IsLikeTheReferenceInEveryDirection) {
  const Dtype dtype = std::get<1>(GetParam());
  BENCH_SKIP_WITHOUT_CUDA(dtype);
  for (const bool training : {false, true}) {
    for (const bool bias : {false, true}) {
      SCOPED_TRACE(fmt::format("training {} bias {}", training, bias));
      expect_like_reference_on_cuda(spec(Conv2d::Direction::forward, bias, training), dtype, "cudnn");
      expect_like_reference_on_cuda(spec(Conv2d::Direction::backward_weights, bias, training), dtype,
                                    "cudnn");
    }
    expect_like_reference_on_cuda(spec(Conv2d::Direction::backward_data, false, training), dtype, "cudnn");
  }
}

TEST_P(CudnnConv2d, IsLikeTheReferenceWithEverythingFused) {
  const Dtype dtype = std::get<1>(GetParam());
  BENCH_SKIP_WITHOUT_CUDA(dtype);
  for (const Activation activation : some_of(kActivations, 3)) {
    for (const bool bias : {false, true}) {
      Conv2d fused = spec(Conv2d::Direction::forward, bias, false);
      fused.activation = activation;
      SCOPED_TRACE(fmt::format("activation {} bias {}", name_of(activation.kind), bias));
      expect_like_reference_on_cuda(fused, dtype, "cudnn");
      fused.residual = true;
      expect_like_reference_on_cuda(fused, dtype, "cudnn", Sum::apart);
      expect_like_reference_on_cuda(fused, dtype, "cudnn", Sum::in_place);
    }
  }
}

class CudaLibraries : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, CudaLibraries, ::testing::ValuesIn(kAllDtypes),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(CudaLibraries, CudnnTransposesConvolutionsLikeTheReference) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  using Direction = ConvTranspose::Direction;
  for (const testing::ConvTransposeShape& s : some_of(testing::kConvTransposeShapes, 2)) {
    for (const Direction direction :
         {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
      for (const bool bias : {true, false}) {
        const ConvTranspose spec = testing::conv_transpose_of(s, Layout::nhwc, GetParam(), direction, bias);
        SCOPED_TRACE(testing::described(spec));
        expect_like_reference_on_cuda(spec, GetParam(), "cudnn");
      }
    }
  }
}

TEST_P(CudaLibraries, CublasltMultipliesLikeTheReference) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  for (const auto& [rows, inner, columns] : some_of(testing::kProductShapes, 3)) {
    for (const bool bias : {false, true}) {
      for (const Activation activation : some_of(kActivations, 3)) {
        SCOPED_TRACE(fmt::format("{}x{} to {} bias {} activation {}", rows, inner, columns, bias,
                                 name_of(activation.kind)));
        expect_like_reference_on_cuda(Linear{.rows = rows,
                                             .inner = inner,
                                             .columns = columns,
                                             .bias = bias,
                                             .packed = true,
                                             .activation = activation,
                                             .dtype = GetParam()},
                                      GetParam(), "cublaslt");
      }
    }
  }
}

TEST_P(CudaLibraries, CublasltsLinearLayerIsLikeTheReferenceInEveryDirection) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  using Direction = Linear::Direction;
  for (const auto& [rows, inner, columns] : some_of(testing::kProductShapes, 3)) {
    for (const Direction direction :
         {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
      for (const bool bias : {false, true}) {
        SCOPED_TRACE(fmt::format("{}x{} to {} direction {} bias {}", rows, inner, columns,
                                 static_cast<int>(direction), bias));
        expect_like_reference_on_cuda(Linear{.rows = rows,
                                             .inner = inner,
                                             .columns = columns,
                                             .direction = direction,
                                             .bias = bias && direction != Direction::backward_data,
                                             .dtype = GetParam()},
                                      GetParam(), "cublaslt");
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
