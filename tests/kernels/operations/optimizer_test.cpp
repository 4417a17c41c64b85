// Optimizer steps: the reference by hand over three steps, our own against it.
#include <gmock/gmock.h>

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "kernels/operations/optimizer/optimizer.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using testing::Values;

constexpr std::array kOptimizers{Optimizer::Kind::sgd, Optimizer::Kind::momentum, Optimizer::Kind::adam};
constexpr std::array kImplementations{"reference", "openmp"};

// The operation with its memory, which the steps change in place.
class Stepper {
 public:
  Stepper(const Optimizer& spec, std::string_view implementation, const std::vector<float>& weights)
      : spec_(spec), operation_(make_operation(spec, testing::cpu(), implementation)) {
    operation_->prepare();
    for (const SlotInfo& slot : operation_->slots()) {
      buffers_[slot.slot] = testing::cpu().allocate(slot.bytes, MemoryCategory::other);
      pointers_[slot.slot] = buffers_[slot.slot].data();
      testing::cpu().fill(pointers_[slot.slot], std::byte{0}, slot.bytes);
    }
    operation_->pack(Slot::weights, weights, pointers_[Slot::weights]);
    if (spec.has_master()) {
      operation_->pack(Slot::master, weights, pointers_[Slot::master]);
    }
  }

  void step(const std::vector<float>& gradient) {
    operation_->pack(Slot::diff_weights, gradient, pointers_[Slot::diff_weights]);
    operation_->run(pointers_);
    testing::cpu().synchronize();
  }

  const Operation& operation() const { return *operation_; }

  std::vector<float> values(Slot slot) const {
    std::vector<float> plain(static_cast<std::size_t>(spec_.count));
    operation_->unpack(slot, pointers_[slot], plain);
    return plain;
  }

  Values all_values() const {
    Values all;
    for (const SlotInfo& slot : operation_->slots()) {
      if (slot.role == Role::state && slot.slot != Slot::steps) {
        all[slot.slot] = values(slot.slot);
      }
    }
    return all;
  }

  void* address(Slot slot) const { return pointers_[slot]; }

  std::int64_t steps() const {
    std::int64_t steps = 0;
    testing::cpu().download(&steps, pointers_[Slot::steps], sizeof steps);
    return steps;
  }

 private:
  Optimizer spec_;
  std::unique_ptr<Operation> operation_;
  std::map<Slot, Buffer> buffers_;
  SlotPointers pointers_;
};

std::vector<float> random_values(std::int64_t count, std::uint64_t stream) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_random(values, 5, stream);
  return values;
}

class OptimizerStep : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, OptimizerStep, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

// 40001: several threads' worth, and not a multiple of any vector.
TEST_P(OptimizerStep, IsLikeItsReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const Optimizer::Kind kind : kOptimizers) {
    for (const std::int64_t count : {1, 3, 64, 1001, 40001}) {
      SCOPED_TRACE(fmt::format("kind {} count {}", static_cast<int>(kind), count));
      const Optimizer spec{.kind = kind, .count = count, .dtype = GetParam()};
      const std::vector<float> weights = random_values(count, 0);
      Stepper reference(spec, "reference", weights);
      Stepper openmp(spec, "openmp", weights);
      for (std::uint64_t step = 1; step <= 5; ++step) {
        const std::vector<float> gradient = random_values(count, step);
        reference.step(gradient);
        openmp.step(gradient);
        const Values expected = reference.all_values();
        Values answer = openmp.all_values();
        for (const auto& [slot, values] : expected) {
          SCOPED_TRACE(name_of(slot));
          // 16-bit weights may round the other way, by one in their last place.
          const bool rounded = slot == Slot::weights && spec.has_master();
          for (std::size_t i = 0; i < values.size(); ++i) {
            ASSERT_NEAR(answer[slot][i], values[i], rounded ? std::fabs(values[i]) * 0x1p-7 : 2e-6) << i;
          }
          EXPECT_LE(relative_error(answer[slot], values), rounded ? 1e-3 : 1e-6);
        }
      }
      if (kind == Optimizer::Kind::adam) {
        EXPECT_EQ(reference.steps(), 5);
        EXPECT_EQ(openmp.steps(), 5);
      }
    }
  }
}

