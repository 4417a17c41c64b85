#include "bench/report/stored_answer.h"

#include <string>

#include <gtest/gtest.h>

#include "bench/advise/advice_formats.h"
#include "bench/error.h"
#include "bench/page/page.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::report {
namespace {

Json document(const std::string& name) {
  return Json::parse(testing::read_file(BENCH_TEST_SOURCE_DIR "/tests/golden/documents/answers/" + name));
}

std::string refusal_of(const Json& json) {
  EXPECT_TRUE(is_stored_answer(json));
  return message_of<UsageError>([&] { stored_answer_of(json, "file.json"); });
}

TEST(StoredAnswer, IsOneOfThreeCommands) {
  for (const char* const file : {"evaluation.json", "comparison.json", "advice.json"}) {
    EXPECT_TRUE(is_stored_answer(document(file))) << file;
    EXPECT_FALSE(stored_answer_of(document(file), file).claim.empty()) << file;
  }
  EXPECT_FALSE(is_stored_answer(document("transfer.json")));
  EXPECT_FALSE(is_stored_answer(document("training.json")));
  EXPECT_FALSE(is_stored_answer(Json::array({"bench-advice/1"})));
}

TEST(StoredAnswer, OfAnotherVersionOrShapeIsRefused) {
  Json evaluation = document("evaluation.json");
  evaluation["devices"][1]["curves"] = 3;
  expect_words(refusal_of(evaluation));
  evaluation["schema"] = "bench-evaluation/2";
  expect_words(refusal_of(evaluation));
  Json comparison = document("comparison.json");
  comparison.erase("headlines");
  expect_words(refusal_of(comparison));
  Json advice = document("advice.json");
  advice["bottleneck"] = "weather";
  expect_words(refusal_of(advice));
}

// What was tried and the settings too.
TEST(StoredAnswer, AnAdviceIsReadAsItWasWritten) {
  const Json advice = document("advice.json");
  EXPECT_EQ(advice_json(advice_of(Field(advice))), advice);
}

TEST(StoredAnswer, ALongTableIsCut) {
  Json comparison = document("comparison.json");
  const Json point = comparison["points"][0];
  for (int i = 0; i < 200; ++i) {
    comparison["points"].push_back(point);
  }
  const std::string page = page_markdown(stored_answer_of(comparison, "file.json").page);
  EXPECT_NE(page.find("The first 100 of "), std::string::npos);
}

}  // namespace
}  // namespace bench::report
