// What reading, importing and planning a file takes of memory.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "bench/error.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/network_files.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // whose own memory counts too
#else
constexpr bool kSanitized = false;
#endif

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMost = 50 * kMiB;

// "VmHWM", the most that was resident, or "RssAnon", of it what is no file's, in bytes.
std::int64_t resident(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == what + ":") {
      std::int64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes * 1024;
    }
  }
  return 0;
}

class ImportBounds : public NetworkTest {
 protected:
  void plan(const std::string& path, const std::string& mode) {
    const WorkloadType type = workload_of(path);
    if (!type.missing_modes.contains(mode)) {
      type.configure(WorkloadSpec{.mode = mode, .dtype = Dtype::fp32, .batch = 1, .seed = 1, .options = {}})
          ->plan(*device_);
    }
  }
  // Resident memory at its most, above what there was before.
  std::int64_t taken(const std::string& path) {
    std::ofstream("/proc/self/clear_refs") << 5;  // VmHWM starts again
    const std::int64_t before = resident("VmRSS");
    plan(path, "infer");
    return resident("VmHWM") - before;
  }
};

class BoundsOfFiles : public ImportBounds, public ::testing::WithParamInterface<std::string> {};

TEST_P(BoundsOfFiles, AreKept) {
  if (kSanitized) {
    GTEST_SKIP() << "the sanitizer's own memory counts too";
  }
  EXPECT_LT(taken(GetParam()), kMost);
}

INSTANTIATE_TEST_SUITE_P(Networks, BoundsOfFiles,
                         ::testing::ValuesIn(network_files({"resnet18", "dyn_swin_tiny_patch4_window7_224",
                                                            "dyn_distilbert-base", "vgg16"})),
                         file_label);

// Weights of 3 GiB within the file, which is sparse.
TEST_F(ImportBounds, OfAFileOfGigabytes) {
  OnnxWriter net;
  net.input("x", {-1, 1 << 14});
  net.node("MatMul", {"x", "w"}, {"y"});
  net.output("y");
  const std::uint64_t weights = std::uint64_t{3} << 30U;
  const std::string tensor = written::tensor("w", {1 << 14, 3 << 14}, ElementType::f32) + written::tag(9, 2) +
                             written::varint(weights);
  const std::string graph =
      net.graph() + written::tag(5, 2) + written::varint(tensor.size() + weights) + tensor;
  const std::string head = written::integer(1, 8) + written::bytes(8, written::opset("", 17)) +
                           written::tag(7, 2) + written::varint(graph.size() + weights) + graph;
  const std::string path = ::testing::TempDir() + "onnx_weights_" + std::to_string(::getpid()) + ".onnx";
  std::ofstream(path, std::ios::binary) << head;
  std::filesystem::resize_file(path, head.size() + weights);
  const std::int64_t bytes = taken(path);
  const WorkloadType type = workload_of(path);
  std::filesystem::remove(path);
  EXPECT_EQ(type.configure(
                    WorkloadSpec{.mode = "infer", .dtype = Dtype::fp32, .batch = 1, .seed = 1, .options = {}})
                ->plan(*device_)
                .at_peak[MemoryCategory::weights],
            static_cast<std::int64_t>(weights));
  if (!kSanitized) {
    EXPECT_LT(bytes, kMost);
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
