// Files that are replaced as a whole: written under a hidden name of their own next to the old one, then
// renamed. A kill or a full disk leaves the old or the new file; no link that another user planted is
// followed.
#pragma once

#include <filesystem>
#include <string_view>
#include <system_error>

#include "bench/host/file_descriptor.h"
#include "bench/host/interrupt.h"

namespace bench {

class TemporaryFile {
 public:
  // Makes ".NAME.XXXXXX.new" next to `target`.
  explicit TemporaryFile(std::filesystem::path target);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  // Removes it, unless it took its place.
  ~TemporaryFile();

  // Appends the text; it is on the disk when this returns.
  void write(std::string_view text);
  // Puts it in the place of `target`, and has the folder remember that.
  void take_place();
  // Why one of these failed, and whatever came after it; none: all is well.
  const std::error_code& error() const { return error_; }

 private:
  void make(const std::filesystem::path& folder, const std::string& head);

  EndPostponed end_postponed_;
  std::filesystem::path target_;
  std::filesystem::path path_;  // empty: there is none to remove
  FileDescriptor file_{-1};     // locked for as long as this process lives
  std::error_code error_;
};

// Removes the temporary files for `target` that killed processes of this user left.
void remove_left_over(const std::filesystem::path& target);

// Opens a lock's file for flock(), and makes it where there is none. The lock of another user, who was killed
// or is at work, is opened too. Closed, and errno says why: a link, a pipe or a folder has its name
// (ELOOP, EINVAL, EISDIR), or it cannot be read.
FileDescriptor open_lock(const std::filesystem::path& path);

// Opens a file to read it; a pipe, a folder or a device of that name is not waited for, but EINVAL in errno.
FileDescriptor open_ordinary(const std::filesystem::path& path);

}  // namespace bench
