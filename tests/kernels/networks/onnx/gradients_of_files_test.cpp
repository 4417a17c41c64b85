// Gradients of imported networks: tensor by tensor against the reference's at a small size, where the layers
// take one, and else against differences of the loss.
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

#include "bench/error.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/train.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/network_files.h"

namespace bench::kernels::onnx {
namespace {

using Layers = bench::kernels::Graph;

class GradientsOfFiles : public NetworkTest, public ::testing::WithParamInterface<std::string> {
 protected:
  static NetworkPoint point_of(Layers graph, std::int64_t batch) {
    return read_point(
        std::move(graph),
        WorkloadSpec{.mode = "train", .dtype = Dtype::fp32, .batch = batch, .seed = 1, .options = {}});
  }
  void expect_like_the_reference(const Layers& graph) {
    const Verification found = GradientReference().compare(point_of(graph, 2), *device_);
    EXPECT_TRUE(found.passed) << found.error << ", " << found.detail << found.not_checked;
  }
  void expect_like_differences(const Layers& graph) {
    const NetworkPoint point = point_of(graph, 2);
    Trainer trainer(plan_training(point, *device_), *device_, point.seed);
    set_seeded_batch(trainer, point.seed);
    const SlopeCheck found = check_slopes(trainer, point.seed);
    EXPECT_EQ(found.outcome, SlopeCheck::Outcome::right)
        << found.by_gradient << " by the gradient, " << found.by_differences << " by differences";
  }
};

TEST_P(GradientsOfFiles, AreThoseOfTheLoss) {
  const TestedNetwork network = tested_network(GetParam());
  if (const auto reason = why_not_trained(network.graph)) {
    GTEST_SKIP() << *reason;
  }
  if (network.is_small) {
    expect_like_the_reference(network.graph);
  } else {
    expect_like_differences(network.graph);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, GradientsOfFiles,
                         ::testing::ValuesIn(network_files({"resnet18", "resnet50_op13bn", "efficientnet_b0",
                                                            "tv_mobilenet_v3_large", "cspresnet50", "dla34",
                                                            "light_bvlc_alexnet", "light_squeezenet",
                                                            "dyn_distilbert-base", "dyn_convnext_tiny",
                                                            "dyn_swin_tiny_patch4_window7_224"})),
                         file_label);

}  // namespace
}  // namespace bench::kernels::onnx
