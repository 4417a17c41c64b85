// The points that the kernels sweep makes of what workloads offer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class NeverMade final : public ConfiguredWorkload {
 public:
  MemoryPlan plan(Device& /*device*/) const override { return {}; }
  std::unique_ptr<Workload> make(Device& /*device*/) const override { throw std::logic_error("made"); }
};

class KernelsPlan : public ::testing::Test {
 protected:
  KernelsPlan() {
    sized_.name = "sized";
    sized_.modes = {"forward", "backward"};
    sized_.options = {{"inner", "1024", ""}, {"columns", "1024", ""}};
    sized_.kernel_points = [this](const KernelRequest& request, const Device& /*device*/) {
      asked_ = request;
      std::vector<KernelPoint> points;
      for (const std::int64_t size : {512, 1024}) {
        KernelPoint point;
        point.spec = {.mode = request.modes.front(),
                      .dtype = Dtype::fp32,
                      .batch = size,
                      .seed = request.seed,
                      .options = {}};
        point.spec.options["inner"] = std::to_string(size);
        point.is_reference = size == 1024;
        points.push_back(point);
        point.cold = true;
        point.is_reference = false;
        points.push_back(point);
      }
      return points;
    };
    plain_.name = "plain";
    plain_.modes = {"forward", "backward"};
    plain_.options = {{"depth", "3", ""}};
    for (WorkloadType* type : {&sized_, &plain_}) {
      type->configure = [this](const WorkloadSpec& spec) {
        configured_.push_back(spec);
        return std::make_shared<const NeverMade>();
      };
    }
    request_.workload = &sized_;
    request_.workloads = {&sized_, &plain_};
    request_.workload_options = {{"inner", {"1024"}}, {"columns", {"1024"}}};
    request_.seed = 7;
  }

  std::unique_ptr<Sweep> make() { return registry<SweepType>().find("kernels")->make(request_, device_); }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    const auto sweep = make();
    for (const SweepPoint& point : sweep->plan().points) {
      all.push_back(point.name);
    }
    return all;
  }

  WorkloadType sized_;
  WorkloadType plain_;
  testing::ManualClock clock_;
  SweepRequest request_{clock_};
  KernelRequest asked_;
  std::vector<WorkloadSpec> configured_;
  testing::FakeDevice device_{{Dtype::fp32, Dtype::bf16}};
};

TEST_F(KernelsPlan, EachPointIsConfiguredOnceAndKnowsItsWorkload) {
  std::set<std::string> seen;
  const auto sweep = make();
  for (const SweepPoint& point : sweep->plan().points) {
    EXPECT_TRUE(seen.insert(point.name).second) << point.name;
    ASSERT_NE(point.workload, nullptr);
    EXPECT_EQ(point.params.at("caches"), point.cold ? "cold" : "hot");
    EXPECT_TRUE(point.name.starts_with("kernels/" + point.params.at("workload").get<std::string>()));
    EXPECT_EQ(point.spec.seed, 7U);
  }
  EXPECT_EQ(configured_.size(), seen.size());
  for (const WorkloadSpec& spec : configured_) {
    EXPECT_TRUE(spec.options.contains("columns") || spec.options.contains("depth"))
        << "defaults are filled in";
  }
}

TEST_F(KernelsPlan, OptionsThatAPointSetsAreInItsName) {
  request_.workloads = {&sized_};
  EXPECT_THAT(names(), ElementsAre("kernels/sized/forward/fp32/hot/inner:512/batch:512",
                                   "kernels/sized/forward/fp32/cold/inner:512/batch:512",
                                   "kernels/sized/forward/fp32/hot/inner:1024/batch:1024",
                                   "kernels/sized/forward/fp32/cold/inner:1024/batch:1024"));
}

TEST_F(KernelsPlan, AWorkloadWithoutPointsOfItsOwnHasEachModeAndDtypeHotAndCold) {
  request_.workloads = {&plain_};
  EXPECT_EQ(names().size(), 8U);
  EXPECT_THAT(names(), Contains("kernels/plain/forward/fp32/hot/batch:1"));
  EXPECT_THAT(names(), Contains("kernels/plain/backward/bf16/cold/batch:1"));
}

