#include "kernels/networks/plan.h"

#include <gtest/gtest.h>

#include <map>

#include "bench/registry.h"
#include "kernels/networks/arena.h"
#include "kernels/networks/budget.h"
#include "kernels/networks/fuse.h"
#include "kernels/networks/infer.h"
#include "tests/kernels/networks/networks_fixture.h"

namespace bench::kernels {
namespace {

class Plan : public NetworkTest {};

TEST_F(Plan, AllocatesNothing) {
  for (const char* network : {"resnet50", "mobilenet_v2"}) {
    const NetworkPlan plan =
        plan_inference(*registry<NetworkType>().find(network), spec(8, Dtype::fp32, 64), *device_);
    EXPECT_GT(plan.memory().peak, 0);
    EXPECT_EQ(device_->memory().peak(), 0);
  }
}

TEST_F(Plan, CategoriesSumToThePeak) {
  const NetworkPlan plan =
      plan_inference(*registry<NetworkType>().find("resnet50"), spec(4, Dtype::fp32, 224), *device_);
  const MemoryPlan memory = plan.memory();
  EXPECT_EQ(memory.at_peak.total(), memory.peak);
  EXPECT_GE(memory.at_peak[MemoryCategory::weights],
            25'503'912 * 4);  // all but the norms' parameters, which are folded
  EXPECT_EQ(memory.at_peak[MemoryCategory::input], 4 * 3 * 224 * 224 * 4);
  EXPECT_EQ(memory.at_peak[MemoryCategory::gradients], 0);
}

TEST_F(Plan, EqualLayersShareADescription) {
  const NetworkPlan plan =
      plan_inference(*registry<NetworkType>().find("resnet50"), spec(1, Dtype::fp32, 224), *device_);
  std::map<Operation*, int> uses;
  for (const PlannedStep& step : plan.steps) {
    ++uses[step.operation.get()];
  }
  EXPECT_EQ(plan.steps.size(), 56U);  // 53 convolutions, two pools, one linear layer
  EXPECT_LT(uses.size(), 40U);
}

TEST_F(Plan, ArenaIsNearTheMostThatLivesAtOnce) {
  // The widest moment of ResNet-50: layer2.0.conv3 reads 128x28x28, writes 512x28x28 and the shortcut's
  // 256x56x56 waits; or the stem's 64x112x112 beside its pooled 64x56x56.
  const std::int64_t bound = (256 * 56 * 56 + 128 * 56 * 56 + 128 * 28 * 28) * 4;
  Target target;
  target.implementation = "reference";  // has no scratch, of which a fast algorithm books more than it writes
  const NetworkPlan plan = plan_network(
      fuse_for_inference(registry<NetworkType>().find("resnet50")->build(224)), target, *device_);
  EXPECT_GE(plan.bytes(Region::arena), bound);
  EXPECT_LE(plan.bytes(Region::arena) + plan.bytes(Region::workspace), 2 * bound);
}

// With the reference implementations, which have no choice of algorithms: one that a larger batch rules out
// may free more than the batch adds.
TEST_F(Plan, GrowsWithTheBatch) {
  for (const auto& network : registry<NetworkType>().entries()) {
    const Graph graph = fuse_for_inference(build_network(*network, spec(1, Dtype::fp32, 64)));
    MemoryPlan smaller;
    for (const std::int64_t batch : {1, 2, 3, 4, 8, 16}) {
      Target target;
      target.batch = batch;
      target.implementation = "reference";
      const MemoryPlan memory = plan_network(graph, target, *device_).memory();
      for (const auto category : {MemoryCategory::activations, MemoryCategory::input}) {
        EXPECT_GT(memory.in_step[category], smaller.in_step[category])
            << network->name << " at batch " << batch;
      }
      if (batch > 1) {
        EXPECT_EQ(memory.at_peak[MemoryCategory::weights], smaller.at_peak[MemoryCategory::weights]);
      }
      smaller = memory;
    }
  }
}

TEST_F(Plan, NothingIsOverwrittenWhileItIsStillRead) {
  for (const auto& network : registry<NetworkType>().entries()) {
    SCOPED_TRACE(network->name);
    const NetworkPlan plan = plan_inference(*network, spec(2, Dtype::fp32, 64), *device_);
    // Replays the plan: who wrote each byte range last must be whom the reader wants.
    struct Written {
      std::int64_t begin, end;
      Graph::Value layer;
    };
    std::vector<Written> memory;
    const auto write = [&](std::int64_t begin, std::int64_t bytes, Graph::Value layer) {
      std::erase_if(memory, [&](const Written& w) { return w.begin < begin + bytes && begin < w.end; });
      memory.push_back({begin, begin + bytes, layer});
    };
    constexpr Graph::Value kScratch = ~Graph::Value{0};
    const auto source = [&](Graph::Value value) {
      while (plan.graph[value].kind == LayerKind::flatten) {
        value = plan.graph[value].inputs[0];
      }
      return value;
    };
    for (const PlannedStep& step : plan.steps) {
      const Layer& layer = plan.graph[step.layer];
      for (const auto& [slot, place] : step.places) {
        const auto input = std::ranges::find(kSources, slot);
        if (input != kSources.end() && place.region == Region::arena) {
          const Graph::Value wanted =
              source(layer.inputs.at(static_cast<std::size_t>(input - kSources.begin())));
          const bool intact = std::ranges::any_of(memory, [&, offset = place.offset](const Written& w) {
            return w.layer == wanted && w.begin == offset;
          });
          EXPECT_TRUE(intact) << layer.name << " reads " << plan.graph[wanted].name;
        }
      }
      std::int64_t scratch_begin = 0;
      std::int64_t scratch_end = 0;
      for (const auto& [slot, place] : step.places) {
        if (slot == Slot::workspace && place.region == Region::arena) {
          scratch_begin = place.offset;
          scratch_end = place.offset + step.operation->find(slot)->bytes;
          for (const auto& [other, where] : step.places) {
            if ((other == Slot::src || other == Slot::src1 || other == Slot::dst) &&
                where.region == Region::arena) {
              EXPECT_FALSE(where.offset < scratch_end &&
                           scratch_begin < where.offset + step.operation->find(other)->bytes)
                  << layer.name << ": scratch lies on " << name_of(other);
            }
          }
          write(scratch_begin, scratch_end - scratch_begin, kScratch);
        }
      }
      for (const auto& [slot, place] : step.places) {
        if (slot == Slot::dst) {
          write(place.offset, step.operation->find(slot)->bytes, step.layer);
        }
      }
    }
  }
}

TEST_F(Plan, WorkCountsWhatIsDone) {
  const NetworkType& network = *registry<NetworkType>().find("resnet18");
  const Work one = plan_inference(network, spec(1, Dtype::fp32, 224), *device_).work();
  const Work four = plan_inference(network, spec(4, Dtype::fp32, 224), *device_).work();
  EXPECT_EQ(one.samples, 1);
  EXPECT_EQ(four.samples, 4);
  EXPECT_NEAR(four.sample_bytes / one.sample_bytes, 4, 1e-9);
  EXPECT_GE(one.fixed_bytes, 11.6e6 * 4);
  EXPECT_EQ(one.launches, 20 + 2 + 1);
  // Padding and Winograd only make it fewer; pooling and bias add little.
  EXPECT_LT(one.flops, 2 * 1.83e9);
  EXPECT_GT(one.flops, 0.4e9);
}

TEST_F(Plan, ExtraBytesStayInTheBudget) {
  EXPECT_EQ(extra_budget(80, 5), (ExtraBytes{.parameters = 10, .scratch = 15}));
  EXPECT_EQ(extra_budget(80, 50), (ExtraBytes{.parameters = 36, .scratch = 60}));
  const Graph graph = fuse_for_inference(registry<NetworkType>().find("resnet50")->build(224));
  Target target;
  target.layouts = layouts_for(*device_, Dtype::fp32);
  for (const std::int64_t activations : {std::int64_t{1}, std::int64_t{60'000'000}, std::int64_t{1} << 40}) {
    OperationCache cache;
    const auto granted = share_extra_bytes(graph, target, activations, *device_, cache);
    std::int64_t lean = 0;
    std::int64_t extra = 0;
    for (Graph::Value value = 0; value < graph.layers().size(); ++value) {
      if (const auto operation = lower(graph, value, target, {}, *device_, cache)) {
        lean += parameter_bytes(*operation);
        extra += parameter_bytes(*lower(graph, value, target, granted[value], *device_, cache)) -
                 parameter_bytes(*operation);
      }
    }
    EXPECT_LE(extra, extra_budget(lean, activations).parameters);
  }
}

}  // namespace
}  // namespace bench::kernels
