#include <gtest/gtest.h>

#include <algorithm>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

const WorkloadType& type() {
  return *registry<WorkloadType>().find("conv2d");
}

WorkloadSpec conv(const std::string& mode, std::int64_t batch,
                  const std::map<std::string, std::string>& changes = {}) {
  WorkloadSpec spec;
  spec.mode = mode;
  spec.batch = batch;
  for (const auto& option : type().options) {
    spec.options[option.name] = option.default_value;
  }
  for (const auto& [name, value] : changes) {
    spec.options.at(name) = value;
  }
  return spec;
}

std::string refusal(const std::map<std::string, std::string>& changes) {
  try {
    type().configure(conv("forward", 1, changes));
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

class Conv2dWorkload : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = registry<DeviceKind>().find("cpu")->open("cpu");
};

TEST_F(Conv2dWorkload, DefaultIsAResnetThreeByThree) {
  EXPECT_EQ(type().kind, "operation");
  EXPECT_EQ(type().modes.front(), "forward");
  EXPECT_EQ(refusal({}), "accepted");
  const auto work = type().configure(conv("forward", 1))->make(*device_)->work();
  EXPECT_EQ(work.samples, 1);
  EXPECT_EQ(work.launches, 1);
  EXPECT_EQ(work.sample_bytes, 2 * 64 * 56 * 56 * 4);
  EXPECT_LE(work.flops, 2.0 * 64 * 64 * 9 * 56 * 56);
}

TEST_F(Conv2dWorkload, EveryDirectionShapeAndBatchIsRightAndPlanned) {
  const std::map<std::string, std::string> small{
      {"in-channels", "32"}, {"out-channels", "48"}, {"height", "14"}, {"width", "11"}};
  auto strided = small;
  strided["stride"] = "2";
  strided["kernel"] = "5";
  strided["padding"] = "2";
  auto grouped = small;
  grouped["groups"] = "4";
  auto stem = small;
  stem["in-channels"] = "3";
  auto dilated = small;
  dilated["dilation"] = "2";
  dilated["padding"] = "0";
  for (const auto& mode : type().modes) {
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
      for (const auto& shape : {small, strided, grouped, stem, dilated}) {
        for (const std::int64_t batch : {1, 2, 5}) {
          auto spec = conv(mode, batch, shape);
          spec.dtype = dtype;
          if (type().configure(spec)->unsupported(*device_)) {
            continue;
          }
          SCOPED_TRACE(mode + " " + std::string(name_of(dtype)) + " batch " + std::to_string(batch) +
                       " kernel " + spec.options.at("kernel") + " groups " + spec.options.at("groups") +
                       " channels " + spec.options.at("in-channels") + " dilation " +
                       spec.options.at("dilation"));
          device_->memory().reset_peak();
          const MemoryPlan plan = type().configure(spec)->plan(*device_);
          {
            const auto workload = type().configure(spec)->make(*device_);
            const Verification verification = workload->verify();
            EXPECT_TRUE(verification.passed) << verification.detail;
          }
          EXPECT_EQ(device_->memory().peak(), plan.peak);
          EXPECT_EQ(device_->memory().at_peak(), plan.at_peak);
          EXPECT_EQ(device_->memory().live().total(), 0);
        }
      }
    }
  }
}

// A stand-in that is right but for one place.
class WrongOnce final : public Operation {
 public:
  WrongOnce(std::unique_ptr<Operation> right, std::int64_t from_end)
      : right_(std::move(right)), from_end_(from_end) {}
  std::span<const SlotInfo> slots() const override { return right_->slots(); }
  void prepare() override { right_->prepare(); }
  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    right_->pack(slot, plain, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    right_->unpack(slot, packed, plain);
  }
  void run(const SlotPointers& pointers) override {
    right_->run(pointers);
    const SlotInfo& result = *std::ranges::find(right_->slots(), Role::output, &SlotInfo::role);
    static_cast<float*>(pointers[result.slot])[result.bytes / 4 - from_end_] += 100;
  }
  double flops() const override { return 0; }
  std::string algorithm() const override { return "wrong once"; }

 private:
  std::unique_ptr<Operation> right_;
  std::int64_t from_end_;
};

// The last value belongs to a row that is compared, be it a sample or an output channel.
TEST_F(Conv2dWorkload, AWrongValueIsFoundInEveryDirection) {
  static const Registration<Implementation<Conv2d>> stand_in{
      {.name = "wrong_once",
       .device_kind = "cpu",
       .preference = -1,
       .unsupported = [](const Conv2d&, const Device&) -> std::optional<std::string> { return std::nullopt; },
       .make = [](const Conv2d& conv2d, Device& device) -> std::unique_ptr<Operation> {
         return std::make_unique<WrongOnce>(make_operation(conv2d, device, "reference"), 1);
       }}};
  const std::map<std::string, std::string> small{{"in-channels", "16"}, {"out-channels", "32"},
                                                 {"height", "5"},       {"width", "6"},
                                                 {"groups", "2"},       {"implementation", "wrong_once"}};
  for (const auto& mode : type().modes) {
    const Verification found = type().configure(conv(mode, 7, small))->make(*device_)->verify();
    EXPECT_FALSE(found.passed) << mode;
    const std::string last = mode == "backward-weights" ? "row 31 is off" : "row 6 is off";
    EXPECT_NE(found.detail.find(last), std::string::npos) << found.detail;
  }
}

