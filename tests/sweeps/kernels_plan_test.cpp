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
  std::vector<std::string> names() { return names_on(device_); }
  std::vector<std::string> names_on(Device& device) {
    std::vector<std::string> all;
    for (const SweepPoint& point : registry<Sweep>().find("kernels")->plan(request_, device).points) {
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

// Those that set the roof: memory's largest arrays, each dtype's largest product, the most multiply-adds.
TEST_F(KernelsPlan, WhatTheOthersAreJudgedByComesFirst) {
  WorkloadType fma;
  fma.name = "fma";
  fma.modes = {"forward", "tensor-cores"};
  fma.options = {{"elements", "4194304", ""}, {"steps", "64", ""}};
  request_.workloads = {&stream_, &gemm_, &odd_, &fma};
  std::vector<std::string> first;
  for (const SweepPoint& point : plan().points) {
    if (point.first) {
      first.push_back(point.name);
      for (const SweepPoint& other : plan().points) {
        EXPECT_TRUE(other.first || other.series != point.series) << point.name << ", " << other.name;
      }
    }
  }
  EXPECT_THAT(first, ElementsAre("kernels/stream/triad/fp32/cold/elements:33554432/batch:1",
                                 "kernels/stream/copy/fp32/cold/elements:33554432/batch:1",
                                 "kernels/gemm/forward/fp32/hot/inner:2048/columns:2048/batch:2048",
                                 "kernels/gemm/forward/bf16/hot/inner:2048/columns:2048/batch:2048",
                                 "kernels/fma/forward/fp32/hot/elements:4194304/steps:1024/batch:1",
                                 "kernels/fma/tensor-cores/bf16/hot/elements:4194304/steps:1024/batch:1"));
}

// It has none, and says so once; asked for, every point answers.
TEST_F(KernelsPlan, TensorCoresAreAskedOfTheCpuOnce) {
  WorkloadType fma;
  fma.name = "fma";
  fma.modes = {"forward", "tensor-cores"};
  fma.options = {{"elements", "4194304", ""}, {"steps", "64", ""}};
  request_.workload = &fma;
  request_.workloads = {&fma};
  request_.workload_options = {{"elements", {"4194304"}}, {"steps", {"64"}}};
  const auto of_tensor_cores = [this] {
    std::vector<std::string> all = names();
    std::erase_if(all,
                  [](const std::string& name) { return name.find("tensor-cores") == std::string::npos; });
    return all;
  };
  EXPECT_THAT(of_tensor_cores(),
              ElementsAre("kernels/fma/tensor-cores/bf16/hot/elements:4194304/steps:1024/batch:1"));
  request_.dtypes = {Dtype::fp32};
  EXPECT_THAT(of_tensor_cores(),
              ElementsAre("kernels/fma/tensor-cores/fp32/hot/elements:4194304/steps:1024/batch:1"));
  request_.modes = {"tensor-cores"};
  request_.modes_given = true;
  EXPECT_EQ(of_tensor_cores().size(), 6U);
}

TEST_F(KernelsPlan, ConvolutionsAreHotAndColdToo) {
  WorkloadType conv2d;
  conv2d.name = "conv2d";
  conv2d.modes = {"forward"};
  conv2d.options = {
      {"in-channels", "64", ""}, {"out-channels", "64", ""}, {"height", "56", ""}, {"width", "56", ""}};
  request_.workloads = {&conv2d};
  for (const char* caches : {"hot", "cold"}) {
    EXPECT_THAT(names(), Contains(std::string("kernels/conv2d/forward/bf16/") + caches +
                                  "/in-channels:128/out-channels:128/height:28/width:28/batch:8"));
  }
}

// On a card: over conv2d's shapes, in the dtypes that it has.
TEST_F(KernelsPlan, OurOwnConvolutionStandsBesideTheLibrarys) {
  WorkloadType own;
  own.name = "implicit_gemm";
  own.modes = {"forward"};
  own.options = {
      {"in-channels", "64", ""}, {"out-channels", "64", ""}, {"height", "56", ""}, {"width", "56", ""}};
  request_.workload = &own;
  request_.workloads = {&own};
  request_.workload_options.clear();
  EXPECT_THAT(registry<Sweep>().find("kernels")->workloads, Contains("implicit_gemm"));
  testing::FakeDevice card({Dtype::fp32, Dtype::bf16, Dtype::fp16}, "cuda");
  const auto on_card = [&] { return names_on(card); };
  EXPECT_EQ(on_card().size(), 4U * 2 * 2);
  for (const char* dtype : {"fp32", "fp16"}) {
    for (const char* caches : {"hot", "cold"}) {
      EXPECT_THAT(on_card(), Contains(std::string("kernels/implicit_gemm/forward/") + dtype + "/" + caches +
                                      "/in-channels:512/out-channels:512/height:7/width:7/batch:64"));
    }
  }
  // It has no such implementation, and says so once.
  EXPECT_THAT(names(), ElementsAre("kernels/implicit_gemm/forward/fp32/hot/in-channels:64/out-channels:64/"
                                   "height:56/width:56/batch:8"));
  request_.dtypes = {Dtype::bf16};
  EXPECT_EQ(on_card().size(), 4U * 2) << "what is asked for is answered, be it by a refusal";
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
