// Which of a convolution's plans are listed, built, timed and remembered, on made-up plans and a double of
// the CUDA runtime. What is common to all tuned work is tested with cuda::AutotunedChoice. Not in the program
// of the other tests here, which asks cuDNN itself.
#include "kernels/backends/cudnn/convolution_operation.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <set>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/backends/cudnn/plans.h"
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
  Log kept;
  int finished = 0;  // runs of our own kernel
  // What cuDNN does not list, build or run: "fused", "fused 0", "queued fused 0".
  std::set<std::string> fails;
  // What finds no memory, and how often: "fused" when listed, "built fused 0", "queued fused 0".
  std::map<std::string, int> starved;
  std::size_t fastest = 2;
  std::vector<std::int64_t> workspaces{100, 300, 200};  // bytes of the plans
  std::vector<std::int64_t> fused_workspaces;           // of those; empty: the same
  std::map<std::size_t, int> winograd_tiles;            // by plan
  std::set<std::string> tensor_cores;                   // what uses them: "bare", "fused 2"
  std::set<std::size_t> narrows_sums;                   // the plans that do
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
    const auto& workspaces =
        kind_ == "fused" && !scene.fused_workspaces.empty() ? scene.fused_workspaces : scene.workspaces;
    for (std::size_t plan = 0; plan < workspaces.size(); ++plan) {
      plans_.push_back({.engine = 1,
                        .workspace = workspaces[plan],
                        .tensor_cores = scene.tensor_cores.contains(kind_) ||
                                        scene.tensor_cores.contains(fmt::format("{} {}", kind_, plan)),
                        .narrows_sums = scene.narrows_sums.contains(plan),
                        .winograd_tile = scene.winograd_tiles[plan]});
    }
  }
  std::span<const Plan> list() const override { return plans_; }
  std::string name(std::size_t plan) const override { return kind_ + " " + std::to_string(plan); }
  std::optional<std::int64_t> build(std::size_t plan) override {
    scene.built.push_back(name(plan));
    starve("built " + name(plan));
    return scene.fails.contains(name(plan)) ? std::nullopt : std::optional(plans_[plan].workspace);
  }
  void keep(std::size_t plan) override { scene.kept.push_back(name(plan)); }
  std::string last_refusal() const override { return "not here"; }
  void run(std::size_t plan, CUstream_st* /*stream*/, const PlanArguments& arguments) override {
    scene.queued.push_back(name(plan));
    starve("queued " + name(plan));
    if (scene.fails.contains("queued " + name(plan))) {
      throw std::runtime_error("CUDNN_STATUS_EXECUTION_FAILED");
    }
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
     .plans = [](const Conv2d& convolution, cuda::Card& /*card*/) -> std::unique_ptr<Plans> {
       const std::string kind = fuses(convolution) ? "fused" : "bare";
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
     .epilogue = [](const cuda::Card&, const cuda::Epilogue&, void*, const void*,
                    const void*) { ++scene.finished; },
     .column_sums_scratch = nullptr,
     .column_sums = nullptr,
     .narrow = nullptr}};

