// The manual page has every option and value that the program completes, and `man` has nothing to say about
// it.
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

// Words of letters, digits, dashes and dots.
std::set<std::string> words_on(const std::string& page) {
  std::set<std::string> words;
  std::string word;
  for (std::size_t i = 0; i < page.size(); ++i) {
    if (page[i] == '\\' && i + 1 < page.size() && page[i + 1] == '-') {
      word += page[++i];
    } else if (page[i] == '\\' && i + 2 < page.size() && page[i + 1] == 'f') {
      i += 2;
    } else if (std::isalnum(static_cast<unsigned char>(page[i])) != 0 || page[i] == '_' || page[i] == '.' ||
               page[i] == ':') {
      word += page[i];
    } else {
      words.insert(std::exchange(word, {}));
    }
    if (word.size() > 1 && (word.back() == '.' || word.back() == ':')) {
      words.insert(word.substr(0, word.size() - 1));  // at the end of a sentence
    }
  }
  return words;
}

std::vector<std::string> completing(const Arguments& words) {
  std::istringstream in(run_bench(Arguments{"--complete"} + words).out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(ManPage, HasEveryOptionAndValueThatCompletes) {
  const Ended page = run_bench({"--man"});
  ASSERT_EQ(page.code, 0) << page.err;
  const std::set<std::string> words = words_on(page.out);
  std::vector<Arguments> starts{{}};
  for (const std::string& first : completing({""})) {
    if (!first.starts_with("-") && first != "help") {
      starts.push_back({first});
      EXPECT_TRUE(words.contains(first)) << first;
    }
  }
  ASSERT_GT(starts.size(), 5U);
  std::size_t values = 0;
  for (const Arguments& start : starts) {
    const std::vector<std::string> options = completing(start + Arguments{"--"});
    EXPECT_GT(options.size(), 3U);
    for (std::string option : options) {
      std::erase(option, '=');  // whose value follows at once
      EXPECT_TRUE(words.contains(option)) << option;
      for (const std::string& value : completing(start + Arguments{option, ""})) {
        EXPECT_TRUE(words.contains(value)) << option << " " << value;
        ++values;
      }
    }
  }
  EXPECT_GT(values, 100U);
}

TEST(ManPage, ManFormatsItWithoutAWarning) {
  if (Process({"-c", "command -v man"}, std::nullopt, "/bin/sh").wait().code != 0) {
    GTEST_SKIP() << "man is not installed";
  }
  const TemporaryFolder folder;
  const auto file = folder.path() / "bench.1";
  std::ofstream(file) << run_bench({"--man"}).out;
  for (const std::string locale : {"C", "C.UTF-8"}) {
    const Ended man = Process({"-c", "LC_ALL=" + locale + " MANWIDTH=80 man --warnings -l " + file.string()},
                              std::nullopt, "/bin/sh")
                          .wait();
    EXPECT_EQ(man.code, 0);
    EXPECT_EQ(man.err, "") << locale;
    EXPECT_THAT(man.out, ::testing::HasSubstr("bench predict"));
  }
}

}  // namespace
}  // namespace bench::testing
