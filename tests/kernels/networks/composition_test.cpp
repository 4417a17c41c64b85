// What `bench inspect` counts.
#include "kernels/workloads/network/composition.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "bench/registry.h"

namespace bench::kernels {
namespace {

Composition composition(const std::string& network, const std::string& mode, Dtype dtype = Dtype::fp32) {
  const auto device = registry<DeviceKind>().find("cpu")->open("cpu");
  return registry<WorkloadType>()
      .find(network)
      ->configure({.mode = mode, .dtype = dtype, .options = {}})
      ->composition(*device)
      .value();
}

const OperationShare* find(const Composition& composition, const std::string& kind) {
  const auto at = std::ranges::find(composition.operations, kind, &OperationShare::kind);
  return at == composition.operations.end() ? nullptr : &*at;
}

// He et al. 2016: 20 convolutions, a linear layer and a residual sum in each of 8 blocks; 11.69 M parameters
// and 1.81 G multiply-adds; timm's table has 2.48 M activations.
TEST(Composition, OfResNet18InInference) {
  const Composition all = composition("resnet18", "infer");
  EXPECT_EQ(all.parameters, 11'689'512);
  EXPECT_EQ(all.statistics, 2 * 4800);
  EXPECT_NEAR(all.macs, 1.814e9, 1e6);
  EXPECT_NEAR(all.activations, 2.48e6, 0.01e6);
  ASSERT_NE(find(all, "conv2d"), nullptr);
  EXPECT_EQ(find(all, "conv2d")->count, 20);
  EXPECT_EQ(find(all, "linear")->count, 1);
  EXPECT_EQ(find(all, "linear")->macs, 512 * 1000);
  for (const char* const fused : {"batch_norm", "add", "activation", "step"}) {
    EXPECT_EQ(find(all, fused), nullptr) << fused;
  }
  const double macs =
      std::accumulate(all.operations.begin(), all.operations.end(), 0.0,
                      [](double sum, const OperationShare& share) { return sum + share.macs; });
  EXPECT_EQ(macs, all.macs);
  EXPECT_TRUE(std::ranges::is_sorted(all.operations, std::ranges::greater(), &OperationShare::macs));
  // Weights in fp32 once, at least.
  EXPECT_GE(find(all, "linear")->bytes, 512 * 1000 * 4);
}

TEST(Composition, OfTrainingHasTheLayersThatInferenceFoldsAndTheStep) {
  const Composition all = composition("resnet18", "train");
  EXPECT_EQ(find(all, "batch_norm")->count, 20);
  EXPECT_EQ(find(all, "add")->count, 8);
  EXPECT_GT(find(all, "step")->count, 0);
  EXPECT_EQ(all.parameters, 11'689'512);
  EXPECT_GT(find(all, "conv2d")->bytes, find(composition("resnet18", "infer"), "conv2d")->bytes);
}

// The processor has no fp16: there is no step, but the network is what it is.
TEST(Composition, CountsWithoutAPlan) {
  const Composition all = composition("resnet18", "train", Dtype::fp16);
  EXPECT_THAT(all.operations, ::testing::IsEmpty());
  EXPECT_EQ(all.parameters, 11'689'512);
  EXPECT_NEAR(all.macs, 1.814e9, 1e6);
}

}  // namespace
}  // namespace bench::kernels
