#include "bench/host/search_path.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace bench {

std::string absolute_folders(std::string_view list, std::string_view separators) {
  std::string kept;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find_first_of(separators, begin), list.size());
    if (list[begin] == '/') {
      kept += (kept.empty() ? "" : ":") + std::string(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return kept;
}

bool leave_out_relative_library_folders() {
  const char* const given = std::getenv("LD_LIBRARY_PATH");
  if (given == nullptr || *given == '\0') {
    return false;
  }
  const std::string kept = absolute_folders(given, ":;");
  if (kept == given) {
    return false;
  }
  if (kept.empty()) {
    unsetenv("LD_LIBRARY_PATH");
  } else {
    setenv("LD_LIBRARY_PATH", kept.c_str(), 1);
  }
  return true;
}

void start_without_relative_library_folders(char** argv) {
  if (leave_out_relative_library_folders()) {
    execv("/proc/self/exe", argv);  // where it fails, the program goes on
  }
}

}  // namespace bench
