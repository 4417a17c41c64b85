// Lifetimes, shared memory and the peak of a program, on operations that do nothing.
#include "kernels/networks/program/placement.h"

#include <gmock/gmock.h>

#include "tests/kernels/networks/train/idle_operation.h"

namespace bench::kernels {
namespace {

std::shared_ptr<Operation> idle(std::int64_t src, std::int64_t dst, std::int64_t scratch = 0) {
  std::vector<SlotInfo> slots{{.slot = Slot::src, .role = Role::input, .bytes = src},
                              {.slot = Slot::dst, .role = Role::output, .bytes = dst}};
  if (scratch > 0) {
    slots.push_back({.slot = Slot::workspace, .role = Role::scratch, .bytes = scratch});
  }
  return std::make_shared<Idle>(std::move(slots));
}

class Programs : public ::testing::Test {
 protected:
  TensorId tensor(std::int64_t bytes, Content content = Content::activation) {
    return program_.tensor("t", bytes, content);
  }
  void run(TensorId src, TensorId dst, bool over = false, std::int64_t scratch = 0) {
    const auto bytes = [&](TensorId id) { return program_.tensors()[id].bytes; };
    program_.run({.name = std::to_string(program_.instructions().size()),
                  .operation = idle(bytes(src), bytes(dst), scratch),
                  .tensors = {{Slot::src, src}, {Slot::dst, dst}},
                  .in_place = {dst, over ? std::vector{src} : std::vector<TensorId>{}}});
  }
  Program program_;
};

TEST_F(Programs, AChainNeedsTwoTensorsAtATime) {
  const TensorId a = tensor(640);
  const TensorId b = tensor(640);
  const TensorId c = tensor(640);
  const TensorId d = tensor(640);
  run(a, b);
  run(b, c);
  run(c, d);
  const Placement placed = place(program_);
  EXPECT_EQ(placed.arena_bytes, 2 * 640);
  EXPECT_NE(placed.offsets[b], placed.offsets[c]);
}

TEST_F(Programs, AResultGoesOverAnInputThatNobodyReadsLater) {
  const TensorId a = tensor(640);
  const TensorId b = tensor(640);
  const TensorId c = tensor(640);
  run(a, b);
  run(b, c, true);
  Placement placed = place(program_);
  EXPECT_EQ(placed.offsets[b], placed.offsets[c]);

  run(b, tensor(64));  // now b is read once more, as a backward pass would
  placed = place(program_);
  EXPECT_NE(placed.offsets[b], placed.offsets[c]);
}

TEST_F(Programs, WhatABackwardPassReadsLivesUntilThen) {
  const TensorId a = tensor(640);
  const TensorId kept = tensor(6400);
  const TensorId b = tensor(640);
  const TensorId c = tensor(640);
  run(a, kept);
  run(a, b);
  run(b, c);
  run(kept, tensor(640, Content::activation_gradient));
  const Placement placed = place(program_);
  for (const TensorId other : {a, b, c}) {
    const std::int64_t begin = placed.offsets[other];
    EXPECT_TRUE(begin + 640 <= placed.offsets[kept] || placed.offsets[kept] + 6400 <= begin);
  }
  EXPECT_GE(placed.arena_bytes, 6400 + 2 * 640);
}

TEST_F(Programs, BlocksLieOneTensorAfterTheOther) {
  const BlockId weights = program_.block("weights", MemoryCategory::weights);
  const TensorId one = program_.keep(weights, "one", 100);
  const TensorId two = program_.keep(weights, "two", 4);
  EXPECT_EQ(program_.tensors()[one].offset, 0);
  EXPECT_EQ(program_.tensors()[two].offset, 128);
  EXPECT_EQ(program_.blocks()[weights].bytes, 192);
  const TensorId all = program_.whole(weights);
  EXPECT_EQ(program_.tensors()[all].bytes, 192);
  EXPECT_EQ(program_.blocks()[weights].bytes, 192);
  run(one, tensor(64));
  EXPECT_EQ(place(program_).arena_bytes, 64);  // what outlives the step takes no part in the arena
}

TEST_F(Programs, MoveInstructionsForward) {
  const TensorId a = tensor(64);
  for (int i = 0; i < 6; ++i) {
    run(a, tensor(64));
  }
  program_.interleave(3, {0, 0, 2});
  std::vector<std::string> names;
  for (const Instruction& instruction : program_.instructions()) {
    names.push_back(instruction.name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("0", "3", "4", "1", "2", "5"));
  EXPECT_THROW(program_.interleave(3, {0, 1}), std::logic_error);
  EXPECT_THROW(program_.interleave(3, {1, 0, 2}), std::logic_error);
  EXPECT_THROW(program_.interleave(3, {0, 1, 3}), std::logic_error);
}

TEST_F(Programs, ScratchIsAsLargeAsTheLargest) {
  const TensorId a = tensor(64);
  const TensorId b = tensor(64);
  run(a, b, false, 1000);
  run(b, tensor(64), false, 5000);
  EXPECT_EQ(place(program_).scratch_bytes, 5056);
}

TEST_F(Programs, LiveBytesAreThoseOfAnInstruction) {
  const TensorId a = tensor(64);
  const TensorId big = tensor(6400);
  const TensorId gradient = tensor(640, Content::parameter_gradient);
  run(a, big);
  run(big, gradient, false, 100);
  run(gradient, tensor(64));
  const Placement placed = place(program_);
  ASSERT_EQ(placed.live.size(), 3U);
  EXPECT_EQ(placed.live[0].total(), 64 + 6400);
  EXPECT_EQ(placed.live[1].activations, 6400);
  EXPECT_EQ(placed.live[1].parameter_gradients, 640);
  EXPECT_EQ(placed.live[1].scratch, 128);
}

TEST_F(Programs, WhatIsReadAfterTheStepKeepsItsMemory) {
  const TensorId a = tensor(640);
  const TensorId output = tensor(640);
  run(a, output);
  run(a, tensor(640));
  EXPECT_EQ(place(program_).arena_bytes, 2 * 640);
  program_.set_output(output);
  EXPECT_EQ(place(program_).arena_bytes, 3 * 640);
}

TEST_F(Programs, ScratchLiesAmongTheOthersWhereThatTakesLess) {
  const TensorId a = tensor(64);
  const TensorId big = tensor(6400);
  const TensorId b = tensor(64);
  run(a, big);
  run(big, b);
  run(b, tensor(64), false, 5000);
  EXPECT_EQ(place(program_).scratch_bytes, 5056);
  const Placement shared = place(program_, ScratchPlace::where_smaller);
  EXPECT_TRUE(shared.scratch_in_arena);
  EXPECT_EQ(shared.scratch_bytes, 0);
  EXPECT_EQ(shared.arena_bytes, 6400 + 64);
}

TEST_F(Programs, RefuseWhatDoesNotFit) {
  const TensorId small = tensor(64);
  EXPECT_THROW(
      program_.run(
          {.name = "short", .operation = idle(64, 128), .tensors = {{Slot::src, small}, {Slot::dst, small}}}),
      std::logic_error);
  EXPECT_THROW(program_.run({.name = "missing", .operation = idle(64, 64), .tensors = {{Slot::src, small}}}),
               std::logic_error);
}

}  // namespace
}  // namespace bench::kernels
