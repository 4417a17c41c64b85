// What the program refuses, and in which words. Each page of tests/golden/pages/refusals holds commands after
// "$ ", each with its answer below it; a new command is one line there, whose answer `make golden` writes. As
// in a shell, words in '' may hold spaces, and variables of the environment come before the program. OUT is a
// folder with the files that make_files() makes.
#include <sys/stat.h>

#include <filesystem>
#include <iomanip>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/bench/support/temporary_folder.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

// With one piece changed, which is there once or more.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void write_program(const fs::path& path, const std::string& text) {
  write_file(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

// Files that no folder of documents can hold, and documents with one thing wrong.
void make_files(const fs::path& out) {
  fs::create_directories(out / "folder");
  ASSERT_EQ(::mkfifo((out / "pipe").c_str(), 0600), 0);
  write_file(out / "large.json", "{");
  fs::resize_file(out / "large.json", 101'000'000);  // a hole
  write_file(out / "texts" / "text.jpg", "not a picture");
  fs::copy_file("batch.json", out / "own");
  fs::create_hard_link(out / "own", out / "also");
  for (const char* const name : {"a.json", "b.json"}) {
    fs::create_directories(out / "two");
    fs::copy_file("batch-train.json", out / "two" / name);
  }
  const std::string sound = read_file("base-1.json");
  const auto broken = [&](const char* name, const std::string& from, const std::string& to) {
    write_file(out / name, edited(sound, from, to));
  };
  broken("later-version.json", "bench-result/2", "bench-result/7");
  broken("text-for-a-number.json", "\"iterations\":297", "\"iterations\":\"297\"");
  broken("not-a-number.json", "\"items_per_step\":256.0", "\"items_per_step\":NaN");
  broken("missing-field.json", "\"samples_ns\"", "\"samples\"");
  broken("key-twice.json", "\"iterations\":297", "\"iterations\":297,\"iterations\":297");
  broken("name-twice.json", "\"name\":\"batch/gemm/forward/fp32/batch:512\"",
         "\"name\":\"batch/gemm/forward/fp32/batch:256\"");
  write_file(out / "other-device.json",
             edited(read_file("base-2.json"), "\"kind\":\"cpu\",\"name\":\"AMD EPYC\"",
                    "\"kind\":\"cpu\",\"name\":\"Other CPU\""));
  broken("batch-zero.json", "\"params\":{\"batch\":256", "\"params\":{\"batch\":0");
  broken("interval.json", "\"ci95_ns\":[", "\"ci95_ns\":[1e300,-1e300],\"was\":[");
  // Called as `… --out DIR/base-01 --no-plot`.
  const std::string to_folder = "#!/bin/sh\nwhile [ \"$1\" != --out ]; do shift; done\n";
  write_program(out / "answers", to_folder + "cp base-1.json \"$2/batch.json\"\n");
  write_program(out / "fails", "#!/bin/sh\necho 'bench: --sweep: unknown' >&2\nexit 2\n");
  write_program(out / "not-a-program", "#!/nowhere/sh\n");
  write_program(out / "silent", "#!/bin/sh\n");
  write_program(out / "removes", to_folder + "rm -r \"$2\"\n");
  write_program(out / "garbles", to_folder + "echo garbage > \"$2/x.json\"\n");
}

Ended run_command(const std::string& command, const std::string& out) {
  std::istringstream words(command);
  Arguments arguments;  // of /usr/bin/env, for the variables
  bool is_named = false;
  for (std::string word; words >> std::quoted(word, '\'');) {
    const bool is_program = word == "bench" && !is_named;
    is_named = is_named || is_program;
    arguments.push_back(is_program ? BENCH_PROGRAM : replaced(word, "OUT", out));
  }
  return Process(arguments, std::nullopt, "/usr/bin/env").wait();
}

// Names of files, sorted.
std::vector<std::string> pages_of_refusals() {
  return TemporaryFolder::names_in(kGolden / "pages" / "refusals");
}

class PagesOfRefusals : public ::testing::TestWithParam<std::string> {};

// Each command of the page with its answer, in lines of so many columns.
std::string page_of_refusals(const std::string& file, int columns) {
  std::istringstream before(read_file(kGolden / "pages" / file));
  const Surroundings here(columns);
  make_files(here.out());
  const std::vector<std::string> documents = TemporaryFolder::names_in(".");
  const std::string own = read_file(here.out() + "/own");
  std::string page;
  for (std::string line; std::getline(before, line);) {
    if (!line.starts_with("$ ")) {
      continue;
    }
    const Ended ended = run_command(line.substr(2), here.out());
    EXPECT_NE(ended.code, 0) << line << ended.out;
    expect_width(ended.out + ended.err, static_cast<std::size_t>(columns), line);
    page += fmt::format("{}{}\n{}{}{}", page.empty() ? "" : "\n", line, ended.out, ended.err,
                        ended.code == 2 ? "" : fmt::format("--- exit code {}\n", ended.code));
  }
  // Whether a line of progress comes before a quick end depends on the machine's speed.
  page = std::regex_replace(page, std::regex("\n( +[0-9]+ %  [^\n]* left  |listing images: )[^\n]*"), "");
  // How weights are packed depends on the processor.
  page = std::regex_replace(page, std::regex("(alone\\s+takes\\s[^(]*)\\([0-9]+\\s+B\\)"), "$1(BYTES)");
  EXPECT_EQ(TemporaryFolder::names_in("."), documents) << "a command that is refused writes nothing";
  EXPECT_EQ(read_file(here.out() + "/own"), own);
  EXPECT_FALSE(fs::exists(here.out() + "/new.json"));
  return replaced(replaced(page, here.out(), "OUT"), BENCH_PROGRAM, "bench");
}

// Each sentence on a line: where it is broken depends on how long the folder's name is.
TEST_P(PagesOfRefusals, AreAsBefore) {
  const std::string file = "refusals/" + GetParam();
  expect_page(file, page_of_refusals(file, 100'000));
}

// The words of the page, in other lines.
TEST_P(PagesOfRefusals, KeepToTheWidth) {
  const std::string file = "refusals/" + GetParam();
  const auto words = [](const std::string& text) {
    return std::regex_replace(text, std::regex("\\s+"), " ");
  };
  for (const int width : {60, 80, 100}) {
    EXPECT_EQ(words(page_of_refusals(file, width)), words(read_file(kGolden / "pages" / file))) << width;
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, PagesOfRefusals, ::testing::ValuesIn(pages_of_refusals()));

}  // namespace
}  // namespace bench::testing