TEST_F(KernelsPlan, WorkloadsAreAskedForWhatTheCommandLineWants) {
  make();
  EXPECT_THAT(asked_.modes, ElementsAre("forward", "backward")) << "all of the workload's";
  EXPECT_FALSE(asked_.modes_given);
  EXPECT_THAT(asked_.dtypes, ElementsAre(Dtype::fp32, Dtype::bf16)) << "all of the device's";
  EXPECT_FALSE(asked_.dtypes_given);
  EXPECT_TRUE(asked_.batches.empty());
  request_.modes = {"backward"};
  request_.modes_given = true;
  request_.dtypes = {Dtype::fp16};
  request_.batches = {3};
  make();
  EXPECT_THAT(asked_.modes, ElementsAre("backward"));
  EXPECT_TRUE(asked_.modes_given);
  EXPECT_THAT(asked_.dtypes, ElementsAre(Dtype::fp16));
  EXPECT_TRUE(asked_.dtypes_given);
  EXPECT_THAT(asked_.batches, ElementsAre(3));
}

// Also where it gives the default.
TEST_F(KernelsPlan, TheCommandLineWins) {
  request_.workloads = {&sized_};
  request_.workload_options["inner"] = {"64"};
  request_.given_options = {"inner"};
  EXPECT_THAT(names(), Contains("kernels/sized/forward/fp32/hot/inner:64/batch:512"));
  request_.workload_options["inner"] = {"1024"};
  EXPECT_THAT(names(), Contains("kernels/sized/forward/fp32/hot/inner:1024/batch:512"));
}

TEST_F(KernelsPlan, SizesThatTheCommandLineFixesAreOnePoint) {
  sized_.kernel_points = [](const KernelRequest& /*request*/, const Device& /*device*/) {
    std::vector<KernelPoint> points(2);
    for (KernelPoint& point : points) {
      point.spec.mode = "forward";
    }
    points[0].spec.options["inner"] = "1";
    points[1].spec.options["inner"] = "2";
    return points;
  };
  request_.workloads = {&sized_};
  EXPECT_EQ(names().size(), 2U);
  request_.workload_options["inner"] = {"4096"};
  request_.given_options = {"inner"};
  EXPECT_THAT(names(), ElementsAre("kernels/sized/forward/fp32/hot/inner:4096/batch:1"));
}

// Sizes of a series grow, and reference points are timed first.
TEST_F(KernelsPlan, ReferencePointsAreASeriesOfTheirOwn) {
  const auto sweep = make();
  std::vector<std::string> references;
  for (const SweepPoint& point : sweep->plan().points) {
    if (point.is_reference) {
      references.push_back(point.name);
      for (const SweepPoint& other : sweep->plan().points) {
        EXPECT_TRUE(other.is_reference || other.series != point.series) << point.name << ", " << other.name;
      }
    }
  }
  EXPECT_THAT(references, ElementsAre("kernels/sized/forward/fp32/hot/inner:1024/batch:1024"));
}

TEST_F(KernelsPlan, ReferencePointsWithoutTimeAreNamed) {
  const auto sweep = make();
  ResultDocument document;
  document.unmeasured = {{"kernels/sized/forward/fp32/hot/inner:512/batch:512", {}, "skipped", "no time"}};
  const auto incomplete = [&] {
    const std::vector<Finding> findings = sweep->findings(document);
    return std::ranges::count(findings, "roof_incomplete", &Finding::name);
  };
  EXPECT_EQ(incomplete(), 0);
  document.unmeasured.push_back(
      {"kernels/sized/forward/fp32/hot/inner:1024/batch:1024", {}, "skipped", "no time"});
  EXPECT_EQ(incomplete(), 1);
}

TEST(KernelsSweep, CoversTheWorkloadsThatOfferPoints) {
  const auto& covers = registry<SweepType>().find("kernels")->covers;
  WorkloadType workload;
  EXPECT_FALSE(covers(workload));
  workload.kernel_points = [](const KernelRequest&, const Device&) { return std::vector<KernelPoint>(); };
  EXPECT_TRUE(covers(workload));
}

}  // namespace
}  // namespace bench
