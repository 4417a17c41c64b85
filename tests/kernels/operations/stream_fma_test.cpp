// The kernels that show what memory and arithmetic can do, against their references.
#include <gtest/gtest.h>

#include "kernels/operations/fma/fma.h"
#include "kernels/operations/stream/stream.h"
#include "run_operation.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

template <class Spec>
void expect_cpu_like_reference(const Spec& spec, double tolerance) {
  const auto reference = make_operation(spec, testing::cpu(), "reference");
  const auto cpu = make_operation(spec, testing::cpu());
  ASSERT_EQ(cpu->algorithm(), "cpu");
  const testing::Values inputs = testing::inputs_for(*reference, Dtype::fp32);
  EXPECT_TRUE(testing::close_to(testing::run_operation(*reference, inputs),
                                testing::run_operation(*cpu, inputs), tolerance));
  EXPECT_EQ(cpu->flops(), reference->flops());
}

class StreamKinds : public ::testing::TestWithParam<Stream::Kind> {};

TEST_P(StreamKinds, AreLikeTheReferenceAtOddSizes) {
  for (const std::int64_t rows : {1, 3}) {
    for (const std::int64_t count : {1, 7, 63, 64, 65, 1000, 1 << 20, (1 << 20) + 5}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << count);
      expect_cpu_like_reference(Stream{.kind = GetParam(), .rows = rows, .count = count}, 1e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, StreamKinds,
                         ::testing::Values(Stream::Kind::copy, Stream::Kind::scale, Stream::Kind::add,
                                           Stream::Kind::triad, Stream::Kind::read));

// By hand: 2 and 3 in, kScalar = 3/4.
TEST(Stream, DoesWhatItsNameSays) {
  const auto result = [](Stream::Kind kind) {
    const Stream spec{.kind = kind, .rows = 1, .count = 1};
    const auto operation = make_operation(spec, testing::cpu());
    testing::Values inputs{{Slot::src, {2}}};
    if (spec.has_src1()) {
      inputs[Slot::src1] = {3};
    }
    return testing::run_operation(*operation, inputs).at(Slot::dst).front();
  };
  EXPECT_EQ(result(Stream::Kind::copy), 2);
  EXPECT_EQ(result(Stream::Kind::scale), 1.5F);
  EXPECT_EQ(result(Stream::Kind::add), 5);
  EXPECT_EQ(result(Stream::Kind::triad), 4.25F);
  EXPECT_EQ(result(Stream::Kind::read), 4);
}

// STREAM's own counts: bytes moved are those of the slots, two or three arrays.
TEST(Stream, CountsBytesAndOperations) {
  const auto bytes = [](Stream::Kind kind) {
    const auto operation = make_operation(Stream{.kind = kind, .rows = 2, .count = 100}, testing::cpu());
    std::int64_t sum = 0;
    for (const SlotInfo& slot : operation->slots()) {
      sum += slot.bytes;
    }
    return sum;
  };
  EXPECT_EQ(bytes(Stream::Kind::copy), 2 * 2 * 400);
  EXPECT_EQ(bytes(Stream::Kind::triad), 3 * 2 * 400);
  EXPECT_EQ(bytes(Stream::Kind::read), 2 * 400 + 2 * 4);
  EXPECT_EQ((Stream{.kind = Stream::Kind::copy, .rows = 2, .count = 100}).flops(), 0);
  EXPECT_EQ((Stream{.kind = Stream::Kind::scale, .rows = 2, .count = 100}).flops(), 200);
  EXPECT_EQ((Stream{.kind = Stream::Kind::triad, .rows = 2, .count = 100}).flops(), 400);
}

TEST(Fma, IsLikeTheReferenceAtOddSizes) {
  for (const std::int64_t count : {1, 255, 256, 257, 5000}) {
    for (const std::int64_t steps : {1, 2, 64, 1000}) {
      SCOPED_TRACE(::testing::Message() << count << " elements, " << steps << " steps");
      expect_cpu_like_reference(Fma{.rows = 2, .count = count, .steps = steps}, 1e-5);
    }
  }
}

// x → 127/128 · x + 1/128 leads to 1, from wherever it starts.
TEST(Fma, EndsAtItsFixedPoint) {
  const auto operation = make_operation(Fma{.rows = 1, .count = 2, .steps = 20'000}, testing::cpu());
  const auto result = testing::run_operation(*operation, {{Slot::src, {-5, 40}}}).at(Slot::dst);
  EXPECT_NEAR(result[0], 1, 1e-4);
  EXPECT_NEAR(result[1], 1, 1e-4);
  EXPECT_EQ((Fma{.rows = 3, .count = 5, .steps = 7}).flops(), 210);
}

// The reference solves the recurrence; here it is gone through, from 3: 127/128 · 3 + 1/128 = 382/128, …
TEST(Fma, TheReferenceDoesEveryStep) {
  for (const std::int64_t steps : {1, 2, 7, 300}) {
    const Fma spec{.rows = 1, .count = 1, .steps = steps};
    const auto operation = make_operation(spec, testing::cpu(), "reference");
    double x = 3;
    for (std::int64_t step = 0; step < steps; ++step) {
      x = (127 * x + 1) / 128;
    }
    EXPECT_NEAR(testing::run_operation(*operation, {{Slot::src, {3}}}).at(Slot::dst)[0], x, 1e-6);
  }
}

// By hand: a row of two elements, a tile of zeros but for them. dst[c] = steps · (2 · M[0][c] + 3 · M[1][c])
// with M[0][0] = -15, M[0][1] = -9, M[1][0] = -1 and M[1][1] = 5, all over 512.
TEST(Fma, TilesAreMultipliedByTheMatrix) {
  const Fma spec{.rows = 1, .count = 2, .steps = 4, .kind = Fma::Kind::tiles};
  const auto operation = make_operation(spec, testing::cpu(), "reference");
  const auto result = testing::run_operation(*operation, {{Slot::src, {2, 3}}}).at(Slot::dst);
  EXPECT_EQ(result[0], 4 * (2 * -15 + 3 * -1) / 512.0F);
  EXPECT_EQ(result[1], 4 * (2 * -9 + 3 * 5) / 512.0F);
  EXPECT_EQ(spec.flops(), 4 * 2 * 16 * 2);
}

TEST(Fma, TheCpuHasNoTensorCores) {
  try {
    make_operation(Fma{.dtype = Dtype::bf16, .kind = Fma::Kind::tiles}, testing::cpu());
    FAIL() << "the CPU has no tensor cores";
  } catch (const Unsupported& error) {
    expect_words(error.what());
  }
}

TEST(Fma, OtherDtypesAreRefusedWithAReason) {
  EXPECT_THROW(make_operation(Fma{.dtype = Dtype::bf16}, testing::cpu()), Unsupported);
  EXPECT_THROW(make_operation(Stream{.dtype = Dtype::bf16}, testing::cpu()), Unsupported);
}

}  // namespace
}  // namespace bench::kernels
