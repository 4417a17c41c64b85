#include "bench/cli/terminal.h"
#include "bench/text/lines.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

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

bool can_redraw(int stream) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
  const char* const term = std::getenv("TERM");
  return ::isatty(stream) == 1 && term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace bench
