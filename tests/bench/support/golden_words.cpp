#include "tests/bench/support/golden_words.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

namespace bench {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;
using Sections = std::map<std::string, Lines>;  // by test

std::optional<std::string> variable(const char* name) {
  const char* const value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets the environment
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool is_written() {
  return variable("BENCH_UPDATE_GOLDEN").has_value();
}

fs::path folder_of_words() {
  return variable("BENCH_GOLDEN_WORDS").value_or(BENCH_TEST_SOURCE_DIR "/tests/golden/words");
}

fs::path file_of(std::string suite) {
  std::replace(suite.begin(), suite.end(), '/', '-');
  return folder_of_words() / (suite + ".txt");
}

// One line, which is neither empty nor a section's name, and ends in no space.
std::string escaped(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\') {
      line += "\\\\";
    } else if (c == '\n') {
      line += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7f' || (c == '[' && line.empty())) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  if (line.empty()) {
    return "\\";
  }
  if (line.back() == ' ') {
    line.replace(line.size() - 1, 1, "\\x20");
  }
  return line;
}

Sections sections_in(const fs::path& file) {
  Sections sections;
  Lines* section = nullptr;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with('[') && line.ends_with(']')) {
      section = &sections[line.substr(1, line.size() - 2)];
    } else if (section != nullptr && !line.empty()) {
      section->push_back(line);
    }
  }
  return sections;
}

void write_sections(const fs::path& file, const Sections& sections) {
  if (sections.empty()) {
    fs::remove(file);
    return;
  }
  const fs::path other = file.string() + ".new";
  std::ofstream stream(other);
  for (const auto& [test, lines] : sections) {
    stream << (test == sections.begin()->first ? "" : "\n") << '[' << test << "]\n";
    for (const std::string& line : lines) {
      stream << line << '\n';
    }
  }
  stream.close();
  if (!stream) {
    ADD_FAILURE() << other << " cannot be written";
    return;
  }
  fs::rename(other, file);
}

// Held by one process at a time; CTest runs tests of one suite in several.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder) {
    fs::create_directories(folder);
    file_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(::flock(file_, LOCK_EX), 0) << folder;
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() { ::close(file_); }

 private:
  int file_ = -1;
};

class GoldenWords : public ::testing::EmptyTestEventListener {
 public:
  void expect(const std::string& text, const std::source_location& from) {
    if (std::this_thread::get_id() != thread_) {  // words of several have no order
      ADD_FAILURE_AT(from.file_name(), static_cast<int>(from.line())) << "another thread than the test's";
      return;
    }
    said_.push_back(escaped(text));
    if (is_written()) {
      return;
    }
    const ::testing::TestInfo& test = *::testing::UnitTest::GetInstance()->current_test_info();
    const auto section = golden_.find(test.name());
    const std::size_t at = said_.size() - 1;
    const std::string golden = section == golden_.end()      ? "(no section)"
                               : at < section->second.size() ? section->second[at]
                                                             : "(no further line)";
    if (said_.back() != golden) {
      ADD_FAILURE_AT(from.file_name(), static_cast<int>(from.line()))
          << "the words have changed; `make golden` writes them again: read the diff\n  now:    "
          << said_.back() << "\n  golden: " << golden << "\n  " << file_.string() << ", [" << test.name()
          << "], line " << at + 1;
    }
  }

 private:
  void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
    file_ = file_of(suite.name());
    golden_ = sections_in(file_);
    written_.clear();
  }

  void OnTestStart(const ::testing::TestInfo&) override {
    said_.clear();
    thread_ = std::this_thread::get_id();
  }

  // A test that fails or is skipped may not have said all.
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!test.result()->Passed()) {
      return;
    }
    if (is_written()) {
      written_[test.name()] = said_;
      return;
    }
    const auto section = golden_.find(test.name());
    if (section != golden_.end() && section->second.size() > said_.size()) {
      ADD_FAILURE() << file_ << " has words that the test no longer makes: " << section->second[said_.size()]
                    << "\n`make golden` leaves them out";
    }
  }

  void OnTestSuiteEnd(const ::testing::TestSuite& suite) override {
    std::set<std::string> tests;
    for (int i = 0; i < suite.total_test_count(); ++i) {
      tests.insert(suite.GetTestInfo(i)->name());
    }
    const auto has_no_test = [&](const auto& section) { return !tests.contains(section.first); };
    if (!is_written()) {
      const auto left = std::find_if(golden_.begin(), golden_.end(), has_no_test);
      if (left != golden_.end()) {
        ADD_FAILURE() << file_ << " has words of a test that is not there: [" << left->first
                      << "]\n`make golden` leaves them out";
      }
      return;
    }
    const FolderLock lock(file_.parent_path());
    Sections sections = sections_in(file_);
    for (const auto& [test, lines] : written_) {
      sections[test] = lines;
    }
    std::erase_if(sections,
                  [&](const auto& section) { return section.second.empty() || has_no_test(section); });
    write_sections(file_, sections);
  }

  fs::path file_;
  Sections golden_;   // of the running suite
  Sections written_;  // of its tests that passed
  Lines said_;        // by the running test
  std::thread::id thread_;
};

GoldenWords& golden_words() {
  static GoldenWords* const words = [] {
    auto* const made = new GoldenWords;  // GoogleTest deletes it
    ::testing::UnitTest::GetInstance()->listeners().Append(made);
    return made;
  }();
  return *words;
}

// From the start: a test that no longer says anything is to be found too.
[[maybe_unused]] const GoldenWords& listening = golden_words();

}  // namespace

void expect_words(const std::string& text, const std::source_location& from) {
  golden_words().expect(text, from);
}

void expect_words(const std::vector<std::string>& texts, const std::source_location& from) {
  golden_words().expect(fmt::format("{}", fmt::join(texts, " | ")), from);
}

}  // namespace bench
