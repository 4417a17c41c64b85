#include "kernels/networks/passes/inference.h"

#include <gtest/gtest.h>

#include <map>

#include "bench/registry.h"
#include "kernels/networks/program/placement.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/train.h"
#include "tests/kernels/networks/networks_fixture.h"

namespace bench::kernels {
namespace {

class Plan : public NetworkTest {};

TEST_F(Plan, AllocatesNothing) {
  for (const char* network : {"resnet50", "mobilenet_v2"}) {
    const ProgramPlan plan =
        plan_inference(*registry<NetworkType>().find(network), spec(8, Dtype::fp32, 64), *device_);
    EXPECT_GT(plan.memory().peak, 0);
    EXPECT_EQ(device_->memory().peak(), 0);
  }
}

TEST_F(Plan, CategoriesSumToThePeak) {
  const ProgramPlan plan =
      plan_inference(*registry<NetworkType>().find("resnet50"), spec(4, Dtype::fp32, 224), *device_);
  const MemoryPlan memory = plan.memory();
  EXPECT_EQ(memory.at_peak.total(), memory.peak);
  EXPECT_GE(memory.at_peak[MemoryCategory::weights],
            25'503'912 * 4);  // all but the norms' parameters, which are folded
  EXPECT_EQ(memory.at_peak[MemoryCategory::input], 4 * 3 * 224 * 224 * 4);
  EXPECT_EQ(memory.at_peak[MemoryCategory::gradients], 0);
}

TEST_F(Plan, EqualLayersShareADescription) {
  const ProgramPlan plan =
      plan_inference(*registry<NetworkType>().find("resnet50"), spec(1, Dtype::fp32, 224), *device_);
  std::map<Operation*, int> uses;
  for (const Instruction& instruction : plan.program.instructions()) {
    ++uses[instruction.operation.get()];
  }
  EXPECT_EQ(plan.program.instructions().size(), 56U);  // 53 convolutions, two pools, one linear layer
  EXPECT_LT(uses.size(), 40U);
}

TEST_F(Plan, ArenaIsNearTheMostThatLivesAtOnce) {
  // The widest moment of ResNet-50: layer2.0.conv3 reads 128x28x28, writes 512x28x28 and the shortcut's
  // 256x56x56 waits; or the stem's 64x112x112 next to its pooled 64x56x56.
  const std::int64_t bound = (256 * 56 * 56 + 128 * 56 * 56 + 128 * 28 * 28) * 4;
  Target target;
  target.implementation = "reference";  // has no scratch, of which a fast algorithm books more than it writes
  const ProgramPlan plan = plan_inference(
      fuse_for_inference(registry<NetworkType>().find("resnet50")->build(224)), target, *device_);
  EXPECT_GE(plan.placement.arena_bytes, bound);
  EXPECT_LE(plan.placement.arena_bytes + plan.placement.scratch_bytes, 2 * bound);
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
      const MemoryPlan memory = plan_inference(graph, target, *device_).memory();
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

// Replays plans: who wrote each byte range last must be whom the reader wants.
TEST_F(Plan, NothingIsOverwrittenWhileItIsStillRead) {
  struct Written {
    std::int64_t begin, end;
    TensorId id;
  };
  const auto replay = [](const ProgramPlan& plan) {
    std::vector<Written> memory;
    for (const Instruction& instruction : plan.program.instructions()) {
      std::vector<Written> touched;
      for (const auto& [slot, id] : instruction.tensors) {
        const ProgramTensor& tensor = plan.program.tensors()[id];
        const bool apart = tensor.content == Content::scratch && !plan.placement.scratch_in_arena;
        if (tensor.block || apart || tensor.bytes == 0) {
          continue;
        }
        const std::int64_t begin = plan.placement.offsets[id];
        const Written range{begin, begin + tensor.bytes, id};
        const Role role = instruction.operation->find(slot)->role;
        if (role == Role::input) {
          const bool intact =
              std::ranges::any_of(memory, [&](const Written& w) { return w.id == id && w.begin == begin; });
          EXPECT_TRUE(intact) << instruction.name << " reads " << tensor.name;
        }
        for (const Written& other : touched) {  // scratch lies on nothing else of the instruction
          const bool scratch = tensor.content == Content::scratch ||
                               plan.program.tensors()[other.id].content == Content::scratch;
          EXPECT_FALSE(scratch && range.begin < other.end && other.begin < range.end) << instruction.name;
        }
        touched.push_back(range);
      }
      for (const auto& [slot, id] : instruction.tensors) {
        if (instruction.operation->find(slot)->role == Role::input) {
          std::erase_if(touched, [&, read = id](const Written& w) { return w.id == read; });
        }
      }
      for (const Written& result : touched) {
        std::erase_if(memory, [&](const Written& w) { return w.begin < result.end && result.begin < w.end; });
        memory.push_back(result);
      }
    }
  };
  for (const auto& network : registry<NetworkType>().entries()) {
    SCOPED_TRACE(network->name);
    replay(plan_inference(*network, spec(2, Dtype::fp32, 64), *device_));
    WorkloadSpec train = spec(4, Dtype::fp32, 64);
    train.mode = "train";
    for (const char* recompute : {"no", "yes"}) {
      train.options["recompute"] = recompute;
      replay(plan_training(*network, train, *device_));
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
  for (const std::int64_t image_size : {32, 224, 1000}) {  // few activations and many
    OperationCache cache;
    ProgramPlan lean(fuse_for_inference(registry<NetworkType>().find("resnet50")->build(image_size)),
                     {.batch = 1,
                      .dtype = Dtype::fp32,
                      .layouts = layouts_for(*device_, Dtype::fp32),
                      .implementation = {}});
    ProgramPlan rich = lean;
    record_forward(lean, *device_, cache);
    record_forward(rich, *device_, cache, share_extra_bytes(lean, *device_, cache));
    const auto bytes = [](const ProgramPlan& plan) {
      std::int64_t sum = 0;
      for (const Instruction& instruction : plan.program.instructions()) {
        sum += parameter_bytes(*instruction.operation);
      }
      return sum;
    };
    EXPECT_LE(bytes(rich) - bytes(lean),
              extra_budget(bytes(lean), place(lean.program).arena_bytes).parameters);
  }
}

}  // namespace
}  // namespace bench::kernels
