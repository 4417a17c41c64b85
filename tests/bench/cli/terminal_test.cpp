#include "bench/cli/terminal.h"
#include "bench/text/lines.h"

#include <pty.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

namespace bench {
namespace {

class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    EXPECT_EQ(::openpty(&outer_, &inner_, nullptr, nullptr, &size), 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(inner_);
    ::close(outer_);
  }
  int stream() const { return inner_; }

 private:
  int outer_ = -1;
  int inner_ = -1;
};

class Environment : public ::testing::Test {
 protected:
  void SetUp() override { ::unsetenv("COLUMNS"); }
  void TearDown() override {
    ::unsetenv("COLUMNS");
    ::unsetenv("TERM");
  }
};

using TerminalWidth = Environment;
using TerminalLines = Environment;

TEST_F(TerminalWidth, IsThatOfTheStream) {
  const Terminal narrow(60);
  const Terminal wide(132);
  ::setenv("COLUMNS", "70", 1);
  EXPECT_EQ(terminal_width(narrow.stream()), 60U);
  EXPECT_EQ(terminal_width(wide.stream()), 132U);
}

TEST_F(TerminalWidth, IsThatOfColumnsWhereTheStreamHasNone) {
  const Terminal unknown(0);
  EXPECT_EQ(terminal_width(unknown.stream()), kFileWidth);
  EXPECT_EQ(terminal_width(-1), kFileWidth);
  ::setenv("COLUMNS", "70", 1);
  EXPECT_EQ(terminal_width(-1), 70U);
  ::setenv("COLUMNS", "8", 1);
  EXPECT_EQ(terminal_width(-1), 40U);
  ::setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(terminal_width(-1), kFileWidth);
}

TEST_F(TerminalWidth, IsThatOfNoticesAndOfLinesAboutFiles) {
  ::setenv("COLUMNS", "40", 1);
  EXPECT_EQ(notice(-1, "the run of \x1b[31m ended early; go on with it by", "bench --sweep batch --resume"),
            "the run of \\x1b[31m ended early; go on\n  with it by\n  bench --sweep batch --resume\n");
  EXPECT_EQ(notice(-1, "a  table's   line"), "a  table's   line\n");
  EXPECT_EQ(file_line(-1, "result", "a/b.json", "(new)"), "result   a/b.json (new)\n");
  EXPECT_EQ(file_line(-1, "result", std::string(30, 'a'), "(the older one)"),
            "result   " + std::string(30, 'a') + "\n  (the older one)\n");
}

TEST_F(TerminalLines, CanBeDrawnAgainUnlessItIsDumb) {
  const Terminal terminal(80);
  ::setenv("TERM", "xterm", 1);
  EXPECT_TRUE(can_redraw(terminal.stream()));
  EXPECT_FALSE(can_redraw(-1));
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(can_redraw(terminal.stream()));
  ::unsetenv("TERM");
  EXPECT_FALSE(can_redraw(terminal.stream()));
}

}  // namespace
}  // namespace bench
