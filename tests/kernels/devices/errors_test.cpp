#include "kernels/devices/cuda/errors.h"

#include <gtest/gtest.h>

#include "bench/error.h"

namespace bench::kernels::cuda {
namespace {

Failure failure_of(int error, bool stays_set) {
  return {.error = error, .name = "cudaErrorX", .text = "x", .stays_set = stays_set};
}

// Numbers of CUDA's driver_types.h: after these the process must end before the card works again.
TEST(CudaErrors, ErrorsThatEndTheContextLoseTheDevice) {
  for (const int error : {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 999}) {
    EXPECT_TRUE(is_sticky(error)) << error;
    EXPECT_THROW(raise(failure_of(error, false), "cudaFree", CallSite::current()), DeviceLost) << error;
  }
}

TEST(CudaErrors, ARefusedCallLosesNothing) {
  for (const int error : {1, 209, 801}) {  // invalid value, no code for this card, not supported
    EXPECT_FALSE(is_sticky(error)) << error;
    try {
      raise(failure_of(error, false), "cudaFree", CallSite::current());
    } catch (const DeviceLost&) {
      ADD_FAILURE() << error;
    } catch (const std::runtime_error&) {
    }
  }
}

TEST(CudaErrors, AnUnknownErrorThatStaysLosesTheDevice) {
  EXPECT_THROW(raise(failure_of(4321, true), "cudaFree", CallSite::current()), DeviceLost);
}

}  // namespace
}  // namespace bench::kernels::cuda
