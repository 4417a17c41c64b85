#include "bench/host/user_folders.h"

#include <cstdlib>

namespace bench {

namespace fs = std::filesystem;

std::optional<fs::path> user_folder(const char* xdg, const char* home, const fs::path& usual) {
  if (xdg != nullptr && fs::path(xdg).is_absolute()) {
    return fs::path(xdg) / "bench";
  }
  if (home != nullptr && fs::path(home).is_absolute()) {
    return fs::path(home) / usual / "bench";
  }
  return std::nullopt;
}

// NOLINTBEGIN(concurrency-mt-unsafe): no thread sets the environment
std::optional<fs::path> cache_folder() {
  return user_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"), ".cache");
}

std::optional<fs::path> data_folder() {
  return user_folder(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"), ".local/share");
}
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace bench
