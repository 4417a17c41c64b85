#include "bench/advise/results_advice.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "tests/bench/advise/advice_files.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using testing::batch_file;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::workers_file;

// One card's results, each step `times` as long as that of batch_file().
EvaluatedFile of_host(const std::string& host, double times) {
  EvaluatedFile file = batch_file();
  file.path = host + ".json";
  file.document.context.machine = host + " and its card";
  file.document.context.google_benchmark["host_name"] = host;
  for (Point& point : file.document.points) {
    point.stats.median_ns *= times;
  }
  return file;
}

EvaluatedFile loader_of(const std::string& host) {
  EvaluatedFile file = workers_file(10);
  file.path = host + "-workers.json";
  file.document.context.machine = host + " alone";
  file.document.context.google_benchmark["host_name"] = host;
  return file;
}

std::vector<std::string> paths_of(const std::vector<EvaluatedFile>& files) {
  std::vector<std::string> paths;
  for (const EvaluatedFile& file : files) {
    paths.push_back(file.path);
  }
  return paths;
}

TEST(MedianMachine, StandsForAFleetAndTheOutlierIsNamed) {
  std::vector<EvaluatedFile> files{of_host("a", 1.01), of_host("b", 1), of_host("c", 1.02), of_host("d", 1.5),
                                   of_host("e", 0.99), loader_of("c"),  loader_of("a")};
  const std::vector<std::string> sentences = keep_median_machine(files);
  EXPECT_THAT(paths_of(files), ElementsAre("a.json", "a-workers.json"));
  expect_words(sentences);
}

// So that half of the machines at least are as fast as the advice says.
TEST(MedianMachine, IsTheSlowerOfTwoInTheMiddle) {
  std::vector<EvaluatedFile> four{of_host("a", 1.01), of_host("b", 1), of_host("c", 1.02), of_host("d", 1.5)};
  const std::vector<std::string> of_four = keep_median_machine(four);
  EXPECT_THAT(paths_of(four), ElementsAre("c.json"));
  expect_words(of_four);
  std::vector<EvaluatedFile> two{of_host("a", 1.1), of_host("b", 1)};
  const std::vector<std::string> of_two = keep_median_machine(two);
  EXPECT_THAT(paths_of(two), ElementsAre("a.json"));
  expect_words(of_two);
}

TEST(MedianMachine, NeedsEachSweepOfItsHost) {
  std::vector<EvaluatedFile> files{of_host("a", 1), of_host("b", 1.1), of_host("c", 1.2), loader_of("a"),
                                   loader_of("c")};
  expect_words(message_of<UsageError>([&] { keep_median_machine(files); }));
}

TEST(MedianMachine, OtherResultsStayAsTheyAre) {
  std::vector<EvaluatedFile> one{of_host("a", 1), loader_of("a")};
  EXPECT_THAT(keep_median_machine(one), IsEmpty());
  EXPECT_EQ(one.size(), 2U);
  std::vector<EvaluatedFile> twice{of_host("a", 1), of_host("a", 1.1)};
  EXPECT_THAT(keep_median_machine(twice), IsEmpty()) << "one machine";
  EXPECT_EQ(twice.size(), 2U);
}

}  // namespace
}  // namespace bench
