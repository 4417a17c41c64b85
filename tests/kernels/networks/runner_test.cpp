// Ctrl-C while a network is made for the first time: on a card that takes seconds.
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "bench/host/interrupt.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/runner.h"
#include "networks_fixture.h"
#include "tests/bench/support/interruption.h"

namespace bench::kernels {
namespace {

// Says when it is prepared; never runs.
class Prepared final : public Operation {
 public:
  explicit Prepared(std::function<void()> on_prepare) : on_prepare_(std::move(on_prepare)) {}
  std::span<const SlotInfo> slots() const override { return {}; }
  void prepare() override { on_prepare_(); }
  void pack(Slot /*slot*/, std::span<const float> /*plain*/, void* /*packed*/) override {}
  void unpack(Slot /*slot*/, const void* /*packed*/, std::span<float> /*plain*/) override {}
  void run(const SlotPointers& /*pointers*/) override {}
  double flops() const override { return 0; }
  std::string algorithm() const override { return "none"; }

 private:
  std::function<void()> on_prepare_;
};

class InterruptedMake : public NetworkTest {
 protected:
  ProgramPlan plan() {
    Graph g({3, 8, 8});
    const auto x = g.conv2d("conv", g.image(), {.channels = 16, .kernel = 3, .pad = 1, .bias = true});
    g.linear("fc", g.flatten("flatten", x), 10);
    return plan_inference(g,
                          {.batch = 1,
                           .dtype = Dtype::fp32,
                           .layouts = layouts_for(*device_, Dtype::fp32),
                           .implementation = {}},
                          *device_);
  }
};

TEST_F(InterruptedMake, EndsBehindTheOperationThatIsPrepared) {
  ProgramPlan planned = plan();
  ASSERT_GT(planned.program.instructions().size(), 1U);
  int prepared = 0;
  std::optional<bench::testing::Interruption> ctrl_c;
  for (std::size_t index = 0; index < planned.program.instructions().size(); ++index) {
    planned.program.edit(index).operation = std::make_shared<Prepared>([&] {
      ++prepared;
      ctrl_c.emplace();
    });
  }
  EXPECT_THROW(ProgramRunner(std::move(planned), *device_, 1), Interrupted);
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(device_->memory().live().total(), 0) << "what was allocated is given back";
}

TEST_F(InterruptedMake, InitialisesNoParameter) {
  ProgramPlan planned = plan();
  int prepared = 0;
  for (PlannedParameter& parameter : planned.parameters) {
    parameter.operation = std::make_shared<Prepared>([&] { ++prepared; });
  }
  const bench::testing::Interruption ctrl_c;
  EXPECT_THROW(ProgramRunner(std::move(planned), *device_, 1), Interrupted);
  EXPECT_EQ(prepared, 0);
}

}  // namespace
}  // namespace bench::kernels
