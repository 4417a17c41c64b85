// Errors of the device: which of them lose it, what they say, and what they leave set.
#include "kernels/devices/cuda/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "kernels/devices/cuda/errors.h"
#include "tests/kernels/devices/cuda_device_fixture.h"
#include "tests/kernels/devices/sizes.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::HasSubstr;

TEST_F(CudaDeviceTest, AStickyErrorIsADeviceLostThatNamesCallValueAndPlace) {
  Buffer buffer = device_.allocate(4 * kMiB, MemoryCategory::activations);
  runtime_.fail("wait", status::kIllegalAddress);
  try {
    device_.time([] {});
    FAIL() << "nothing was thrown";
  } catch (const DeviceLost& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaEventSynchronize"));
    EXPECT_THAT(error.what(), HasSubstr("700 (error700"));
    EXPECT_THAT(error.what(), HasSubstr(" kernels/devices/cuda/device.cpp:"));
  }
  // From now on every call says so, and cleaning up stays quiet.
  EXPECT_THROW(device_.synchronize(), DeviceLost);
  EXPECT_THROW(device_.driver_used(), DeviceLost);
  EXPECT_THROW(device_.allocate(4 * kMiB, MemoryCategory::activations), DeviceLost);
  EXPECT_EQ(device_.memory().live().total(), 4 * kMiB) << "what was refused is not counted";
  EXPECT_NO_THROW(buffer.reset());
}

TEST_F(CudaDeviceTest, AnErrorThatPassesIsClearedAndNoDeviceIsLost) {
  constexpr int kInvalidValue = 1;
  runtime_.fail("copy", kInvalidValue);
  int value = 0;
  try {
    device_.download(&value, &value, sizeof value);
    FAIL() << "nothing was thrown";
  } catch (const DeviceLost&) {
    FAIL() << "an invalid value is no reason to give a card up";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cudaMemcpyAsync of 4 B from the card failed: 1 "));
  }
  EXPECT_EQ(runtime_.last_error(), status::kSuccess);
  EXPECT_NO_THROW(device_.synchronize());
}

TEST_F(CudaDeviceTest, AnErrorNamesTheLineOfTheCall) {
  int line = 0;
  try {
    line = __LINE__ + 1;
    runtime_.check(1, "cudaSomething");
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ::testing::EndsWith(fmt::format("/device_errors_test.cpp:{}", line)));
  }
}

TEST(CudaDevice, AFailureAnywhereInItsMakingReleasesAllThatWasMade) {
  for (const char* call : {"set_device", "properties", "create_stream", "create_event", "memory_info",
                           "runtime_version", "copy", "synchronize"}) {
    for (const int nth : {1, 2}) {
      testing::FakeRuntime runtime;
      runtime.fail(call, 1, nth);
      try {
        const CudaDevice device(testing::fake_backend(runtime), 0);
      } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("failed: 1 ")) << call;
      }
      EXPECT_EQ(runtime.handles, 0) << call << ' ' << nth;
      EXPECT_EQ(runtime.reserved, 0) << call << ' ' << nth;
      EXPECT_EQ(runtime.pinned, 0) << call << ' ' << nth;
    }
  }
}

TEST(CudaDevice, EndsQuietlyOnALostCard) {
  testing::FakeRuntime runtime;
  {
    CudaDevice device(testing::fake_backend(runtime), 0);
    const Buffer buffer = device.allocate(4 * kMiB, MemoryCategory::weights);
    const PinnedBuffer pinned = device.allocate_pinned(100);
    runtime.fail("synchronize", status::kLaunchFailure);
    EXPECT_THROW(device.synchronize(), DeviceLost);
  }
  EXPECT_EQ(runtime.last_error(), status::kLaunchFailure);
}

// An earlier kernel's illegal address may show first in a library's call.
TEST(CudaLibrary, AFailureIsTheDevicesWhereTheDeviceIsLost) {
  const DeviceAnswer lost{.error = status::kIllegalAddress, .stays_set = true, .free_bytes = 0};
  EXPECT_THROW(raise_library("cublasLtMatmul failed", false, lost), DeviceLost);
  EXPECT_THROW(raise_library("cudnnCreate failed", true, lost), DeviceLost);
  EXPECT_THROW(raise_library("a plan failed", false, {.error = 4321, .stays_set = true, .free_bytes = {}}),
               DeviceLost);
  try {
    raise_library("a plan failed", false,
                  {.error = status::kInsufficientDriver, .stays_set = false, .free_bytes = {}});
  } catch (const DeviceLost&) {
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a plan failed");
  }
}

