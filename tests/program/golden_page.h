// Pages of tests/golden/pages, and where the commands that print them run.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "bench/run/result_file.h"
#include "bench/text/lines.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::testing {

inline const std::filesystem::path kGolden = BENCH_TEST_SOURCE_DIR "/tests/golden";

// Whether the pages are to be written, and not compared: `make golden`.
inline bool pages_are_written() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
  return std::getenv("BENCH_UPDATE_GOLDEN") != nullptr;
}

// The words alone, but for the optimizer that stands first by its figures: figures of another length break
// lines elsewhere.
inline std::string without_figures(const std::string& text) {
  const std::string digits = std::regex_replace(text, std::regex("[0-9.]+"), "#");
  return std::regex_replace(std::regex_replace(digits, std::regex("\\s+"), " "),
                            std::regex("to # \\(fp# training with \\w+"), "to # (fp# training with #");
}

// `other_figures`: those of a plan that this machine's libraries make otherwise.
inline void expect_page(const std::string& file, const std::string& text, bool other_figures = false) {
  const std::filesystem::path path = kGolden / "pages" / file;
  if (pages_are_written()) {
    write_file(path, text);
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is not there; `make golden` writes it";
  const std::string expected = read_file(path);
  EXPECT_EQ(other_figures ? without_figures(text) : text,
            other_figures ? without_figures(expected) : expected)
      << "the page has changed; `make golden` writes it anew: read the diff";
}

// No line is longer than the width, but for the path behind what it is the file of, which can be copied.
inline void expect_width(const std::string& text, std::size_t width, const std::string& what) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::size_t kLabel = 9;
    const bool is_file = line.starts_with("result   ") || line.starts_with("picture  ") ||
                         line.starts_with("earlier  ") || line.starts_with("report   ");
    const std::size_t first = is_file ? line.find_first_not_of(' ', kLabel) : std::string::npos;
    const bool is_path = first != std::string::npos && line.find(' ', first) == std::string::npos;
    EXPECT_TRUE(columns(line) <= width || is_path) << what << ", " << width << " columns: " << line;
  }
}

// A variable of the environment that has another value for a while.
class OtherVariable {
 public:
  OtherVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    // NOLINTBEGIN(concurrency-mt-unsafe)
    if (const char* const before = std::getenv(name_.c_str())) {
      before_ = before;
    }
    ::setenv(name_.c_str(), value.c_str(), 1);
    // NOLINTEND(concurrency-mt-unsafe)
  }
  OtherVariable(const OtherVariable&) = delete;
  OtherVariable& operator=(const OtherVariable&) = delete;
  ~OtherVariable() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    before_ ? ::setenv(name_.c_str(), before_->c_str(), 1) : ::unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

// The folder of the documents, a terminal of so many columns, no GPU, and no history of runs.
class Surroundings {
 public:
  explicit Surroundings(int columns)
      : columns_("COLUMNS", std::to_string(columns)),
        cache_("XDG_CACHE_HOME", cache()),
        gpus_("CUDA_VISIBLE_DEVICES", ""),
        before_(std::filesystem::current_path()) {
    std::filesystem::current_path(kGolden / "documents");
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  ~Surroundings() { std::filesystem::current_path(before_); }

  // A folder that is not there yet; pages call it OUT.
  std::string out() const { return (folder_.path() / "out").string(); }
  std::string cache() const { return (folder_.path() / "cache").string(); }

 private:
  TemporaryFolder folder_;
  OtherVariable columns_;
  OtherVariable cache_;
  OtherVariable gpus_;
  std::filesystem::path before_;
};

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace bench::testing
