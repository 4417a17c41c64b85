// Element-wise kernels on fibers: every dtype, sizes with and without a tail, memory out of alignment, in
// place.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "kernels/operations/elementwise/cuda.cu"
#include "on_fibers.h"
#include "tests/kernels/operations/other_activations.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::RunOptions;

constexpr std::array<std::int64_t, 8> kSizes{1, 3, 7, 8, 255, 1024, 4099, 70001};

template <class Visit>
void for_each_elementwise(Visit visit) {
  for (const Dtype dtype : testing::kStoredDtypes) {
    for (const std::int64_t size : kSizes) {
      for (const std::int64_t offset : {std::int64_t{0}, bytes_of(dtype)}) {
        SCOPED_TRACE(fmt::format("{} {} elements, {} bytes off", name_of(dtype), size, offset));
        visit(TensorDesc{.n = 1, .c = size, .dtype = dtype}, RunOptions{.offset = offset});
      }
    }
  }
}

constexpr std::array kRectifiers{Activation::relu, Activation::relu6, Activation::leaky_relu};

TEST(CudaRelu, IsLikeItsReference) {
  for (const Activation activation : kRectifiers) {
    for_each_elementwise([&](const TensorDesc& tensor, RunOptions options) {
      if (options.offset != 0) {
        options.in_place = {{Slot::dst, Slot::src}};
      }
      expect_like_reference<cuda::ElementwiseOperation>({tensor, activation}, tensor.dtype, options);
    });
  }
}

TEST(CudaReluBackward, IsLikeItsReference) {
  for (const Activation activation : kRectifiers) {
    for_each_elementwise([&](const TensorDesc& tensor, RunOptions options) {
      options.in_place = {{Slot::diff_src, Slot::diff_dst}};
      for (const int summands : {1, 2}) {
        expect_like_reference<cuda::ElementwiseOperation>(
            backward_of(Elementwise{tensor, activation, summands}), tensor.dtype, options);
      }
    });
  }
}

// Values at and beyond the bounds, of which seeded ones have none.
TEST(CudaRectifier, IsLikeTheActivationsItStandsFor) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::relu6, Activation::leaky_relu}) {
    cuda::with_rectifier(activation, [&](const auto& rectifier) {
      for (const float value : {-kInfinity, -7.0F, -0.5F, -0.0F, 0.0F, 0.5F, 5.5F, 6.0F, 6.5F, kInfinity}) {
        SCOPED_TRACE(fmt::format("activation {} of {}", name_of(activation.kind), value));
        EXPECT_EQ(rectifier(value), apply(activation, value));
        EXPECT_EQ(rectifier.slope(value), slope(activation, value));
      }
      EXPECT_TRUE(std::isnan(rectifier(std::nanf(""))));
    });
  }
  EXPECT_THROW(cuda::with_rectifier(Activation::gelu, [](const auto&) {}), std::logic_error);
}

TEST(CudaAdd, IsLikeItsReference) {
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::relu6, Activation::gelu}) {
    for_each_elementwise([&](const TensorDesc& tensor, RunOptions options) {
      options.in_place = {{Slot::dst, options.offset == 0 ? Slot::src1 : Slot::src}};
      expect_like_reference<cuda::ElementwiseOperation>({tensor, activation, 2}, tensor.dtype, options);
    });
  }
}

TEST(CudaGelu, IsLikeItsReference) {
  for_each_elementwise([&](const TensorDesc& tensor, RunOptions options) {
    options.in_place = {{Slot::dst, Slot::src}};
    expect_like_reference<cuda::ElementwiseOperation>({tensor, Activation::gelu}, tensor.dtype, options);
    options.in_place = {{Slot::diff_src, Slot::diff_dst}};
    for (const int summands : {1, 2}) {
      expect_like_reference<cuda::ElementwiseOperation>(
          backward_of(Elementwise{tensor, Activation::gelu, summands}), tensor.dtype, options);
    }
  });
}

// Of the others one size is enough, with whole accesses and a rest.
TEST(CudaAnyActivation, IsLikeItsReference) {
  for (const Activation activation : testing::kOtherActivations) {
    for (const Dtype dtype : testing::kStoredDtypes) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(activation.kind), name_of(dtype)));
      const TensorDesc tensor{.n = 1, .c = 4099, .dtype = dtype};
      std::vector<float> values(4099);
      fill_random(values, 1, 1);
      for (float& value : values) {
        value = testing::wants_positive(activation) ? std::fabs(value) + 0.25F : 4 * value;
      }
      testing::Bytes given(static_cast<std::size_t>(tensor.bytes()));
      store(tensor, values, given.data());
      const double tolerance = 2 * testing::tolerance_of(dtype);
      const Elementwise spec{tensor, activation};
      expect_like_reference<cuda::ElementwiseOperation>(spec, dtype, {.opaque = {{Slot::src, given}}},
                                                        tolerance);
      expect_like_reference<cuda::ElementwiseOperation>(backward_of(spec), dtype,
                                                        {.opaque = {{spec.slope_from(), given}}}, tolerance);
    }
  }
}

// Far from zero too, where its exponential is 0 or infinite.
TEST(CudaGelu, IsRightFarFromZero) {
  for (const float value : {-60.0F, -20.0F, -6.0F, -3.0F, 3.0F, 6.0F, 20.0F, 60.0F}) {
    EXPECT_NEAR(cuda::TanhGelu{}(value), gelu(value), 1e-6F * std::fabs(value)) << value;
    const double t = std::tanh(gelu_inner(static_cast<double>(value)));
    const double x = value;
    EXPECT_NEAR(cuda::TanhGelu::slope(value), 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * gelu_inner_slope(x),
                1e-5)
        << value;
  }
}

// The polynomials behind them, also beyond where they were fitted.
TEST(CudaGelu, ByTheErrorFunctionIsExactToItsLastPlaces) {
  constexpr cuda::OneActivation<ActivationKind::gelu_erf> kGelu{};
  for (double x = -30; x <= 30; x += 1.0 / 64) {
    const double share = 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    EXPECT_NEAR(kGelu(static_cast<float>(x)), x * share, 3e-7 * std::fabs(x)) << x;
    EXPECT_NEAR(kGelu.slope(static_cast<float>(x)), share + x * density, 1e-6) << x;
  }
}

TEST(CudaTanh, IsExactToItsLastPlacesAlsoNearZero) {
  constexpr cuda::OneActivation<ActivationKind::tanh> kTanh{};
  for (double x = 1e-6; x < 1e4; x *= 1.01) {
    for (const double signed_x : {x, -x}) {
      const auto given = static_cast<float>(signed_x);
      const double right = std::tanh(static_cast<double>(given));
      EXPECT_NEAR(kTanh(given), right, 2e-6 * std::fabs(right)) << signed_x;
    }
  }
  EXPECT_EQ(kTanh(0), 0);
  EXPECT_TRUE(std::isnan(kTanh(std::numeric_limits<float>::quiet_NaN())));
}

// Blocked layouts are walked with their padding, which stays zero.
TEST(CudaAdd, KeepsTheChannelPaddingZero) {
  const TensorDesc tensor{.n = 2, .c = 19, .h = 3, .w = 5, .layout = Layout::nchw16c};
  const auto operation = testing::on_fibers<cuda::ElementwiseOperation>({tensor, Activation::relu, 2});
  const auto dst = testing::run_exactly(*operation, Dtype::fp32).at(Slot::dst);
  std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
  load(tensor, dst.data(), values);
  testing::Bytes again(dst.size());
  store(tensor, values, again.data());
  EXPECT_EQ(again, dst);
}

}  // namespace
}  // namespace bench::kernels
