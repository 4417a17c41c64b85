#include "bench/cli/progress.h"
#include "bench/text/lines.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include <fmt/format.h>

namespace bench {
namespace {

constexpr int kBarWidth = 24;

// "0:07 left", "12:30 left", "0:12 over the budget": a whole run takes minutes.
std::string left_in_words(Progress::Duration left) {
  const auto rounded = std::chrono::round<std::chrono::seconds>(left).count();
  const auto seconds = std::abs(rounded);
  return fmt::format("{}:{:02} {}", seconds / 60, seconds % 60, rounded < 0 ? "over the budget" : "left");
}

}  // namespace

Progress::Progress(std::ostream& out, bool terminal, std::size_t width)
    : out_(out), terminal_(terminal), width_(width) {}

Progress::~Progress() {
  finish();
}

void Progress::update(const RunProgress& now) {
  const double done = std::clamp(now.fraction, 0.0, 1.0);
  const std::string text = fmt::format("{:3.0f} %  {}  {}", 100 * done, left_in_words(now.left), now.what);
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(std::lround(kBarWidth * done));
    draw(fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), text));
    return;
  }
  const std::string line = text + "\n";
  if (last_line_ && now.elapsed - *last_line_ < kLogInterval) {
    held_back_ = line;
    return;
  }
  last_line_ = now.elapsed;
  held_back_.clear();
  out_ << line << std::flush;
}

void Progress::draw(const std::string& line) {
  // A line as wide as the terminal would wrap on some; \x1b[K clears what is left of a longer one before.
  out_ << '\r' << cut(line, std::max<std::size_t>(width_, 2) - 1) << "\x1b[K" << std::flush;
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) {
    out_ << "\r\x1b[K" << std::flush;
    drawn_ = false;
  }
  if (!held_back_.empty()) {
    out_ << held_back_ << std::flush;
    held_back_.clear();
  }
}

}  // namespace bench
