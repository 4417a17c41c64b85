// What the program prints on terminals of 60 to 200 columns.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bench/text/lines.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Screen {
  int code = -1;
  std::string text;  // of both streams, as the terminal gets it
};

Screen run_on_terminal(unsigned short columns, const std::string& term, Arguments arguments) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  arguments.insert(arguments.begin(), "bench");
  std::vector<char*> words;
  std::ranges::transform(arguments, std::back_inserter(words), [](std::string& word) { return word.data(); });
  words.push_back(nullptr);
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    ::unsetenv("COLUMNS");
    ::setenv("TERM", term.c_str(), 1);
    ::execv(BENCH_PROGRAM, words.data());
    ::_exit(127);
  }
  Screen screen;
  std::string chunk(4096, '\0');
  for (ssize_t got = 0; (got = ::read(terminal, chunk.data(), chunk.size())) > 0;) {
    screen.text.append(chunk, 0, static_cast<std::size_t>(got));
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  ::close(terminal);
  screen.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return screen;
}

std::vector<std::string> screen_lines(std::string text) {
  std::erase(text, '\r');
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

TEST(Terminal, HelpListsTablesAndRefusalsFitItsWidth) {
  const Surroundings here(100);  // the stored documents' folder; the terminal's width is its own
  const std::vector<Arguments> pages{
      {"--help"},
      {"--help", "--verbose"},
      {"--list"},
      {"--list", "--gpus"},
      {"advise", "--help"},
      {"--sweep", "transfer", "--help"},
      {"--workload", "resnet50", "--help"},
      {"inspect", "resnet18"},
      {"predict", "--gpu", "t4,rtx3060-12gb", "--workload", "resnet18", "--mode", "train"},
      {"--sweep", "batch", "--workload", "conv2d", "--batch", "1,2", "--device", "cpu", "--dry-run"},
      {"compare", "batch.json", "batch-again.json", "--allow-inconclusive"},
      {"evaluate", "--no-plot", "--out", here.out(), "batch.json", "workers.json", "--verbose"},
      {"advise", "batch-train.json", "memory.json"},
      {"advise", "cards.json"},
      {"predict", "--from", "batch-train.json", "--cards", "2,4", "--link", "eth-10g"},
      {"--sweep", "bath"},
      {"predict", "--gpu", "t4", "--workload", "conv2d"}};
  for (const std::size_t columns_there : {60U, 80U, 100U, 200U}) {
    for (const Arguments& page : pages) {
      const Screen screen = run_on_terminal(static_cast<unsigned short>(columns_there), "xterm", page);
      EXPECT_THAT(screen.code, ::testing::AnyOf(0, 2)) << screen.text;
      for (const std::string& line : screen_lines(screen.text)) {
        if (!line.starts_with("  /") && line.find(here.out()) == std::string::npos) {  // paths are not broken
          EXPECT_LE(columns(line), columns_there) << ::testing::PrintToString(page) << "\n" << line;
        }
      }
    }
  }
}

TEST(Terminal, GetsControlCharactersOnlyWhereItUnderstandsThem) {
  const TemporaryFolder folder;
  const Screen usual = run_on_terminal(80, "xterm", small_run(folder.path()));
  EXPECT_EQ(usual.code, 0) << usual.text;
  EXPECT_THAT(usual.text, HasSubstr("\x1b[K"));
  EXPECT_THAT(usual.text, Not(HasSubstr("\x1b[3")));  // no colours, whatever NO_COLOR says
  const Screen dumb = run_on_terminal(80, "dumb", small_run(folder.path()));
  EXPECT_EQ(dumb.code, 0) << dumb.text;
  EXPECT_THAT(dumb.text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace bench::testing
