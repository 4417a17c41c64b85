// Training with joined and enlarged maps: gradients in every layout, blocks around skip connections, memory.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "../networks_fixture.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/training.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

class VisionTraining : public NetworkTest {
 protected:
  static const NetworkType& network(const std::string& name) { return *registry<NetworkType>().find(name); }
  static WorkloadSpec train_spec(std::int64_t batch, Dtype dtype, std::int64_t image_size,
                                 const char* recompute = "no") {
    WorkloadSpec all = spec(batch, dtype, image_size);
    all.mode = "train";
    all.options["recompute"] = recompute;
    return all;
  }
};

// Maps that are padded, joined three at a time, read twice, and two heads. The image may be joined where it
// is stored as the other maps are; it wants no gradient.
Graph many_maps(bool with_image) {
  Graph g({3, 11, 7});
  const auto conv = [&](const char* name, Graph::Value x, std::int64_t channels) {
    x = g.conv2d(name, x, {.channels = channels, .kernel = 3, .pad = 1, .bias = true});
    return g.leaky_relu(fmt::format("{}.leaky", name), x);
  };
  const auto a = conv("a", g.image(), 16);
  const auto same = g.max_pool("same", a, {.kernel = 2, .stride = 1, .end_pad = 1});
  const auto small = conv("b", g.max_pool("pool", same, {.kernel = 2, .stride = 2}), 32);
  std::vector<Graph::Value> maps{g.upsample("up", small), a, g.conv_transpose("patches", small, 20, 2)};
  if (with_image) {
    maps.insert(maps.begin(), g.image());
  }
  const auto fine = conv("c", g.concat("joined", maps), 10);
  g.rows("rows", {conv("d", small, 15), fine}, 5);
  return g;
}

TEST_F(VisionTraining, GradientsAreRightAndTheSameInEveryLayout) {
  for (const bool with_image : {false, true}) {
    std::vector<float> expected;
    for (const NetworkLayouts layouts :
         {NetworkLayouts{Layout::nhwc, Layout::nhwc}, NetworkLayouts{Layout::nchw, Layout::nchw},
          NetworkLayouts{Layout::nchw, Layout::nchw16c}}) {
      if (with_image && layouts.image != layouts.inner) {
        continue;
      }
      SCOPED_TRACE(fmt::format("{} {}", name_of(layouts.inner), with_image));
      const Target target{.batch = 3, .dtype = Dtype::fp32, .layouts = layouts, .implementation = {}};
      Trainer trainer(plan_training(many_maps(with_image), target, {}, *device_), *device_, 1);
      EXPECT_EQ(trainer.plan().training->rows, 3 * 5 * 3 + 2 * 11 * 7);
      std::vector<std::vector<float>> images;
      std::vector<std::int32_t> labels;
      for (std::uint64_t index = 0; index < 3; ++index) {
        images.push_back(seeded_image({3, 11, 7}, 1, index));
        for (std::int64_t row = 0; row < trainer.plan().training->rows; ++row) {
          labels.push_back(static_cast<std::int32_t>((7 * index + static_cast<std::uint64_t>(row)) % 5));
        }
      }
      trainer.set_batch(images, labels);
      EXPECT_EQ(check_slopes(trainer, 1).outcome, SlopeCheck::Outcome::right);
      trainer.run_gradients();
      std::vector<float> gradients;
      for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
        const std::vector<float> one = trainer.gradient(i);
        gradients.insert(gradients.end(), one.begin(), one.end());
      }
      if (expected.empty()) {
        expected = gradients;
      }
      EXPECT_LT(relative_error(gradients, expected), 1e-5);
    }
  }
}

TEST_F(VisionTraining, SkipConnectionsAreKeptWhenBlocksAreComputedAgain) {
  const Graph graph = network("unet").build(64);
  const std::vector<Segment> found = segments(graph);
  EXPECT_GE(found.size(), 8U);  // four levels down, four up
  std::size_t skips = 0;
  for (const Segment& segment : found) {
    for (Graph::Value value = segment.first; value < segment.last; ++value) {
      bool read_later = false;
      for (Graph::Value reader = segment.last + 1; reader < graph.nodes().size(); ++reader) {
        read_later = read_later || std::ranges::count(graph[reader].inputs, value) > 0;
      }
      EXPECT_NE(std::ranges::count(segment.inner, value) > 0, read_later) << graph[value].name;
      skips += read_later ? 1 : 0;
    }
  }
  EXPECT_EQ(skips, 4U);
  const auto activations = [&](const char* recompute) {
    return plan_training(network("unet"), train_spec(2, Dtype::fp32, 512, recompute), *device_)
        .memory()
        .at_peak[MemoryCategory::activations];
  };
  EXPECT_LT(static_cast<double>(activations("yes")), 0.7 * static_cast<double>(activations("no")));
}

// In addition to the optimizers and the batch that all networks are tested with.
TEST_F(VisionTraining, HoldsWhatWasPlannedInOtherBatchesAndWithBlocksComputedAgain) {
  for (const auto& [name, batch, image_size] : {std::tuple{"unet", 3, 38}, {"yolov3_tiny", 2, 96}}) {
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
      if (device_->unsupported(dtype)) {
        continue;
      }
      SCOPED_TRACE(fmt::format("{} {}", name, name_of(dtype)));
      const WorkloadSpec wanted = train_spec(batch, dtype, image_size, dtype == Dtype::fp32 ? "yes" : "no");
      const MemoryPlan plan = plan_training(network(name), wanted, *device_).memory();
      device_->memory().reset_peak();
      TrainWorkload workload(network(name), wanted, *device_);
      workload.step();
      EXPECT_EQ(device_->memory().peak(), plan.peak);
      EXPECT_EQ(device_->memory().at_peak(), plan.at_peak);
    }
  }
}

}  // namespace
}  // namespace bench::kernels
