// What is left of the candidates once they are built, on made-up plans.
#include "kernels/cudnn/candidates.h"

#include <gmock/gmock.h>

#include <map>

namespace bench::kernels::cudnn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Plans by the workspace that they want when built; those that are missing cannot be.
class BuildablePlans final : public Plans {
 public:
  explicit BuildablePlans(std::map<std::size_t, std::int64_t> wanted) : wanted_(std::move(wanted)) {}
  std::span<const Plan> list() const override { return {}; }
  std::string name(std::size_t /*plan*/) const override { return ""; }
  std::optional<std::int64_t> build(std::size_t plan) override {
    tried_.push_back(plan);
    const auto at = wanted_.find(plan);
    return at == wanted_.end() ? std::nullopt : std::optional(at->second);
  }
  std::string last_refusal() const override { return ""; }
  void run(std::size_t /*plan*/, CUstream_st* /*stream*/, const Arguments& /*arguments*/) override {}
  const std::vector<std::size_t>& tried() const { return tried_; }

 private:
  std::map<std::size_t, std::int64_t> wanted_;
  std::vector<std::size_t> tried_;
};

// Builds plans 0, 1 and 2, and 3 in reserve, with 100 B of workspace; returns those left.
std::vector<std::size_t> left_of(const std::shared_ptr<BuildablePlans>& plans) {
  std::vector<Candidate> candidates;
  for (const std::size_t plan : {0, 1, 2, 3}) {
    candidates.push_back({.plans = plans, .plan = plan, .bare = false, .reserve = plan == 3});
  }
  build(candidates, 100);
  std::vector<std::size_t> left;
  for (const Candidate& candidate : candidates) {
    left.push_back(candidate.plan);
  }
  return left;
}

TEST(CudnnCandidates, KeepWhatCanBeBuiltWithinThePlannedWorkspace) {
  const auto plans =
      std::make_shared<BuildablePlans>(std::map<std::size_t, std::int64_t>{{0, 101}, {2, 100}, {3, 0}});
  EXPECT_THAT(left_of(plans), ElementsAre(2));
  EXPECT_THAT(plans->tried(), ElementsAre(0, 1, 2));  // the reserve is not even built
}

TEST(CudnnCandidates, FallBackOnTheReserve) {
  const auto plans = std::make_shared<BuildablePlans>(std::map<std::size_t, std::int64_t>{{1, 500}, {3, 7}});
  EXPECT_THAT(left_of(plans), ElementsAre(3));
  EXPECT_THAT(left_of(std::make_shared<BuildablePlans>(std::map<std::size_t, std::int64_t>{{3, 101}})),
              IsEmpty());
}

}  // namespace
}  // namespace bench::kernels::cudnn
