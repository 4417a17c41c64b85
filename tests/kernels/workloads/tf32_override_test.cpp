// Which points NVIDIA_TF32_OVERRIDE takes away: those that NVIDIA's libraries would compute in another dtype.
#include "kernels/devices/cuda/tf32_override.h"

#include <cstdlib>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/optimizer/optimizer.h"
#include "kernels/operations/stream/stream.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A card's operations are not in this program. These take their place: they are planned and never run, and
// ask what kernels of our own ask.
class Planned final : public ReferenceOperation {
 public:
  Planned() { add_values(Slot::dst, Role::output, 1); }
  void run(const SlotPointers& /*pointers*/) override { throw std::logic_error("it is never run"); }
  double flops() const override { return 1; }
};

template <class Spec>
Implementation<Spec> planned(const char* name, int preference) {
  return {
      .name = name,
      .device_kind = "cuda",
      .preference = preference,
      .unsupported = [](const Spec& spec, const Device& device) { return device.unsupported(spec.dtype); },
      .make = [](const Spec& /*spec*/, Device& /*device*/) { return std::make_unique<Planned>(); }};
}
const Registration<Implementation<kernels::Stream>> planned_stream{planned<kernels::Stream>("planned", 10)};
const Registration<Implementation<Linear>> planned_linear{planned<Linear>("planned", 10)};
const Registration<Implementation<Optimizer>> planned_optimizer{planned<Optimizer>("planned", 10)};
const Registration<Implementation<Conv2d>> planned_library{planned<Conv2d>("planned", 20)};
const Registration<Implementation<Conv2d>> planned_own{planned<Conv2d>("implicit_gemm", -1)};

// A card that was opened with NVIDIA_TF32_OVERRIDE at that value.
class Overridden {
 public:
  explicit Overridden(const char* value, int major = 8) {
    runtime_.cards[0].major = major;
    runtime_.capacity = std::int64_t{64} << 20;  // no room for copies, which take time
    setenv(kTf32Override, value, 1);
    device_ = std::make_unique<CudaDevice>(testing::fake_backend(runtime_), 0);
    unsetenv(kTf32Override);
  }
  CudaDevice& device() { return *device_; }

  // A point with the workload's defaults.
  std::string reason(const std::string& workload, const std::string& mode, Dtype dtype,
                     const std::map<std::string, std::string>& changes = {}) {
    const WorkloadType& type = *registry<WorkloadType>().find(workload);
    WorkloadSpec spec;
    spec.mode = mode;
    spec.dtype = dtype;
    spec.batch = 1;
    for (const auto& option : type.options) {
      spec.options[option.name] = option.default_value;
    }
    for (const auto& [name, value] : changes) {
      spec.options.at(name) = value;
    }
    return type.configure(spec)->unsupported(*device_).value_or("");
  }

 private:
  testing::FakeRuntime runtime_;
  std::unique_ptr<CudaDevice> device_;
};

constexpr const char* kMayBeTf32 =
    "NVIDIA_TF32_OVERRIDE=1 is set, with which cuDNN and cuBLASLt may compute fp32 in tf32; unset it";

TEST(Tf32Override, IsInTheResultWhereItIsSet) {
  EXPECT_EQ(Overridden("0").device().info().details.at(kTf32OverrideDetail), "0");
  EXPECT_EQ(Overridden("yes").device().info().details.at(kTf32OverrideDetail), "yes");
  EXPECT_FALSE(Overridden("").device().info().details.contains(kTf32OverrideDetail));
}

TEST(Tf32Override, TakesNoDtypeFromTheDevice) {
  for (const char* value : {"", "0", "1"}) {
    Overridden card(value);
    for (const Dtype dtype : kAllDtypes) {
      EXPECT_FALSE(card.device().unsupported(dtype)) << value << ' ' << name_of(dtype);
    }
    // As of the biases of a network that trains in fp16.
    const Optimizer wide{.kind = Optimizer::Kind::sgd, .count = 1, .dtype = Dtype::fp32};
    EXPECT_NO_THROW(make_operation(wide, card.device())) << value;
  }
}

// At 0 a point in tf32 would be one in fp32, at anything else one in fp32 could be one in tf32.
TEST(Tf32Override, IsAskedOfThePointsThatLibrariesCompute) {
  for (const auto& [workload, mode] : {std::pair{"resnet18", "infer"},
                                       {"resnet18", "train"},
                                       {"gpt_small", "train"},
                                       {"gemm", "forward"},
                                       {"conv2d", "forward"},
                                       {"conv2d", "backward-weights"}}) {
    SCOPED_TRACE(std::string(workload) + " " + mode);
    Overridden one("1");
    EXPECT_EQ(one.reason(workload, mode, Dtype::fp32), kMayBeTf32);
    expect_words(Overridden("yes").reason(workload, mode, Dtype::fp32));
    Overridden zero("0");
    expect_words(zero.reason(workload, mode, Dtype::tf32));
    EXPECT_EQ(zero.reason(workload, mode, Dtype::fp32), "");
    EXPECT_EQ(Overridden("").reason(workload, mode, Dtype::fp32), "");
    EXPECT_EQ(Overridden("1", 7).reason(workload, mode, Dtype::fp32), "") << "that card has no tf32";
    for (const Dtype dtype : {Dtype::tf32, Dtype::fp16, Dtype::bf16}) {
      EXPECT_EQ(one.reason(workload, mode, dtype), "") << name_of(dtype);
    }
  }
}

TEST(Tf32Override, KernelsOfOurOwnComputeInWhatTheyAreGiven) {
  Overridden one("1");
  EXPECT_EQ(one.reason("stream", "triad", Dtype::fp32), "");
  EXPECT_EQ(one.reason("conv2d", "forward", Dtype::fp32, {{"implementation", "implicit_gemm"}}), "");
  EXPECT_EQ(one.reason("conv2d", "forward", Dtype::fp32, {{"implementation", "cudnn"}}), kMayBeTf32);
  for (const auto& [workload, mode] : {std::pair{"fma", "forward"}, {"launch", "forward"}}) {
    EXPECT_THAT(one.reason(workload, mode, Dtype::fp32), Not(HasSubstr(kTf32Override))) << workload;
  }
}

TEST(Tf32Override, LeavesThePeakOfAnotherDtypeUnknown) {
  Overridden card("1");
  const Peaks unknown = card.device().peaks(Dtype::fp32);
  EXPECT_EQ(unknown.flops_per_s, 0);
  expect_words(unknown.source);
  EXPECT_GT(card.device().peaks(Dtype::tf32).flops_per_s, 0);
  EXPECT_GT(Overridden("0").device().peaks(Dtype::fp32).flops_per_s, 0);
}

}  // namespace
}  // namespace bench::kernels::cuda
