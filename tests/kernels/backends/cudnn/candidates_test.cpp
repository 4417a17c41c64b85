// Candidates that are left once they have been built, on made-up plans.
#include "kernels/backends/cudnn/candidates.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "bench/error.h"

namespace bench::kernels::cudnn {
namespace {

using ::testing::ElementsAre;

// Plans by the workspace that they want when built; those that are missing cannot be.
class BuildablePlans final : public Plans {
 public:
  explicit BuildablePlans(std::map<std::size_t, std::int64_t> wanted) : wanted_(std::move(wanted)) {}
  std::span<const Plan> list() const override { return {}; }
  std::string name(std::size_t /*plan*/) const override { return ""; }
  std::optional<std::int64_t> build(std::size_t plan) override {
    tried_.push_back(plan);
    if (lack_memory.contains(plan)) {
      throw OutOfMemory("plan " + std::to_string(plan) + " found no memory", 0);
    }
    const auto at = wanted_.find(plan);
    if (at == wanted_.end()) {
      refusal_ = "no plan " + std::to_string(plan) + " here";
      return std::nullopt;
    }
    return at->second;
  }
  std::string last_refusal() const override { return refusal_; }
  void run(std::size_t /*plan*/, CUstream_st* /*stream*/, const PlanArguments& /*arguments*/) override {}
  const std::vector<std::size_t>& tried() const { return tried_; }

  std::set<std::size_t> lack_memory;

 private:
  std::map<std::size_t, std::int64_t> wanted_;
  std::vector<std::size_t> tried_;
  std::string refusal_;
};

std::shared_ptr<BuildablePlans> plans_of(std::map<std::size_t, std::int64_t> wanted) {
  return std::make_shared<BuildablePlans>(std::move(wanted));
}

// Plans 0, 1 and 2, and 3 in reserve.
std::vector<Candidate> candidates_of(const std::shared_ptr<BuildablePlans>& plans) {
  std::vector<Candidate> candidates;
  for (const std::size_t plan : {0, 1, 2, 3}) {
    candidates.push_back({.plans = plans, .plan = plan, .bare = false, .reserve = plan == 3});
  }
  return candidates;
}

std::vector<std::size_t> plans_in(const std::vector<Candidate>& candidates) {
  std::vector<std::size_t> plans;
  for (const Candidate& candidate : candidates) {
    plans.push_back(candidate.plan);
  }
  return plans;
}

// With 100 B of workspace.
std::vector<std::size_t> left_of(const std::shared_ptr<BuildablePlans>& plans) {
  return plans_in(prepared(candidates_of(plans), 100, "a convolution"));
}

std::string refusal_of(const std::shared_ptr<BuildablePlans>& plans) {
  try {
    left_of(plans);
    return "";
  } catch (const Unsupported& error) {
    return error.what();
  }
}

TEST(CudnnCandidates, KeepWhatCanBeBuiltWithinThePlannedWorkspace) {
  const auto plans = plans_of({{0, 101}, {2, 100}, {3, 0}});
  EXPECT_THAT(left_of(plans), ElementsAre(2));
  EXPECT_THAT(plans->tried(), ElementsAre(0, 1, 2));  // the reserve is not even built
}

TEST(CudnnCandidates, FallBackOnTheReserve) {
  EXPECT_THAT(left_of(plans_of({{1, 500}, {3, 7}})), ElementsAre(3));
}

TEST(CudnnCandidates, WhereNoneIsLeftSayWhy) {
  EXPECT_EQ(
      refusal_of(plans_of({})),
      "cuDNN could build none of its plans for a convolution in the planned 100 B of workspace: no plan 3 "
      "here");
  EXPECT_EQ(refusal_of(plans_of({{0, 101}, {1, 101}, {2, 101}, {3, 101}})),
            "cuDNN could build none of its plans for a convolution in the planned 100 B of workspace");
}

// They are shared by all who ask for the same convolution, and what failed may have been for want of memory.
TEST(CudnnCandidates, StayAsTheyWereWhereTheyFailAndMayBeTriedAgain) {
  const auto plans = plans_of({{0, 0}, {1, 101}});
  const std::vector<Candidate> candidates = candidates_of(plans);
  plans->lack_memory = {0};
  EXPECT_THROW(prepared(candidates, 100, "a convolution"), OutOfMemory);
  EXPECT_THAT(plans_in(candidates), ElementsAre(0, 1, 2, 3));
  plans->lack_memory = {};
  EXPECT_THAT(plans_in(prepared(candidates, 100, "a convolution")), ElementsAre(0));
}

TEST(CudnnCandidates, DoWithoutAPlanThatLacksMemory) {
  const auto plans = plans_of({{0, 0}, {1, 0}, {3, 0}});
  plans->lack_memory = {0};
  EXPECT_THAT(left_of(plans), ElementsAre(1));
  plans->lack_memory = {0, 1};
  EXPECT_THAT(left_of(plans), ElementsAre(3)) << "the reserve may take less";
  plans->lack_memory = {0, 1, 3};
  try {
    left_of(plans);
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(), "plan 3 found no memory");
  }
}

}  // namespace
}  // namespace bench::kernels::cudnn
