// The peaks that points are judged by, on a double of a card.
#include <gmock/gmock.h>

#include "bench/run/result_recorder.h"
#include "kernels/devices/cuda/device.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::Contains;
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
    runtime_.capacity = std::int64_t{200} << 20;  // copies of a gigabyte would take seconds here
    Backend backend = testing::fake_backend(runtime_);
    backend.matmul_rate = [](CudaDevice&, Dtype, std::int64_t) { return kProduct; };
    backend.multiply_add = [this, faster](Device&, Dtype dtype, std::byte*, std::int64_t elements,
                                          std::int64_t steps) {
      const double each = bytes_of(dtype) == 2 ? 32 : 2;  // FLOP of a step
      const double flops = each * static_cast<double>(elements * steps);
      runtime_.step_ms = static_cast<float>(1e3 * flops / (faster * kProduct));
      return flops;
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
    Point measured;
    measured.name = point.name;
    measured.work.flops = rate * 1e-3;
    Repetition repetition;
    repetition.samples_ns = {1'000'000, 1'000'000, 1'000'000};
    recorder.add_repetition(point, measured, repetition, {}, {});
    return document.points.at(0).validity.flags;
  }

  testing::FakeRuntime runtime_;
};

// On cards but those of compute capability 9.0, products wait for memory where multiply-adds do not.
TEST_F(CardPeaks, MultiplyAddsThatBeatTheProductAreNotAboveThePeak) {
  CudaDevice device = card(1.25);
  for (const Dtype dtype : kAllDtypes) {
    EXPECT_NEAR(device.peaks(dtype).flops_per_s, 1.25 * kProduct, 1e-4 * kProduct) << name_of(dtype);
    expect_words(device.peaks(dtype).source);
    EXPECT_THAT(flags_at(1.25 * kProduct, dtype, device), Not(Contains("above_peak"))) << name_of(dtype);
    EXPECT_THAT(flags_at(1.4 * kProduct, dtype, device), Contains("above_peak")) << name_of(dtype);
  }
}

TEST_F(CardPeaks, AProductThatBeatsTheMultiplyAddsIsThePeak) {
  CudaDevice device = card(0.5);
  for (const Dtype dtype : kAllDtypes) {
    EXPECT_EQ(device.peaks(dtype).flops_per_s, kProduct) << name_of(dtype);
    expect_words(device.peaks(dtype).source);
    EXPECT_THAT(flags_at(1.25 * kProduct, dtype, device), Contains("above_peak")) << name_of(dtype);
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
