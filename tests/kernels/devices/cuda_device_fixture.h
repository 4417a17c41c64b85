// A card made of the double, for what is asked of the device.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/devices/cuda/device.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {

class CudaDeviceTest : public ::testing::Test {
 protected:
  // The calls that `action` makes.
  template <class Action>
  std::vector<std::string> calls_of(Action action) {
    runtime_.calls.clear();
    action();
    return runtime_.calls;
  }

  testing::FakeRuntime runtime_;
  CudaDevice device_{testing::fake_backend(runtime_), 0};
};

}  // namespace bench::kernels::cuda
