// Which points the kernels sweep asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "tests/sweeps/fake_device.h"

namespace bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class KernelsPlan : public ::testing::Test {
 protected:
  KernelsPlan() {
    stream_.name = "stream";
    stream_.modes = {"triad", "copy"};
    stream_.options = {{"elements", "16777216", ""}};
    gemm_.name = "gemm";
    gemm_.modes = {"forward"};
    gemm_.options = {{"inner", "1024", ""}, {"columns", "1024", ""}};
    odd_.name = "odd";
    odd_.modes = {"forward"};
    request_.workload = &gemm_;
    request_.workloads = {&stream_, &gemm_, &odd_};
    request_.workload_options = {{"inner", {"1024"}}, {"columns", {"1024"}}};
  }

  SweepPlan plan() { return registry<Sweep>().find("kernels")->plan(request_, device_); }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const SweepPoint& point : plan().points) {
      all.push_back(point.name);
    }
    return all;
  }

  WorkloadType stream_;
  WorkloadType gemm_;
  WorkloadType odd_;
  SweepRequest request_;
  testing::FakeDevice device_{{Dtype::fp32, Dtype::bf16}};
};

TEST_F(KernelsPlan, EachPointKnowsItsWorkloadAndNameOnce) {
  std::set<std::string> seen;
  for (const SweepPoint& point : plan().points) {
    EXPECT_TRUE(seen.insert(point.name).second) << point.name;
    ASSERT_NE(point.workload, nullptr);
    EXPECT_EQ(point.params.at("workload"), point.workload->name);
    EXPECT_EQ(point.params.at("caches"), point.cold ? "cold" : "hot");
    EXPECT_EQ(point.spec.options.size(), point.workload->options.size()) << point.name;
  }
}

TEST_F(KernelsPlan, HotAndColdInPairsAndDtypesWhereTheyTell) {
  EXPECT_THAT(names(), Contains("kernels/gemm/forward/bf16/cold/inner:512/columns:512/batch:512"));
  EXPECT_THAT(names(), Contains("kernels/gemm/forward/bf16/hot/inner:512/columns:512/batch:512"));
  EXPECT_THAT(names(), Contains("kernels/stream/triad/fp32/cold/elements:33554432/batch:1"));
  EXPECT_THAT(names(), Contains("kernels/stream/copy/fp32/hot/elements:33554432/batch:1"));
  EXPECT_THAT(names(), Not(Contains("kernels/stream/triad/bf16/hot/elements:33554432/batch:1")));
  EXPECT_THAT(names(), Contains("kernels/odd/forward/fp32/hot/batch:1"))
      << "what it does not know, as it comes";
}

TEST_F(KernelsPlan, TheCommandLineDecides) {
  request_.workloads = {&gemm_};
  request_.dtypes = {Dtype::fp32};
  request_.batches = {64};
  request_.workload_options["inner"] = {"1024"};  // as typed, though it is the default
  request_.given_options = {"inner"};
  EXPECT_THAT(names(), ElementsAre("kernels/gemm/forward/fp32/hot/inner:1024/columns:64/batch:64",
                                   "kernels/gemm/forward/fp32/cold/inner:1024/columns:64/batch:64"));
}

TEST_F(KernelsPlan, SizesThatTheCommandLineFixesAreOnePoint) {
  request_.workload = &stream_;
  request_.workloads = {&stream_};
  request_.workload_options = {{"elements", {"4096"}}};
  request_.given_options = {"elements"};
  request_.modes = {"triad"};
  request_.modes_given = true;
  EXPECT_THAT(names(), ElementsAre("kernels/stream/triad/fp32/hot/elements:4096/batch:1",
                                   "kernels/stream/triad/fp32/cold/elements:4096/batch:1"));
}

TEST_F(KernelsPlan, ALaunchIsOnePoint) {
  WorkloadType launch;
  launch.name = "launch";
  launch.modes = {"forward"};
  request_.workloads = {&launch};
  EXPECT_THAT(names(), ElementsAre("kernels/launch/forward/fp32/hot/batch:1"));
  EXPECT_THAT(registry<Sweep>().find("kernels")->workloads, Contains("launch"));
}

TEST_F(KernelsPlan, DtypesAndRowsOfStreamAreThoseAskedFor) {
  request_.workload = &stream_;
  request_.workloads = {&stream_};
  request_.workload_options = {{"elements", {"4096"}}};
  request_.given_options = {"elements"};
  request_.modes = {"copy"};
  request_.modes_given = true;
  request_.dtypes = {Dtype::bf16};
  request_.batches = {3};
  EXPECT_THAT(names(), ElementsAre("kernels/stream/copy/bf16/hot/elements:4096/batch:3",
                                   "kernels/stream/copy/bf16/cold/elements:4096/batch:3"));
}

}  // namespace
}  // namespace bench