TEST_F(Conv2dWorkload, FpThirtyTwoIsSupportedInEveryDirection) {
  for (const auto& mode : type().modes) {
    EXPECT_FALSE(type().configure(conv(mode, 1))->unsupported(*device_).has_value()) << mode;
  }
}

TEST_F(Conv2dWorkload, RefusesByOptionName) {
  EXPECT_EQ(refusal({{"kernel", "0"}}), "--kernel: '0' was given; accepted: whole numbers from 1 to 1024");
  EXPECT_EQ(refusal({{"stride", "two"}}),
            "--stride: 'two' was given; accepted: whole numbers from 1 to 1024");
  EXPECT_EQ(refusal({{"padding", "-1"}}),
            "--padding: '-1' was given; accepted: whole numbers from 0 to 1024");
  expect_words(refusal({{"groups", "3"}}));
  expect_words(refusal({{"kernel", "61"}}));
  EXPECT_EQ(refusal({{"kernel", "58"}}), "accepted");
  expect_words(refusal({{"kernel", "30"}, {"dilation", "2"}}));
}

TEST_F(Conv2dWorkload, OutOfMemoryLeavesNothingBehind) {
  const auto spec = conv("backward-weights", 2);
  device_->memory().set_cap(type().configure(spec)->plan(*device_).peak - 1);
  EXPECT_THROW(type().configure(spec)->make(*device_), OutOfMemory);
  EXPECT_EQ(device_->memory().live().total(), 0);
}

TEST_F(Conv2dWorkload, TheImplementationCanBeChosen) {
  const auto spec = conv("forward", 1, {{"implementation", "reference"}, {"height", "9"}, {"width", "9"}});
  EXPECT_EQ(type().configure(spec)->unsupported(*device_), std::nullopt);
  EXPECT_TRUE(type().configure(spec)->make(*device_)->verify().passed);
  EXPECT_EQ(refusal({{"implementation", "best"}}), "accepted");
  const std::string refused = refusal({{"implementation", "fastest"}});
  EXPECT_NE(refused.find("--implementation: 'fastest' is not known; accepted: best, "), std::string::npos)
      << refused;
  EXPECT_NE(refused.find("reference"), std::string::npos) << refused;
  EXPECT_NE(refusal({{"implementation", ""}}).find("--implementation: '' is not known; accepted: best, "),
            std::string::npos);
}

// The workload that asks for our own convolution: of conv2d it has the shapes, and no choice.
TEST_F(Conv2dWorkload, OurOwnForwardPassIsAWorkloadToo) {
  const WorkloadType& own = *registry<WorkloadType>().find("implicit_gemm");
  EXPECT_EQ(own.modes, std::vector<std::string>{"forward"});
  WorkloadSpec spec = conv("forward", 2);
  for (const char* name : {"groups", "implementation"}) {
    EXPECT_EQ(std::ranges::count(own.options, name, &CommandOption::name), 0) << name;
    spec.options.erase(name);
  }
  EXPECT_EQ(own.options.size(), spec.options.size());
  EXPECT_NO_THROW(own.configure(spec));
  EXPECT_EQ(own.configure(spec)->unsupported(*device_), "conv2d has no implicit_gemm implementation on cpu");
  // By an implementation of that name, whatever else there is.
  static const Registration<Implementation<Conv2d>> stand_in{
      {.name = "implicit_gemm",
       .device_kind = "cpu",
       .preference = -1,
       .unsupported = [](const Conv2d&, const Device&) -> std::optional<std::string> { return std::nullopt; },
       .make = [](const Conv2d& conv2d,
                  Device& device) { return make_operation(conv2d, device, "reference"); }}};
  for (const char* side : {"height", "width"}) {
    spec.options.at(side) = "9";
  }
  EXPECT_EQ(own.configure(spec)->unsupported(*device_), std::nullopt);
  const auto workload = own.configure(spec)->make(*device_);
  const Verification verification = workload->verify();
  EXPECT_TRUE(verification.passed) << verification.detail;
  // 9 x 9 pixels have 9 taps each, of which (3 * 9 - 2)^2 in all are not in the padding.
  EXPECT_EQ(workload->work().flops, 2.0 * 64 * 64 * 25 * 25 * 2);
}

}  // namespace
}  // namespace bench::kernels
