// Products by cuBLASLt, on made-up algorithms and a double of the CUDA runtime. What is common to all tuned
// work is tested with cuda::AutotunedChoice.
#include "kernels/backends/cublaslt/product.h"

#include <gmock/gmock.h>

#include <array>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/devices/cuda/device.h"
#include "tests/bench/support/idle_device.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cublaslt {
namespace {

using cuda::CudaDevice;
using cuda::testing::fake_backend;
using cuda::testing::FakeRuntime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Calls {
  int asked = 0;   // how often algorithms were listed
  int living = 0;  // lists that somebody owns
  std::vector<std::size_t> queued;
  int starved_lists = 0;  // so many of the next lists and products find no memory
  int starved_products = 0;
  std::optional<std::size_t> refused;  // the algorithm that cannot be run
  FakeRuntime* runtime = nullptr;
};
Calls calls;

// Three algorithms, of which the last is fastest.
class MadeUpAlgorithms final : public Algorithms {
 public:
  MadeUpAlgorithms() { ++calls.living; }
  ~MadeUpAlgorithms() override { --calls.living; }
  std::size_t count() const override { return 3; }
  std::int64_t workspace() const override { return 512; }
  std::string name(std::size_t algorithm) const override { return "algorithm " + std::to_string(algorithm); }
  void queue(std::size_t algorithm, CUstream_st* /*stream*/, const ProductArguments& /*arguments*/) override {
    calls.queued.push_back(algorithm);
    if (calls.starved_products > 0) {
      --calls.starved_products;
      throw OutOfMemory("CUBLAS_STATUS_ALLOC_FAILED", 0);
    }
    if (algorithm == calls.refused) {
      throw std::runtime_error("CUBLAS_STATUS_EXECUTION_FAILED");
    }
    calls.runtime->step_ms = algorithm == 2 ? 1.0F : 2.0F;
  }
};

const Registration<AlgorithmSource> BENCH_REGISTERED{
    {.name = "cublaslt",
     .algorithms = [](const Product& product, cuda::Card& /*card*/) -> std::unique_ptr<Algorithms> {
       ++calls.asked;
       if (calls.starved_lists > 0) {
         --calls.starved_lists;
         throw OutOfMemory("CUBLAS_STATUS_ALLOC_FAILED", 0);
       }
       if (product.dtype == Dtype::bf16) {
         throw Unsupported("made-up algorithms have no bf16");
       }
       return std::make_unique<MadeUpAlgorithms>();
     }}};

class TunedProductTest : public ::testing::Test {
 protected:
  TunedProductTest() {
    calls = {};
    calls.runtime = &runtime_;
  }

  static Product product(Dtype dtype = Dtype::fp16) { return dense(dtype, 16, 32, 64, false, true); }
  void run(TunedProduct& tuned) { tuned.run({.workspace = scratch_.data()}); }

  FakeRuntime runtime_;
  std::unique_ptr<CudaDevice> device_ = std::make_unique<CudaDevice>(fake_backend(runtime_), 0);
  alignas(256) std::array<std::byte, 512> scratch_{};
};

TEST_F(TunedProductTest, TimesEachAlgorithmInTheFirstRunOnlyAndKeepsTheFastest) {
  TunedProduct tuned(product(), *device_);
  EXPECT_EQ(tuned.algorithm(), "algorithm 0");
  run(tuned);
  EXPECT_THAT(calls.queued, ::testing::IsSupersetOf({0, 1, 2}));
  EXPECT_EQ(tuned.algorithm(), "algorithm 2");
  calls.queued.clear();
  run(tuned);
  EXPECT_THAT(calls.queued, ElementsAre(2));
}

TEST_F(TunedProductTest, WithoutMemoryGetsTheKeptSegmentsAndIsTriedOnceMore) {
  const auto keep_a_segment = [&] { device_->allocate(8 << 20, MemoryCategory::activations); };
  keep_a_segment();
  calls.starved_lists = 1;
  TunedProduct tuned(product(), *device_);
  EXPECT_EQ(calls.asked, 2);
  EXPECT_EQ(runtime_.reserved, 0);
  run(tuned);
  calls.queued.clear();
  keep_a_segment();
  calls.starved_products = 1;
  run(tuned);
  EXPECT_THAT(calls.queued, ElementsAre(2, 2));
  EXPECT_EQ(runtime_.reserved, 0);
  calls.starved_products = 1;
  EXPECT_THROW(run(tuned), OutOfMemory) << "nothing is left to give back";
}

TEST_F(TunedProductTest, TheCardKeepsWhatWasFoundUntilItsDeviceIsClosed) {
  {
    TunedProduct first(product(), *device_);
    run(first);
  }
  EXPECT_EQ(TunedProduct(product(), *device_).algorithm(), "algorithm 2");
  EXPECT_EQ(calls.asked, 1);
  EXPECT_EQ(calls.living, 1);
  device_.reset();
  EXPECT_EQ(calls.living, 0);
}

// A device of its own is what a later process has.
TEST_F(TunedProductTest, ASecondProcessTakesTheChoiceAndTimesNothing) {
  const bench::testing::TemporaryFolder folder;
  const auto process = [&](const Product& of) {
    CudaDevice device(fake_backend(runtime_), 0);
    device.keep_choices(folder.path() / "autotune.json");
    calls.queued.clear();
    runtime_.calls.clear();
    TunedProduct tuned(of, device);
    tuned.run({.workspace = scratch_.data()});
    return runtime_.times("elapsed_ms");
  };
  EXPECT_GT(process(product()), 0);
  EXPECT_EQ(process(product()), 0);
  EXPECT_THAT(calls.queued, ElementsAre(2));
  calls.refused = 2;
  EXPECT_GT(process(product()), 0) << "what cannot be run any more is forgotten";
  EXPECT_EQ(process(product()), 0);
  EXPECT_THAT(calls.queued, ElementsAre(0));
  Product other = product();
  other.a.step += 8;
  EXPECT_GT(process(other), 0);
}

TEST_F(TunedProductTest, TwoCardsDoNotShareWhatWasFound) {
  runtime_.cards.push_back(runtime_.cards.front());
  const CudaDevice other(fake_backend(runtime_), 1);
  const TunedProduct here(product(), *device_);
  const TunedProduct there(product(), other);
  EXPECT_EQ(calls.asked, 2);
}

TEST_F(TunedProductTest, PassesOnWhyThereIsNoAlgorithm) {
  EXPECT_THROW(TunedProduct(product(Dtype::bf16), *device_), Unsupported);
}

// A device for a card that is not here.
class DescribedDevice final : public IdleDevice, public cuda::CardDevice {
 public:
  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype /*dtype*/) const override { return std::nullopt; }
  cuda::Card& card() const override { return card_; }

 private:
  DeviceInfo info_{.id = "t4", .kind = "cuda", .name = "T4", .details = {}};
  mutable cuda::Card card_{75, 40, "{}"};
};

TEST_F(TunedProductTest, OnACardThatIsNotHereTheWorkspaceIsTheCapAndNothingRuns) {
  DescribedDevice t4;
  TunedProduct planned(product(), t4);
  EXPECT_EQ(planned.workspace(), kWorkspaceCap);
  EXPECT_THAT(planned.algorithm(), HasSubstr("chosen on the card"));
  EXPECT_EQ(calls.asked, 0);
  EXPECT_THROW(planned.run({.workspace = scratch_.data()}), std::logic_error);
}

}  // namespace
}  // namespace bench::kernels::cublaslt
