// Which of a convolution's plans are listed, built, timed and remembered, on made-up plans and a double of
// the CUDA runtime. Not in the program of the other tests here, which asks cuDNN itself.
#include "kernels/backends/cudnn/tuned.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <set>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/operations/elementwise/bias.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/kernels/backends/cudnn/made_up_attention.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cudnn {
namespace {

using cuda::CudaDevice;
using cuda::testing::fake_backend;
using cuda::testing::FakeRuntime;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Log = std::vector<std::string>;  // of plans: "fused 0", "bare 2"

// What cuDNN is asked, and how it answers.
struct Scene {
  Log listed;  // "fused" or "bare"
  Log built;
  Log queued;
  int finished = 0;             // runs of our own kernel
  std::set<std::string> fails;  // what cuDNN does not list or build: "fused", "fused 0"
  // What finds no memory, and how often: "fused" when listed, "built fused 0", "queued fused 0".
  std::map<std::string, int> starved;
  std::size_t fastest = 2;
  std::vector<std::int64_t> workspaces{100, 300, 200};  // bytes of the plans
  FakeRuntime* runtime = nullptr;
};
Scene scene;

void starve(const std::string& call) {
  if (const auto at = scene.starved.find(call); at != scene.starved.end() && at->second-- > 0) {
    throw OutOfMemory("CUDNN_STATUS_ALLOC_FAILED", 0);
  }
}

class MadeUpPlans final : public Plans {
 public:
  explicit MadeUpPlans(std::string kind) : kind_(std::move(kind)) {
    for (const std::int64_t workspace : scene.workspaces) {
      plans_.push_back({.engine = 1, .workspace = workspace});
    }
  }
  std::span<const Plan> list() const override { return plans_; }
  std::string name(std::size_t plan) const override { return kind_ + " " + std::to_string(plan); }
  std::optional<std::int64_t> build(std::size_t plan) override {
    scene.built.push_back(name(plan));
    starve("built " + name(plan));
    return scene.fails.contains(name(plan)) ? std::nullopt : std::optional(plans_[plan].workspace);
  }
  std::string last_refusal() const override { return "not here"; }
  void run(std::size_t plan, CUstream_st* /*stream*/, const PlanArguments& arguments) override {
    scene.queued.push_back(name(plan));
    starve("queued " + name(plan));
    if (arguments[kResidual] != nullptr && arguments[kResidual] == arguments[kY]) {
      ++*static_cast<unsigned char*>(arguments[kY]);
    }
    scene.runtime->step_ms = plan == scene.fastest ? 1.0F : 1.5F;
  }

 private:
  std::string kind_;
  std::vector<Plan> plans_;
};

const Registration<PlanSource> plan_source_registered{
    {.name = "cudnn",
     .version = [] { return std::int64_t{91900}; },
     .newest_capability = [] { return 120; },
     .plans = [](const Convolution& convolution, cuda::Card& /*card*/) -> std::unique_ptr<Plans> {
       const std::string kind = convolution.fuses() ? "fused" : "bare";
       scene.listed.push_back(kind);
       starve(kind);
       if (scene.fails.contains(kind)) {
         throw Unsupported("cuDNN lists no " + kind + " plan");
       }
       return std::make_unique<MadeUpPlans>(kind);
     },
     .attention_plans = testing::made_up_attention_plans}};

const Registration<cuda::BiasKernels> bias_kernels_registered{
    {.name = "cuda",
     .finish = [](CUstream_st*, const cuda::Finish&, void*, const void*, const void*) { ++scene.finished; },
     .column_sums_scratch = nullptr,
     .column_sums = nullptr,
     .narrow = nullptr}};

class TunedConvolutionTest : public ::testing::Test {
 protected:
  TunedConvolutionTest() {
    scene = {};
    scene.runtime = &runtime_;
  }

  static Conv2d spec(bool residual = false) {
    return {.batch = 1,
            .in_channels = 8,
            .height = 4,
            .width = 4,
            .out_channels = 8,
            .kernel_h = 1,
            .kernel_w = 1,
            .bias = true,
            .residual = residual,
            .activation = Activation::relu};
  }

