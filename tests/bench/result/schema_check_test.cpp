// The program's own check of JSON by a schema, compared with valijson's.
#include "bench/result/schema_check.h"

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/result/json_text.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

const std::string kResults = BENCH_TEST_SOURCE_DIR "/results/";

std::string refusal_of(const Json& json, std::string_view schema) {
  try {
    check_by_schema(Field(json), schema);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

// Text that is no JSON is not its business, and valijson takes 2^64 - 1 for -1.
void check_as_valijson_does(const std::string& text, const std::string& schema, const std::string& file) {
  if (text.find("18446744073709551615") != std::string::npos) {
    return;
  }
  Json json;
  try {
    json = parse_json(text, "r.json");
  } catch (const UsageError&) {
    return;
  }
  const std::string errors = testing::schema_errors(text, (kResults + file).c_str());
  const std::string refusal = refusal_of(json, schema);
  EXPECT_EQ(refusal.empty(), errors.empty()) << text << "\n" << refusal << "\n" << errors;
}

void check_mutants(const std::string& sound, const std::string& schema, const std::string& file,
                   int every = 1) {
  std::mt19937_64 random(20261130);
  int documents = 0;
  for (int i = 0; i < 100; ++i) {
    check_as_valijson_does(testing::mutate(sound, random), schema, file);
  }
  testing::for_each_odd_document(Json::parse(sound), [&](const Json& json) {
    if (++documents % every != 0) {
      return;
    }
    check_as_valijson_does(json.dump(-1, ' ', false, Json::error_handler_t::replace), schema, file);
  });
}

TEST(SchemaCheck, OfReadingsIsValijsons) {
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) {
    check_mutants(testing::read_file(kResults + "observed/case-" + letter + ".json"), "observed",
                  "observed-schema.json");
  }
}

TEST(SchemaCheck, OfResultsIsValijsons) {
  ResultDocument document = testing::sample_document();
  document.points.resize(1);
  document.points[0].verification->not_checked = "the gradient";
  check_mutants(to_json(document).dump(), "result", "schema.json", 19);  // valijson takes its time
}

TEST(SchemaCheck, OrderAndMembersOfLaterVersionsDoNotMatter) {
  Json json = to_json(testing::sample_document());
  Json turned{{"later", {{"is", "known"}}}};
  for (auto member = json.rbegin(); member != json.rend(); ++member) {
    turned[member.key()] = *member;
  }
  turned["benchmarks"][0]["later"] = 1;
  turned["benchmarks"][0]["rounds"][0]["disturbed"] = {"for a reason of a later version"};
  EXPECT_EQ(refusal_of(turned, "result"), "");
}

// Those that take part in an exchange of files may not tell whose machine it was.
TEST(SchemaCheck, AContextMayBeSilent) {
  Json json = to_json(testing::sample_document());
  for (const char* const key : {"host_name", "executable", "argv", "run_id", "machine", "date"}) {
    json["context"].erase(key);
  }
  EXPECT_EQ(refusal_of(json, "result"), "");
}

TEST(SchemaCheck, SaysWhatIsAccepted) {
  const Json sound = to_json(testing::sample_document());
  for (const auto& [place, value] : {std::pair("/context/date", Json("yesterday")),
                                     {"/context/argv/0", Json::array({1, 2})},
                                     {"/context/argv", Json::object({{"a", 1}})},
                                     {"/benchmarks/0/rounds", Json(std::vector<int>(9))},
                                     {"/benchmarks/0/memory/other", Json(1e19)},
                                     {"/benchmarks/0/verification", Json::object()},
                                     {"/unmeasured/0/reason", Json("")},
                                     {"/findings/0/value", Json("much")}}) {
    Json json = sound;
    json[Json::json_pointer(place)] = value;
    expect_words(refusal_of(json, "result"));
  }
}

}  // namespace
}  // namespace bench
