// bench --sweep memory, as a user runs it: a small network, so that it is quick on any machine.
#include <algorithm>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A small table and short texts: a step takes microseconds, also with a batch at the limit.
Arguments memory_run(const std::filesystem::path& out) {
  return rounds(3) +
         Arguments{"--sweep",      "memory", "--device",   "cpu", "--workload", "embedding_classifier",
                   "--vocabulary", "2000",   "--sequence", "16",  "--dtype",    "fp32",
                   "--no-plot",    "--out",  out.string()};
}

constexpr const char* kFile = "memory-embedding_classifier-cpu.json";

TEST(MemorySweepProgram, FindsProvesAndWatches) {
  const TemporaryFolder folder;
  const Ended ended = run_bench(memory_run(folder.path()) +
                                Arguments{"--mode", "infer,train", "--optimizer", "sgd,adam", "--batch",
                                          "4,8", "--memory-cap", "6MiB,12MiB", "--soak", "25"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(schema_errors(read_file(folder.path() / kFile)), "");
  const ResultDocument document = read_result(folder.path() / kFile);

  EXPECT_EQ(document.points.size(), 6U);
  const Json& limits = document.sweep.state.at("limits");
  ASSERT_EQ(limits.size(), 6U);
  for (const Json& limit : limits) {
    const Json& proof = limit.at("proof");
    EXPECT_EQ(proof.at("largest_batch"), limit.at("largest_batch")) << limit.dump();
    if (limit.at("largest_batch") != 0) {
      EXPECT_EQ(proof.at("tracked_bytes"), limit.at("largest_bytes")) << "planned and tracked, to the byte";
      EXPECT_EQ(proof.at("probes"), 2);
      EXPECT_LE(limit.at("largest_bytes"), limit.at("cap_bytes"));
      EXPECT_GT(limit.at("next_bytes"), limit.at("cap_bytes"));
    }
  }
  EXPECT_EQ(document.sweep.state.at("soak").size(), 3U);
  for (const Point& point : document.points) {
    EXPECT_EQ(point.memory.peak_predicted, point.memory.peak_measured) << point.name;
  }
}

TEST(MemorySweepProgram, ADryRunAnswersWhetherCardsOfManySizesWouldDo) {
  const TemporaryFolder folder;
  const Ended ended =
      run_bench(memory_run(folder.path() / "out") + Arguments{"--dry-run", "--verbose", "--memory-cap",
                                                              "64GiB,6GiB,2MiB", "--batch", "1099511627776"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("64.0 GiB"), HasSubstr("6.00 GiB"), HasSubstr("none"),
                               HasSubstr("more than 1 PiB"), Not(HasSubstr("tried"))));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out"));
}

// What a card is sold as, in either prefix, is the card: as without a cap.
TEST(MemorySweepProgram, EightGigabytesOfACardOfEightGigabytesAreTheCard) {
  const auto cap = [](const Arguments& given) {
    const Ended ended =
        run_bench(Arguments{"--sweep", "memory", "--device", "rtx3070", "--workload", "resnet18", "--mode",
                            "infer", "--dtype", "fp32", "--batch", "1", "--dry-run", "--format", "json"} +
                  given);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out).at("memory_cap_bytes").get<std::int64_t>();
  };
  const std::int64_t card = cap({});
  EXPECT_LT(card, 8LL << 30) << "the driver keeps a part";
  EXPECT_EQ(cap({"--memory-cap", "8GB"}), card);
  EXPECT_EQ(cap({"--memory-cap", "8GiB"}), card);
  EXPECT_EQ(cap({"--memory-cap", "6GB"}), 6'000'000'000) << "less than the card is taken as it is";
  EXPECT_EQ(run_bench({"--sweep", "memory", "--device", "rtx3070", "--memory-cap", "9GB", "--dry-run"}).code,
            2);
}

TEST(MemorySweepProgram, ACapBeyondTheMachineNeverTakesMoreThanThereIs) {
  const TemporaryFolder folder;
  const Ended ended =
      run_bench(memory_run(folder.path()) +
                Arguments{"--mode", "infer", "--batch", "2,4194304", "--memory-cap", "8000GiB"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  const ResultDocument document = read_result(folder.path() / kFile);
  ASSERT_EQ(document.unmeasured.size(), 1U);
  EXPECT_THAT(document.unmeasured[0].status, ::testing::AnyOf("oom", "skipped"));
  EXPECT_THAT(document.sweep.state.at("limits")[0].at("proof").at("not_tried").get<std::string>(),
              HasSubstr("this machine has"));
}

TEST(MemorySweepProgram, ResumesWhereItWas) {
  const TemporaryFolder folder;
  const Arguments run = memory_run(folder.path()) + Arguments{"--mode", "infer", "--memory-cap", "12MiB"};
  ASSERT_EQ(run_bench(run + Arguments{"--batch", "1"}).code, 0);
  const Ended ended = run_bench(run + Arguments{"--batch", "1,2", "--resume"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read_result(folder.path() / kFile).points.size(), 2U);
}

}  // namespace
}  // namespace bench::testing