  // What a process of its own asks of cuDNN: lists, builds and two runs. Its choices are kept in `file`.
  Scene process(const Conv2d& of = spec()) {
    const Scene asked = scene;
    CudaDevice device(fake_backend(runtime_), 0);
    if (keeps_) {
      device.keep_choices(file());
    }
    if (keeps_a_segment_) {
      device.allocate(8 << 20, MemoryCategory::activations);
    }
    runtime_.calls.clear();
    TunedConvolution tuned(of, device.card());
    tuned.prepare();
    workspace_ = tuned.workspace();
    // The result overwrites the residual.
    auto* const tensor = of.residual ? tensor_.data() : nullptr;
    for (int i = 0; i < 2; ++i) {
      tuned.run(device.stream(), {.y = tensor, .residual = tensor, .workspace = scratch_.data()});
    }
    algorithm_ = tuned.algorithm();
    timings_ = runtime_.times("elapsed_ms");
    return std::exchange(scene, asked);
  }
  std::filesystem::path file() const { return folder_.path() / "bench" / "autotune.json"; }

  FakeRuntime runtime_;
  bench::testing::TemporaryFolder folder_;
  bool keeps_ = true;
  bool keeps_a_segment_ = false;  // of memory that was freed
  alignas(256) std::array<std::byte, 512> scratch_{};
  std::array<unsigned char, 512> tensor_{};  // 16 pixels of 8 channels in fp32
  // Of the last process.
  std::int64_t workspace_ = 0;
  std::string algorithm_;
  std::int64_t timings_ = 0;
};

TEST_F(TunedConvolutionTest, BuildsAndTimesEachPlanAndTakesTheFastest) {
  const Scene first = process();
  EXPECT_THAT(first.built, ElementsAre("fused 0", "fused 1", "fused 2"));
  EXPECT_THAT(first.queued, ::testing::IsSupersetOf({"fused 0", "fused 1", "fused 2"}));
  EXPECT_EQ(algorithm_, "fused 2");
  EXPECT_GT(timings_, 0);
}

TEST_F(TunedConvolutionTest, ASecondProcessBuildsTheChosenPlanAloneAndTimesNothing) {
  process();
  const std::int64_t workspace = workspace_;
  const Scene second = process();
  EXPECT_THAT(second.built, ElementsAre("fused 2"));
  EXPECT_THAT(second.queued, ElementsAre("fused 2", "fused 2"));
  EXPECT_EQ(algorithm_, "fused 2");
  EXPECT_EQ(timings_, 0);
  EXPECT_EQ(workspace_, workspace) << "memory must not depend on earlier runs";
  EXPECT_EQ(workspace, 300);
}

TEST_F(TunedConvolutionTest, WithoutAFileEachProcessTunes) {
  keeps_ = false;
  process();
  EXPECT_THAT(process().built, SizeIs(3));
  EXPECT_GT(timings_, 0);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(TunedConvolutionTest, OtherWorkIsTuned) {
  process();
  Conv2d other = spec();
  other.batch = 2;
  EXPECT_THAT(process(other).built, SizeIs(3));
  EXPECT_GT(timings_, 0);
}

TEST_F(TunedConvolutionTest, AChoiceThatIsNotInTheListIsIgnored) {
  process();
  scene.workspaces = {100, 300};
  scene.fastest = 1;
  EXPECT_THAT(process().built, ElementsAre("fused 0", "fused 1"));
  EXPECT_EQ(algorithm_, "fused 1");
  EXPECT_THAT(process().built, ElementsAre("fused 1")) << "the new choice replaces the old one";
}

TEST_F(TunedConvolutionTest, AChoiceThatCannotBeBuiltIsIgnored) {
  process();
  scene.fails = {"fused 2"};
  scene.fastest = 0;
  EXPECT_THAT(process().queued, Contains("fused 0"));
  EXPECT_EQ(algorithm_, "fused 0");
  EXPECT_GT(timings_, 0);
}

TEST_F(TunedConvolutionTest, ADamagedFileIsIgnored) {
  bench::testing::write_file(file(), R"({"format": 1, "choices": [["Test)");
  EXPECT_THAT(process().built, SizeIs(3));
  EXPECT_THAT(process().built, SizeIs(1)) << "it was replaced";
}

// While a step is recorded nothing may be timed: the heuristics' favourite, which is no choice.
TEST_F(TunedConvolutionTest, WhatRunsInARecordingIsNotRemembered) {
  runtime_.capturing = true;
  EXPECT_THAT(process().queued, ElementsAre("fused 0", "fused 0"));
  runtime_.capturing = false;
  EXPECT_THAT(process().built, SizeIs(3));
}

TEST_F(TunedConvolutionTest, PlansNoBareConvolutionNextToFusedOnes) {
  const Scene asked = process();
  EXPECT_THAT(asked.listed, ElementsAre("fused"));
  EXPECT_EQ(asked.finished, 0);
}

TEST_F(TunedConvolutionTest, LeavesBiasAndActivationToOurKernelWhereCudnnListsNoFusedPlan) {
  scene.fails = {"fused"};
  const Scene asked = process();
  EXPECT_THAT(asked.listed, ElementsAre("fused", "bare"));
  EXPECT_EQ(asked.finished, static_cast<int>(asked.queued.size()));
  EXPECT_EQ(algorithm_, "bare 2 + finish");
  EXPECT_THAT(process().built, ElementsAre("bare 2"));
}

TEST_F(TunedConvolutionTest, TheSameWhereCudnnBuildsNoFusedPlan) {
  scene.fails = {"fused 0", "fused 1", "fused 2"};
  const Scene asked = process();
  EXPECT_THAT(asked.listed, ElementsAre("fused", "bare"));
  EXPECT_EQ(algorithm_, "bare 2 + finish");
  EXPECT_EQ(workspace_, 300) << "as planned for the fused ones";
  process();
  EXPECT_EQ(timings_, 0);
}

// Each run adds to it, and many are timed: a step must find what the step before left there.
TEST_F(TunedConvolutionTest, AResidualThatIsOverwrittenIsRestoredFromPinnedMemory) {
  tensor_.fill(10);
  const Scene asked = process(spec(true));
  EXPECT_GT(asked.queued.size(), 8U);
  EXPECT_EQ(tensor_[0], 12) << "two steps";
  EXPECT_EQ(tensor_[1], 10);
  EXPECT_EQ(runtime_.times("allocate_pinned"), 1);
  EXPECT_EQ(runtime_.times("copy"), 2);
  EXPECT_EQ(runtime_.times("free_pinned"), 1);
  EXPECT_EQ(workspace_, 300) << "no plan has room for it";
  process(spec(true));
  EXPECT_EQ(tensor_[0], 14);
  EXPECT_EQ(runtime_.times("allocate_pinned"), 0) << "what is not timed is not saved";
}

TEST_F(TunedConvolutionTest, NothingIsTimedWhereTheHostCannotLockMemoryForTheResidual) {
  tensor_.fill(10);
  runtime_.fail("allocate_pinned", cuda::status::kMemoryAllocation, 2);  // the first is the device's own
  const Scene asked = process(spec(true));
  EXPECT_THAT(asked.queued, ElementsAre("fused 0", "fused 0"));
  EXPECT_EQ(tensor_[0], 12);
  EXPECT_EQ(timings_, 0);
  process(spec(true));
  EXPECT_GT(timings_, 0) << "it was no choice to be kept";
}

TEST_F(TunedConvolutionTest, WithoutMemoryEachCallIsTriedOnceMore) {
  keeps_ = false;
  keeps_a_segment_ = true;
  for (const std::string call : {"fused", "built fused 2", "queued fused 2"}) {
    SCOPED_TRACE(call);
    scene.starved = {{call, 1}};
    const Scene asked = process();
    EXPECT_EQ(algorithm_, "fused 2");
    EXPECT_THAT(asked.listed, SizeIs(call == "fused" ? 2 : 1));
    EXPECT_THAT(asked.built, SizeIs(call == "built fused 2" ? 4 : 3));
  }
  keeps_a_segment_ = false;
  scene.starved = {{"built fused 2", 1}};
  EXPECT_THAT(process().built, SizeIs(3)) << "nothing could be given back";
  EXPECT_EQ(algorithm_, "fused 0") << "of another there was enough";
}

// Memory is planned for a residual in the place of the result, which a bare convolution would overwrite.
TEST_F(TunedConvolutionTest, ButNotWhereAResidualIsFused) {
  scene.fails = {"fused 0", "fused 1", "fused 2"};
  EXPECT_THAT([this] { process(spec(true)); }, ::testing::ThrowsMessage<Unsupported>(HasSubstr("not here")));
  EXPECT_THAT(scene.listed, ElementsAre("fused"));
}

}  // namespace
}  // namespace bench::kernels::cudnn
