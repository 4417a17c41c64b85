// Readings as a person writes them: units, comments, and what cannot be.
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice_formats.h"
#include "bench/advise/observed_advice.h"
#include "bench/error.h"
#include "bench/result/json_text.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

const std::string kCases = BENCH_TEST_SOURCE_DIR "/results/observed/case-";

std::string observed_error(const std::string& text) {
  try {
    parse_observed(text, "r.json");
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("--observed: r.json"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return error.what();
  }
  return "accepted";
}

TEST(ObservedReader, UnitsAreInTheKeys) {
  const Observed observed = parse_observed(
      R"({"_why": [1], "step_min": 1.5, "data_ms": 500, "memory_mib": [1024, 2048], "memory_cap_gb": 8, "cards": 2})",
      "r.json");
  EXPECT_DOUBLE_EQ(*observed.step_s, 90);
  EXPECT_DOUBLE_EQ(*observed.data_s, 0.5);
  EXPECT_EQ(observed.memory, (std::vector<double>{0x1p30, 0x1p31}));
  EXPECT_DOUBLE_EQ(*observed.memory_cap, 8e9);
}

TEST(ObservedReader, RefusesWhatCannotBe) {
  for (const char* const text : {
           R"({"step_ms": -5})",
           R"({"data_ms": -1})",
           R"({"step_ms": "30"})",
           R"({"step": 30})",
           R"({"memory": "30"})",
           R"({"step_ms": 1, "step_s": 1})",
           R"({"utilisation_percent": 140})",
           R"({"utilisation_percent": 0.99})",
           R"({"utilisation_percent": [99, 98], "cards": 3})",
           R"({"memory_gib": [1, 2], "cards": 4})",
           R"({"memory_gib": 33, "memory_cap_gib": 32})",
           R"({"memory_cap_gib": 0})",
           R"({"iterations": 0})",
           R"({"step_s": 1, "data_s": 2})",
           R"({"step_s": 1, "proposed": {"data_s": 2}})",
           R"({"earlier_run": {"step_s": 1, "data_s": 2}})",
           R"({"memory_at_batch": [{"batch": 8, "gib": 33}], "memory_cap_gib": 32})",
           R"({"workers_tried": [{"workers": 1}, {"workers": 1}]})",
           R"({"workers_tried": [{"workers": 8, "slower_than_workers": 8}]})",
           R"({"died_at": {"batch": 1, "memory_cap_gib": 0}})",
           R"({"iterations": 1000, "iterations_an_epoch": 100, "epochs": 5})",
           R"({"scaling_efficiency_percent": 0.95})",
           R"({"step_s": 1e300})",
           R"({"memory_gib": "16GB"})",
           R"({"num_workers": 1})",
           R"({"batch_size": 1})",
           R"({"step_time": 1})",
           R"({"stepms": 1})",
           R"({"wait_ms": 1})",
           R"({"wait_s": 1})",
           R"({"load_time": 1})",
           R"({"loader_workers": 1})",
           R"({"cores": 1})",
           R"({"cpu_cores": 1})",
           R"({"proposed": {"wait_ms": 1}})",
           R"({"host_memory_used_gb": 33, "host_memory_gb": 32})",
           R"({"iterations_done": 5, "iterations": 4})",
           R"({"iterations_to_go": 5, "iterations": 4})",
           R"({"batch": 1.5})",
           R"({"batch": 1, "batch": 2})",
           R"({"step_is": "step"})",
           R"({"proposed": {"step": 1}})",
           R"({"memory_at_batch": [{"batch": 8}]})",
           R"({"memory_at_batch": 8})",
           R"([])",
           R"(step: 1)",
           R"()",
       }) {
    expect_words(observed_error(text));
  }
}

TEST(ObservedReader, TakesAFileOrStandardInputAndNothingElse) {
  const testing::TemporaryFolder folder;
  std::istringstream in(R"({"batch": 3})");
  EXPECT_EQ(read_observed("-", in).settings.batch, 3);
  EXPECT_THROW(read_observed(folder.path().string(), in), UsageError);
  EXPECT_THROW(read_observed((folder.path() / "none.json").string(), in), UsageError);
  std::istringstream large(std::string(kMostObservedBytes + 1, ' '));
  try {
    read_observed("-", large);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

TEST(ObservedReader, TheCasesFollowTheSchema) {
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) {
    const std::string text = testing::read_file(kCases + letter + ".json");
    EXPECT_EQ(testing::schema_errors(text, BENCH_TEST_SOURCE_DIR "/results/observed-schema.json"), "")
        << letter;
  }
}

// Read and answered, or refused in one sentence.
void answer_or_refuse(const std::string& text, int& refused) {
  try {
    const Advice advice = advice_from_readings(parse_observed(text, "r.json"), std::nullopt);
    const std::string json = advice_json(advice).dump(-1, ' ', false, Json::error_handler_t::replace);
    EXPECT_EQ(json.find("null,null"), std::string::npos) << text;
    EXPECT_FALSE(page_text(advice_page(advice), 100).empty());
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    ++refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
  }
}

TEST(ObservedFuzz, EveryMutantIsAnsweredOrRefused) {
  std::mt19937_64 random(20261125);
  int refused = 0;
  constexpr int kMutants = 400;
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) {
    const std::string sound = testing::read_file(kCases + letter + ".json");
    for (int i = 0; i < kMutants; ++i) {
      answer_or_refuse(testing::mutate(sound, random), refused);
    }
    testing::for_each_odd_document(Json::parse(sound), [&](const Json& json) {
      answer_or_refuse(json.dump(-1, ' ', false, Json::error_handler_t::replace), refused);
    });
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace bench
