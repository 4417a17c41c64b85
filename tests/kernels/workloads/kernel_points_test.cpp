// The points that workloads offer to the kernels sweep.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/registry.h"
#include "bench/workload.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/fake_device.h"

namespace bench::kernels {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class OfferedPoints : public ::testing::Test {
 protected:
  // As the kernels sweep asks: all modes, and the device's dtypes.
  void ask(const std::string& workload) {
    type_ = registry<WorkloadType>().find(workload);
    ASSERT_NE(type_, nullptr);
    ASSERT_TRUE(type_->kernel_points);
    request_ = {};
    request_.modes = type_->modes;
    request_.dtypes = {Dtype::fp32, Dtype::bf16};
    request_.seed = 7;
  }
  void give_modes(std::vector<std::string> modes) {
    request_.modes = std::move(modes);
    request_.modes_given = true;
  }
  void give_dtypes(std::vector<Dtype> dtypes) {
    request_.dtypes = std::move(dtypes);
    request_.dtypes_given = true;
  }

  // "forward/fp32/hot/inner:512/batch:512".
  static std::string text_of(const KernelPoint& point) {
    std::string text =
        fmt::format("{}/{}/{}", point.spec.mode, name_of(point.spec.dtype), point.cold ? "cold" : "hot");
    for (const auto& [option, value] : point.spec.options) {
      text += fmt::format("/{}:{}", option, value);
    }
    return text + fmt::format("/batch:{}", point.spec.batch);
  }
  std::vector<std::string> offered(const Device& device, bool references_only = false) {
    std::vector<std::string> all;
    for (const KernelPoint& point : type_->kernel_points(request_, device)) {
      EXPECT_EQ(point.spec.seed, 7U);
      EXPECT_NO_THROW(type_->configure(point.spec)) << text_of(point);
      if (point.is_reference || !references_only) {
        all.push_back(text_of(point));
      }
    }
    return all;
  }
  std::vector<std::string> references(const Device& device) { return offered(device, true); }

