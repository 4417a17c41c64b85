#include "bench/host/temporary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "bench/host/left_over.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLetters = 6;
constexpr std::string_view kEnd = ".new";

std::error_code last_error() {
  return {errno, std::generic_category()};
}

// "." for a name alone.
fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// What the names of all temporary files for `target` begin with.
std::string head_of_names(const fs::path& target) {
  constexpr std::size_t kMost = 200;  // of the 255 bytes of a name
  return "." + target.filename().string().substr(0, kMost) + ".";
}

std::string random_letters() {
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string letters(kLetters, ' ');
  std::ranges::generate(letters, [&] { return kAll[random() % kAll.size()]; });
  return letters;
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) {
    ::fsync(directory.get());  // file systems that cannot are left to their own
  }
}

// The file is closed, and errno set, where it is not an ordinary one.
FileDescriptor ordinary(FileDescriptor file) {
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || S_ISREG(facts.st_mode)) {
    return file;
  }
  file = FileDescriptor(-1);
  errno = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
  return file;
}

}  // namespace

TemporaryFile::TemporaryFile(fs::path target) : target_(std::move(target)) {
  const std::string head = head_of_names(target_);
  while (!file_.is_open() && !error_) {
    make(folder_of(target_), head);
  }
}

void TemporaryFile::make(const fs::path& folder, const std::string& head) {
  fs::path path = folder / (head + random_letters());
  path += kEnd;
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    error_ = errno == EEXIST ? std::error_code() : last_error();
    return;
  }
  if (mark_as_used(file.get()) && still_names(path.c_str(), file.get())) {
    file_ = std::move(file);
    path_ = std::move(path);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
}

void TemporaryFile::write(std::string_view text) {
  while (!text.empty() && !error_) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      error_ = last_error();
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  if (!error_ && ::fsync(file_.get()) != 0) {
    error_ = last_error();
  }
}

void TemporaryFile::take_place() {
  if (!error_ && std::rename(path_.c_str(), target_.c_str()) != 0) {
    error_ = last_error();
  }
  if (!error_) {
    path_.clear();
    file_ = FileDescriptor(-1);
    sync_folder(folder_of(target_));
  }
}

void remove_left_over(const fs::path& target) {
  const std::string head = head_of_names(target);
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(target), error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(head) || !name.ends_with(kEnd)) {
      continue;
    }
    // ".NAME.new": as earlier versions called it.
    const std::size_t letters = name.size() - std::min(name.size(), head.size() + kEnd.size());
    if (letters != 0 && letters != kLetters) {
      continue;
    }
    const FileDescriptor file(::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (file.is_open() && ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
        is_left_over(file.get())) {
      ::unlink(entry->path().c_str());
    }
  }
}

FileDescriptor open_lock(const fs::path& path) {
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  // Readable to all, whatever the umask: who can read it can lock it, and so tell whether its owner lives.
  constexpr mode_t kReadable = 0644;
  for (;;) {
    FileDescriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, kReadable));
    if (made.is_open()) {
      ::fchmod(made.get(), kReadable);
    }
    if (made.is_open() || errno != EEXIST) {
      return made;
    }
    FileDescriptor opened(::open(path.c_str(), O_RDWR | kFlags));
    if (!opened.is_open() && (errno == EACCES || errno == EROFS)) {
      opened = FileDescriptor(::open(path.c_str(), O_RDONLY | kFlags));
    }
    if (opened.is_open() || errno != ENOENT) {  // its owner may have removed it just now
      return ordinary(std::move(opened));
    }
  }
}

FileDescriptor open_ordinary(const fs::path& path) {
  return ordinary(FileDescriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)));
}

}  // namespace bench
