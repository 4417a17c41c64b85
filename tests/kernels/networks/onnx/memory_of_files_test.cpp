// A step of an imported network takes what was planned, to the byte.
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/train.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/network_files.h"

namespace bench::kernels::onnx {
namespace {

using Layers = bench::kernels::Graph;

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
  const bool whole = std::getenv("BENCH_ONNX_FOLDER") != nullptr;
  const Layers graph = whole ? import_network(GetParam(), {}).graph : tested_network(GetParam()).graph;
  const WorkloadType type = network_workload(NetworkSource{
      .name = "tested", .description = "", .options = {}, .build = [&](const WorkloadSpec& /*spec*/) {
        return graph;
      }});
  expect_planned(type, "infer", whole ? 1 : 2);
  if (!why_not_trained(graph)) {
    expect_planned(type, "train", 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, MemoryOfFiles,
                         ::testing::ValuesIn(network_files(
                             {"efficientnet_b0", "cspresnet50", "light_squeezenet", "light_bvlc_alexnet",
                              "dyn_distilbert-base", "dyn_swin_tiny_patch4_window7_224"})),
                         file_label);

}  // namespace
}  // namespace bench::kernels::onnx
