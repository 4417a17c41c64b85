// Results that an earlier program wrote, one of each sweep, among them one of workers that ran with --nice:
// today's program reads them, continues them, and answers from what they hold.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bench/cli/options.h"
#include "bench/commands/resume.h"
#include "bench/commands/setup.h"
#include "bench/registry.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::testing {
namespace {

using ::testing::Contains;
using ::testing::Field;

struct Golden {
  const char* sweep;
  const char* finding;  // that its points alone support; a study is run again
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.sweep;
}

class GoldenResult : public ::testing::TestWithParam<Golden> {
 protected:
  static std::filesystem::path path() {
    return std::string(BENCH_TEST_SOURCE_DIR "/tests/golden/") + GetParam().sweep + ".json";
  }
};

// Its own command line, without the option that is gone.
Options options_of(std::vector<std::string> argv) {
  if (const auto nice = std::ranges::find(argv, "--nice"); nice != argv.end()) {
    argv.erase(nice, nice + 2);
  }
  std::vector<const char*> words;
  for (const std::string& word : argv) {
    words.push_back(word.c_str());
  }
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::set<std::string> names_of(const ResultDocument& document) {
  std::set<std::string> names;
  for (const Point& point : document.points) {
    names.insert(point.name);
  }
  return names;
}

TEST_P(GoldenResult, FollowsTheSchema) {
  EXPECT_EQ(schema_errors(read_file(path())), "");
}

TEST_P(GoldenResult, IsContinuedAndAnswersFromItsPoints) {
  const ResultDocument golden = read_result(path());
  const Options options = options_of(golden.context.argv);
  const auto device = open_device("cpu");
  const ManualClock clock;
  const SweepType& type = *registry<SweepType>().find(GetParam().sweep);
  const SweepRequest request = make_request(options, type, *device, clock);
  const auto sweep = type.make(request, *device);
  ResultDocument fresh = start_document(type, request, sweep->plan(), *device, options, golden.context.argv);
  fresh.context = golden.context;  // as on its machine
  sweep->predict([] { return std::nullopt; });
  for (const ResumeReason reason : {ResumeReason::requested, ResumeReason::device_lost}) {
    ResultDocument document = fresh;
    ASSERT_TRUE(take_over(path(), sweep->plan(), reason, document));
    EXPECT_EQ(names_of(document), names_of(golden));
    sweep->restore(document);
    EXPECT_THAT(sweep->findings(document), Contains(Field(&Finding::name, GetParam().finding)));
    EXPECT_NO_THROW(sweep->tables(document));
  }
}

INSTANTIATE_TEST_SUITE_P(Sweeps, GoldenResult,
                         ::testing::Values(Golden{"batch", "recommendation"},
                                           Golden{"kernels", "arithmetic_peak/fp32"},
                                           Golden{"memory", "memory_line/fp32 inference"},
                                           Golden{"transfer", "model/h2d/pinned"},
                                           Golden{"workers", "recommended_workers"}),
                         [](const auto& tested) { return tested.param.sweep; });

}  // namespace
}  // namespace bench::testing
