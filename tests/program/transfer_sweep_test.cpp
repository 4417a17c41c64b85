// bench --sweep transfer, as a user runs it, on few small points.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The steps of a small network, within a cap that leaves out the studies' large copies: emptying the caches
// of those takes seconds.
Arguments transfer_study(const std::filesystem::path& out) {
  return rounds(3) +
         Arguments{"--sweep",      "transfer",  "--device",   "cpu", "--workload",   "embedding_classifier",
                   "--vocabulary", "2000",      "--sequence", "16",  "--memory-cap", "8MiB",
                   "--out",        out.string()};
}

Arguments transfer_run(const std::filesystem::path& out) {
  return transfer_study(out) + Arguments{"--batch", "2", "--sizes", "4KiB,8KiB,16KiB,64KiB"};
}

constexpr const char* kFile = "transfer-embedding_classifier-cpu.json";

// Under a limit on locked memory, which the capability would lift.
Ended run_with_lock_limit(const Arguments& arguments, const std::string& kib) {
  const std::string script =
      "ulimit -l " + kib + "; if [ \"$(id -u)\" = 0 ]; then " +
      "exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \"$@\"; else exec \"$@\"; fi";
  Arguments all{"-c", script, "sh", BENCH_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return Process(all, std::nullopt, "/bin/sh").wait();
}

const Finding* find(const ResultDocument& document, const std::string& name) {
  const auto at = std::ranges::find(document.findings, name, &Finding::name);
  return at == document.findings.end() ? nullptr : &*at;
}

TEST(TransferSweepProgram, AnswersFromCopiesToAVerdict) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(transfer_run(folder.path()));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto file = folder.path() / kFile;
  EXPECT_EQ(schema_errors(read_file(file)), "");
  const ResultDocument document = read_result(file);
  for (const Point& point : document.points) {
    EXPECT_EQ(point.verification.value().error, 0) << point.name;
    EXPECT_GT(point.work.sample_bytes, 0) << point.name;
    EXPECT_EQ(point.memory.peak_predicted, point.memory.peak_measured) << point.name;
  }
  for (const UnmeasuredPoint& point : document.unmeasured) {
    ADD_FAILURE() << point.name << ": " << point.reason;
  }
  const Json& transfer = document.sweep.state.at("transfer");
  EXPECT_EQ(transfer.at("crosses_bus"), false);
  EXPECT_FALSE(transfer.at("pinning").empty());
  ASSERT_EQ(transfer.at("steps").size(), 1U);
  const Json& steps = transfer.at("steps")[0];
  EXPECT_EQ(steps.at("batch"), 2);
  EXPECT_EQ(steps.at("bytes"), 2 * 16 * 4);  // tokens
  EXPECT_EQ(steps.at("kinds").size(), 3U);
  const Finding* const pin = find(document, "pin/batch:2");
  ASSERT_NE(pin, nullptr);
  EXPECT_EQ(pin->details.at("pinned_locks_bytes"), 8 * 2 * 2 * 16 * 4);  // workers, batches ready
  EXPECT_NE(find(document, "model/h2d/pageable"), nullptr);
  EXPECT_NE(find(document, "crossover/h2d/pinned"), nullptr);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "transfer-embedding_classifier-cpu.svg"));
}

TEST(TransferSweepProgram, ALockLimitMakesPinnedPointsUnsupportedAndSaysHowToRaiseIt) {
  const TemporaryFolder folder;
  const Ended ended = run_with_lock_limit(
      transfer_run(folder.path()) + Arguments{"--directions", "h2d", "--in-flight", "1", "--no-plot"}, "16");
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const ResultDocument document = read_result(folder.path() / kFile);
  int refused = 0;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (point.params.at("host-memory") == "pinned" && point.params.at("bytes") == 64 * 1024) {
      ++refused;
      EXPECT_EQ(point.status, "unsupported");
      EXPECT_THAT(point.reason, AllOf(HasSubstr("16.0 KiB"), HasSubstr("ulimit -l"), HasSubstr("memlock")));
    }
  }
  EXPECT_EQ(refused, 1) << ended.out;
  const bool small_ones = std::ranges::any_of(document.points, [](const Point& point) {
    return point.params.at("host-memory") == "pinned" && point.params.at("bytes") == 4096;
  });
  EXPECT_TRUE(small_ones) << "4 KiB and a page can be locked within 16 KiB\n" << ended.out;
}

TEST(TransferSweepProgram, ListsItsPointsWithTheirMemoryWithoutRunning) {
  const Ended ended =
      run_bench({"--sweep", "transfer", "--device", "cpu", "--dry-run", "--memory-cap", "64MiB"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("transfer/h2d/pinned/bytes:1024"),
                               HasSubstr("transfer/d2h/pageable/pages:cold/bytes:4096")));
}

TEST(TransferSweepProgram, OneNodeHasNoFarMemory) {
  const TemporaryFolder folder;
  if (std::filesystem::exists("/sys/devices/system/node/node1")) {
    GTEST_SKIP() << "this machine has several NUMA nodes";
  }
  const Ended ended = run_bench(transfer_run(folder.path()) +
                                Arguments{"--numa-node", "far", "--directions", "h2d", "--no-plot"});
  ASSERT_EQ(ended.code, 3) << "nothing was measured: " << ended.err;
  const ResultDocument document = read_result(folder.path() / kFile);
  EXPECT_TRUE(document.points.empty());
  ASSERT_FALSE(document.unmeasured.empty());
  expect_words(document.unmeasured[0].reason);
  const Arguments planned =
      transfer_run(folder.path()) + Arguments{"--numa-node", "far", "--directions", "h2d", "--dry-run"};
  const Json json = Json::parse(run_bench(planned + Arguments{"--format", "json"}).out);
  EXPECT_TRUE(json.at("expected_duration_ns").is_null());
}

TEST(TransferSweepProgram, ANodeThatIsNotThereIsWrongUsage) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(transfer_run(folder.path()) + Arguments{"--numa-node", "999"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("--numa-node: '999' was given"), HasSubstr("this machine has")));
  EXPECT_THAT(folder.names(), ::testing::IsEmpty());
}

TEST(TransferSweepProgram, ResumingWithOtherSizesKeepsThePointsAndNamesTheirSizes) {
  const TemporaryFolder folder;
  const auto sized = [&](const char* sizes) {
    return transfer_study(folder.path()) + Arguments{"--batch",      "1",   "--sizes",      sizes,
                                                     "--directions", "h2d", "--host-kinds", "pageable",
                                                     "--in-flight",  "1",   "--no-plot"};
  };
  ASSERT_EQ(run_bench(sized("8KiB,32KiB")).code, 0);
  const Ended ended = run_bench(sized("4KiB,16KiB") + Arguments{"--resume"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = read_result(folder.path() / kFile);
  EXPECT_EQ(document.sweep.axes.at("bytes"), Json::array({4096, 8192, 16384, 32768}));
  for (const char* bytes : {"4096", "8192", "16384", "32768"}) {
    EXPECT_TRUE(std::ranges::any_of(document.points, [&](const Point& point) {
      return point.name.ends_with(std::string("/pages:cold/bytes:") + bytes) ||
             point.name.ends_with(std::string("/pageable/bytes:") + bytes);
    })) << bytes;
  }
  const Finding* const model = find(document, "model/h2d/pageable");
  ASSERT_NE(model, nullptr) << "four sizes stand in the file";
  EXPECT_EQ(model->evidence.size(), 4U);
}

}  // namespace
}  // namespace bench::testing
