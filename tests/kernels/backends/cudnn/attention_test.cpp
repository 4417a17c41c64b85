// Attention by cuDNN on made-up plans and a double of the CUDA runtime: which plan is taken, where its
// tensors lie, and what it is refused for. Not in the program of the tests that ask cuDNN itself.
#include "kernels/backends/cudnn/graphs.h"

#include <gmock/gmock.h>

#include <set>

#include "bench/error.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/operations/attention/attention.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/backends/cudnn/made_up_attention.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels {
namespace {

using cuda::CudaDevice;
using cuda::testing::fake_backend;
using cuda::testing::FakeRuntime;
using ::testing::ElementsAre;

struct Attempts {
  std::vector<Attention> listed;
  std::vector<std::size_t> built;
  std::vector<std::size_t> queued;
  std::vector<std::size_t> kept;
  cudnn::PlanArguments arguments;  // of the last run
  std::set<std::size_t> fails;     // plans that cannot be built
  bool narrows = false;            // what cuDNN notes of all plans
  bool unknown = false;
};
Attempts attempts;

class Plans final : public cudnn::Plans {
 public:
  Plans() {
    for (cudnn::Plan& plan : plans_) {
      plan.narrows_inputs = plan.narrows_sums = attempts.narrows;
      plan.unknown = attempts.unknown;
    }
  }
  std::span<const cudnn::Plan> list() const override { return plans_; }
  std::string name(std::size_t plan) const override { return "eng" + std::to_string(plan); }
  std::optional<std::int64_t> build(std::size_t plan) override {
    attempts.built.push_back(plan);
    return attempts.fails.contains(plan) ? std::nullopt : std::optional(plans_[plan].workspace);
  }
  void keep(std::size_t plan) override { attempts.kept.push_back(plan); }
  std::string last_refusal() const override { return "not here"; }
  void run(std::size_t plan, CUstream_st* /*stream*/, const cudnn::PlanArguments& arguments) override {
    attempts.queued.push_back(plan);
    attempts.arguments = arguments;
  }

 private:
  std::vector<cudnn::Plan> plans_{{.engine = 6, .workspace = 1000, .tensor_cores = true, .compiles = true},
                                  {.engine = 7, .workspace = 500, .tensor_cores = true, .compiles = true},
                                  {.engine = 8, .workspace = 3000, .tensor_cores = true, .compiles = true},
                                  {.engine = 9, .workspace = 0, .tensor_cores = true, .compiles = true},
                                  {.engine = 4, .workspace = 0, .tensor_cores = true, .compiles = true},
                                  {.engine = 1, .workspace = 0, .tensor_cores = true, .compiles = true}};
};

class CudnnAttentionTest : public ::testing::Test {
 protected:
  CudnnAttentionTest() { attempts = {}; }

  static Attention spec(Direction direction) {
    return {.batch = 3,
            .sequence = 10,
            .heads = 2,
            .head_size = 8,
            .training = direction == Direction::forward,
            .statistics = true,
            .direction = direction,
            .dtype = Dtype::fp16};
  }
  static std::string refusal(const Attention& spec, CudaDevice& device) {
    try {
      make_operation(spec, device, "cudnn");
      return "made";
    } catch (const Unsupported& reason) {
      return reason.what();
    }
  }

