// The lines of docs/readings.md, run with Debian's PyTorch: what they print, and what is simulated from it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bench/json.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/document_blocks.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDocument = BENCH_TEST_SOURCE_DIR "/docs/readings.md";

// Each sample sleeps, so that a worker's time is much longer than what Python adds to it.
constexpr const char* kData = R"(
class Data(torch.utils.data.Dataset):
    def __len__(self): return 160
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.full((3, 8, 8), float(index)), index
)";

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.insert(key);
  }
  return keys;
}

TEST(Readings, TheFirstLinesPrintTheReadingsOfALoop) {
  const std::vector<std::string> blocks = blocks_in(kDocument, "python");
  ASSERT_EQ(blocks.size(), 2U);
  const Ended ended = run_with_torch(blocks[0] + kData + R"(
model = torch.nn.Linear(192, 10)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
def step(batch):
    time.sleep(0.01)
    optimizer.zero_grad(); model(batch[0].flatten(1)).sum().backward(); optimizer.step()
readings(torch.utils.data.DataLoader(Data(), 4), step)
readings(torch.utils.data.DataLoader(Data(), 4, num_workers=1), step, accumulate=2, step_is="accumulation", dtype="bf16")
)");
  if (ended.code == kNoTorch) {
    GTEST_SKIP() << kInstallTorch;
  }
  ASSERT_EQ(ended.code, 0) << ended.err;
  const TemporaryFolder folder;
  std::istringstream lines(ended.out);
  for (const bool second : {false, true}) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << ended.out;
    const Json read = Json::parse(line);
    std::set<std::string> keys{"cards",      "step_ms",         "data_ms",
                               "batch",      "workers",         "pin",
                               "memory_gib", "host_memory_gib", "host_memory_used_gib"};
    if (second) {
      keys.insert({"accumulate", "step_is", "dtype"});
    }
    EXPECT_EQ(keys_of(read), keys);
    EXPECT_GT(read["data_ms"], 0);
    EXPECT_GE(read["step_ms"].get<double>(), read["data_ms"].get<double>() + 10) << "the step sleeps as long";
    EXPECT_EQ(read["batch"], 4);
    EXPECT_EQ(read["workers"], second ? 1 : 0);
    EXPECT_EQ(read["pin"], false);
    EXPECT_TRUE(read["memory_gib"].is_array());
    EXPECT_GT(read["host_memory_used_gib"], 0);
    EXPECT_LT(read["host_memory_used_gib"].get<double>(), read["host_memory_gib"].get<double>());
    // What is printed can be given to advise as it is.
    const auto file = folder.path() / "readings.json";
    std::ofstream(file) << line;
    const Ended advised = run_bench({"advise", "--observed", file.string(), "--format", "json"});
    ASSERT_EQ(advised.code, 0) << advised.err;
    EXPECT_EQ(Json::parse(advised.out).at("bottleneck"), "loader CPU");
    if (!second) {
      EXPECT_GE(read["data_ms"], 16) << "the loop itself loads: four samples sleep";
    }
  }
}

class SamplesFile : public ::testing::Test {
 protected:
  Ended simulate(const std::filesystem::path& samples, const Arguments& more = {"--consumer", "40ms"}) const {
    return run_bench(Arguments{"--sweep", "workers", "--simulate", "--samples", samples.string(), "--workers",
                               "0,1,2,3,4", "--out", folder_.path().string()} +
                     more);
  }
  std::filesystem::path write(const std::string& text) const {
    const auto path = folder_.path() / "samples.json";
    std::ofstream(path) << text;
    return path;
  }
  std::filesystem::path result() const { return folder_.path() / "workers-simulated-samples-cpu.json"; }
  // Of the result.
  Finding finding(const std::string& name) const {
    const ResultDocument document = read_result(result());
    const auto found = std::ranges::find(document.findings, name, &Finding::name);
    EXPECT_NE(found, document.findings.end()) << name;
    return found == document.findings.end() ? Finding{} : *found;
  }

  TemporaryFolder folder_;
};

constexpr const char* kSamples =
    R"({"schema": "bench-samples/1", "cores": 4, "batch": 16, "batch_bytes": 1000000, "worker_bytes": 50000000,
        "times": [{"workers": 1, "load_ms": [50, 49, 51, 50]}, {"workers": 2, "load_ms": [25, 27, 26, 26]},
                  {"workers": 4, "load_ms": [14]}]})";

TEST_F(SamplesFile, TheSecondLinesPrintWhatIsSimulated) {
  const std::vector<std::string> blocks = blocks_in(kDocument, "python");
  ASSERT_EQ(blocks.size(), 2U);
  const Ended ended = run_with_torch(blocks[1] + kData +
                                     "load_times(Data(), 4, counts=(1, 2, 3), timed=24, drop_last=True)\n");
  if (ended.code == kNoTorch) {
    GTEST_SKIP() << kInstallTorch;
  }
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json samples = Json::parse(ended.out);
  EXPECT_EQ(schema_errors(ended.out, BENCH_TEST_SOURCE_DIR "/results/samples-schema.json"), "");
  EXPECT_EQ(samples["batch_bytes"], 4 * (3 * 8 * 8 * 4 + 8)) << "images in fp32, labels as 64-bit integers";
  EXPECT_GT(samples["worker_bytes"], 1 << 20) << "a Python process";
  ASSERT_EQ(samples["times"].size(), 3U);
  for (const Json& times : samples["times"]) {
    EXPECT_EQ(times["load_ms"].size(), 24U);
    EXPECT_EQ(times["ready_ms"].size(), 24U);
  }
  for (const double load : samples["times"][0]["load_ms"]) {
    EXPECT_GE(load, 0);
  }
  const Ended simulated = simulate(write(ended.out));
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  EXPECT_GE(finding("recommended_workers").details.at("host_bytes"), samples["worker_bytes"]);
}

TEST_F(SamplesFile, GivesFindingsPictureAndFile) {
  const Ended ended = simulate(write(kSamples));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(finding("recommended_workers").value, 2);
  EXPECT_EQ(schema_errors(read_file(result())), "");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "workers-simulated-samples-cpu.svg"));
  EXPECT_EQ(read_result(result()).sweep.state.at("profile").at("loader"), "your loader");
  // The result is a profile for other consumers and hosts; and a required throughput is a consumer.
  const Ended again = run_bench({"--sweep", "workers", "--simulate", "--profile", result().string(),
                                 "--cores", "16", "--no-plot", "--out", (folder_.path() / "again").string()});
  EXPECT_EQ(again.code, 0) << again.err;
  const Ended required = simulate(write(kSamples), {"--demand", "t4=400/s", "--no-plot"});
  EXPECT_EQ(required.code, 0) << required.err;
  EXPECT_EQ(finding("demand/t4").value, 2);
  const Ended modelled =
      simulate(write(kSamples), {"--device", "t4", "--workload", "resnet18", "--mode", "train", "--no-plot"});
  EXPECT_EQ(modelled.code, 0) << modelled.err;
}

TEST_F(SamplesFile, TheDocumentsExampleGivesItsAnswer) {
  const std::vector<std::string> blocks = blocks_in(kDocument, "json");
  ASSERT_EQ(blocks.size(), 1U);
  const OtherVariable columns("COLUMNS", "100");  // as in the document
  const Ended ended = simulate(write(blocks[0]), {"--consumer", "20ms", "--no-plot"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string answer;
  std::getline(lines, answer);
  EXPECT_EQ(finding("recommended_workers").value, 3);
  EXPECT_THAT(read_file(kDocument), HasSubstr(answer + "\n"));
}

}  // namespace
}  // namespace bench::testing
