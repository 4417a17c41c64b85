// How far a run is, and how much of its time is left: a line that redraws itself on a terminal, or in a log a
// plain line now and then.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "bench/run/run_budget.h"

namespace bench {

class Progress {
 public:
  using Duration = std::chrono::nanoseconds;

  // In a log, lines are at least `kLogInterval` apart.
  static constexpr Duration kLogInterval = std::chrono::seconds(5);

  // `width`: columns of the terminal; a log's lines are not cut.
  Progress(std::ostream& out, bool terminal, std::size_t width);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // finish()es.
  ~Progress();

  // The stretch between log lines is counted in `now.elapsed`.
  void update(const RunProgress& now);

  // Clears the terminal's line; in a log, writes the last update if it was held back.
  void finish();

 private:
  void draw(const std::string& line);

  std::ostream& out_;
  bool terminal_;
  std::size_t width_;
  bool drawn_ = false;                 // terminal: a line is there
  std::optional<Duration> last_line_;  // log: when the last one was written
  std::string held_back_;              // log
};

}  // namespace bench