  FakeRuntime runtime_;
  CudaDevice device_{fake_backend(runtime_), 0};  // 8.6
};

TEST_F(CudnnAttentionTest, TakesTheFavouriteUntimedAndBuildsNoOther) {
  const auto operation = make_operation(spec(Direction::forward), device_);
  EXPECT_EQ(operation->algorithm(), "fused attention eng0");
  operation->prepare();
  operation->prepare();
  EXPECT_THAT(attempts.built, ElementsAre(0));
  runtime_.calls.clear();
  operation->run({});
  EXPECT_THAT(attempts.queued, ElementsAre(0));
  EXPECT_EQ(runtime_.times("elapsed_ms"), 0);
}

TEST_F(CudnnAttentionTest, KeepsThePlanOnceItsFirstRunHasEnded) {
  const auto operation = make_operation(spec(Direction::forward), device_);
  operation->prepare();
  EXPECT_THAT(attempts.kept, ::testing::IsEmpty());
  runtime_.calls.clear();
  operation->run({});
  EXPECT_THAT(attempts.kept, ElementsAre(0));
  EXPECT_EQ(runtime_.times("synchronize"), 1);
  operation->run({});
  EXPECT_THAT(attempts.kept, ElementsAre(0));
  EXPECT_EQ(runtime_.times("synchronize"), 1) << "only the first run is waited for";
}

TEST_F(CudnnAttentionTest, TakesTheFirstOfFourFavouritesThatCanBeBuilt) {
  attempts.fails = {0, 1};
  const auto operation = make_operation(spec(Direction::forward), device_);
  operation->prepare();
  EXPECT_THAT(attempts.built, ElementsAre(0, 1, 2));
  EXPECT_EQ(operation->algorithm(), "fused attention eng2");
  EXPECT_EQ(operation->find(Slot::workspace)->bytes, 3000) << "enough for each";
}

TEST_F(CudnnAttentionTest, TakesTheLastWhereNoFavouriteCanBeBuilt) {
  attempts.fails = {0, 1, 2, 3};
  const auto operation = make_operation(spec(Direction::forward), device_);
  operation->prepare();
  EXPECT_THAT(attempts.built, ElementsAre(0, 1, 2, 3, 5));
  EXPECT_EQ(operation->algorithm(), "fused attention eng5");
  attempts.fails.insert(5);
  const auto none = make_operation(spec(Direction::forward), device_);
  EXPECT_THROW(none->prepare(), Unsupported);
}

// Without a fused kernel attention would take several times as long.
TEST_F(CudnnAttentionTest, TakesAnyPlanThatIsKnownAndSaysWhatIsNotedOfOthers) {
  attempts.narrows = true;
  EXPECT_EQ(refusal(spec(Direction::forward), device_), "made");
  attempts.unknown = true;
  CudaDevice other(fake_backend(runtime_), 0);
  expect_words(refusal(spec(Direction::forward), other));
}

TEST_F(CudnnAttentionTest, KeepsANumberForEachRow) {
  const auto forward = make_operation(spec(Direction::forward), device_);
  EXPECT_EQ(forward->find(Slot::saved)->bytes, 3 * 2 * 10 * 4);
  EXPECT_EQ(forward->find(Slot::saved)->role, Role::output);
  const auto backward = make_operation(spec(Direction::backward), device_);
  EXPECT_EQ(backward->find(Slot::saved)->role, Role::input);
  EXPECT_EQ(backward->find(Slot::dst)->role, Role::input);
  Attention inference = spec(Direction::forward);
  inference.training = inference.statistics = false;
  EXPECT_EQ(make_operation(inference, device_)->find(Slot::saved), nullptr);
}

// Query, key and value lie side by side in a row; our own scratch lies before cuDNN's.
TEST_F(CudnnAttentionTest, HandsOverWhereItsTensorsLie) {
  const auto operation = make_operation(spec(Direction::backward), device_);
  const auto place = [](int at) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(at)); };
  SlotPointers pointers;
  pointers[Slot::src] = place(0x10000);
  pointers[Slot::diff_src] = place(0x20000);
  pointers[Slot::dst] = place(0x30000);
  pointers[Slot::diff_dst] = place(0x40000);
  pointers[Slot::saved] = place(0x50000);
  pointers[Slot::workspace] = place(0x60000);
  operation->run(pointers);
  const cudnn::PlanArguments& given = attempts.arguments;
  constexpr int kWidth = 16 * 2;  // bytes of two heads
  EXPECT_EQ(given[cudnn::kQuery], place(0x10000));
  EXPECT_EQ(given[cudnn::kKey], place(0x10000 + kWidth));
  EXPECT_EQ(given[cudnn::kValue], place(0x10000 + 2 * kWidth));
  EXPECT_EQ(given[cudnn::kDiffQuery], place(0x20000));
  EXPECT_EQ(given[cudnn::kDiffKey], place(0x20000 + kWidth));
  EXPECT_EQ(given[cudnn::kDiffValue], place(0x20000 + 2 * kWidth));
  EXPECT_EQ(given[cudnn::kOut], place(0x30000));
  EXPECT_EQ(given[cudnn::kDiffOut], place(0x40000));
  EXPECT_EQ(given[cudnn::kStatistics], place(0x50000));
  // 60 rows' sums, then 480 values in fp32, each rounded up to 256 bytes.
  EXPECT_EQ(given[cudnn::kRowSums], place(0x60000));
  EXPECT_EQ(given[cudnn::kDiffQuerySum], place(0x60000 + 256));
  EXPECT_EQ(given.workspace, place(0x60000 + 256 + 2048));
  EXPECT_EQ(operation->find(Slot::workspace)->bytes, 256 + 2048 + 3000);
}

