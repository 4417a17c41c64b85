// Convolutions in row tiles, in a plan.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/reference.h"
#include "kernels/workloads/reference_answers.h"
#include "networks_fixture.h"

namespace bench::kernels {
namespace {

class RowTiling : public NetworkTest {
 protected:
  void SetUp() override { device_->limit_threads(2); }

  // An inverted residual of 96 channels; the first map is read twice.
  static Graph network(std::int64_t image_size) {
    Graph g({16, image_size, image_size});
    const auto x = g.conv2d("expand", g.image(), {.channels = 96, .bias = true});
    const auto y = g.conv2d("depthwise", g.relu("relu", x),
                            {.channels = 96, .kernel = 3, .pad = 1, .groups = 96, .bias = true});
    const auto first = g.conv2d("project", g.relu("relu2", y), {.channels = 16, .bias = true});
    const auto again = g.relu("relu3", g.conv2d("expand2", first, {.channels = 96, .bias = true}));
    const auto z = g.conv2d("depthwise2", again, {.channels = 96, .kernel = 3, .pad = 1, .groups = 96});
    g.add("sum", g.conv2d("project2", z, {.channels = 16, .bias = true}), first);
    return g;
  }
  ProgramPlan plan(const Graph& graph, std::int64_t batch, const std::string& implementation = {}) {
    return plan_inference(
        fuse_for_inference(graph),
        {.batch = batch, .dtype = Dtype::fp32, .layouts = {}, .implementation = implementation}, *device_);
  }
};

TEST_F(RowTiling, ComputeLargeMaps) {
  const Graph graph = network(64);
  const ProgramPlan planned = plan(graph, 2);
  const auto& instructions = planned.program.instructions();
  ASSERT_EQ(instructions.size(), 2U);  // each of them three convolutions
  EXPECT_EQ(instructions[1].layers.size(), 3U);
  EXPECT_EQ(instructions[1].in_place.over.size(), 1U);
  EXPECT_TRUE(instructions[1].operation->algorithm().starts_with("row tiles of"));
  EXPECT_EQ(planned.work().flops, plan(graph, 2, "reference").work().flops);
  // A map of 96 channels takes 3 MiB.
  EXPECT_LT(planned.placement.arena_bytes, 3 << 20);

  device_->memory().reset_peak();
  ProgramRunner runner(planned, *device_, 1);
  EXPECT_EQ(device_->memory().peak(), planned.memory().peak);
  const std::vector<Sample> samples{seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1)};
  runner.set_input(samples);
  const auto expected = reference_outputs(graph, samples, 1);
  for (int step = 0; step < 2; ++step) {
    poison_step(runner, *device_);
    runner.set_input(samples);
    runner.run();
    const Verification verified = compare_rows(runner.output(), expected, 1e-5, "the maps of a sample");
    EXPECT_TRUE(verified.passed) << verified.detail;
  }
}

TEST_F(RowTiling, LeaveSmallMaps) {
  EXPECT_EQ(plan(network(16), 2).program.instructions().size(), 6U);
}

}  // namespace
}  // namespace bench::kernels
