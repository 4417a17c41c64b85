#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/sweeps/fake_device.h"
#include "tests/sweeps/stub_workload.h"

namespace bench {
namespace {

using ::testing::ElementsAre;

class BatchPlan : public ::testing::Test {
 protected:
  BatchPlan() {
    request_.workload = &workload_;
    request_.seed = 9;
  }

  SweepPlan plan() { return registry<SweepType>().find("batch")->make(request_, device_)->plan(); }

  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const SweepPoint& point : plan().points) {
      all.push_back(point.name);
    }
    return all;
  }

  WorkloadType workload_ = testing::stub_workload(
      {"infer", "train"}, {{"image-size", "224", "pixels"}, {"ratio", "0.5", ""}, {"layout", "nhwc", ""}});
  testing::ManualClock clock_;
  SweepRequest request_{clock_};
  testing::FakeDevice device_{{Dtype::fp32, Dtype::bf16}};
};

TEST_F(BatchPlan, IsRegistered) {
  const SweepType* sweep = registry<SweepType>().find("batch");
  ASSERT_NE(sweep, nullptr);
  EXPECT_EQ(sweep->question, "Where does a larger batch stop paying, and what does it cost in memory?");
  EXPECT_EQ(sweep->default_workload, "resnet50");
}

TEST_F(BatchPlan, GrowsByPowersOfTwoInEveryDtypeOfTheDevice) {
  const SweepPlan made = plan();
  EXPECT_TRUE(made.open_ended);
  ASSERT_EQ(made.points.size(), 34U);
  EXPECT_EQ(made.points[0].name, "batch/tiny/infer/fp32/batch:1");
  EXPECT_EQ(made.points[16].name, "batch/tiny/infer/fp32/batch:65536");
  EXPECT_EQ(made.points[17].name, "batch/tiny/infer/bf16/batch:1");
  EXPECT_EQ(made.points[0].series, "fp32");
  EXPECT_EQ(made.points[17].series, "bf16");
  EXPECT_EQ(made.axes["dtype"], (Json{"fp32", "bf16"}));
  EXPECT_EQ(made.axes["batch"].size(), 17U);
}

TEST_F(BatchPlan, TakesTheNamedBatchesInGrowingOrder) {
  request_.batches = {8, 2};
  request_.dtypes = {Dtype::fp32};
  EXPECT_FALSE(plan().open_ended);
  EXPECT_THAT(names(), ElementsAre("batch/tiny/infer/fp32/batch:2", "batch/tiny/infer/fp32/batch:8"));
}

TEST_F(BatchPlan, KeepsANamedDtypeThatTheDeviceLacks) {
  request_.batches = {1};
  request_.dtypes = {Dtype::fp16};
  EXPECT_THAT(names(), ElementsAre("batch/tiny/infer/fp16/batch:1"));
}

TEST_F(BatchPlan, FallsBackToFp32OnADeviceWithNone) {
  testing::FakeDevice bare({});
  const SweepPlan made = registry<SweepType>().find("batch")->make(request_, bare)->plan();
  EXPECT_EQ(made.axes["dtype"], Json::array({"fp32"}));
}

TEST_F(BatchPlan, ConfiguresTheWorkloadOfEachPoint) {
  for (const SweepPoint& point : plan().points) {
    EXPECT_NE(point.workload, nullptr) << point.name;
  }
}

TEST_F(BatchPlan, FillsTheSpecAndKeepsNumbersAsNumbers) {
  request_.batches = {4};
  request_.modes = {"train"};
  request_.workload_options = {{"image-size", {"64"}}};
  const SweepPoint point = plan().points.front();
  EXPECT_EQ(point.spec.mode, "train");
  EXPECT_EQ(point.spec.batch, 4);
  EXPECT_EQ(point.spec.dtype, Dtype::fp32);
  EXPECT_EQ(point.spec.seed, 9U);
  EXPECT_EQ(point.spec.options,
            (std::map<std::string, std::string>{{"image-size", "64"}, {"ratio", "0.5"}, {"layout", "nhwc"}}));
  EXPECT_EQ(point.params, Json::parse(R"({"batch": 4, "dtype": "fp32", "mode": "train", "workload": "tiny",
                                          "image-size": 64, "layout": "nhwc", "ratio": 0.5})"));
}

TEST_F(BatchPlan, ParamsThatOnlyLookLikeNumbersStayText) {
  workload_.options = {
      {"a", "3x3", ""}, {"b", "", ""}, {"c", "nan", ""}, {"d", "-2", ""}, {"e", "1e999", ""}};
  const Json params = plan().points.front().params;
  EXPECT_EQ(params["a"], "3x3");
  EXPECT_EQ(params["b"], "");
  EXPECT_EQ(params["c"], "nan");
  EXPECT_EQ(params["d"], -2);
  EXPECT_EQ(params["e"], "1e999");
}

TEST_F(BatchPlan, LeavesOutOptionsOfOtherModes) {
  workload_.options.push_back({"optimizer", "sgd", "", "train"});
  EXPECT_FALSE(plan().points.front().params.contains("optimizer"));
  request_.modes = {"train"};
  EXPECT_EQ(plan().points.front().params["optimizer"], "sgd");
}

// A device whose peaks take that long.
class SlowPeaks final : public testing::FakeDevice {
 public:
  SlowPeaks(testing::ManualClock& clock, std::chrono::nanoseconds each)
      : FakeDevice({Dtype::fp32, Dtype::bf16, Dtype::fp16}), clock_(clock), each_(each) {}
  Peaks peaks(Dtype) override {
    clock_.advance(each_);
    return {.flops_per_s = 1, .bytes_per_s = 1, .source = ""};
  }

 private:
  testing::ManualClock& clock_;
  std::chrono::nanoseconds each_;
};

// As on a busy machine.
TEST_F(BatchPlan, PeaksTakeAFifthOfTheTimeBudgetAtMost) {
  using std::chrono::milliseconds;
  const auto measured = [&](milliseconds budget, milliseconds each) {
    SlowPeaks device(clock_, each);
    const auto sweep = registry<SweepType>().find("batch")->make(request_, device);
    ResultDocument document;
    const Clock::time_point start = clock_.now();
    SweepStudy study{.request = request_,
                     .plan = sweep->plan(),
                     .device = device,
                     .document = document,
                     .report = [](const std::string&) {},
                     .save = [] {},
                     .left_ns =
                         [&] {
                           return static_cast<double>(std::chrono::nanoseconds(budget).count()) -
                                  clock_.since_ns(start);
                         },
                     .leave_out = [](std::chrono::nanoseconds) {},
                     .interrupted = [] { return false; },
                     .lost = document.sweep.lost};
    sweep->prepare(study);
    return document.context.peaks.size();
  };
  EXPECT_EQ(measured(milliseconds(10'000), milliseconds(400)), 3U);
  EXPECT_EQ(measured(milliseconds(10'000), milliseconds(900)), 2U);
  EXPECT_EQ(measured(milliseconds(10'000), milliseconds(3'000)), 1U);
  EXPECT_EQ(measured(milliseconds(1'000), milliseconds(400)), 0U);
}

}  // namespace
}  // namespace bench
