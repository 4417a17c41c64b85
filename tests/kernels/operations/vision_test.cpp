// Transposed convolutions, forwards and backwards: the fast implementations against the references, the
// references against differences and known values.
#include <gmock/gmock.h>

#include <array>

#include <fmt/format.h>

#include "gradient_check.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"
#include "product_shapes.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using testing::run_reference;
using testing::tolerance_of;
using testing::trace;
using testing::Values;

constexpr std::array kVisionLayouts{Layout::nchw, Layout::nhwc, Layout::nchw16c};

Values inputs_of(const Operation& operation, Dtype dtype) {
  return testing::inputs_for(operation, dtype);
}

// The implementation a network gets, against the reference.
template <class Spec>
void expect_like_reference(const Spec& spec, Dtype dtype, double tolerance) {
  const auto reference = make_operation(spec, testing::cpu(), "reference");
  const auto fast = make_operation(spec, testing::cpu());
  ASSERT_NE(fast->algorithm(), "reference");
  SCOPED_TRACE(fast->algorithm());
  const Values inputs = inputs_of(*reference, dtype);
  EXPECT_TRUE(testing::close_to(testing::run_operation(*reference, inputs),
                                testing::run_operation(*fast, inputs), tolerance));
}

// The gradient of one input by the reference, against differences of the forward pass. All operations here
// are linear in each input: a step of 1 is exact but for rounding.
template <class Forward, class Backward>
void expect_derivative(const Forward& forward, const Backward& backward, Slot input, Slot gradient) {
  Values inputs = inputs_of(*make_operation(forward, testing::cpu(), "reference"), Dtype::fp32);
  inputs.merge(inputs_of(*make_operation(backward, testing::cpu(), "reference"), Dtype::fp32));
  const std::vector<float> expected =
      testing::central_differences(forward, inputs, inputs.at(Slot::diff_dst), input, 1.0F);
  EXPECT_LT(relative_error(run_reference(backward, inputs).at(gradient), expected), 1e-5);
}

template <class Spec>
std::string refusal(const Spec& spec) {
  try {
    make_operation(spec, testing::cpu());
    return "supported";
  } catch (const Unsupported& error) {
    return error.what();
  }
}

class VisionOperations : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, VisionOperations, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TensorDesc map_of(std::int64_t c, std::int64_t h, std::int64_t w, Layout layout = Layout::nchw,
                  Dtype dtype = Dtype::fp32) {
  return {.n = 2, .c = c, .h = h, .w = w, .layout = layout, .dtype = dtype};
}

// ---- transposed convolution

constexpr std::array kTransposeDirections{ConvTranspose::Direction::forward,
                                          ConvTranspose::Direction::backward_data,
                                          ConvTranspose::Direction::backward_weights};

TEST_P(VisionOperations, ConvTransposeLikeTheReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Layout layout : kVisionLayouts) {
    for (const testing::ConvTransposeShape& s : testing::kConvTransposeShapes) {
      for (const ConvTranspose::Direction direction : kTransposeDirections) {
        for (const bool bias : {true, false}) {
          const ConvTranspose spec = testing::conv_transpose_of(s, layout, GetParam(), direction, bias);
          SCOPED_TRACE(testing::described(spec));
          expect_like_reference(spec, GetParam(), tolerance_of(GetParam()));
        }
      }
    }
  }
}

