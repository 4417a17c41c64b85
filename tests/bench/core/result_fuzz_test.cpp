// A result file may have been cut, edited or garbled: reading one ends in a document or in a UsageError,
// never in a crash or in another exception, and what is read must survive being written.
#include <random>
#include <string>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

constexpr int kMutants = 3000;

std::string mutate(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kBytes = "{}[]\",:-0123456789eE.ntf \\\xff";
  const auto below = [&random](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t change = 0; change <= below(4); ++change) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = kBytes[below(kBytes.size())];
        break;
      case 1:
        text.erase(at, 1 + below(40));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), 1 + below(40)));
        break;
      default:
        text.resize(at + 1);
    }
  }
  return text;
}

TEST(ResultFuzz, EveryMutantIsReadOrRefusedInOneSentence) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "mutant.json";
  const std::string sound = to_json(testing::sample_document()).dump();
  std::mt19937_64 random(20261121);
  int refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    const std::string mutant = mutate(sound, random);
    testing::write_file(path, mutant);
    try {
      const ResultDocument document = read_result(path);
      EXPECT_NO_THROW(to_json(document)) << mutant;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("mutant.json"));
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << mutant;
    }
  }
  EXPECT_GT(refused, kMutants / 2) << "most mutants should be broken";
}

}  // namespace
}  // namespace bench