  const WorkloadType* type_ = nullptr;
  KernelRequest request_;
  bench::testing::FakeDevice cpu_{{Dtype::fp32, Dtype::bf16}};
  bench::testing::FakeDevice card_{{Dtype::fp32, Dtype::bf16, Dtype::fp16}, "cuda"};
};

TEST_F(OfferedPoints, OfGemmAreSquareHotAndCold) {
  ask("gemm");
  EXPECT_EQ(offered(cpu_).size(), 2U * 5 * 2);
  EXPECT_THAT(offered(cpu_), Contains("forward/bf16/cold/columns:512/inner:512/batch:512"));
  EXPECT_THAT(offered(cpu_), Contains("forward/bf16/hot/columns:512/inner:512/batch:512"));
  EXPECT_THAT(references(cpu_), ElementsAre("forward/fp32/hot/columns:2048/inner:2048/batch:2048",
                                            "forward/bf16/hot/columns:2048/inner:2048/batch:2048"));
  EXPECT_THAT(references(card_), Contains("forward/fp32/hot/columns:8192/inner:8192/batch:8192"));
  request_.batches = {64};
  give_dtypes({Dtype::fp32});
  EXPECT_THAT(offered(cpu_), ElementsAre("forward/fp32/hot/columns:64/inner:64/batch:64",
                                         "forward/fp32/cold/columns:64/inner:64/batch:64"));
  EXPECT_THAT(references(cpu_), IsEmpty());
}

// Memory's roof comes from the largest arrays with cold caches.
TEST_F(OfferedPoints, OfStreamGrowBeyondTheCaches) {
  ask("stream");
  EXPECT_THAT(offered(cpu_), Contains("triad/fp32/hot/elements:16384/batch:1"));
  EXPECT_THAT(offered(cpu_), Contains("triad/fp32/cold/elements:33554432/batch:1"));
  EXPECT_THAT(offered(cpu_), Contains("copy/fp32/hot/elements:33554432/batch:1"));
  EXPECT_THAT(offered(cpu_), Not(Contains("copy/fp32/hot/elements:16384/batch:1")));
  EXPECT_THAT(offered(cpu_), Not(Contains("triad/bf16/hot/elements:33554432/batch:1")));
  EXPECT_THAT(references(cpu_), ElementsAre("triad/fp32/cold/elements:33554432/batch:1",
                                            "copy/fp32/cold/elements:33554432/batch:1"));
  EXPECT_THAT(references(card_), Contains("copy/fp32/cold/elements:134217728/batch:1"));
  EXPECT_THAT(offered(card_), Contains("triad/fp32/hot/elements:134217728/batch:1"));
  give_modes({"copy"});
  give_dtypes({Dtype::bf16});
  request_.batches = {3};
  EXPECT_THAT(offered(cpu_), ElementsAre("copy/bf16/hot/elements:33554432/batch:3",
                                         "copy/bf16/cold/elements:33554432/batch:3"));
}

// From 40 GB on the roof's arrays are larger, warm and cold; the other kernels stay as they are.
TEST_F(OfferedPoints, OfStreamGrowWithTheCardsMemory) {
  ask("stream");
  const std::vector<std::string> on_any_card = offered(card_);
  EXPECT_EQ(offered(bench::testing::FakeDevice({Dtype::fp32}, "cuda", 39'999'999'999)), on_any_card);
  const bench::testing::FakeDevice large({Dtype::fp32}, "cuda", 40'000'000'000);
  EXPECT_THAT(references(large), ElementsAre("triad/fp32/cold/elements:536870912/batch:1",
                                             "copy/fp32/cold/elements:536870912/batch:1"));
  EXPECT_THAT(offered(large), Contains("triad/fp32/hot/elements:536870912/batch:1"));
  EXPECT_THAT(offered(large), Contains("copy/fp32/hot/elements:536870912/batch:1"));
  EXPECT_THAT(offered(large), Contains("read/fp32/cold/elements:134217728/batch:1"));
  EXPECT_THAT(offered(large), Contains("add/fp32/cold/elements:134217728/batch:1"));
  EXPECT_EQ(offered(bench::testing::FakeDevice({Dtype::fp32}, "cpu", 40'000'000'000)), offered(cpu_));
}

// The roof's arrays touch at least twice the host's last cache, whatever its size. The other points stay.
TEST_F(OfferedPoints, OfStreamGrowBeyondALargeLastCache) {
  ask("stream");
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  const auto host = [](std::int64_t cache, std::int64_t memory) {
    return bench::testing::FakeDevice({Dtype::fp32, Dtype::bf16}, "cpu", memory,
                                      {{"l3_bytes", std::to_string(cache)}});
  };
  EXPECT_EQ(offered(host(128 * kMiB, 64'000 * kMiB)), offered(cpu_)) << "copy: 256 MiB";
  EXPECT_THAT(
      references(host(192 * kMiB, 64'000 * kMiB)),
      ElementsAre("triad/fp32/cold/elements:33554432/batch:1", "copy/fp32/cold/elements:67108864/batch:1"));
  const auto large = host(260 * kMiB, 24'000 * kMiB);
  EXPECT_THAT(references(large), ElementsAre("triad/fp32/cold/elements:67108864/batch:1",
                                             "copy/fp32/cold/elements:100663296/batch:1"));
  EXPECT_EQ(offered(large).size(), offered(cpu_).size() + 2) << "cold only";
  EXPECT_THAT(offered(large), ::testing::IsSupersetOf(offered(cpu_)));
  EXPECT_EQ(references(host(260 * kMiB, 2'000 * kMiB)), references(cpu_)) << "memory is short";
  EXPECT_EQ(references(host(4'000 * kMiB, 640'000 * kMiB)), references(cpu_)) << "it would take minutes";
}

// A CPU has no tensor cores and says so once; asked for, every point answers.
TEST_F(OfferedPoints, OfFmaAskForTensorCoresOnceWhereThereAreNone) {
  ask("fma");
  EXPECT_THAT(references(cpu_), ElementsAre("forward/fp32/hot/elements:4194304/steps:1024/batch:1",
                                            "tensor-cores/bf16/hot/elements:4194304/steps:1024/batch:1"));
  EXPECT_EQ(offered(cpu_).size(), 6U + 1);
  EXPECT_EQ(offered(card_).size(), 2U * 6 + 6) << "both dtypes by ordinary units, bf16 on tensor cores";
  give_dtypes({Dtype::fp32});
  EXPECT_EQ(offered(card_).size(), 6U + 1);
  EXPECT_THAT(offered(card_), Contains("tensor-cores/fp32/hot/elements:16777216/steps:1024/batch:1"));
  give_modes({"tensor-cores"});
  EXPECT_EQ(offered(cpu_).size(), 6U);
}

// A card may have faster instructions for its tensor cores than the one that is measured.
TEST_F(OfferedPoints, FmaSaysWhichInstructionItMeasures) {
  ask("fma");
  expect_words(type_->description);
  const auto steps = std::ranges::find(type_->options, "steps", &CommandOption::name);
  ASSERT_NE(steps, type_->options.end());
  expect_words(steps->help);
}

TEST_F(OfferedPoints, OfConv2dAreResnetsShapesHotAndCold) {
  ask("conv2d");
  EXPECT_EQ(offered(cpu_).size(), 3U * 2 * 4 * 2);
  for (const char* caches : {"hot", "cold"}) {
    EXPECT_THAT(offered(cpu_),
                Contains(fmt::format(
                    "forward/bf16/{}/height:28/in-channels:128/out-channels:128/width:28/batch:8", caches)));
  }
  EXPECT_THAT(offered(card_), Contains("forward/fp32/hot/height:7/in-channels:512/out-channels:512/width:7/"
                                       "batch:64"));
}

// On a card over conv2d's shapes, in the dtypes that it has; elsewhere it says once that there is none.
TEST_F(OfferedPoints, OfOurOwnConvolutionStandNextToTheLibrarys) {
  ask("implicit_gemm");
  request_.dtypes = {Dtype::fp32, Dtype::bf16, Dtype::fp16};
  EXPECT_EQ(offered(card_).size(), 4U * 2 * 2);
  for (const char* dtype : {"fp32", "fp16"}) {
    EXPECT_THAT(offered(card_),
                Contains(fmt::format(
                    "forward/{}/cold/height:7/in-channels:512/out-channels:512/width:7/batch:64", dtype)));
  }
  EXPECT_THAT(offered(cpu_),
              ElementsAre("forward/fp32/hot/height:56/in-channels:64/out-channels:64/width:56/batch:8"));
  give_dtypes({Dtype::bf16});
  EXPECT_EQ(offered(card_).size(), 4U * 2) << "what is asked for is answered, be it by a refusal";
}

TEST_F(OfferedPoints, OfALaunchAreOne) {
  ask("launch");
  EXPECT_THAT(offered(cpu_), ElementsAre("forward/fp32/hot/batch:1"));
}

}  // namespace
}  // namespace bench::kernels
