#include "bench/cli/progress.h"
#include "bench/text/lines.h"

#include <sstream>

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;

TEST(Progress, ABarOnATerminal) {
  std::ostringstream out;
  Progress progress(out, true, 80);
  progress.update({0.5, "batch:8", 30s, 29600ms});
  EXPECT_EQ(out.str(), "\r[############............]  50 %  0:30 left  batch:8\x1b[K");
}

TEST(Progress, SaysHowFarTheRunExceedsItsBudget) {
  std::ostringstream out;
  Progress progress(out, false, 80);
  progress.update({1.2, "batch:8", 72s, -12s});
  EXPECT_EQ(out.str(), "100 %  0:12 over the budget  batch:8\n");
}

TEST(Progress, TheBarStaysInOneLine) {
  std::ostringstream out;
  Progress progress(out, true, 40);
  progress.update({0.5, "a very long name of a point that does not fit", 1s, 1s});
  const std::string line = out.str();
  EXPECT_EQ(columns(line), 39U + std::string("\r\x1b[K").size());
  expect_words(line);
}

TEST(Progress, FinishClearsTheTerminalsLineOnce) {
  std::ostringstream out;
  {
    Progress progress(out, true, 80);
    progress.update({1, "done", 1s, 0s});
    progress.finish();
    EXPECT_THAT(out.str(), EndsWith("\r\x1b[K"));
    out.str("");
  }
  EXPECT_EQ(out.str(), "");
}

TEST(Progress, NothingToFinishWritesNothing) {
  std::ostringstream out;
  { const Progress progress(out, true, 80); }
  { const Progress progress(out, false, 80); }
  EXPECT_EQ(out.str(), "");
}

TEST(Progress, PlainLinesInALogAtMostEveryFewSeconds) {
  std::ostringstream out;
  Progress progress(out, false, 20);
  progress.update({0.0, "first", 0s, 60s});
  progress.update({0.1, "held back", 2s, 58s});
  progress.update({0.2, "second, longer than the width", 5s, 55s});
  progress.update({0.9, "last", 6s, 1s});
  EXPECT_EQ(out.str(), "  0 %  1:00 left  first\n 20 %  0:55 left  second, longer than the width\n");
  progress.finish();
  EXPECT_THAT(out.str(), EndsWith("\n 90 %  0:01 left  last\n"));
  EXPECT_EQ(out.str().find('\r'), std::string::npos);
}

TEST(Progress, FractionsOutOfRangeAreKeptIn) {
  std::ostringstream out;
  Progress progress(out, false, 80);
  progress.update({1.7, "a", 0s, 0s});
  progress.update({-1, "b", 10s, 0s});
  EXPECT_EQ(out.str(), "100 %  0:00 left  a\n  0 %  0:00 left  b\n");
}

}  // namespace
}  // namespace bench
