// Scratch for NVIDIA's libraries: how it is asked for, and that it is refused elsewhere.
#include "kernels/backends/cuda/library_scratch.h"

#include <gtest/gtest.h>

#include <array>

namespace bench::kernels::cuda {
namespace {

TEST(LibraryScratch, IsAskedForAtAMultipleOf256Bytes) {
  const SlotInfo slot = library_scratch(100);
  EXPECT_EQ(slot.slot, Slot::workspace);
  EXPECT_EQ(slot.role, Role::scratch);
  EXPECT_EQ(slot.bytes, 100);
  EXPECT_EQ(slot.alignment, 256);
}

TEST(LibraryScratch, FollowsAnotherPartAligned) {
  EXPECT_EQ(before_library_scratch(0), 0);
  EXPECT_EQ(before_library_scratch(1), 256);
  EXPECT_EQ(before_library_scratch(256), 256);
  EXPECT_EQ(before_library_scratch(257), 512);
}

TEST(LibraryScratch, IsRefusedElsewhere) {
  alignas(256) static std::array<std::byte, 512> memory{};
  for (const int off : {0, 256}) {
    EXPECT_NO_THROW(check_library_scratch(memory.data() + off)) << off;
  }
  for (const int off : {1, 64, 128, 192}) {
    EXPECT_THROW(check_library_scratch(memory.data() + off), std::logic_error) << off;
  }
  EXPECT_NO_THROW(check_library_scratch(nullptr)) << "a product that needs none has none";
}

}  // namespace
}  // namespace bench::kernels::cuda
