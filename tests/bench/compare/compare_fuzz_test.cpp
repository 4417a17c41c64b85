// Whatever a result file says, comparing it ends in a judgement or in one sentence, and every format holds.
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "bench/compare/formats.h"
#include "bench/compare/judgement.h"
#include "bench/error.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

void compare_and_write(const ComparedRun& base, const ComparedRun& next) {
  const Judgement judgement = judge(match_runs({base}, {next}, {.device = true}), {});
  EXPECT_TRUE(Json::accept(as_json(judgement)));
  EXPECT_FALSE(as_table(judgement, 100, true).empty());
  EXPECT_FALSE(as_markdown(judgement, true).empty());
  EXPECT_FALSE(as_junit(judgement).empty());
  EXPECT_FALSE(as_github(judgement, true).empty());
}

void expect_schema(const ComparedRun& base, const ComparedRun& next) {
  const std::string json = as_json(judge(match_runs({base}, {next}, {.device = true}), {}));
  EXPECT_EQ(testing::schema_errors(json, testing::kCompareSchema), "") << json;
}

ComparedRun sound_run() {
  ResultDocument document = testing::sample_document();
  document.context.run_id = "sound";
  return compared_run(document, "sound.json");
}

TEST(CompareFuzz, AnyValueMayBeAnyOther) {
  const ComparedRun sound = sound_run();
  int compared = 0;
  testing::for_each_odd_document(to_json(testing::sample_document()), [&](const Json& json) {
    try {
      const ComparedRun odd = compared_run(document_from_json(json), "odd.json");
      compare_and_write(sound, odd);
      compare_and_write(odd, sound);
      if (++compared % 4 == 0) {  // checking takes longer than all else
        expect_schema(sound, odd);
      }
    } catch (const UsageError&) {
    } catch (const NotComparable& error) {
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << json;
    }
  });
  EXPECT_GT(compared, 300);
}

TEST(CompareFuzz, EveryMutantIsComparedOrRefusedInOneSentence) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "mutant.json";
  const std::string sound = to_json(testing::sample_document()).dump();
  const ComparedRun base = sound_run();
  std::mt19937_64 random(20261124);
  constexpr int kMutants = 1000;
  for (int i = 0; i < kMutants; ++i) {
    const std::string text = testing::mutate(sound, random);
    testing::write_file(path, text);
    try {
      compare_and_write(base, read_runs({path}).front());
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("mutant.json"));
    } catch (const NotComparable& error) {
      EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace bench
