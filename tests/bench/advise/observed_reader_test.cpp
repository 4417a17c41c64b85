// Readings as a person writes them: units, comments, and what cannot be.
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/advise/advice_formats.h"
#include "bench/advise/observed_advice.h"
#include "bench/error.h"
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
  for (const auto& [text, message] : {
           std::pair{R"({"step_ms": -5})", "step_ms is -5; accepted: a time above 0"},
           {R"({"data_ms": -1})", "data_ms is -1; accepted: a time of 0 or more"},
           {R"({"step_ms": "30"})", "step_ms is \"30\""},
           {R"({"step": 30})", "step has no unit; accepted: step_ms, step_s, step_min, step_h"},
           {R"({"memory": "30"})",
            "memory has no unit; accepted: memory_gib, memory_mib, memory_gb, memory_mb"},
           {R"({"step_ms": 1, "step_s": 1})", "step_ms and step_s are both given"},
           {R"({"utilisation_percent": 140})", "utilisation_percent is 140; accepted: 0 to 100 percent"},
           {R"({"utilisation_percent": 0.99})", "is 99 % meant?"},
           {R"({"utilisation_percent": [99, 98], "cards": 3})", "lists 2 cards, but cards is 3"},
           {R"({"memory_gib": [1, 2], "cards": 4})", "memory lists 2 cards, but cards is 4"},
           {R"({"memory_gib": 33, "memory_cap_gib": 32})", "more than the card's 32.00 GiB"},
           {R"({"memory_cap_gib": 0})", "memory_cap_gib is 0; accepted: a size above 0"},
           {R"({"iterations": 0})", "iterations is 0; accepted: a whole number from 1"},
           {R"({"step_s": 1, "data_s": 2})", "the data time, 2 s, is longer than the step, 1 s"},
           {R"({"step_s": 1, "proposed": {"data_s": 2}})", "the data time of proposed, 2 s, is longer"},
           {R"({"earlier_run": {"step_s": 1, "data_s": 2}})", "the data time of earlier_run, 2 s, is longer"},
           {R"({"memory_at_batch": [{"batch": 8, "gib": 33}], "memory_cap_gib": 32})",
            "memory_at_batch of batch 8 is 33.00 GiB, more than the card's 32.00 GiB"},
           {R"({"workers_tried": [{"workers": 1}, {"workers": 1}]})", "has 1 workers twice"},
           {R"({"workers_tried": [{"workers": 8, "slower_than_workers": 8}]})",
            "8 workers cannot be slower than 8"},
           {R"({"died_at": {"batch": 1, "memory_cap_gib": 0}})", "a size above 0"},
           {R"({"iterations": 1000, "iterations_an_epoch": 100, "epochs": 5})",
            "iterations is 1000, but 5 epochs of 100 are 500"},
           {R"({"scaling_efficiency_percent": 0.95})", "is 95 % meant? Give percent, 1 to 120"},
           {R"({"step_s": 1e300})", "accepted: a time above 0, up to 1e10 s"},
           {R"({"memory_gib": "16GB"})", "accepted: a number, a"},
           {R"({"num_workers": 1})", "did you mean workers?"},
           {R"({"batch_size": 1})", "did you mean batch?"},
           {R"({"step_time": 1})", "'step_time' is not known (did you mean step_ms?)"},
           {R"({"stepms": 1})", "'stepms' is not known (did you mean step_ms?)"},
           {R"({"host_memory_used_gb": 33, "host_memory_gb": 32})", "more than the"},
           {R"({"iterations_done": 5, "iterations": 4})", "iterations_done is 5, more than all 4"},
           {R"({"iterations_to_go": 5, "iterations": 4})", "iterations_to_go is 5"},
           {R"({"batch": 1.5})", "batch is 1.5"},
           {R"({"batch": 1, "batch": 2})", "has the key 'batch' twice"},
           {R"({"step_is": "step"})", "accepted: optimizer_step, accumulation"},
           {R"({"proposed": {"step": 1}})", "proposed.step has no unit"},
           {R"({"memory_at_batch": [{"batch": 8}]})", "memory_at_batch: gib, mib, gb or mb is missing"},
           {R"({"memory_at_batch": 8})", "a list of objects"},
           {R"([])", "the whole is []; accepted: an object"},
           {R"(step: 1)", "is not JSON"},
           {R"()", "is truncated"},
       }) {
    EXPECT_THAT(observed_error(text), HasSubstr(message)) << text;
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
    EXPECT_THAT(error.what(), HasSubstr("larger than 1 MiB"));
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
