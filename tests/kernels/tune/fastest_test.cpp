// Which of several ways is the fastest, by times that are given: what is tried, how often, and what drops
// out.
#include "kernels/tune/fastest.h"

#include <gmock/gmock.h>

#include <vector>

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::Optional;

constexpr float kFails = -1;

// The milliseconds of each way's runs, the warm-up first; the last one goes on.
class Ways {
 public:
  explicit Ways(std::vector<std::vector<float>> times) : times_(std::move(times)), runs_(times_.size()) {}

  std::optional<std::size_t> fastest() {
    return fastest_of(times_.size(), [this](std::size_t way) -> std::optional<float> {
      const std::vector<float>& all = times_[way];
      const float time = all[std::min(runs_[way]++, all.size() - 1)];
      return time == kFails ? std::nullopt : std::optional(time);
    });
  }
  const std::vector<std::size_t>& runs() const { return runs_; }

 private:
  std::vector<std::vector<float>> times_;
  std::vector<std::size_t> runs_;
};

TEST(Fastest, ComparesTheShortestRunsAndNotTheWarmUps) {
  Ways ways({{1, 5, 4, 6}, {90, 5, 3, 6}, {0.5F, 4}});
  EXPECT_THAT(ways.fastest(), Optional(Eq(1U)));
  EXPECT_THAT(ways.runs(), ElementsAre(6, 6, 6));
}

TEST(Fastest, SpendsLittleOnWhatIsFarBehind) {
  Ways ways({{9, 2}, {9, 5}, {9, 1.9F}});
  EXPECT_THAT(ways.fastest(), Optional(Eq(2U)));
  EXPECT_THAT(ways.runs(), ElementsAre(6, 2, 6));
}

TEST(Fastest, LeavesOutWhatFailsInItsWarmUpOrLater) {
  Ways ways({{kFails}, {9, 1, 1, kFails}, {9, 7}});
  EXPECT_THAT(ways.fastest(), Optional(Eq(2U)));
  EXPECT_THAT(ways.runs(), ElementsAre(1, 4, 6));
}

TEST(Fastest, IsNoneWhereAllFail) {
  EXPECT_EQ(Ways({{kFails}, {1, kFails}}).fastest(), std::nullopt);
  EXPECT_EQ(Ways({}).fastest(), std::nullopt);
}

}  // namespace
}  // namespace bench::kernels::cuda
