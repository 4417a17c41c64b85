// --benchmark_out: written whole beside the program's own result, never over it.
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BenchmarkOut, NeverTakesThePlaceOfTheResult) {
  const TemporaryFolder folder;
  const auto result = folder.path() / kSmallFile;
  const Ended ended = run_bench(small_run(folder.path()) + Arguments{"--benchmark_out=" + result.string()});
  EXPECT_EQ(ended.code, 2);
  expect_words(without_path(ended.err, folder.path()));
  EXPECT_FALSE(std::filesystem::exists(result));
}

TEST(BenchmarkOut, IsCheckedBeforeAnythingIsMeasured) {
  const TemporaryFolder folder;
  for (const std::string& target :
       {(folder.path() / "no" / "such" / "folder.json").string(), folder.path().string()}) {
    const Ended ended = run_bench(small_run(folder.path() / "out") + Arguments{"--benchmark_out=" + target});
    EXPECT_EQ(ended.code, 2);
    expect_words(without_path(ended.err, folder.path()));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "out" / kSmallFile)) << "nothing was to be measured";
  }
}

TEST(BenchmarkOut, ReplacesAnOlderFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file(folder.path() / "google.json", "older");
  const Ended ended = run_bench(small_run(folder.path() / "out") +
                                Arguments{"--benchmark_out=" + (folder.path() / "google.json").string()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read_file(folder.path() / "google.json"), HasSubstr("\"benchmarks\""));
  EXPECT_THAT(folder.names(), ::testing::UnorderedElementsAre("google.json", "out"));
  EXPECT_THAT(schema_errors(read_file(folder.path() / "out" / kSmallFile)), IsEmpty());
}

TEST(BenchmarkOut, APlantedLinkIsNotFollowed) {
  const TemporaryFolder folder;
  const auto target = folder.path() / "google.json";
  write_file(folder.path() / "precious", "mine");
  std::filesystem::create_symlink("precious", target.string() + ".bench-tmp");  // the name it had once
  const Ended ended =
      run_bench(small_run(folder.path() / "out") + Arguments{"--benchmark_out=" + target.string()});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read_file(folder.path() / "precious"), "mine");
}

TEST(BenchmarkOut, ALinkOfAnotherUserIsRefusedBeforeAnythingIsMeasured) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can be another user";
  }
  const TemporaryFolder folder;
  const auto link = folder.path() / "google.json";
  write_file(folder.path() / "precious", "mine");
  std::filesystem::create_symlink("precious", link);
  ASSERT_EQ(::lchown(link.c_str(), 65534, 65534), 0);
  const Ended ended =
      run_bench(small_run(folder.path() / "out") + Arguments{"--benchmark_out=" + link.string()});
  EXPECT_EQ(ended.code, 2);
  expect_words(without_path(ended.err, folder.path()));
  EXPECT_EQ(read_file(folder.path() / "precious"), "mine");
}

TEST(BenchmarkOut, IsWrittenIntoAPipeAndNotInItsPlace) {
  const TemporaryFolder folder;
  const auto target = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(target.c_str(), 0666), 0);
  const Arguments arguments =
      small_run(folder.path() / "out") + Arguments{"--benchmark_out=" + target.string()};
  std::string text;
  std::thread reader([&] { text = read_file(target); });
  const Ended ended = run_bench(arguments);
  reader.join();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(text, HasSubstr("\"benchmarks\""));
  EXPECT_TRUE(std::filesystem::is_fifo(target));

  Process without_reader(arguments);
  const auto result = folder.path() / "out" / kSmallFile;
  while (!without_reader.ended() && !std::filesystem::exists(result)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  without_reader.send(SIGTERM);
  EXPECT_EQ(without_reader.wait().code, 130);
}

}  // namespace
}  // namespace bench::testing
