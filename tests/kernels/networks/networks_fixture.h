// A CPU device and specs of network workloads, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "bench/device.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/networks/program/runner.h"

namespace bench::kernels {

// Overwrites everything that lives within a step with bytes that read as NaN.
inline void poison_step(const ProgramRunner& runner, Device& device) {
  const auto& tensors = runner.plan().program.tensors();
  for (TensorId id = 0; id < tensors.size(); ++id) {
    if (!tensors[id].block && tensors[id].bytes > 0) {
      device.fill(runner.address(id), std::byte{0xFF}, tensors[id].bytes);
    }
  }
}

class NetworkTest : public testing::Test {
 protected:
  static WorkloadSpec spec(std::int64_t batch, Dtype dtype, std::int64_t image_size, std::uint64_t seed = 1) {
    WorkloadSpec spec;
    spec.mode = "infer";
    spec.batch = batch;
    spec.dtype = dtype;
    spec.seed = seed;
    spec.options["image-size"] = std::to_string(image_size);
    return spec;
  }

  std::unique_ptr<Device> device_ = registry<DeviceKind>().find("cpu")->open("cpu");
};

}  // namespace bench::kernels