TEST_P(OptimizerStep, HasTheSlotsItsHeaderNames) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const std::string_view implementation : kImplementations) {
    for (const Optimizer::Kind kind : kOptimizers) {
      const Optimizer spec{.kind = kind, .count = 7, .dtype = GetParam()};
      const auto operation = make_operation(spec, testing::cpu(), implementation);
      const auto expect = [&](Slot slot, bool present, Role role, std::int64_t bytes, std::int64_t plain) {
        SCOPED_TRACE(fmt::format("{} {}", implementation, name_of(slot)));
        const SlotInfo* const info = operation->find(slot);
        ASSERT_EQ(info != nullptr, present);
        if (present) {
          EXPECT_EQ(info->role, role);
          EXPECT_EQ(info->bytes, bytes);
          EXPECT_EQ(info->plain_count, plain);
        }
      };
      expect(Slot::diff_weights, true, Role::input, 7 * bytes_of(GetParam()), 7);
      expect(Slot::weights, true, Role::state, 7 * bytes_of(GetParam()), 7);
      expect(Slot::master, spec.has_master(), Role::state, 28, 7);
      expect(Slot::state1, kind != Optimizer::Kind::sgd, Role::state, 28, 7);
      expect(Slot::state2, kind == Optimizer::Kind::adam, Role::state, 28, 7);
      expect(Slot::steps, kind == Optimizer::Kind::adam, Role::state, 8, 0);
    }
  }
}

TEST_P(OptimizerStep, LeavesWeightsWithoutGradientAlone) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const std::string_view implementation : kImplementations) {
    for (const Optimizer::Kind kind : kOptimizers) {
      const std::vector<float> weights(9, 0.5F);
      Stepper stepper({.kind = kind, .count = 9, .dtype = GetParam()}, implementation, weights);
      stepper.step(std::vector<float>(9, 0.0F));
      EXPECT_EQ(stepper.values(Slot::weights), weights) << implementation;
    }
  }
}

// A step that bf16 cannot hold next to 1 still counts, because the master weights keep it.
TEST(MixedPrecision, KeepsSmallStepsInTheMasterWeights) {
  BENCH_SKIP_UNSUPPORTED(Dtype::bf16);
  for (const std::string_view implementation : kImplementations) {
    Stepper stepper({.count = 1, .dtype = Dtype::bf16, .rate = 0x1p-10F}, implementation, {1.0F});
    stepper.step({1.0F});
    EXPECT_EQ(stepper.values(Slot::master)[0], 1 - 0x1p-10F);
    EXPECT_EQ(stepper.values(Slot::weights)[0], 1.0F);
    for (int step = 1; step < 8; ++step) {
      stepper.step({1.0F});
    }
    EXPECT_EQ(stepper.values(Slot::master)[0], 1 - 0x1p-7F);
    EXPECT_EQ(stepper.values(Slot::weights)[0], 1 - 0x1p-7F);
  }
}

TEST(Sgd, ByHand) {
  for (const std::string_view implementation : kImplementations) {
    Stepper stepper({.count = 2, .rate = 0.25F}, implementation, {1, -2});
    stepper.step({2, -4});
    EXPECT_THAT(stepper.values(Slot::weights), ::testing::ElementsAre(0.5F, -1));
  }
}

TEST(Momentum, ByHandForThreeSteps) {
  for (const std::string_view implementation : kImplementations) {
    SCOPED_TRACE(implementation);
    Stepper stepper({.kind = Optimizer::Kind::momentum, .count = 1, .rate = 0.125F, .momentum = 0.5F},
                    implementation, {1});
    // velocity: 2, 0.5·2 + 4 = 5, 0.5·5 − 1 = 1.5; all exact in fp32.
    const std::array gradients{2.0F, 4.0F, -1.0F};
    const std::array velocities{2.0F, 5.0F, 1.5F};
    const std::array weights{0.75F, 0.125F, -0.0625F};
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      stepper.step({gradients[i]});
      EXPECT_EQ(stepper.values(Slot::state1)[0], velocities[i]);
      EXPECT_EQ(stepper.values(Slot::weights)[0], weights[i]);
    }
  }
}

