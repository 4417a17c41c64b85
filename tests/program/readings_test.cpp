// The lines of docs/readings.md, run with Debian's PyTorch: what they print, and what is simulated from it.
#include <sys/stat.h>

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
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
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
    const Ended advised = run_bench({"advise", "--observed", file.string()});
    EXPECT_EQ(advised.code, 0) << advised.err;
    EXPECT_THAT(advised.out, HasSubstr("Bottleneck: loader CPU"));
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
  EXPECT_THAT(simulated.out,
              AllOf(HasSubstr("for your loader"), HasSubstr("PyTorch 1."), HasSubstr("host memory")));
}

TEST_F(SamplesFile, GivesFindingsTablePictureAndFile) {
  const Ended ended = simulate(write(kSamples));
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("Simulated for your loader: use 2 workers"),
                               HasSubstr("from the load times of a loader of the user's: 4 cores"),
                               HasSubstr("workers-simulated-samples-cpu.png")));
  const auto file = folder_.path() / "workers-simulated-samples-cpu.json";
  EXPECT_EQ(schema_errors(read_file(file)), "");
  EXPECT_THAT(read_file(folder_.path() / "workers-simulated-samples-cpu.svg"), HasSubstr("for your loader"));
  EXPECT_EQ(read_result(file).sweep.state.at("profile").at("loader"), "a loader of the user's");
  const Ended advised = run_bench({"advise", file.string()});
  EXPECT_EQ(advised.code, 0) << advised.err;
  EXPECT_THAT(advised.out, HasSubstr("workers 0 → 2"));
  // The result is a profile for other consumers and hosts; and a required throughput is a consumer.
  const Ended again = run_bench({"--sweep", "workers", "--simulate", "--profile", file.string(), "--cores",
                                 "16", "--no-plot", "--out", (folder_.path() / "again").string()});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("for your loader"));
  const Ended required = simulate(write(kSamples), {"--demand", "t4=400/s", "--no-plot"});
  EXPECT_EQ(required.code, 0) << required.err;
  EXPECT_THAT(required.out, HasSubstr("t4 (400 samples/s) needs 2 workers"));
  const Ended modelled =
      simulate(write(kSamples), {"--device", "t4", "--workload", "resnet18", "--mode", "train", "--no-plot"});
  EXPECT_EQ(modelled.code, 0) << modelled.err;
}

TEST_F(SamplesFile, TheDocumentsExampleGivesItsAnswer) {
  const std::vector<std::string> blocks = blocks_in(kDocument, "json");
  ASSERT_EQ(blocks.size(), 1U);
  const Ended ended = simulate(write(blocks[0]), {"--consumer", "20ms", "--no-plot"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string answer;
  std::getline(lines, answer);
  EXPECT_THAT(answer, HasSubstr("use 3 workers"));
  EXPECT_THAT(read_file(kDocument), HasSubstr(answer + "\n"));
}

TEST_F(SamplesFile, BadInputGetsOneSentence) {
  const auto refused = [&](const std::filesystem::path& path,
                           const Arguments& more = {"--consumer", "40ms"}) {
    const Ended ended = simulate(path, more);
    EXPECT_EQ(ended.code, 2) << path;
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(refused(folder_.path()), AllOf(HasSubstr("--samples"), HasSubstr("not a file")));
  EXPECT_THAT(refused(folder_.path() / "none.json"), HasSubstr("--samples"));
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refused(pipe), AllOf(HasSubstr("--samples"), HasSubstr("not a file")));
  EXPECT_THAT(refused(write("no JSON")), HasSubstr("--samples"));
  EXPECT_THAT(refused(write("[1]")), HasSubstr("samples.json': it is not an object"));
  EXPECT_THAT(refused(write("{\"schema\": \"bench-result/2\"}")), HasSubstr("accepted: bench-samples/1"));
  const auto large = folder_.path() / "large.json";
  std::ofstream(large) << "{";
  std::filesystem::resize_file(large, 101'000'000);  // a hole
  EXPECT_THAT(refused(large), AllOf(HasSubstr("101 MB"), HasSubstr("at most 100 MB")));

  const auto samples = write(kSamples);
  EXPECT_THAT(refused(samples, {}), HasSubstr("--consumer 40ms"));
  EXPECT_THAT(refused(samples, {"--consumer", "40ms", "--order", "any"}), HasSubstr("--order"));
  EXPECT_THAT(refused(samples, {"--consumer", "40ms", "--storage", "200MB/s"}), HasSubstr("--storage"));
  EXPECT_THAT(refused(samples, {"--consumer", "40ms", "--batch", "8"}), HasSubstr("--batch"));
  EXPECT_THAT(refused(samples, {"--consumer", "40ms", "--profile", "x.json"}), HasSubstr("--profile"));
  const Ended measured =
      run_bench({"--sweep", "workers", "--samples", samples.string(), "--out", folder_.path().string()});
  EXPECT_EQ(measured.code, 2);
  EXPECT_THAT(measured.err, HasSubstr("--samples: belongs to --simulate"));
}

}  // namespace
}  // namespace bench::testing
