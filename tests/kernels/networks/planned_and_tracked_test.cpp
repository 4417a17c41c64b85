// A step takes what was planned, to the byte: every network, mode, dtype and optimizer, at one batch or two.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "bench/registry.h"
#include "kernels/networks/models/network.h"
#include "networks_fixture.h"

namespace bench::kernels {
namespace {

class PlannedAndTracked : public NetworkTest, public testing::WithParamInterface<std::string> {
 protected:
  WorkloadSpec wanted(std::int64_t batch, Dtype dtype, const std::string& optimizer) const {
    WorkloadSpec wanted;
    wanted.batch = batch;
    wanted.dtype = dtype;
    wanted.seed = 1;
    wanted.mode = optimizer.empty() ? "infer" : "train";
    if (!optimizer.empty()) {
      wanted.options["optimizer"] = optimizer;
    }
    wanted.options["image-size"] = GetParam() == "unet" ? "32" : "64";  // unet computes most at its full size
    return wanted;
  }

  void expect_equal(const WorkloadSpec& spec) {
    const WorkloadType& type = *registry<WorkloadType>().find(GetParam());
    SCOPED_TRACE(fmt::format("{} {} batch {} {}", spec.mode, name_of(spec.dtype), spec.batch,
                             spec.mode == "train" ? spec.options.at("optimizer") : ""));
    ASSERT_FALSE(type.configure(spec)->unsupported(*device_)) << *type.configure(spec)->unsupported(*device_);
    const MemoryPlan plan = type.configure(spec)->plan(*device_);
    device_->memory().reset_peak();
    type.configure(spec)->make(*device_)->step();
    EXPECT_EQ(device_->memory().peak(), plan.peak);
    EXPECT_EQ(device_->memory().at_peak(), plan.at_peak);
  }
};

std::vector<std::string> networks_of_images() {
  std::vector<std::string> names;
  for (const auto& network : registry<NetworkType>().entries()) {
    if (network->reads_images()) {
      names.push_back(network->name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Networks, PlannedAndTracked, testing::ValuesIn(networks_of_images()),
                         [](const auto& tested) { return tested.param; });

TEST_P(PlannedAndTracked, AreTheSame) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    if (device_->unsupported(dtype)) {
      continue;
    }
    // An optimizer's state does not depend on the batch. Parameters of more than 200 MB take long to draw.
    constexpr std::int64_t kMany = 50'000'000;
    if (registry<NetworkType>().find(GetParam())->published_parameters > kMany) {
      expect_equal(wanted(2, dtype, ""));
      expect_equal(wanted(3, dtype, dtype == Dtype::fp32 ? "adam" : "sgd"));
      continue;
    }
    expect_equal(wanted(2, dtype, ""));
    expect_equal(wanted(3, dtype, ""));
    expect_equal(wanted(3, dtype, "adam"));
    expect_equal(wanted(2, dtype, "momentum"));
    expect_equal(wanted(3, dtype, "sgd"));
  }
}

}  // namespace
}  // namespace bench::kernels
