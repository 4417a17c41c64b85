// The operations between convolutions: every implementation against the reference.
#include <gmock/gmock.h>

#include <array>

#include <fmt/format.h>

#include "kernels/operations/batch_norm/batch_norm.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/pool/pool.h"
#include "kernels/operations/softmax/softmax.h"
#include "run_operation.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::Sum;
using testing::tolerance_of;

constexpr std::array kLayouts{Layout::nchw, Layout::nhwc, Layout::nchw16c};

std::vector<TensorDesc> tensors(Dtype dtype) {
  std::vector<TensorDesc> all;
  for (const Layout layout : kLayouts) {
    for (const std::int64_t channels : {16, 37, 3}) {
      all.push_back({.n = 2, .c = channels, .h = 9, .w = 7, .layout = layout, .dtype = dtype});
    }
  }
  return all;
}

std::string trace(const TensorDesc& tensor) {
  return fmt::format("{} c{} {}x{}", name_of(tensor.layout), tensor.c, tensor.h, tensor.w);
}

class Layers : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, Layers, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(Layers, LinearOfPackedWeights) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [rows, inner, columns] :
       {std::tuple{1, 64, 10}, {7, 33, 129}, {16, 512, 1000}, {129, 24, 8}, {64, 5, 3}, {1, 1, 1}}) {
    for (const bool bias : {false, true}) {
      for (const Activation activation : {Activation::none, Activation::relu, Activation::relu6,
                                          Activation::leaky_relu, Activation::gelu_erf, Activation::silu}) {
        const Linear spec{.rows = rows,
                          .inner = inner,
                          .columns = columns,
                          .bias = bias,
                          .packed = true,
                          .activation = activation,
                          .dtype = GetParam()};
        SCOPED_TRACE(fmt::format("{}x{} by {} bias {}", rows, inner, columns, bias));
        expect_like_reference(spec, GetParam(), tolerance_of(GetParam()));
      }
    }
  }
}

TEST_P(Layers, ReluInAllLayouts) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : tensors(GetParam())) {
    for (const Activation activation : {Activation::relu, Activation::relu6, Activation::leaky_relu}) {
      SCOPED_TRACE(trace(tensor));
      expect_like_reference(Elementwise{.tensor = tensor, .activation = activation}, GetParam(), 0.0);
    }
  }
}

TEST_P(Layers, AddApartAndInPlace) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : tensors(GetParam())) {
    for (const Activation activation :
         {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu, Activation::gelu}) {
      SCOPED_TRACE(trace(tensor));
      const Elementwise spec{.tensor = tensor, .activation = activation, .summands = 2};
      expect_like_reference(spec, GetParam(), tolerance_of(GetParam()), Sum::apart);
      expect_like_reference(spec, GetParam(), tolerance_of(GetParam()), Sum::in_place);
    }
  }
}

TEST_P(Layers, BatchNorm) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : tensors(GetParam())) {
    for (const bool training : {false, true}) {
      for (const Activation activation : {Activation::none, Activation::relu}) {
        SCOPED_TRACE(trace(tensor) + (training ? " training" : " inference"));
        expect_like_reference(BatchNorm{.tensor = tensor, .training = training, .activation = activation},
                              GetParam(), tolerance_of(GetParam()));
      }
    }
  }
}

TEST_P(Layers, Pool) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const TensorDesc& tensor : tensors(GetParam())) {
    for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::average}) {
      Pool spec{.src = tensor, .kind = kind};
      const auto check = [&](std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
        SCOPED_TRACE(fmt::format("{} kernel {} stride {} pad {}", trace(tensor), kernel, stride, pad));
        spec.kernel_h = spec.kernel_w = kernel;
        spec.stride_h = spec.stride_w = stride;
        spec.pad_h = spec.pad_w = pad;
        expect_like_reference(spec, GetParam(), kind == Pool::Kind::max ? 0.0 : tolerance_of(GetParam()));
      };
      check(3, 2, 1);
      check(2, 2, 0);  // leaves the last row and column
      check(3, 1, 1);
      SCOPED_TRACE(trace(tensor) + " global");
      const Pool global{.src = tensor, .kind = kind, .kernel_h = tensor.h, .kernel_w = tensor.w};
      expect_like_reference(global, GetParam(), tolerance_of(GetParam()));
    }
  }
}

TEST_P(Layers, Softmax) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Layout layout : kLayouts) {
    for (const std::int64_t channels : {1, 10, 1000}) {
      const TensorDesc tensor{.n = 3, .c = channels, .layout = layout, .dtype = GetParam()};
      SCOPED_TRACE(trace(tensor));
      expect_like_reference(Softmax{.tensor = tensor}, GetParam(), tolerance_of(GetParam()));
    }
  }
}

TEST(LayersUnsupported, SaysWhy) {
  const auto reason = [](const auto& spec) -> std::string {
    try {
      make_operation(spec, testing::cpu());
      return "supported";
    } catch (const Unsupported& error) {
      return error.what();
    }
  };
  const TensorDesc image{.n = 1, .c = 4, .h = 5, .w = 5};
  TensorDesc half = image;
  half.dtype = Dtype::fp16;
  expect_words(reason(Elementwise{.tensor = image}));
  expect_words(reason(backward_of(Elementwise{.tensor = image, .summands = 2})));
  for (const Activation other : {Activation::relu6, Activation::leaky_relu}) {
    expect_words(reason(BatchNorm{.tensor = image, .activation = other}));
  }
  expect_words(reason(BatchNorm{.tensor = image, .activation = Activation::gelu}));
  expect_words(reason(backward_of(BatchNorm{.tensor = image, .activation = Activation::relu})));
  expect_words(reason(Pool{.src = image, .kernel_h = 6, .kernel_w = 6}));
  expect_words(reason(Pool{.src = image, .kernel_h = 2, .kernel_w = 2, .pad_h = 2}));
  EXPECT_THAT(reason(Elementwise{.tensor = half, .summands = 2}), ::testing::HasSubstr("no fp16"));
  expect_words(reason(Linear{.dtype = Dtype::tf32}));
}

TEST(LayersFlops, CountWhatIsDone) {
  const TensorDesc tensor{.n = 2, .c = 3, .h = 4, .w = 4};
  EXPECT_DOUBLE_EQ((Linear{.rows = 2, .inner = 3, .columns = 5}.flops()), 60);
  EXPECT_DOUBLE_EQ((Elementwise{.tensor = tensor, .activation = Activation::relu}.flops()), 96);
  EXPECT_DOUBLE_EQ((Elementwise{.tensor = tensor, .activation = Activation::relu, .summands = 2}.flops()),
                   192);
  // 3x3 with padding 1, stride 2 on 4x4: taps 2 and 3 along each axis.
  EXPECT_DOUBLE_EQ(
      (Pool{.src = tensor, .kernel_h = 3, .kernel_w = 3, .stride_h = 2, .stride_w = 2, .pad_h = 1, .pad_w = 1}
           .flops()),
      6 * 5 * 5);
}

}  // namespace
}  // namespace bench::kernels