class CudnnConvolutionOperation : public ::testing::Test {
 protected:
  CudnnConvolutionOperation() {
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
    run(of, device, 2);
    timings_ = runtime_.times("elapsed_ms");
    return std::exchange(scene, asked);
  }
  void run(const Conv2d& of, CudaDevice& device, int times) {
    const auto operation = make_operation(of, device, "cudnn");
    operation->prepare();
    workspace_ = operation->find(Slot::workspace)->bytes;
    SlotPointers pointers;
    pointers[Slot::workspace] = scratch_.data();
    if (of.residual) {  // which the result overwrites
      pointers[Slot::dst] = pointers[Slot::src1] = tensor_.data();
    }
    for (int i = 0; i < times; ++i) {
      operation->run(pointers);
    }
    algorithm_ = operation->algorithm();
    flops_ = operation->flops();
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
  double flops_ = 0;
  std::int64_t timings_ = 0;
};

TEST_F(CudnnConvolutionOperation, BuildsAndTimesEachPlanAndTakesTheFastest) {
  const Scene first = process();
  EXPECT_THAT(first.built, ElementsAre("fused 0", "fused 1", "fused 2"));
  EXPECT_THAT(first.queued, ::testing::IsSupersetOf({"fused 0", "fused 1", "fused 2"}));
  EXPECT_EQ(algorithm_, "fused 2");
  EXPECT_GT(timings_, 0);
}

// A point that is faster than the peak would be left out of the findings.
TEST_F(CudnnConvolutionOperation, CountsTheProductsOfTheChosenPlan) {
  Conv2d of = spec();
  of.kernel_h = of.kernel_w = 3;
  process(of);
  EXPECT_DOUBLE_EQ(flops_, 2.0 * static_cast<double>(of.macs()));
  scene.winograd_tiles = {{2, 6}};
  process(of);
  EXPECT_EQ(algorithm_, "fused 2");
  EXPECT_DOUBLE_EQ(flops_, 2.0 * static_cast<double>(of.macs()) / 4);
}

TEST_F(CudnnConvolutionOperation, ASecondProcessBuildsTheChosenPlanAloneAndTimesNothing) {
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

// One that is remembered was waited for by then.
TEST_F(CudnnConvolutionOperation, TheChosenPlanIsKeptOnceItHasRun) {
  EXPECT_THAT(process().kept, ElementsAre("fused 2"));
  EXPECT_THAT(process().kept, ElementsAre("fused 2"));
  scene.fails = {"queued fused 2"};
  EXPECT_THAT(process().kept, ElementsAre("fused 0"));
}

TEST_F(CudnnConvolutionOperation, OtherWorkIsTuned) {
  process();
  Conv2d other = spec();
  other.batch = 2;
  EXPECT_THAT(process(other).built, SizeIs(3));
  EXPECT_GT(timings_, 0);
}

TEST_F(CudnnConvolutionOperation, AChoiceThatIsNotInTheListIsIgnored) {
  scene.workspaces = {100, 300, 200, 50};
  scene.fastest = 3;
  process();
  scene.workspaces = {100, 300, 200};
  scene.fastest = 1;
  EXPECT_THAT(process().built, ElementsAre("fused 0", "fused 1", "fused 2"));
  EXPECT_EQ(algorithm_, "fused 1");
  EXPECT_THAT(process().built, ElementsAre("fused 1")) << "the new choice replaces the old one";
}

TEST_F(CudnnConvolutionOperation, AChoiceThatCannotBeBuiltIsIgnored) {
  process();
  scene.fails = {"fused 2"};
  scene.fastest = 0;
  EXPECT_THAT(process().queued, Contains("fused 0"));
  EXPECT_EQ(algorithm_, "fused 0");
  EXPECT_GT(timings_, 0);
}

TEST_F(CudnnConvolutionOperation, AChoiceThatFindsNoMemoryWhenItIsBuiltStaysRemembered) {
  process();
  const Scene works = scene;
  scene.starved = {{"built fused 2", 2}};  // alone, and among all
  EXPECT_THAT(process().built, ElementsAre("fused 2", "fused 0", "fused 1", "fused 2"));
  EXPECT_EQ(algorithm_, "fused 0") << "of another there was enough";
  scene = works;
  EXPECT_THAT(process().built, ElementsAre("fused 2"));
  EXPECT_EQ(timings_, 0);
}

// The chosen plan alone was built, of which there may be nothing left to run.
TEST_F(CudnnConvolutionOperation, AChoiceThatFailsWhenItIsRunIsForgottenAndTheOthersAreBuiltAndTimed) {
  process();
  scene.fails = {"queued fused 2"};
  const Scene second = process();
  EXPECT_THAT(second.built, ElementsAre("fused 2", "fused 0", "fused 1", "fused 2"));
  EXPECT_EQ(second.queued.front(), "fused 2");
  EXPECT_EQ(algorithm_, "fused 0");
  EXPECT_GT(timings_, 0);
  EXPECT_THAT(process().built, ElementsAre("fused 0")) << "the new choice replaces the old one";
  scene.fails = {};
  const Scene works = scene;
  scene.fails = {"queued fused 0", "queued fused 1", "queued fused 2"};
  EXPECT_THAT([this] { process(); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("EXECUTION_FAILED")));
  scene = works;
  EXPECT_THAT(process().built, SizeIs(3)) << "what failed is not remembered";
}

TEST_F(CudnnConvolutionOperation, PlansNoBareConvolutionNextToFusedOnes) {
  const Scene asked = process();
  EXPECT_THAT(asked.listed, ElementsAre("fused"));
  EXPECT_EQ(asked.finished, 0);
}

TEST_F(CudnnConvolutionOperation, LeavesBiasAndActivationToOurKernelWhereCudnnListsNoFusedPlan) {
  scene.fails = {"fused"};
  const Scene asked = process();
  EXPECT_THAT(asked.listed, ElementsAre("fused", "bare"));
  EXPECT_EQ(asked.finished, static_cast<int>(asked.queued.size()));
  EXPECT_EQ(algorithm_, "bare 2 + epilogue");
  EXPECT_THAT(process().built, ElementsAre("bare 2"));
}

TEST_F(CudnnConvolutionOperation, TheSameWhereCudnnBuildsNoFusedPlan) {
  scene.fails = {"fused 0", "fused 1", "fused 2"};
  const Scene asked = process();
  EXPECT_THAT(asked.listed, ElementsAre("fused", "bare"));
  EXPECT_EQ(algorithm_, "bare 2 + epilogue");
  EXPECT_EQ(workspace_, 300) << "as planned for the fused ones";
  process();
  EXPECT_EQ(timings_, 0);
}

// relu6 has one fused plan, which uses no tensor cores.
TEST_F(CudnnConvolutionOperation, TriesTheBareConvolutionFirstWhereOnlyItUsesTheTensorCores) {
  Conv2d of = spec();
  of.dtype = Dtype::fp16;
  scene.tensor_cores = {"bare"};
  const Scene asked = process(of);
  EXPECT_THAT(asked.listed, ElementsAre("fused", "bare"));
  EXPECT_THAT(asked.built, ElementsAre("bare 0", "bare 1", "bare 2", "fused 0", "fused 1", "fused 2"));
  EXPECT_EQ(algorithm_, "bare 2 + epilogue");
  EXPECT_EQ(workspace_, 300 + 0) << "enough for both";
  EXPECT_THAT(process(of).built, ElementsAre("bare 2"));
  scene.tensor_cores = {"fused", "bare"};
  of.batch = 2;
  EXPECT_THAT(process(of).listed, ElementsAre("fused"));
}

// Depthwise convolutions have some, behind several that use none.
TEST_F(CudnnConvolutionOperation, TriesFourOfTheBareConvolutionAndTheFirstOnTensorCores) {
  Conv2d of = spec();
  of.dtype = Dtype::fp16;
  scene.workspaces = {100, 300, 200, 50, 60, 70, 80};
  scene.fastest = 5;
  scene.tensor_cores = {"bare 5", "bare 6"};
  EXPECT_THAT(process(of).built,
              ElementsAre("bare 0", "bare 1", "bare 2", "bare 3", "bare 5", "fused 0", "fused 1", "fused 2",
                          "fused 3", "fused 4", "fused 5", "fused 6"));
}

// Memory is planned for each candidate: a second copy of the tensors is too much for one that may be slower.
TEST_F(CudnnConvolutionOperation, TriesNoBareConvolutionThatTakesMuchMoreWorkspace) {
  constexpr std::int64_t kMuch = kMostBareWorkspace + 1;
  Conv2d of = spec();
  of.height = of.width = 2048;
  ASSERT_LT(kMuch, workspace_cap(of));
  scene.fused_workspaces = {100, 300};
  scene.workspaces = {200, kMuch, 50};
  scene.fastest = 0;
  EXPECT_THAT(process(of).built, ElementsAre("fused 0", "fused 1", "bare 0", "bare 2"));
  EXPECT_EQ(workspace_, 300);
  scene.fused_workspaces = {100, kMuch};
  of.batch = 2;
  EXPECT_THAT(process(of).built, ElementsAre("fused 0", "fused 1", "bare 0", "bare 1", "bare 2"));
}

TEST_F(CudnnConvolutionOperation, TriesTheBareConvolutionNextToFewFusedPlansInFp32) {
  scene.workspaces = {100, 300};
  scene.fastest = 1;
  EXPECT_THAT(process().built, ElementsAre("fused 0", "fused 1", "bare 0", "bare 1"));
}

// A bare convolution would overwrite the residual that fused plans read from the place of the result.
TEST_F(CudnnConvolutionOperation, TakesTheBareConvolutionAloneWhereAResidualIsAdded) {
  Conv2d of = spec(true);
  of.dtype = Dtype::fp16;
  scene.tensor_cores = {"bare"};
  CudaDevice device(fake_backend(runtime_), 0);
  const auto operation = make_operation(of, device, "cudnn");
  EXPECT_FALSE(operation->in_place_sum());
  operation->prepare();
  EXPECT_THAT(scene.built, ElementsAre("bare 0", "bare 1", "bare 2"));
}

TEST_F(CudnnConvolutionOperation, SaysWhereSumsAreInANarrowerType) {
  Conv2d of = spec();
  of.dtype = Dtype::fp16;
  scene.tensor_cores = {"fused"};
  scene.narrows_sums = {2};
  EXPECT_THAT(process(of).built, SizeIs(3)) << "as PyTorch, which takes them too";
  EXPECT_EQ(algorithm_, "fused 2, partial sums in fp16");
}

// Each run adds to it, and many are timed: a step must find what the step before left there.
TEST_F(CudnnConvolutionOperation, AResidualThatIsOverwrittenIsRestoredFromPinnedMemory) {
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

TEST_F(CudnnConvolutionOperation, AResidualIsSavedInMemoryThatTheCardKeepsWhereThereIsSome) {
  tensor_.fill(10);
  keeps_a_segment_ = true;
  process(spec(true));
  EXPECT_EQ(tensor_[0], 12);
  EXPECT_EQ(runtime_.times("copy"), 2);
  EXPECT_EQ(runtime_.times("allocate_pinned"), 0);
  EXPECT_EQ(runtime_.times("allocate"), 0) << "the driver is not asked";
}

// Locking memory takes longer than all else here.
TEST_F(CudnnConvolutionOperation, ConvolutionsSaveTheirResidualsInOnePinnedBuffer) {
  CudaDevice device(fake_backend(runtime_), 0);
  runtime_.calls.clear();
  for (const std::int64_t channels : {8, 16, 4}) {
    Conv2d of = spec(true);
    of.in_channels = channels;
    run(of, device, 1);
  }
  EXPECT_EQ(runtime_.times("copy"), 2 * 3);
  EXPECT_EQ(runtime_.times("allocate_pinned"), 1);
}

TEST_F(CudnnConvolutionOperation, NothingIsTimedWhereTheHostCannotLockMemoryForTheResidual) {
  tensor_.fill(10);
  runtime_.fail("allocate_pinned", cuda::status::kMemoryAllocation, 2);  // the first is the device's own
  const Scene asked = process(spec(true));
  EXPECT_THAT(asked.queued, ElementsAre("fused 0", "fused 0"));
  EXPECT_EQ(tensor_[0], 12);
  EXPECT_EQ(timings_, 0);
  process(spec(true));
  EXPECT_GT(timings_, 0) << "it was no choice to be kept";
}

TEST_F(CudnnConvolutionOperation, WithoutMemoryEachCallIsTriedOnceMore) {
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
TEST_F(CudnnConvolutionOperation, ButNotWhereAResidualIsFused) {
  scene.fails = {"fused 0", "fused 1", "fused 2"};
  EXPECT_THAT([this] { process(spec(true)); }, ::testing::ThrowsMessage<Unsupported>(HasSubstr("not here")));
  EXPECT_THAT(scene.listed, ElementsAre("fused"));
}

}  // namespace
}  // namespace bench::kernels::cudnn
