// A folder for files that other programs read while this one waits for them.
#pragma once

#include <filesystem>

namespace bench {

// A new folder in $TMPDIR or /tmp that nobody else can enter; removed at the end with all that is in it.
class PrivateFolder {
 public:
  // Throws std::system_error where there is no folder to make it in.
  PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace bench
