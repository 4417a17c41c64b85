// The peaks that points are judged by, on a double of a card.
#include <gmock/gmock.h>

#include "bench/run/result_recorder.h"
#include "kernels/devices/cuda/device.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kProduct = 10e12;  // FLOP/s

struct Silent : RunObserver {
  void progress(const RunProgress& /*now*/) override {}
  void changed(const ResultDocument& /*document*/) override {}
};

// A card whose products reach kProduct and whose multiply-adds `faster` times as much.
class CardPeaks : public ::testing::Test {
 protected:
  CudaDevice card(double faster) {
    Backend backend = testing::fake_backend(runtime_);
    backend.matmul_rate = [](CudaDevice&, Dtype, std::int64_t) { return kProduct; };
    backend.multiply_add = [this, faster](Device&, std::byte*, std::int64_t elements, std::int64_t steps) {
      runtime_.step_ms =
          static_cast<float>(2e3 * static_cast<double>(elements * steps) / (faster * kProduct));
    };
    return {backend, 0};
  }

  // The flags of a point that ran at so many FLOP/s.
  static std::vector<std::string> flags_at(double rate, Dtype dtype, Device& device) {
    SweepPlan plan;
    SweepPoint point;
    point.name = "fma/forward";
    point.spec.dtype = dtype;
    plan.points = {point};
    ResultDocument document;
    const StopRule rule;
    Silent silent;
    ResultRecorder recorder(plan, device, rule, document, silent);
    MeasuredPoint measured;
    measured.name = point.name;
    measured.work.flops = rate * 1e-3;
    Repetition repetition;
    repetition.samples_ns = {1'000'000, 1'000'000, 1'000'000};
    recorder.add_repetition(point, measured, repetition, {}, {});
    return document.benchmarks.at(0).validity.flags;
  }

  testing::FakeRuntime runtime_;
};

TEST_F(CardPeaks, AChainOfMultiplyAddsThatBeatsTheProductIsNotAboveThePeak) {
  CudaDevice device = card(1.25);
  EXPECT_NEAR(device.peaks(Dtype::fp32).flops_per_s, 1.25 * kProduct, 1e-4 * kProduct);
  EXPECT_THAT(device.peaks(Dtype::fp32).source, HasSubstr("multiply-adds"));
  EXPECT_THAT(flags_at(1.25 * kProduct, Dtype::fp32, device), Not(Contains("above_peak")));
  EXPECT_THAT(flags_at(1.4 * kProduct, Dtype::fp32, device), Contains("above_peak"));
}

TEST_F(CardPeaks, AProductThatBeatsTheChainsIsThePeak) {
  CudaDevice device = card(0.5);
  EXPECT_EQ(device.peaks(Dtype::fp32).flops_per_s, kProduct);
  EXPECT_THAT(device.peaks(Dtype::fp32).source, HasSubstr("cuBLASLt matmul"));
}

// Tensor cores are faster than any chain.
TEST_F(CardPeaks, OtherDtypesKeepToTheProduct) {
  CudaDevice device = card(1.25);
  for (const Dtype dtype : {Dtype::tf32, Dtype::bf16, Dtype::fp16}) {
    EXPECT_EQ(device.peaks(dtype).flops_per_s, kProduct) << name_of(dtype);
    EXPECT_THAT(flags_at(1.25 * kProduct, dtype, device), Contains("above_peak"));
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
