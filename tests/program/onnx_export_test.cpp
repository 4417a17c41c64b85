// The exports that docs/onnx.md shows, made with Debian's PyTorch and read.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/document_blocks.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

Json inspected(const fs::path& path) {
  const Ended ended = run_bench({"inspect", path.string(), "--batch", "2", "--format", "json"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  return ended.code == 0 ? Json::parse(ended.out) : Json();
}

std::int64_t count_of(const Json& report, const std::string& kind) {
  for (const Json& operation : report["operations"]) {
    if (operation["kind"] == kind) {
      return operation["count"];
    }
  }
  return 0;
}

TEST(OnnxExport, TheDocumentsLinesGiveNetworksForInferenceAndTraining) {
  const fs::path document = BENCH_TEST_SOURCE_DIR "/docs/onnx.md";
  const std::vector<std::string> blocks = blocks_in(document, "python");
  ASSERT_EQ(blocks.size(), 2U);
  const TemporaryFolder folder;
  std::string code = "os.chdir('" + folder.path().string() + "')\n";
  for (const std::string& block : blocks) {
    code += block;
  }
  const Ended exported = run_with_torch(code);
  if (exported.code == kNoTorch) {
    GTEST_SKIP() << kInstallTorch;
  }
  ASSERT_EQ(exported.code, 0) << exported.err;

  const Json infer = inspected(folder.path() / "infer.onnx");
  const Json train = inspected(folder.path() / "train.onnx");
  // ResNet-18: 20 convolutions, each with a batch norm, whose scale and shift become biases when it is
  // folded.
  EXPECT_EQ(train["parameters"], 11'689'512);
  EXPECT_EQ(infer["parameters"], 11'689'512 - 4800);
  EXPECT_EQ(infer["macs"], train["macs"]);
  EXPECT_EQ(count_of(infer, "conv2d"), 20);
  EXPECT_EQ(train["memory"].size(), 2U) << "inference and training";
  const Ended run = run_bench(Arguments{"--sweep", "batch", "--onnx", (folder.path() / "train.onnx").string(),
                                        "--mode", "train", "--batch", "2", "--dry-run"});
  EXPECT_EQ(run.code, 0) << run.err;
}

}  // namespace
}  // namespace bench::testing