TEST(Adam, ByHandForThreeSteps) {
  for (const std::string_view implementation : kImplementations) {
    SCOPED_TRACE(implementation);
    const Optimizer spec{.kind = Optimizer::Kind::adam,
                         .count = 1,
                         .rate = 0.5F,
                         .beta1 = 0.5F,
                         .beta2 = 0.75F,
                         .epsilon = 0.0F};
    Stepper stepper(spec, implementation, {1});
    // g = 2:  m = 1, v = 1; corrected 1 / 0.5 = 2 and 1 / 0.25 = 4: the step is 0.5 · 2 / 2 = 0.5
    stepper.step({2});
    EXPECT_FLOAT_EQ(stepper.values(Slot::state1)[0], 1);
    EXPECT_FLOAT_EQ(stepper.values(Slot::state2)[0], 1);
    EXPECT_FLOAT_EQ(stepper.values(Slot::weights)[0], 0.5F);
    // g = −4: m = 0.5 − 2 = −1.5, v = 0.75 + 4 = 4.75; corrected −1.5 / 0.75 = −2 and 4.75 / 0.4375 = 76 / 7:
    // the step is 0.5 · −2 / √(76 / 7) = −0.3034885
    stepper.step({-4});
    EXPECT_FLOAT_EQ(stepper.values(Slot::state1)[0], -1.5F);
    EXPECT_FLOAT_EQ(stepper.values(Slot::state2)[0], 4.75F);
    EXPECT_FLOAT_EQ(stepper.values(Slot::weights)[0], 0.8034885F);
    // g = 0:  m = −0.75, v = 3.5625; corrected −0.75 / 0.875 = −6 / 7 and 3.5625 / 0.578125 = 228 / 37: the
    // step is 0.5 · −6 / 7 / √(228 / 37) = −0.1726461
    stepper.step({0});
    EXPECT_FLOAT_EQ(stepper.values(Slot::state1)[0], -0.75F);
    EXPECT_FLOAT_EQ(stepper.values(Slot::state2)[0], 3.5625F);
    EXPECT_FLOAT_EQ(stepper.values(Slot::weights)[0], 0.9761345F);
    EXPECT_EQ(stepper.steps(), 3);
  }
}

// Slices of one set of parameters share a count: the first one updated counts the step.
TEST(Adam, CountsAStepOnceForAllSlices) {
  for (const std::string_view implementation : kImplementations) {
    SCOPED_TRACE(implementation);
    const Optimizer spec{.kind = Optimizer::Kind::adam, .count = 1, .rate = 0.5F, .counts = false};
    Stepper later(spec, implementation, {1});
    const std::int64_t steps = 3;
    testing::cpu().upload(later.address(Slot::steps), &steps, sizeof steps);
    later.step({2});
    EXPECT_EQ(later.steps(), 3);
    // m = 0.1 · 2 and v = 0.001 · 4, corrected for the third step
    const double corrected = 0.2 / (1 - std::pow(0.9, 3)) / std::sqrt(0.004 / (1 - std::pow(0.999, 3)));
    EXPECT_NEAR(later.values(Slot::weights)[0], 1 - 0.5 * corrected, 1e-6);
  }
}

// The corrected first step is g / (|g| + epsilon).
TEST(Adam, AddsEpsilonOutsideTheRoot) {
  for (const std::string_view implementation : kImplementations) {
    Stepper stepper({.kind = Optimizer::Kind::adam, .count = 1, .rate = 1.0F, .epsilon = 1.0F},
                    implementation, {0});
    stepper.step({1.0F});
    EXPECT_FLOAT_EQ(stepper.values(Slot::weights)[0], -0.5F);
  }
}

TEST(OptimizerReference, StoresFp16) {
  Stepper stepper({.count = 1, .dtype = Dtype::fp16, .rate = 0.5F}, "reference", {1.0F});
  stepper.step({0x1p-10F});
  EXPECT_EQ(stepper.values(Slot::master)[0], 1 - 0x1p-11F);
  EXPECT_EQ(stepper.values(Slot::weights)[0], 1 - 0x1p-11F);  // bf16 could not hold it
}

}  // namespace
}  // namespace bench::kernels
