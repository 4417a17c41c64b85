// Loss scaling by hand: what is found, how the factor adapts, and that what it multiplies is divided again.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/operations/optimizer/optimizer.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using ::testing::Each;

constexpr float kOverflow = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// An operation with memory for its slots, the loss scale's among them.
template <class Spec>
class Scaled {
 public:
  explicit Scaled(const Spec& spec, std::string_view implementation = {})
      : operation_(make_operation(spec, testing::cpu(), implementation)) {
    operation_->prepare();
    for (const SlotInfo& slot : operation_->slots()) {
      buffers_[slot.slot] = testing::cpu().allocate(slot.bytes, MemoryCategory::other);
      pointers_[slot.slot] = buffers_[slot.slot].data();
      testing::cpu().fill(pointers_[slot.slot], std::byte{0}, slot.bytes);
    }
    if (operation_->find(Slot::loss_scale) != nullptr) {
      scale() = LossScale();
    }
  }

  LossScale& scale() { return *static_cast<LossScale*>(pointers_[Slot::loss_scale]); }
  void* memory(Slot slot) { return pointers_[slot]; }
  void give(Slot slot, const std::vector<float>& plain) { operation_->pack(slot, plain, pointers_[slot]); }
  void run() { operation_->run(pointers_); }
  std::vector<float> values(Slot slot, std::size_t count) {
    std::vector<float> plain(count);
    operation_->unpack(slot, pointers_[slot], plain);
    return plain;
  }

 private:
  std::unique_ptr<Operation> operation_;
  std::map<Slot, Buffer> buffers_;
  SlotPointers pointers_;
};

TEST(FindOverflowReference, NotesWhatIsNotFiniteAndForgetsNothing) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp32}) {
    Scaled<FindOverflow> find({.count = 3, .dtype = dtype});
    const auto found = [&](const std::vector<float>& gradient) {
      find.give(Slot::diff_weights, gradient);
      find.run();
      return find.scale().overflow;
    };
    EXPECT_EQ(found({0, -65504, 65504}), 0) << name_of(dtype);
    EXPECT_EQ(found({0, kOverflow, 1}), 1);
    EXPECT_EQ(found({0, 0, 0}), 1);  // another group's gradients may be finite
    find.scale().overflow = 0;
    EXPECT_EQ(found({0, 0, -kOverflow}), 1);
    find.scale().overflow = 0;
    EXPECT_EQ(found({kNaN, 0, 0}), 1);
  }
}

TEST(LossScaleReference, HalvesAfterAnOverflowAndDoublesAfterManyStepsWithout) {
  Scaled<UpdateLossScale> update({});
  for (int step = 0; step < LossScale::kGrowthInterval - 1; ++step) {
    update.run();
  }
  EXPECT_EQ(update.scale().factor, 65536);
  update.run();
  EXPECT_EQ(update.scale().factor, 131072);
  EXPECT_EQ(update.scale().good_steps, 0);
  update.run();
  update.scale().overflow = 1;
  update.run();
  EXPECT_EQ(update.scale().factor, 65536);
  EXPECT_EQ(update.scale().overflow, 0);
  EXPECT_EQ(update.scale().good_steps, 0);
}

// A factor that is a power of two changes no digit.
TEST(LossScaling, LeavesTheOptimizersStepAsItWas) {
  for (const auto kind : {Optimizer::Kind::sgd, Optimizer::Kind::momentum, Optimizer::Kind::adam}) {
    for (const char* implementation : {"reference", "openmp"}) {
      Optimizer spec{.kind = kind, .count = 3, .dtype = Dtype::fp32, .rate = 0.25F};
      Scaled<Optimizer> plain(spec, implementation);
      spec.scaled = true;
      Scaled<Optimizer> scaled(spec, implementation);
      scaled.scale().factor = 1024;
      for (const float g : {0.75F, -3.0F}) {
        plain.give(Slot::diff_weights, {g, 2 * g, 0});
        scaled.give(Slot::diff_weights, {1024 * g, 2048 * g, 0});
        plain.run();
        scaled.run();
      }
      EXPECT_EQ(scaled.values(Slot::weights, 3), plain.values(Slot::weights, 3)) << implementation;
      EXPECT_NE(plain.values(Slot::weights, 3)[0], 0);
    }
  }
}

TEST(LossScaling, LeavesOutAStepWithAnOverflow) {
  for (const char* implementation : {"reference", "openmp"}) {
    Scaled<Optimizer> adam({.kind = Optimizer::Kind::adam, .count = 2, .scaled = true}, implementation);
    adam.give(Slot::weights, {0.5F, -1});
    adam.give(Slot::diff_weights, {kNaN, 1});
    adam.scale().overflow = 1;
    adam.run();
    EXPECT_THAT(adam.values(Slot::weights, 2), ::testing::ElementsAre(0.5F, -1));
    EXPECT_THAT(adam.values(Slot::state1, 2), Each(0.0F));
    EXPECT_EQ(*static_cast<std::int64_t*>(adam.memory(Slot::steps)), 0);
    adam.scale().overflow = 0;
    adam.give(Slot::diff_weights, {65536, 65536});
    adam.run();
    EXPECT_EQ(*static_cast<std::int64_t*>(adam.memory(Slot::steps)), 1);
    EXPECT_LT(adam.values(Slot::weights, 2)[0], 0.5F);
  }
}

TEST(LossScaling, MultipliesTheGradientAndNotTheLoss) {
  for (const char* implementation : {"reference", "openmp"}) {
    CrossEntropy spec{.rows = 2, .classes = 3, .scale = 0.5F};
    Scaled<CrossEntropy> plain(spec, implementation);
    spec.scaled = true;
    Scaled<CrossEntropy> scaled(spec, implementation);
    scaled.scale().factor = 256;
    for (auto* each : {&plain, &scaled}) {
      store(spec.tensor(), std::vector<float>{1, 0, -2, 0.5F, 3, 0}, each->memory(Slot::src));
      each->run();  // both labels are 0
    }
    EXPECT_EQ(scaled.values(Slot::loss, 1), plain.values(Slot::loss, 1));
    std::vector<float> expected(6);
    std::vector<float> gradient(6);
    load(spec.tensor(), plain.memory(Slot::diff_src), expected);
    load(spec.tensor(), scaled.memory(Slot::diff_src), gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      EXPECT_FLOAT_EQ(gradient[i], 256 * expected[i]);
    }
  }
}

// A mean over the places of a large image: without the factor its gradient is below all that fp16 holds.
TEST(LossScaling, KeepsGradientsThatFp16WouldLose) {
  CrossEntropy spec{.rows = 1, .classes = 100, .scale = 1e-7F, .dtype = Dtype::fp16};
  const auto gradient = [&](bool with) {
    spec.scaled = with;
    Scaled<CrossEntropy> loss(spec, "reference");
    loss.run();
    std::vector<float> found(100);
    load(spec.tensor(), loss.memory(Slot::diff_src), found);
    return found;
  };
  EXPECT_EQ(gradient(false)[50], 0);
  EXPECT_NEAR(gradient(true)[50], 65536 * 1e-9, 65536 * 1e-12);
}

}  // namespace
}  // namespace bench::kernels
