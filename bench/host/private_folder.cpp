#include "bench/host/private_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace bench {

namespace fs = std::filesystem;

PrivateFolder::PrivateFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "bench-XXXXXX").string();
  if (error) {
    throw std::system_error(error, "TMPDIR names no folder");
  }
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), pattern);
  }
  path_ = pattern;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace bench
