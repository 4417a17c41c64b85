// How much of an answer comes back from a card to be verified, on a double of the CUDA runtime.
#include "kernels/workloads/operation_workload.h"

#include <gmock/gmock.h>

#include <limits>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kChannels = 1000;

// dst = -src.
struct Negated {
  static constexpr std::string_view kName = "negated";
  std::int64_t rows = 1;
  Dtype dtype = Dtype::fp32;

  TensorDesc tensor() const { return {.n = rows, .c = kChannels, .dtype = dtype}; }
};

// What the card gets wrong, by the number of a value.
std::map<std::size_t, float> wrong_values;

class NegatedOperation final : public ReferenceOperation {
 public:
  NegatedOperation(const Negated& spec, bool is_reference) : is_reference_(is_reference) {
    add_activation(Slot::src, Role::input, spec.tensor());
    add_activation(Slot::dst, Role::output, spec.tensor());
  }
  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, Slot::src);
    for (float& value : values) {
      value = -value;
    }
    if (!is_reference_) {
      for (const auto& [at, wrong] : wrong_values) {
        values.at(at) = wrong;
      }
    }
    write(pointers, Slot::dst, values);
  }
  double flops() const override { return 1; }

 private:
  bool is_reference_;
};

// A card's own is one of the kernels that need nvcc.
template <class Spec>
Implementation<Spec> on_the_card(std::unique_ptr<Operation> (*make)(const Spec&, Device&)) {
  return {.name = "on the card",
          .device_kind = "cuda",
          .preference = 0,
          .unsupported = [](const Spec&, const Device&) { return std::optional<std::string>(); },
          .make = make};
}

const Registration<Implementation<Negated>> BENCH_REGISTERED{
    {.name = "reference",
     .device_kind = "cpu",
     .preference = -1,
     .unsupported = [](const Negated&, const Device&) { return std::optional<std::string>(); },
     .make = [](const Negated& spec, Device&) -> std::unique_ptr<Operation> {
       return std::make_unique<NegatedOperation>(spec, true);
     }}};
const Registration<Implementation<Negated>> BENCH_REGISTERED{
    on_the_card<Negated>([](const Negated& spec, Device&) -> std::unique_ptr<Operation> {
      return std::make_unique<NegatedOperation>(spec, false);
    })};
const Registration<Implementation<FindOverflow>> BENCH_REGISTERED{
    on_the_card<FindOverflow>([](const FindOverflow& spec, Device& device) {
      return registry<Implementation<FindOverflow>>().find("reference")->make(spec, device);
    })};

class OperationWorkloadOnACard : public ::testing::Test {
 protected:
  OperationWorkloadOnACard() { wrong_values.clear(); }

  // `pieces`: rows of the answer where they are not the samples.
  Verification verify(Dtype dtype = Dtype::fp32, std::int64_t pieces = 0) {
    const WorkloadType type = operation_workload(OperationType<Negated>{
        .name = "negated",
        .description = {},
        .modes = {"forward"},
        .options = {},
        .describe = [](const WorkloadSpec& spec) { return Negated{.rows = spec.batch, .dtype = spec.dtype}; },
        .single = single_row<Negated>,
        .tolerance = [](const Negated& spec) { return spec.dtype == Dtype::fp16 ? 1e-3 : 1e-6; },
        .rows = pieces == 0 ? nullptr : std::function([pieces](const Negated& /*spec*/) { return pieces; })});
    const auto workload = made(type, dtype);
    runtime_.copied_bytes = 0;
    return workload->verify();
  }
  std::unique_ptr<Workload> made(const WorkloadType& type, Dtype dtype) {
    return type.configure({.mode = "forward", .dtype = dtype, .batch = kRows, .options = {}})->make(device_);
  }
  std::unique_ptr<Workload> made(bool counts_launches) {
    const WorkloadType type = operation_workload(OperationType<Negated>{
        .name = "negated",
        .description = {},
        .modes = {"forward"},
        .options = {},
        .describe = [](const WorkloadSpec& spec) { return Negated{.rows = spec.batch, .dtype = spec.dtype}; },
        .single = single_row<Negated>,
        .tolerance = [](const Negated& /*spec*/) { return 1e-6; },
        .counts_launches = counts_launches});
    return made(type, Dtype::fp32);
  }
  // The calls of the runtime that a timed step makes.
  std::vector<std::string> calls_of_a_step(bool counts_launches) {
    const auto workload = made(counts_launches);
    runtime_.calls.clear();
    workload->timed_step(device_);
    return runtime_.calls;
  }

  static constexpr std::int64_t kRows = 101;
  cuda::testing::FakeRuntime runtime_;
  cuda::CudaDevice device_{cuda::testing::fake_backend(runtime_), 0};
};

TEST_F(OperationWorkloadOnACard, CopiesOnlyTheRowsThatItCompares) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16}) {
    const Verification verification = verify(dtype);
    EXPECT_TRUE(verification.passed) << verification.detail;
    expect_words(verification.detail);
    // Three rows; what was found of the others goes there and back.
    EXPECT_EQ(runtime_.copied_bytes,
              3 * kChannels * bytes_of(dtype) + 2 * static_cast<std::int64_t>(sizeof(LossScale)));
  }
}

TEST_F(OperationWorkloadOnACard, FindsAWrongRowByItsNumber) {
  for (const std::size_t row : {0U, 50U, 100U}) {
    wrong_values = {{row * kChannels + 7, 3.0F}};
    const Verification verification = verify();
    EXPECT_FALSE(verification.passed);
    EXPECT_THAT(verification.detail, HasSubstr("row " + std::to_string(row) + " is off by"));
    EXPECT_THAT(verification.detail, HasSubstr("value 7 is 3 instead of"));
  }
}

TEST_F(OperationWorkloadOnACard, FindsWhatIsNotFiniteInAnyRow) {
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    wrong_values = {{77 * kChannels + 5, value}};
    const Verification verification = verify();
    EXPECT_FALSE(verification.passed);
    expect_words(verification.detail);
  }
}

// As many values as the reference's rows have not: 101 rows of 1000 are no 100 of 1010.
TEST_F(OperationWorkloadOnACard, RefusesRowsOfAnotherLength) {
  const Verification verification = verify(Dtype::fp32, 100);
  EXPECT_FALSE(verification.passed);
  expect_words(verification.detail);
}

// The answer is right: what was to look at it found no room.
TEST_F(OperationWorkloadOnACard, CopiesTheWholeAnswerWhereTheCardIsFull) {
  device_.memory().set_cap(2 * kRows * kChannels * bytes_of(Dtype::fp32));
  const Verification verification = verify();
  EXPECT_TRUE(verification.passed) << verification.detail;
  EXPECT_EQ(runtime_.copied_bytes, (3 + kRows) * kChannels * bytes_of(Dtype::fp32));
}

// A kernel of some microseconds takes less time than the host takes to launch it.
TEST_F(OperationWorkloadOnACard, IsTimedWithoutTheHostsLaunchesUnlessTheyAreTheQuestion) {
  EXPECT_THAT(calls_of_a_step(false), ::testing::Contains("call_host"));
  EXPECT_THAT(calls_of_a_step(true), ::testing::Not(::testing::Contains("call_host")));
  EXPECT_EQ(made(false)->work().launches, 0) << "else findings would take its launch for what limits it";
  EXPECT_EQ(made(true)->work().launches, 1);
}

TEST_F(OperationWorkloadOnACard, GivesBackItsMemory) {
  const std::int64_t before = device_.memory().live().total();
  verify();
  EXPECT_EQ(device_.memory().live().total(), before);
}

}  // namespace
}  // namespace bench::kernels