// 1,008 samples and 1,007: each has 3 · 2 · 8 · 32 Ki elements.
TEST_F(CudnnAttentionTest, RunsABatchOfMoreElementsThanCudnnCountsInParts) {
  Attention large = spec(Direction::backward);
  large.batch = 2015;
  large.sequence = 1 << 15;
  EXPECT_EQ(refusal(large, device_), "made");
  attempts = {};
  const auto operation = make_operation(large, device_);
  ASSERT_THAT(attempts.listed, ::testing::IsEmpty()) << "the card keeps the answers";
  EXPECT_EQ(operation->find(Slot::src)->bytes, large.src().bytes());
  EXPECT_EQ(operation->find(Slot::saved)->bytes, large.saved_bytes());
  EXPECT_DOUBLE_EQ(operation->flops(), large.flops());
  SlotPointers pointers;
  const auto place = [](std::int64_t at) { return reinterpret_cast<void*>(at); };
  for (const SlotInfo& slot : operation->slots()) {
    pointers[slot.slot] = place((std::int64_t{1} << 40) * (1 + static_cast<std::int64_t>(slot.slot)));
  }
  operation->run(pointers);
  EXPECT_THAT(attempts.queued, ElementsAre(0, 0));
  const std::int64_t first = 1008;
  const auto behind = [](void* start, std::int64_t bytes) { return static_cast<std::byte*>(start) + bytes; };
  EXPECT_EQ(attempts.arguments[cudnn::kQuery],
            behind(pointers[Slot::src], large.src().bytes() / large.batch * first));
  EXPECT_EQ(attempts.arguments[cudnn::kStatistics],
            behind(pointers[Slot::saved], large.saved_bytes() / large.batch * first));
}

TEST_F(CudnnAttentionTest, RefusesWithAReasonWhatCudnnHasNoKernelsFor) {
  Attention other = spec(Direction::forward);
  other.dtype = Dtype::fp32;
  expect_words(refusal(other, device_));
  other = spec(Direction::forward);
  other.head_size = 20;
  expect_words(refusal(other, device_));
  other.head_size = 136;
  expect_words(refusal(other, device_));
  other = spec(Direction::forward);
  other.sequence = 1;
  expect_words(refusal(other, device_));
  other = spec(Direction::forward);
  other.statistics = false;
  expect_words(refusal(other, device_));
  other = spec(Direction::forward);
  other.sequence = std::int64_t{1} << 26;
  expect_words(refusal(other, device_));
  runtime_.cards[0].major = 7;
  runtime_.cards[0].minor = 5;
  CudaDevice t4(fake_backend(runtime_), 0);
  expect_words(refusal(spec(Direction::forward), t4));
  EXPECT_EQ(attempts.listed.size(), 0U) << "cuDNN need not be asked";
}

TEST_F(CudnnAttentionTest, KnowsWhichVersionsGetTheGradientWrong) {
  Attention pass = spec(Direction::backward);
  pass.sequence = 256;
  EXPECT_EQ(cudnn::unsupported(pass, 80, 90600), std::nullopt);
  EXPECT_NE(cudnn::unsupported(pass, 80, 90500), std::nullopt);
  EXPECT_NE(cudnn::unsupported(pass, 80, 91001), std::nullopt);
  pass.sequence = 130;
  expect_words(cudnn::unsupported(pass, 80, 91500).value_or(""));
  EXPECT_EQ(cudnn::unsupported(pass, 80, 91600), std::nullopt);
  pass.head_size = 256;
  EXPECT_EQ(cudnn::unsupported(pass, 90, 91900), std::nullopt);
  EXPECT_NE(cudnn::unsupported(pass, 80, 91900), std::nullopt);
}

}  // namespace

std::unique_ptr<cudnn::Plans> testing::made_up_attention_plans(const Attention& spec, cuda::Card& /*card*/) {
  attempts.listed.push_back(spec);
  return std::make_unique<Plans>();
}

}  // namespace bench::kernels
