// A result file may have been cut, edited or garbled: reading one ends in a document or in a UsageError,
// never in a crash or in another exception, and what is read must survive being written.
#include <algorithm>
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/result/json_text.h"
#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

constexpr int kMutants = 3000;

// Whether it was refused.
bool read_or_refused(const std::filesystem::path& path, const std::string& text) {
  testing::write_file(path, text);
  try {
    const ResultDocument document = read_result(path);
    EXPECT_NO_THROW(to_json(document)) << text;
    return false;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("mutant.json"));
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    return true;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
    return true;
  }
}

TEST(ResultFuzz, EveryMutantIsReadOrRefusedInOneSentence) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "mutant.json";
  const std::string sound = to_json(testing::sample_document()).dump();
  std::mt19937_64 random(20261121);
  int refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    refused += read_or_refused(path, testing::mutate(sound, random)) ? 1 : 0;
  }
  EXPECT_GT(refused, kMutants / 2) << "most mutants should be broken";
}

// Without the file between, which takes most of the time.
TEST(ResultFuzz, AnyValueMayBeAnyOther) {
  int read = 0;
  int refused = 0;
  testing::for_each_odd_document(to_json(testing::sample_document()), [&](const Json& json) {
    try {
      const ResultDocument document = document_from_json(json);
      EXPECT_NO_THROW(to_json(document)) << json;
      ++read;
    } catch (const UsageError&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << json;
    }
  });
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 500) << "much of the context may be anything";
}

TEST(ResultFuzz, BracketsWithoutEndDoNotOverflowTheStack) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "mutant.json";
  constexpr std::size_t kDeep = 1'000'000;
  const auto nested = [](const std::string& open, const std::string& close, std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) {
      text += open;
    }
    text += "0";
    for (std::size_t i = 0; i < depth; ++i) {
      text += close;
    }
    return text;
  };
  Json sound = to_json(testing::sample_document());
  sound["context"]["deep"] = "HERE";
  const std::string whole = sound.dump();
  const std::size_t at = whole.find("\"HERE\"");
  const auto with = [&](const std::string& value) { return std::string(whole).replace(at, 6, value); };
  EXPECT_TRUE(read_or_refused(path, std::string(kDeep, '[')));
  EXPECT_TRUE(read_or_refused(path, with(nested("[", "]", kDeep))));
  EXPECT_TRUE(read_or_refused(path, with(nested("{\"a\":", "}", kDeep))));
  EXPECT_FALSE(read_or_refused(path, with(nested("[", "]", kDeepestJson - 2))));
  EXPECT_FALSE(read_or_refused(path, with("\"" + std::string(kDeep, '[') + "\""))) << "text is not nested";
}

TEST(ResultFuzz, NumbersTooLargeAreRefused) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "mutant.json";
  const std::string sound = to_json(testing::sample_document()).dump();
  for (const std::string key : {"median_ns", "iterations", "weights", "rounds", "batch", "cpu_time"}) {
    const std::size_t at = sound.find("\"" + key + "\":") + key.size() + 3;
    const std::size_t end = sound.find_first_of(",}", at);
    EXPECT_TRUE(read_or_refused(path, std::string(sound).replace(at, end - at, "1e999"))) << key;
    read_or_refused(path, std::string(sound).replace(at, end - at, std::string(400, '9')));
  }
}

}  // namespace
}  // namespace bench
