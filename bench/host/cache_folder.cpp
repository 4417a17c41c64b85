#include "bench/host/cache_folder.h"

#include <cstdlib>

namespace bench {

namespace fs = std::filesystem;

std::optional<fs::path> cache_folder(const char* xdg_cache_home, const char* home) {
  if (xdg_cache_home != nullptr && fs::path(xdg_cache_home).is_absolute()) {
    return fs::path(xdg_cache_home) / "bench";
  }
  if (home != nullptr && fs::path(home).is_absolute()) {
    return fs::path(home) / ".cache" / "bench";
  }
  return std::nullopt;
}

std::optional<fs::path> cache_folder() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets the environment
  return cache_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"));
}

}  // namespace bench
