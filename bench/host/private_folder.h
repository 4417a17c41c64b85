// A folder for files that other programs read while this one waits for them.
#pragma once

#include <filesystem>

#include "bench/host/file_descriptor.h"
#include "bench/host/interrupt.h"

namespace bench {

// A new folder in $TMPDIR or /tmp that nobody else can enter; removed at the end with all that is in it.
// Those that killed processes of this user left go too.
class PrivateFolder {
 public:
  // Throws std::system_error where there is no folder to make it in.
  PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  EndPostponed end_postponed_;
  std::filesystem::path path_;
  FileDescriptor mark_{-1};  // that it is in use
};

}  // namespace bench