TEST(ConvTranspose, WritesPatches) {
  const ConvTranspose spec{.src = {.n = 1, .c = 2, .h = 1, .w = 2}, .out_channels = 1, .bias = true};
  // Weights as PyTorch stores them: the first four belong to input channel 0.
  const Values inputs{
      {Slot::src, {1, 2, 10, 20}}, {Slot::weights, {1, 2, 3, 4, 5, 6, 7, 8}}, {Slot::bias, {0.5F}}};
  for (const char* implementation : {"reference", "onednn"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    EXPECT_THAT(testing::run_operation(*operation, inputs).at(Slot::dst),
                ElementsAre(51.5F, 62.5F, 102.5F, 124.5F, 73.5F, 84.5F, 146.5F, 168.5F));
  }
}

// Of two channels to four in two groups, a row of three pixels to what torch.nn.functional.conv_transpose2d
// gives with stride (1, 2), padding (0, 1), output_padding (0, 1), dilation (1, 2).
TEST(ConvTranspose, CutsTheEdgesOff) {
  const ConvTranspose spec{.src = {.n = 1, .c = 2, .h = 1, .w = 3},
                           .out_channels = 4,
                           .kernel = {1, 2},
                           .stride = {1, 2},
                           .pad = {0, 1},
                           .output_pad = {0, 1},
                           .dilation = {1, 2},
                           .groups = 2};
  const Values inputs{{Slot::src, {1, 2, 3, 10, 20, 30}}, {Slot::weights, {1, 2, 3, 4, 5, 6, 7, 8}}};
  // Whole rows: taps lie at 2w and 2w + 2, of columns 0 to 7 the first and one at the end are cut off.
  const auto row = [](float x, float y, float z, float v, float w) {
    return std::vector<float>{0, x * w + y * v, 0, y * w + z * v, 0, z * w};
  };
  std::vector<float> expected;
  for (const std::vector<float>& one :
       {row(1, 2, 3, 1, 2), row(1, 2, 3, 3, 4), row(10, 20, 30, 5, 6), row(10, 20, 30, 7, 8)}) {
    expected.insert(expected.end(), one.begin(), one.end());
  }
  for (const char* implementation : {"reference", "onednn"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    EXPECT_EQ(testing::run_operation(*operation, inputs).at(Slot::dst), expected) << implementation;
  }
}

TEST(ConvTranspose, ReferenceGradientsAreTheDerivatives) {
  for (const std::int64_t stride : {1, 2, 3}) {
    ConvTranspose spec{.src = map_of(2, 2, 3),
                       .out_channels = 4,
                       .stride = stride,
                       .pad = {0, 1, 1, 0},
                       .groups = 2,
                       .bias = true};
    ConvTranspose backward = spec;
    backward.direction = ConvTranspose::Direction::backward_weights;
    expect_derivative(spec, backward, Slot::weights, Slot::diff_weights);
    expect_derivative(spec, backward, Slot::bias, Slot::diff_bias);
    backward.direction = ConvTranspose::Direction::backward_data;
    spec.bias = backward.bias = false;
    expect_derivative(spec, backward, Slot::src, Slot::diff_src);
  }
}

TEST(ConvTranspose, WeightsArePackedAlikeInAllDirections) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    if (testing::cpu().unsupported(dtype)) {
      continue;
    }
    ConvTranspose spec{.src = map_of(32, 6, 6, Layout::nchw16c, dtype), .out_channels = 20};
    const auto forward = make_operation(spec, testing::cpu());
    spec.direction = ConvTranspose::Direction::backward_data;
    const auto data = make_operation(spec, testing::cpu());
    spec.direction = ConvTranspose::Direction::backward_weights;
    const auto weights = make_operation(spec, testing::cpu());
    std::vector<float> plain(static_cast<std::size_t>(spec.weight_count()));
    fill_random(plain, 1, 0);
    std::vector<std::vector<std::byte>> packed;
    for (const auto& [operation, slot] : {std::pair{forward.get(), Slot::weights},
                                          {data.get(), Slot::weights},
                                          {weights.get(), Slot::diff_weights}}) {
      packed.emplace_back(static_cast<std::size_t>(operation->find(slot)->bytes));
      operation->pack(slot, plain, packed.back().data());
    }
    EXPECT_EQ(packed[0], packed[1]);
    EXPECT_EQ(packed[0], packed[2]);
  }
}

TEST(ConvTranspose, RefusalsSayWhy) {
  expect_words(refusal(ConvTranspose{.src = map_of(1, 2, 2), .kernel = 0}));
  expect_words(refusal(ConvTranspose{.src = map_of(1, 2, 2), .output_pad = 2}));
  expect_words(refusal(ConvTranspose{.src = map_of(3, 2, 2), .out_channels = 2, .groups = 2}));
  expect_words(refusal(ConvTranspose{.src = map_of(1, 2, 2), .pad = 2}));
  expect_words(refusal(ConvTranspose{
      .src = map_of(1, 2, 2), .direction = ConvTranspose::Direction::backward_data, .bias = true}));
}

}  // namespace
}  // namespace bench::kernels
