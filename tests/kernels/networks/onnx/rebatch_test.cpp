#include "kernels/networks/onnx/constants/rebatch.h"

#include <gtest/gtest.h>

#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {
namespace {

constexpr Extent operator""_b(unsigned long long size) {  // so many for each sample
  return {static_cast<std::int64_t>(size), true};
}

// What a Reshape to plain numbers makes of dimensions.
Extents to(const Extents& in, const std::vector<double>& target, std::int64_t file_batch = 1) {
  std::vector<Number> numbers;
  for (const double size : target) {
    numbers.push_back({size, 0});
  }
  return reshaped(in, numbers, false, file_batch);
}

TEST(Rebind, FindsTheBatchInPlainNumbers) {
  EXPECT_EQ(to({1_b, 512, 7, 7}, {1, 25088}), (Extents{1_b, 25088}));
  EXPECT_EQ(to({1_b, 512, 7, 7}, {1, -1}), (Extents{1_b, 25088}));
  EXPECT_EQ(to({1_b, 197, 768}, {-1, 768}), (Extents{197_b, 768}));
  EXPECT_EQ(to({1_b, 197, 768}, {0, 0, 12, 64}), (Extents{1_b, 197, 12, 64}));
  EXPECT_EQ(to({197_b, 768}, {-1, 197, 768}), (Extents{1_b, 197, 768}));
  EXPECT_EQ(to({1_b, 8, 7, 8, 7, 96}, {64, 49, 96}), (Extents{64_b, 7 * 7, 96}));
  EXPECT_EQ(to({64_b, 49, 96}, {1, 8, 8, 7, 7, 96}), (Extents{1_b, 8, 8, 7, 7, 96}));
  EXPECT_EQ(to({64_b, 3, 49, 49}, {1, 64, 3, 49, 49}), (Extents{1_b, 64, 3, 49, 49}));
}

TEST(Rebind, FindsTheBatchBehindOtherDimensions) {
  EXPECT_EQ(to({49, 1_b, 768}, {49, 12, 64}), (Extents{49, 12_b, 64}));
  EXPECT_EQ(to({1, 1_b, 768}, {1, 12, 64}), (Extents{1, 12_b, 64}));
  EXPECT_EQ(to({1, 1_b, 768}, {-1, 12, 64}), (Extents{1_b, 12, 64}));
  EXPECT_EQ(to({3, 1_b, 4, 5}, {3, 4, 5}), (Extents{3, 4_b, 5}));
  // Rows stay rows.
  EXPECT_EQ(to({49, 1_b, 768}, {49, 768}), (Extents{49_b, 768}));
  EXPECT_EQ(to({49, 1_b, 768}, {-1, 768}), (Extents{49_b, 768}));
  EXPECT_EQ(to({12, 4_b, 16}, {12, 64}), (Extents{12_b, 64}));
  EXPECT_EQ(to({4, 1_b, 6, 5}, {4, -1}), (Extents{4, 30_b}));
}

TEST(Rebind, TakesTheBatchOfTheFileOut) {
  EXPECT_EQ(to({1_b, 6, 4}, {4, 24}, 4), (Extents{1_b, 24}));
  EXPECT_EQ(to({1_b, 6, 4}, {-1, 4}, 4), (Extents{6_b, 4}));
  // Numbers of an export at another batch than the input's says.
  EXPECT_EQ(to({1_b, 6, 4}, {2, 24}), (Extents{1_b, 24}));
}

TEST(Rebind, KeepsWhatTheTargetSays) {
  EXPECT_EQ(reshaped({1_b, 6, 4}, {{0, 2}, {-1, 0}}, false, 1), (Extents{2_b, 12}));
  EXPECT_EQ(to({6, 4}, {-1, 8}), (Extents{3, 8}));
}

TEST(Rebind, RefusesWhatHasNoPlaceForTheBatch) {
  EXPECT_THROW(to({4, 1_b, 6}, {2, 12}), Refused);  // 2 x (2 x batch x 6)
  EXPECT_THROW(to({1_b, 6, 4}, {5, 5}), Refused);
  EXPECT_THROW(to({6, 4}, {-1, -1}), Refused);
  EXPECT_THROW(to({6, 4}, {-1, 5}), Refused);
  EXPECT_THROW(to({6, 4}, {0, 0, 0}), Refused);
  EXPECT_THROW(reshaped({6, 4}, {{0, 1}, {24, 0}}, false, 1), Refused);
}

TEST(Rebind, BroadcastsAsNumPy) {
  EXPECT_EQ(broadcast({1_b, 1, 4}, {3, 1}), (Extents{1_b, 3, 4}));
  EXPECT_EQ(broadcast({1, 4}, {1_b, 4}), (Extents{1_b, 4}));
  EXPECT_THROW(broadcast({2, 4}, {1_b, 4}), Refused);
}

}  // namespace
}  // namespace bench::kernels::onnx
