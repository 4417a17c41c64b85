#include "bench/cli/terminal.h"
#include "bench/text/lines.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "bench/text/quote.h"

namespace bench {

std::size_t terminal_width(int stream) {
  constexpr std::size_t kNarrowest = 40;
  winsize size{};
  if (::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, kNarrowest);
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
  const char* const columns = std::getenv("COLUMNS");
  const long given = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return given > 0 ? std::max(static_cast<std::size_t>(given), kNarrowest) : kFileWidth;
}

std::string notice(int stream, std::string_view text, std::string_view whole) {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  return wrap_with_whole(printable(text, kAll), printable(whole, kAll), "", terminal_width(stream));
}

std::string file_line(int stream, std::string_view what, const std::filesystem::path& file,
                      std::string_view note) {
  constexpr std::size_t kColumn = 9;
  std::string line = fmt::format("{:<{}}{}", what, kColumn, printable_path(file));
  const bool fits = note.empty() || columns(line) + 1 + columns(note) <= terminal_width(stream);
  return fmt::format("{}{}{}\n", line, note.empty() ? "" : fits ? " " : "\n  ", note);
}

bool can_redraw(int stream) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
  const char* const term = std::getenv("TERM");
  return ::isatty(stream) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace bench
