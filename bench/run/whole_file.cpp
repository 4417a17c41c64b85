#include "bench/run/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/file_descriptor.h"
#include "bench/measure/quote.h"

namespace bench {

namespace fs = std::filesystem;

std::string path_in_words(const fs::path& path) {
  constexpr std::size_t kLongestPath = 4096;
  return printable(path.string(), kLongestPath);
}

void cannot_write(const fs::path& path, int error) {
  throw UsageError(
      fmt::format("--out: {} cannot be written ({}); give a folder that takes files and has space left",
                  path_in_words(path), std::generic_category().message(error)));
}

TemporaryFile::TemporaryFile(fs::path path) : path_(std::move(path)) {}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!kept_) {
    fs::remove(path_, ignored);
  }
}

void write_durably(const fs::path& path, const fs::path& named, std::string_view text) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.is_open()) {
    cannot_write(named, errno);
  }
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      cannot_write(named, errno);
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  // close() is where some network file systems first say that the disk is full.
  if (::fsync(file.get()) != 0 || ::close(file.release()) != 0) {
    cannot_write(named, errno);
  }
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.is_open()) {
    ::fsync(directory.get());
  }
}

fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int link = 0; link < kMostLinks && fs::is_symlink(path, error); ++link) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

void replace_file(const fs::path& path, std::string_view text) {
  // At a file size limit write() then fails with EFBIG; the signal would end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  const fs::path target = behind_links(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) {
    cannot_write(path, EISDIR);
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    std::FILE* const stream = std::fopen(target.c_str(), "wb");
    if (stream == nullptr) {
      cannot_write(path, errno);
    }
    const bool whole = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    if (std::fclose(stream) != 0 || !whole) {
      cannot_write(path, errno);
    }
    return;
  }
  const fs::path temporary =
      target.parent_path() / fmt::format(".{}.{}.new", target.filename().string(), ::getpid());
  TemporaryFile guard(temporary);
  write_durably(temporary, path, text);
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    cannot_write(path, errno);
  }
  guard.keep();
  sync_folder(target.has_parent_path() ? target.parent_path() : fs::path("."));
}

}  // namespace bench
