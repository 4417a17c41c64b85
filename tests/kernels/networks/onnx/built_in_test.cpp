// A built-in network and the ONNX file of the same one, exported with its batch norms, are the same network.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>

#include "bench/registry.h"
#include "kernels/networks/models/network.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels::onnx {
namespace {

struct Twin {
  const char* network;
  const char* file;
  std::int64_t image_size;
  std::int64_t parameters;  // of the PyTorch module
};

void PrintTo(const Twin& twin, std::ostream* out) {
  *out << twin.file;
}

class BuiltIn : public ::testing::TestWithParam<Twin> {
 protected:
  NetworkPoint built_in(const std::string& mode) const {
    return read_point(*registry<NetworkType>().find(GetParam().network), spec(mode));
  }
  NetworkPoint imported(const std::string& mode) const {
    const std::filesystem::path data = BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data";
    return read_point(import_network((data / GetParam().file).string(), {}).graph, spec(mode));
  }
  static void expect_same(const MemoryPlan& a, const MemoryPlan& b) {
    for (const MemoryCategory category : kMemoryCategories) {
      EXPECT_EQ(a.at_peak[category], b.at_peak[category]) << name_of(category);
      EXPECT_EQ(a.in_step[category], b.in_step[category]) << name_of(category);
    }
    EXPECT_EQ(a.peak, b.peak);
    EXPECT_EQ(a.setup_peak, b.setup_peak);
  }

  std::unique_ptr<Device> device_ = registry<DeviceKind>().find("cpu")->open("cpu");

 private:
  static WorkloadSpec spec(const std::string& mode) {
    return {.mode = mode,
            .dtype = Dtype::fp32,
            .batch = 4,
            .options = {{"image-size", std::to_string(GetParam().image_size)}}};
  }
};

TEST_P(BuiltIn, HasTheFilesParametersAndMultiplyAdds) {
  const bench::kernels::Graph own = built_in("infer").graph;
  const bench::kernels::Graph read = imported("infer").graph;
  EXPECT_EQ(own.parameter_count(), GetParam().parameters);
  EXPECT_EQ(read.parameter_count(), GetParam().parameters);
  EXPECT_EQ(own.macs(), read.macs());
}

TEST_P(BuiltIn, HasTheFilesMemoryPlanInInference) {
  expect_same(plan_inference(built_in("infer"), *device_).memory(),
              plan_inference(imported("infer"), *device_).memory());
}

// timm's VGG-16 has a convolution of 7x7 in place of the first linear layer, whose gradients need scratch.
class TrainedBuiltIn : public BuiltIn {};

TEST_P(TrainedBuiltIn, HasTheFilesMemoryPlanInTraining) {
  expect_same(plan_training(built_in("train"), *device_).memory(),
              plan_training(imported("train"), *device_).memory());
}

constexpr Twin kResNet50{"resnet50", "resnet50_op13bn.onnx", 160, 25'557'032};
constexpr Twin kVgg16{"vgg16", "vgg16.onnx", 224, 138'357'544};
INSTANTIATE_TEST_SUITE_P(Networks, BuiltIn, ::testing::Values(kResNet50, kVgg16));
INSTANTIATE_TEST_SUITE_P(Networks, TrainedBuiltIn, ::testing::Values(kResNet50));

}  // namespace
}  // namespace bench::kernels::onnx
