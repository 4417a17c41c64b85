// Whole training steps with the loss scaled, in dtypes that the CPU has: nothing changes but an overflow.
#include <gtest/gtest.h>

#include <limits>

#include "../networks_fixture.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

class LossScaledTraining : public NetworkTest {
 protected:
  Trainer trainer(bool scaled, std::int64_t micro_batches = 1) {
    Graph graph({3, 16, 16});
    Graph::Value x = graph.conv2d("conv", graph.image(), {.channels = 8, .kernel = 3, .pad = 1});
    x = graph.relu("relu", graph.batch_norm("bn", x));
    graph.linear("fc", graph.flatten("flatten", graph.max_pool("pool", x, {.kernel = 2, .stride = 2})), 10);
    const Target target{.batch = 4 / micro_batches,
                        .dtype = Dtype::fp32,
                        .layouts = layouts_for(*device_, Dtype::fp32),
                        .implementation = {}};
    const TrainOptions options{
        .optimizer = Optimizer::Kind::momentum, .accumulate = micro_batches, .loss_scaling = scaled};
    Trainer made(plan_training(std::move(graph), target, options, *device_), *device_, 1);
    const std::vector<std::vector<float>> images{seeded_image({3, 16, 16}, 1, 0),
                                                 seeded_image({3, 16, 16}, 1, 1)};
    made.set_batch(images, std::vector<std::int32_t>{3, 8});
    return made;
  }

  static LossScale& scale_of(Trainer& trainer) {
    return *reinterpret_cast<LossScale*>(trainer.address(trainer.plan().training->loss_scale.value()));
  }

  static std::vector<float> all(Trainer& trainer, std::vector<float> (Trainer::*of)(std::size_t)) {
    std::vector<float> values;
    for (std::size_t i = 0; i < trainer.plan().parameters.size(); ++i) {
      const std::vector<float> one = (trainer.*of)(i);
      values.insert(values.end(), one.begin(), one.end());
    }
    return values;
  }
};

TEST_F(LossScaledTraining, LeadsToTheSameWeightsAndReportsTheSameGradients) {
  for (const std::int64_t micro_batches : {1, 2}) {
    Trainer plain = trainer(false, micro_batches);
    Trainer scaled = trainer(true, micro_batches);
    for (int step = 0; step < 3; ++step) {
      plain.run();
      scaled.run();
    }
    EXPECT_EQ(scaled.loss(), plain.loss());
    EXPECT_LT(relative_error(all(scaled, &Trainer::parameter), all(plain, &Trainer::parameter)), 1e-6);
    EXPECT_LT(relative_error(all(scaled, &Trainer::gradient), all(plain, &Trainer::gradient)), 1e-6);
    EXPECT_EQ(scale_of(scaled).good_steps, 3);
    EXPECT_EQ(scale_of(scaled).factor, 65536);
  }
}

TEST_F(LossScaledTraining, LeavesOutAStepWithAnOverflowAndGoesOnWithHalfTheFactor) {
  Trainer scaled = trainer(true);
  const std::vector<float> before = all(scaled, &Trainer::parameter);
  scale_of(scaled).factor = std::numeric_limits<float>::max();
  scaled.run();
  EXPECT_EQ(all(scaled, &Trainer::parameter), before);
  EXPECT_EQ(scale_of(scaled).factor, std::numeric_limits<float>::max() / 2);
  EXPECT_EQ(scale_of(scaled).overflow, 0);
  scale_of(scaled).factor = 1024;
  scaled.run();
  EXPECT_NE(all(scaled, &Trainer::parameter), before);
}

TEST_F(LossScaledTraining, SettlesWhereTheGradientsAreFinite) {
  Trainer scaled = trainer(true);
  const std::vector<float> before = all(scaled, &Trainer::parameter);
  scale_of(scaled).factor = 0x1p127F;
  scaled.settle_loss_scale();
  EXPECT_LT(scale_of(scaled).factor, 0x1p127F);
  EXPECT_GT(scale_of(scaled).factor, 0x1p100F);
  EXPECT_EQ(all(scaled, &Trainer::parameter), before);
  scaled.run();
  EXPECT_NE(all(scaled, &Trainer::parameter), before);
  scaled.restart();
  EXPECT_EQ(scale_of(scaled).factor, 65536);
}

TEST_F(LossScaledTraining, IsForFp16) {
  for (const Dtype dtype : kAllDtypes) {
    WorkloadSpec wanted = spec(4, dtype, 32);
    wanted.mode = "train";
    EXPECT_EQ(train_options(wanted).loss_scaling, dtype == Dtype::fp16) << name_of(dtype);
  }
}

}  // namespace
}  // namespace bench::kernels
