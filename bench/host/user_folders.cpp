#include "bench/host/user_folders.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace bench {

namespace fs = std::filesystem;

bool can_be_written(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_parent_path()) {
    folder = folder.parent_path();
  }
  const fs::path nearest = fs::exists(folder, error) ? folder : ".";
  return ::faccessat(AT_FDCWD, nearest.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

std::optional<fs::path> user_folder(const char* xdg, const char* home, const fs::path& usual) {
  std::error_code error;
  std::optional<fs::path> folder;
  if (xdg != nullptr && fs::path(xdg).is_absolute()) {
    folder = fs::path(xdg) / "bench";
  } else if (home != nullptr && fs::path(home).is_absolute() && fs::is_directory(home, error)) {
    folder = fs::path(home) / usual / "bench";
  }
  return folder && can_be_written(*folder) ? folder : std::nullopt;
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