TEST(CudaLibrary, MemoryThatWasRefusedIsOutOfMemoryWhoeverSaysSo) {
  EXPECT_THROW(raise_library("cudnnCreate failed", true, {}), OutOfMemory);
  EXPECT_THROW(raise_library("a plan failed", false,
                             {.error = status::kMemoryAllocation, .stays_set = false, .free_bytes = {}}),
               OutOfMemory);
}

// A kernel that the driver finds no room to load is answered as any launch that fails.
TEST(CudaLibrary, AFailureOnAFullCardIsOutOfMemory) {
  const auto fail = [](std::optional<std::int64_t> free_bytes) {
    raise_library("CUBLAS_STATUS_EXECUTION_FAILED", false,
                  {.error = status::kSuccess, .stays_set = false, .free_bytes = free_bytes});
  };
  try {
    fail(64 * kMiB - 1);
    FAIL() << "nothing was thrown";
  } catch (const OutOfMemory& error) {
    EXPECT_STREQ(error.what(), "CUBLAS_STATUS_EXECUTION_FAILED; the card has 67108863 B left");
  }
  EXPECT_THROW(fail(0), OutOfMemory);
  for (const std::optional<std::int64_t> enough : {std::optional<std::int64_t>(64 * kMiB), {}}) {
    try {
      fail(enough);
      FAIL() << "nothing was thrown";
    } catch (const OutOfMemory&) {
      FAIL() << "there was memory, or nobody knows";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "CUBLAS_STATUS_EXECUTION_FAILED");
    }
  }
}

// Where nothing is wrong with the device, the library's own reason is kept.
TEST(CudaLibrary, ARefusalIsTheDevicesWhereItIsLostOrFull) {
  const auto refuse = [](bool out_of_memory, const DeviceAnswer& device) {
    raise_device("a plan was not built", out_of_memory, device);
  };
  EXPECT_THROW(refuse(false, {.error = status::kIllegalAddress, .stays_set = true, .free_bytes = {}}),
               DeviceLost);
  EXPECT_THROW(refuse(true, {}), OutOfMemory);
  EXPECT_THROW(refuse(false, {.error = status::kSuccess, .stays_set = false, .free_bytes = 64 * kMiB - 1}),
               OutOfMemory);
  EXPECT_NO_THROW(refuse(false, {.error = status::kSuccess, .stays_set = false, .free_bytes = 64 * kMiB}));
  EXPECT_NO_THROW(
      refuse(false, {.error = status::kInsufficientDriver, .stays_set = false, .free_bytes = {}}));
}

// Such a refusal does not depend on the card, which is not asked.
TEST(CudaLibrary, AMessageTellsThatTheRequestItselfIsRefused) {
  for (const char* message :
       {"and code: CUDNN_STATUS_NOT_SUPPORTED", "and code: CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH",
        "failed with message: \n, and code: CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER"}) {
    EXPECT_TRUE(says_not_supported(message)) << message;
  }
  for (const char* message : {"", "and code: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER",
                              "and code: CUDNN_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_ALLOC_FAILED"}) {
    EXPECT_FALSE(says_not_supported(message)) << message;
  }
}

// As cuDNN and the runtime put it.
TEST(CudaLibrary, AMessageTellsThatMemoryWasRefused) {
  for (const char* message :
       {"detail::execute(handle, plan) failed with message: , and code: CUDNN_STATUS_ALLOC_FAILED",
        "failed with message: cudaMalloc\nof 5 B, and code: "
        "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "and code: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED", "CUBLAS_STATUS_ALLOC_FAILED",
        "cuModuleLoadData failed with CUDA_ERROR_OUT_OF_MEMORY",
        "cudaLaunchKernel: cudaErrorMemoryAllocation", "cudaMalloc failed with out of memory"}) {
    EXPECT_TRUE(says_out_of_memory(message)) << message;
  }
  for (const char* message : {"", "and code: CUDNN_STATUS_NOT_SUPPORTED", "CUBLAS_STATUS_EXECUTION_FAILED",
                              "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"}) {
    EXPECT_FALSE(says_out_of_memory(message)) << message;
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
