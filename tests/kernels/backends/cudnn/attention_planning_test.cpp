// Attention's graphs planned by cuDNN for cards that are not here. Its kernels for them are compiled at run
// time: cuDNN lists their plans, and builds none, where it can load the driver's library, or the stub of it
// that the toolkit brings for linking. Without the driver's library it says that this is what it lacks.
#include <gmock/gmock.h>

#include "absent_card.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "cards.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/backends/cudnn/plans.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels::testing {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;

class CudnnAttentionPlans : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_driver_library()) {
      GTEST_SKIP() << "the toolkit has no stub of libcuda.so.1: " << BENCH_CUDA_DRIVER_STUB;
    }
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }

  // With answers of its own: those of cards() may be from before the stub was loaded.
  static std::shared_ptr<cuda::Card> fresh(const std::string& name) {
    const cuda::Card& known = *card(name).card;
    return std::make_shared<cuda::Card>(known.compute_capability(), known.multiprocessors(),
                                        known.properties());
  }

  static MemoryPlan plan(Device& device, Dtype dtype, const char* mode) {
    const WorkloadType* const type = registry<WorkloadType>().find("gpt_small");
    WorkloadSpec spec{.mode = mode, .dtype = dtype, .batch = 8, .options = {{"sequence", "1024"}}};
    for (const CommandOption& option : type->options) {
      spec.options.try_emplace(option.name, option.default_value);
    }
    return type->configure(spec)->plan(device);
  }
};

Attention of_size(Attention pass, Dtype dtype, std::int64_t batch, std::int64_t heads, std::int64_t sequence,
                  std::int64_t head_size) {
  pass.dtype = dtype;
  pass.batch = batch;
  pass.heads = heads;
  pass.sequence = sequence;
  pass.head_size = head_size;
  return pass;
}

// Those of the networks here, others' heads and lengths, a batch of one, and one that is no multiple of a
// tile; without a mask, as encoders have it; with keys of another sequence.
std::vector<Attention> sizes_of(const Attention& pass, Dtype dtype) {
  Attention encoder = of_size(pass, dtype, 8, 12, 197, 64);
  encoder.causal = false;
  Attention crossed = of_size(pass, dtype, 8, 8, 100, 32);
  crossed.causal = crossed.packed = false;
  crossed.keys = 850;
  crossed.scale = 0.125F;
  return {of_size(pass, dtype, 1, 12, 1024, 64),
          of_size(pass, dtype, 64, 12, 1024, 64),
          of_size(pass, dtype, 4, 16, 2048, 128),
          of_size(pass, dtype, 2, 3, 130, 24),
          encoder,
          crossed};
}

TEST_F(CudnnAttentionPlans, AreListedForEveryCardThatHasThem) {
  int planned = 0;
  for (const Card& known : cards()) {
    const auto card = fresh(known.name);
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      for (const Attention& kind : kAttentionPasses) {
        for (const Attention& pass : sizes_of(kind, dtype)) {
          SCOPED_TRACE(known.name + ": " + cudnn::described(pass));
          const auto refusal =
              cudnn::unsupported(pass, card->compute_capability(), cudnn::plan_source().version());
          if (known.name == "T4") {
            EXPECT_TRUE(refusal);
            continue;
          }
          ASSERT_EQ(refusal, std::nullopt);
          const auto plans = cudnn::plans_for(pass, *card);
          const auto selection = cudnn::select(plans->list(), dtype, std::int64_t{1} << 30, 1);
          ASSERT_FALSE(selection.plans.empty()) << "none of " << plans->list().size() << " qualifies";
          EXPECT_TRUE(plans->list()[selection.plans.front()].compiles);
          EXPECT_THAT(plans->name(selection.plans.front()), HasSubstr("eng"));
          ++planned;
        }
      }
    }
  }
  EXPECT_THAT(planned, Gt(0));
}

// What a plan for a card says of it: no square of the sequence is kept.
TEST_F(CudnnAttentionPlans, KeepNoProbabilities) {
  const Attention spec{.batch = 8,
                       .sequence = 1024,
                       .heads = 12,
                       .head_size = 64,
                       .training = true,
                       .statistics = true,
                       .dtype = Dtype::fp16};
  for (const char* name : {"RTX 3060", "A100", "H100", "H200"}) {
    SCOPED_TRACE(name);
    AbsentCard device(name, fresh(name));
    const auto forward = make_operation(spec, device);
    EXPECT_THAT(forward->algorithm(), HasSubstr("eng"));
    EXPECT_EQ(forward->find(Slot::saved)->bytes, 8 * 12 * 1024 * 4);
    Attention back = spec;
    back.direction = Direction::backward;
    const auto backward = make_operation(back, device);
    const SlotInfo* const scratch = backward->find(Slot::workspace);
    ASSERT_NE(scratch, nullptr);
    // Sums of the query's gradient and of the rows, and what cuDNN asks for.
    EXPECT_GE(scratch->bytes, 8 * 12 * 1024 * (64 + 1) * 4);
    EXPECT_LT(scratch->bytes, spec.probabilities().bytes());
    EXPECT_NE(backward->find(Slot::dst), nullptr);
  }
  AbsentCard t4("T4", fresh("T4"));
  EXPECT_THROW(make_operation(spec, t4), Unsupported);
}

// More than 2^31 elements: no other implementation, which would keep squares, takes the place of cuDNN's.
TEST_F(CudnnAttentionPlans, OfLargeBatchesAreInParts) {
  AbsentCard h200("H200", fresh("H200"));
  for (Attention spec : kAttentionPasses) {
    spec = of_size(spec, Dtype::fp16, 911, 12, 1024, 64);
    ASSERT_GT(spec.src().elements(), std::int64_t{1} << 31);
    const auto operation = make_operation(spec, h200);
    EXPECT_NE(dynamic_cast<const cuda::PartedOperation*>(operation.get()), nullptr);
    EXPECT_THAT(operation->algorithm(), HasSubstr("eng"));
    EXPECT_EQ(operation->find(Slot::src)->bytes, spec.src().bytes());
    if (const SlotInfo* const saved = operation->find(Slot::saved)) {
      EXPECT_EQ(saved->bytes, spec.saved_bytes());
    }
  }
}

TEST_F(CudnnAttentionPlans, AreInTheMemoryPlanOfANetwork) {
  AbsentCard h200("H200", fresh("H200"));
  AbsentCard t4("T4", fresh("T4"));
  const Attention squares{.batch = 8, .sequence = 1024, .heads = 12, .head_size = 64, .dtype = Dtype::fp16};
  const std::int64_t layers = 12;
  const auto activations = [](const MemoryPlan& plan) {
    return static_cast<double>(plan.at_peak[MemoryCategory::activations]);
  };
  EXPECT_THAT(activations(plan(t4, Dtype::fp16, "train")) - activations(plan(h200, Dtype::fp16, "train")),
              Gt(0.9 * static_cast<double>(layers * squares.probabilities().bytes())));
  // fp32 has no such kernels: as on the card before.
  EXPECT_NEAR(activations(plan(t4, Dtype::fp32, "train")) / activations(plan(h200, Dtype::fp32, "train")), 1,
              0.01);
}

}  // namespace
}  // namespace bench::kernels::testing
