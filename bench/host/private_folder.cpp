#include "bench/host/private_folder.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "bench/host/left_over.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// By which a later run knows what it may remove: a folder of the user's own has a longer name, or another.
constexpr std::string_view kHead = "bench-private-";
constexpr std::string_view kLetters = "XXXXXX";  // mkdtemp's

FileDescriptor open_folder(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

void remove_left_over_folders(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kHead) || name.size() != kHead.size() + kLetters.size()) {
      continue;
    }
    const FileDescriptor folder = open_folder(entry->path());
    if (folder.is_open() && is_left_over(folder.get())) {
      std::error_code ignored;
      fs::remove_all(entry->path(), ignored);
    }
  }
}

}  // namespace

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    throw std::system_error(error, "TMPDIR names no folder");
  }
  remove_left_over_folders(parent);
  do {
    std::string pattern = (parent / kHead).string() + std::string(kLetters);
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), pattern);
    }
    path_ = pattern;
    mark_ = open_folder(path_);
  } while (mark_.is_open() && !(mark_as_used(mark_.get()) && still_names(path_.c_str(), mark_.get())));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace bench
