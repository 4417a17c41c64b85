// Attention on a GPU against the reference: products by cuBLASLt, between them our own kernels; and cuDNN's
// fused kernels, which keep statistics.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/operations/attention/attention.h"
#include "on_cuda.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/gpu/first_card.h"

namespace bench::kernels {
namespace {

using testing::Saved;
using testing::Sum;
using testing::Values;

class CudaAttentionOnDevice : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, CudaAttentionOnDevice, ::testing::ValuesIn(kAllDtypes),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

std::vector<float> probabilities(const Attention& spec, const Saved& saved) {
  std::vector<float> p(static_cast<std::size_t>(spec.probabilities().elements()));
  load(spec.probabilities(), saved.data(), p);
  return p;
}

std::vector<float> statistics(const Saved& saved) {
  std::vector<float> values(saved.size() / sizeof(float));
  std::memcpy(values.data(), saved.data(), saved.size());
  return values;
}

TEST_P(CudaAttentionOnDevice, IsLikeItsReferenceInEveryPass) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  Device& device = *testing::cuda_device();
  // What tf32 would drop of the factors would show in the scores: bf16 has no more bits than tf32 keeps.
  const Dtype exact = GetParam() == Dtype::tf32 ? Dtype::bf16 : GetParam();
  // P and dS are rounded between two products.
  const double tolerance = 2 * testing::cuda_tolerance(GetParam());
  const testing::Place on_device{.device = device, .repeats_within = tolerance};
  for (const auto& [batch, sequence, heads, head_size] : {std::array<std::int64_t, 4>{1, 1, 1, 1},
                                                          {3, 7, 2, 5},
                                                          {2, 33, 3, 24},
                                                          {2, 64, 4, 64},
                                                          {8, 128, 2, 32},
                                                          {6, 48, 4, 32},
                                                          {1, 130, 2, 64}}) {
    SCOPED_TRACE(fmt::format("batch {} sequence {} heads {} of {}", batch, sequence, heads, head_size));
    Attention spec{
        .batch = batch, .sequence = sequence, .heads = heads, .head_size = head_size, .dtype = GetParam()};
    testing::expect_like_reference_on_cuda(spec, GetParam(), "cublaslt");

    spec.training = true;
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    const auto operation = make_operation(spec, device, "cublaslt");
    Values inputs = testing::inputs_for(*reference, exact);
    for (float& value : inputs[Slot::src]) {
      value *= 4;  // scores that tell positions apart; stays exact
    }
    Saved right;
    Saved saved;
    const Values expected = testing::run_operation(*reference, inputs, Sum::apart, &right);
    EXPECT_TRUE(testing::close_to(
        expected, testing::run_operation(*operation, inputs, Sum::apart, &saved, on_device), tolerance));
    EXPECT_LT(relative_error(probabilities(spec, saved), probabilities(spec, right)), tolerance);

    spec.direction = Direction::backward;
    const auto reference_backward = make_operation(spec, testing::cpu(), "reference");
    const auto backward = make_operation(spec, device, "cublaslt");
    inputs[Slot::diff_dst] = testing::inputs_for(*reference_backward, exact).at(Slot::diff_dst);
    EXPECT_TRUE(testing::close_to(testing::run_operation(*reference_backward, inputs, Sum::apart, &right),
                                  testing::run_operation(*backward, inputs, Sum::apart, &right, on_device),
                                  tolerance));
  }
}

TEST_P(CudaAttentionOnDevice, OfCudnnIsLikeItsReferenceInEveryPass) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  Device& device = *testing::cuda_device();
  // P and dS are rounded to the dtype between two products.
  const double tolerance = 4 * testing::cuda_tolerance(GetParam());
  // The query's gradient is added up in any order.
  const testing::Place on_device{.device = device, .repeats_within = tolerance};
  // Each pass of each shape is compiled.
  const std::vector<std::array<std::int64_t, 4>> shapes{
      {2, 64, 4, 64}, {8, 128, 2, 32}, {2, 1024, 2, 128}, {1, 130, 3, 64}};
  for (const auto& [batch, sequence, heads, head_size] : testing::some_of(shapes, 3)) {
    SCOPED_TRACE(fmt::format("batch {} sequence {} heads {} of {}", batch, sequence, heads, head_size));
    Attention spec{
        .batch = batch, .sequence = sequence, .heads = heads, .head_size = head_size, .dtype = GetParam()};
    std::unique_ptr<Operation> operation;
    try {
      operation = make_operation(spec, device, "cudnn");
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
    const auto inference = make_operation(spec, testing::cpu(), "reference");
    Values inputs = testing::inputs_for(*inference, GetParam());
    for (float& value : inputs[Slot::src]) {
      value *= 4;
    }
    const Values out = testing::run_operation(*inference, inputs);
    EXPECT_TRUE(testing::close_to(
        out, testing::run_operation(*operation, inputs, Sum::apart, nullptr, on_device), tolerance));

    spec.training = spec.statistics = true;
    const auto reference = make_operation(spec, testing::cpu(), "reference");
    const auto training = make_operation(spec, device, "cudnn");
    Saved right;
    Saved saved;
    const Values expected = testing::run_operation(*reference, inputs, Sum::apart, &right);
    EXPECT_TRUE(testing::close_to(
        expected, testing::run_operation(*training, inputs, Sum::apart, &saved, on_device), tolerance));
    EXPECT_LT(relative_error(statistics(saved), statistics(right)), tolerance);

    spec.direction = Direction::backward;
    const auto reference_backward = make_operation(spec, testing::cpu(), "reference");
    const auto backward = make_operation(spec, device, "cudnn");
    inputs[Slot::diff_dst] = testing::inputs_for(*reference_backward, GetParam()).at(Slot::diff_dst);
    inputs[Slot::dst] = expected.at(Slot::dst);
    EXPECT_TRUE(testing::close_to(testing::run_operation(*reference_backward, inputs, Sum::apart, &right),
                                  testing::run_operation(*backward, inputs, Sum::apart, &right, on_device),
                                  tolerance));
  }
}

// By devices of their own, as of two processes.
TEST_P(CudaAttentionOnDevice, OfCudnnIsCompiledOnce) {
  BENCH_SKIP_WITHOUT_CUDA(GetParam());
  const Attention spec{.batch = 3, .sequence = 96, .heads = 4, .head_size = 64, .dtype = GetParam()};
  const auto reference = make_operation(spec, testing::cpu(), "reference");
  const Values inputs = testing::inputs_for(*reference, GetParam());
  const bench::testing::TemporaryFolder folder;
  const auto files = [&] {
    return bench::testing::TemporaryFolder::names_in(folder.path() / "plans").size();
  };
  const double tolerance = 4 * testing::cuda_tolerance(GetParam());
  for (const bool loads : {false, true}) {
    const testing::FirstCard card = testing::open_first_card();
    Device& device = *card.device;
    device.keep_choices(folder.path() / "autotune.json");
    std::unique_ptr<Operation> operation;
    try {
      operation = make_operation(spec, device, "cudnn");
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
    operation->prepare();
    const std::vector<std::string> names = bench::testing::TemporaryFolder::names_in(folder.path() / "plans");
    EXPECT_EQ(std::ranges::any_of(names, [](const std::string& name) { return name.ends_with(".tried"); }),
              loads)
        << "set aside where it was loaded, until it has run";
    EXPECT_TRUE(testing::close_to(
        testing::run_operation(*reference, inputs),
        testing::run_operation(*operation, inputs, Sum::apart, nullptr, {device, tolerance}), tolerance));
    EXPECT_EQ(files(), 1U);
  }
}

}  // namespace
}  // namespace bench::kernels
