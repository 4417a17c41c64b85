#include "tests/bench/support/golden_words.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::testing {
namespace {

// What the tests below run again, with words in another folder.
class SaidWords : public ::testing::TestWithParam<int> {};

TEST_P(SaidWords, AreWhole) {
  expect_words("The first \\ sentence.\nIts \t second line ");
  expect_words("[in brackets]");
  expect_words("");
  expect_words(std::vector<std::string>{"several", "texts"});
  if (GetParam() == 2) {
    expect_words("a fifth text");
  }
}

TEST_P(SaidWords, MayBeNone) {}

INSTANTIATE_TEST_SUITE_P(All, SaidWords, ::testing::Values(1, 2));

const std::string kFour =
    "The first \\\\ sentence.\\nIts \\x09 second line\\x20\n"
    "\\x5bin brackets]\n"
    "\\\n"
    "several | texts\n";
const std::string kWhole = "[AreWhole/0]\n" + kFour + "\n[AreWhole/1]\n" + kFour + "a fifth text\n";

struct Ended {
  int code = -1;
  std::string out;
};

class GoldenWords : public ::testing::Test {
 protected:
  Ended run(const std::string& tests, const std::string& variables = "") const {
    const std::string command =
        "env -u BENCH_UPDATE_GOLDEN -u GTEST_OUTPUT BENCH_GOLDEN_WORDS=" + folder_.path().string() + " " +
        variables + " '" + std::filesystem::read_symlink("/proc/self/exe").string() + "' --gtest_filter='" +
        tests + "' 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) {
      throw std::runtime_error("popen failed");
    }
    Ended ended;
    std::array<char, 4096> piece{};
    for (std::size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
      ended.out.append(piece.data(), got);
    }
    const int status = ::pclose(pipe);
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ended;
  }
  // Whether the tests fail with these words in the file, and say so.
  bool fails_with(const std::string& words, const std::string& why) const {
    write_file(file(), words);
    const Ended failed = run("All/SaidWords.*");
    EXPECT_NE(failed.out.find(why), std::string::npos) << failed.out;
    EXPECT_NE(failed.out.find("make golden"), std::string::npos) << failed.out;
    EXPECT_EQ(read_file(file()), words) << "only `make golden` writes";
    return failed.code == 1;
  }
  std::filesystem::path file() const { return folder_.path() / "All-SaidWords.txt"; }

  TemporaryFolder folder_;
};

std::string with(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.rfind(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST_F(GoldenWords, AreComparedWhole) {
  write_file(file(), kWhole);
  const Ended held = run("All/SaidWords.*");
  EXPECT_EQ(held.code, 0) << held.out;
  EXPECT_TRUE(fails_with(with(kWhole, "texts", "text"), "several | texts"));
  EXPECT_TRUE(fails_with(with(kWhole, "a fifth text\n", ""), "no further line"));
  EXPECT_TRUE(fails_with(kWhole + "a sixth text\n", "no longer makes: a sixth text"));
  EXPECT_TRUE(fails_with(kWhole + "\n[MayBeNone/0]\na word\n", "no longer makes: a word"));
  EXPECT_TRUE(fails_with(kWhole + "\n[WasRenamed]\na word\n", "not there: [WasRenamed]"));
  EXPECT_TRUE(fails_with(with(kWhole, "[AreWhole/1]", "[MayBeNone/1]"), "no section"));
}

TEST_F(GoldenWords, AreComparedWhereOneTestRuns) {
  write_file(file(), with(kWhole, "a fifth text", "another"));
  EXPECT_EQ(run("All/SaidWords.AreWhole/0").code, 0);
  EXPECT_EQ(run("All/SaidWords.AreWhole/1").code, 1);
}

TEST_F(GoldenWords, NeedAFile) {
  const Ended failed = run("All/SaidWords.*");
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.out.find("make golden"), std::string::npos) << failed.out;
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(GoldenWords, AreWritten) {
  const std::string update = "BENCH_UPDATE_GOLDEN=1";
  EXPECT_EQ(run("All/SaidWords.*", update).code, 0);
  EXPECT_EQ(read_file(file()), kWhole);
  EXPECT_EQ(folder_.names().size(), 1U);
  // Only those of tests that run; what is of no test goes.
  const std::string other = with(kWhole, "The first", "Another");
  write_file(file(), with(other, "several", "many") + "\n[WasRenamed]\na word\n");
  EXPECT_EQ(run("All/SaidWords.AreWhole/0", update).code, 0);
  EXPECT_EQ(read_file(file()), with(other, "several", "many"));
  EXPECT_EQ(run("All/SaidWords.AreWhole/1", update).code, 0);
  EXPECT_EQ(read_file(file()), kWhole);
}

TEST(GoldenWordsFiles, AreOfSuitesThatAreThere) {
  namespace fs = std::filesystem;
  std::string tests;
  for (const auto& entry : fs::recursive_directory_iterator(BENCH_TEST_SOURCE_DIR "/tests")) {
    if (entry.path().string().ends_with("_test.cpp")) {
      tests += read_file(entry.path());
    }
  }
  for (const std::string& name : TemporaryFolder::names_in(BENCH_TEST_SOURCE_DIR "/tests/golden/words")) {
    const std::string suite = fs::path(name.substr(name.find('-') + 1)).stem();
    EXPECT_NE(tests.find("(" + suite + ", "), std::string::npos) << "no test is of " << name << ": delete it";
  }
}

TEST(MessageOf, IsWhatIsThrown) {
  EXPECT_EQ(message_of<UsageError>([] { throw UsageError("wrong"); }), "wrong");
  EXPECT_EQ(message_of<std::exception>([] { throw UsageError("wrong"); }), "wrong");
  EXPECT_THROW(message_of<UsageError>([] { throw std::runtime_error("other"); }), std::runtime_error);
}

}  // namespace
}  // namespace bench::testing
