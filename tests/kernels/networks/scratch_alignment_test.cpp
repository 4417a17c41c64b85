// Where a plan puts scratch that asks for more than the usual alignment, as NVIDIA's libraries do of theirs.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/placement.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "tests/kernels/networks/networks_fixture.h"

namespace bench::kernels {
namespace {

// A convolution that is planned and never run.
class ScratchyConv2d final : public ReferenceOperation {
 public:
  ScratchyConv2d(const Conv2d& spec, std::int64_t alignment) {
    add_activation(Slot::src, Role::input, spec.src());
    add_values(Slot::weights, Role::parameter, spec.weight_count());
    add_activation(Slot::dst, Role::output, spec.dst());
    add_opaque(Slot::workspace, Role::scratch, 640, alignment);
  }
  void run(const SlotPointers& /*pointers*/) override { throw std::logic_error("it is never run"); }
  double flops() const override { return 1; }
};

Registration<Implementation<Conv2d>> scratchy(const char* name, std::int64_t alignment) {
  return Registration<Implementation<Conv2d>>{{
      .name = name,
      .device_kind = "cpu",
      .preference = -10,
      .unsupported = [](const Conv2d&, const Device&) -> std::optional<std::string> { return std::nullopt; },
      .make = [alignment](const Conv2d& spec,
                          Device&) { return std::make_unique<ScratchyConv2d>(spec, alignment); },
  }};
}
const auto scratchy_as_usual = scratchy("scratch_of_the_usual_alignment", kSlotAlignment);
const auto scratchy_at_256 = scratchy("scratch_at_256", 256);

class ScratchAlignment : public NetworkTest {
 protected:
  // 5 x 5 pixels of 16 channels are 1600 B: after two such tensors a place is 128 off a multiple of 256. The
  // two of 64 channels, 6400 B each, are the peak, so that there is room for the rest.
  ProgramPlan plan(const std::string& implementation) {
    Graph graph({.c = 16, .h = 5, .w = 5});
    Graph::Value x = graph.image();
    for (const std::int64_t channels : {16, 16, 64, 64}) {
      x = graph.conv2d(fmt::format("layer{}", x), x, {.channels = channels, .kernel = 3, .pad = 1});
    }
    Target target;
    target.implementation = implementation;
    return plan_inference(graph, target, *device_);
  }
  static std::vector<std::int64_t> scratch_of(const ProgramPlan& plan) {
    std::vector<std::int64_t> offsets;
    for (TensorId id = 0; id < plan.program.tensors().size(); ++id) {
      if (plan.program.tensors()[id].content == Content::scratch) {
        offsets.push_back(plan.placement.offsets[id]);
      }
    }
    return offsets;
  }
};

TEST_F(ScratchAlignment, ScratchLiesWhereItsOperationAsks) {
  const ProgramPlan planned = plan("scratch_at_256");
  EXPECT_TRUE(planned.placement.scratch_in_arena)
      << "apart it would begin a block of its own, which is aligned anyway";
  ASSERT_EQ(scratch_of(planned).size(), 4U);
  for (const std::int64_t offset : scratch_of(planned)) {
    EXPECT_EQ(offset % 256, 0);
  }
}

// An operation that asks for no alignment, as all on a CPU, takes the bytes that it took before.
TEST_F(ScratchAlignment, OtherScratchStaysPacked) {
  const ProgramPlan planned = plan("scratch_of_the_usual_alignment");
  EXPECT_TRUE(
      std::ranges::any_of(scratch_of(planned), [](std::int64_t offset) { return offset % 256 != 0; }));
  EXPECT_EQ(planned.placement.arena_bytes, 6400 + 6400 + 640);
}

}  // namespace
}  // namespace bench::kernels
