#include "bench/run/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/file_descriptor.h"
#include "bench/host/interrupt.h"
#include "bench/host/temporary_file.h"
#include "bench/text/quote.h"

namespace bench {

namespace fs = std::filesystem;

std::string path_in_words(const fs::path& path) {
  constexpr std::size_t kLongestPath = 4096;
  return printable(path.string(), kLongestPath);
}

void cannot_write(const fs::path& path, int error) {
  throw UsageError(fmt::format(
      "--out: {} cannot be written ({}); give {}", path_in_words(path),
      std::generic_category().message(error),
      error == EISDIR ? "the name of a file in it" : "a folder that takes files and has space left"));
}

void require_written(const fs::path& path, const std::error_code& error) {
  if (error) {
    cannot_write(path, error.value());
  }
}

namespace {

// Asks again and again, so that an interrupt ends the wait.
void wait_a_little() {
  stop_if_interrupted("a pipe was written");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// A device, or a pipe: one that nobody reads yet is waited for, and one that is full.
std::error_code write_through(const fs::path& target, std::string_view text) {
  FileDescriptor file(-1);
  while (!file.is_open()) {
    file = FileDescriptor(::open(target.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!file.is_open()) {
      if (errno != ENXIO) {
        return {errno, std::generic_category()};
      }
      wait_a_little();
    }
  }
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EAGAIN) {
      wait_a_little();
    } else if (written < 0 && errno != EINTR) {
      return {errno, std::generic_category()};
    }
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return {};
}

}  // namespace

fs::path behind_links(fs::path path, std::string_view option) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int link = 0; link < kMostLinks && fs::is_symlink(path, error); ++link) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) == 0 && facts.st_uid != ::geteuid() && facts.st_uid != 0) {
      throw UsageError(
          fmt::format("{}: {} is a symbolic link of another user, which is not followed; give another folder",
                      option, path_in_words(path)));
    }
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

std::error_code write_whole(const fs::path& target, std::string_view text) {
  // At a file size limit write() then fails with EFBIG; the signal would end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) {
    return std::make_error_code(std::errc::is_a_directory);
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return write_through(target, text);
  }
  remove_left_over(target);
  TemporaryFile made(target);
  made.write(text);
  made.take_place();
  return made.error();
}

void replace_file(const fs::path& path, std::string_view text) {
  require_written(path, write_whole(behind_links(path), text));
}

}  // namespace bench
