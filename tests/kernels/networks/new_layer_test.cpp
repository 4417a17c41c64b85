// A kind of layer that only this file knows, in networks that infer and train.
#include <gtest/gtest.h>

#include "kernels/networks/graph/layer.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/passes/training.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/workloads/network/gradient_check.h"
#include "networks_fixture.h"

namespace bench::kernels {
namespace {

struct ClipOptions {
  bool at_six = true;
};

class ClipLayer final : public LikeItsInput<ClipLayer, ClipOptions> {
 public:
  using LikeItsInput::LikeItsInput;

  void forward(Recorder& recorder) const override {
    recorder.record(Elementwise{.tensor = recorder.src(), .activation = activation()},
                    {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    recorder.record(
        Elementwise{.tensor = recorder.dst(), .activation = activation(), .direction = Direction::backward},
        {{Slot::dst, recorder.output()},
         {Slot::diff_dst, recorder.diff()},
         {Slot::diff_src, recorder.input_gradient()}});
  }

 private:
  Activation activation() const { return options_.at_six ? Activation::relu6 : Activation::relu; }
};

const LayerRegistration<ClipOptions, ClipLayer> BENCH_REGISTERED{"clip_of_a_test"};

class NewLayer : public NetworkTest {
 protected:
  static Graph network(bool clip) {
    Graph g({3, 8, 8});
    auto x = g.conv2d("conv", g.image(), {.channels = 16, .kernel = 3, .pad = 1, .bias = true});
    x = clip ? g.append("clip", {x}, ClipOptions{}) : g.relu6("clip", x);
    g.linear("fc", g.flatten("flatten", x), 10);
    return g;
  }
  Target target() const {
    return {.batch = 2,
            .dtype = Dtype::fp32,
            .layouts = layouts_for(*device_, Dtype::fp32),
            .implementation = {}};
  }
  const std::vector<Sample> samples_{seeded_image({3, 8, 8}, 1, 0), seeded_image({3, 8, 8}, 1, 1)};
};

TEST_F(NewLayer, InfersAsOneThatWasThere) {
  const auto answer = [&](bool clip) {
    ProgramRunner runner(plan_inference(network(clip), target(), *device_), *device_, 1);
    runner.set_input(samples_);
    runner.run();
    return runner.output();
  };
  EXPECT_EQ(answer(true), answer(false));
}

TEST_F(NewLayer, Trains) {
  Trainer trainer(plan_training(network(true), target(), {}, *device_), *device_, 1);
  trainer.set_batch(samples_, std::vector<std::int32_t>{3, 8});
  EXPECT_LT(check_slopes(trainer, 1).error, 0.02);
}

TEST_F(NewLayer, OptionsThatNobodyRegisteredAreRefused) {
  struct Unknown {};
  Graph g({3, 8, 8});
  EXPECT_THROW(g.append("unknown", {g.image()}, Unknown{}), std::logic_error);
}

}  // namespace
}  // namespace bench::kernels
