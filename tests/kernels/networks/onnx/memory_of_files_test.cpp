// A step of an imported network takes what was planned, to the byte.
#include "bench/error.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/network_files.h"

namespace bench::kernels::onnx {
namespace {

class MemoryOfFiles : public NetworkTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void expect_planned(const WorkloadType& type, const std::string& mode, std::int64_t batch) {
    SCOPED_TRACE(mode + " at batch " + std::to_string(batch));
    WorkloadSpec spec{.mode = mode, .dtype = Dtype::fp32, .batch = batch, .seed = 1, .options = {}};
    const auto configured = type.configure(spec);
    ASSERT_FALSE(configured->unsupported(*device_)) << *configured->unsupported(*device_);
    const MemoryPlan plan = configured->plan(*device_);
    device_->memory().reset_peak();
    configured->make(*device_)->step();
    EXPECT_EQ(device_->memory().peak(), plan.peak);
    EXPECT_EQ(device_->memory().at_peak(), plan.at_peak);
  }
};

TEST_P(MemoryOfFiles, IsAsPlanned) {
  const WorkloadType type = workload_of(GetParam());
  expect_planned(type, "infer", 2);
  if (!type.missing_modes.contains("train")) {
    expect_planned(type, "train", 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, MemoryOfFiles,
    ::testing::ValuesIn(network_files({"resnet18", "efficientnet_b0", "dyn_swin_tiny_patch4_window7_224",
                                       "dyn_distilbert-base", "light_squeezenet", "light_bvlc_alexnet",
                                       "cspresnet50", "tv_mobilenet_v3_large", "dyn_convnext_tiny"})),
    file_label);

}  // namespace
}  // namespace bench::kernels::onnx
