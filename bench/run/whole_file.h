// Files that are replaced as a whole: a kill or a full disk leaves the old or the new one.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bench {

// Whole, since it must be found, but in one line.
std::string path_in_words(const std::filesystem::path& path);

// Throws UsageError: "--out: PATH cannot be written (REASON); give …".
[[noreturn]] void cannot_write(const std::filesystem::path& path, int error);

// Removes what it guards unless the file was moved away.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::filesystem::path path);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

// The data is on the disk when this returns; `named` is the path a message speaks of.
void write_durably(const std::filesystem::path& path, const std::filesystem::path& named,
                   std::string_view text);

// Makes a rename in the folder durable. File systems that cannot are left to their own.
void sync_folder(const std::filesystem::path& folder);

// The file that symbolic links lead to, whether it exists or not: a rename would replace the link itself.
std::filesystem::path behind_links(std::filesystem::path path);

// Writes to a hidden file next to it, then renames. A device or pipe is written to as it is. Throws
// UsageError where the folder is missing or the path is one, and as write_durably().
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace bench
