#include "bench/host/search_path.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace bench {

std::string absolute_folders(std::string_view list) {
  std::istringstream folders{std::string(list)};
  std::string kept;
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.starts_with('/')) {
      kept += (kept.empty() ? "" : ":") + folder;
    }
  }
  return kept;
}

void leave_out_relative_library_folders(char** argv) {
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  if (given == nullptr || *given == '\0') {
    return;
  }
  const std::string kept = absolute_folders(given);
  if (kept == given) {
    return;
  }
  if (kept.empty()) {
    unsetenv("LD_LIBRARY_PATH");
  } else {
    setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
  }
  execv("/proc/self/exe", argv);  // where it fails, the program goes on
}

}  // namespace bench
