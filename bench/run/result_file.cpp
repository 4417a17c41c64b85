#include "bench/run/result_file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/file_descriptor.h"
#include "bench/host/left_over.h"
#include "bench/host/temporary_file.h"
#include "bench/result/json_text.h"
#include "bench/result/result_json.h"
#include "bench/run/whole_file.h"
#include "bench/text/fingerprint.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  const FileDescriptor file = open_ordinary(path);
  if (path.empty() || (!file.is_open() && (errno == EINVAL || errno == EISDIR || errno == ENXIO))) {
    throw UsageError(fmt::format("{} is not a file", path.empty() ? "''" : path_in_words(path)));
  }
  const auto cannot_read = [&] {
    throw UsageError(
        fmt::format("{} cannot be read ({})", path_in_words(path), std::generic_category().message(errno)));
  };
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0) {
    cannot_read();
  }
  const auto limit = [&](std::size_t bytes) {
    if (bytes > kMostJsonBytes) {
      throw UsageError(fmt::format("{} is larger than {}, the most that a JSON file of this program has",
                                   path_in_words(path),
                                   format_bytes(static_cast<std::int64_t>(kMostJsonBytes))));
    }
  };
  limit(static_cast<std::size_t>(facts.st_size));
  constexpr std::size_t kChunk = 1 << 20;
  std::string text;
  std::string chunk(kChunk, '\0');
  for (ssize_t got = 1; got != 0;) {
    got = ::read(file.get(), chunk.data(), kChunk);
    if (got < 0 && errno != EINTR) {
      cannot_read();
    }
    text.append(chunk, 0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    limit(text.size());  // it may grow
  }
  return text;
}

// When the file was measured: its own date, or the file's where its content cannot be read.
std::string date_of(const fs::path& path) {
  try {
    const Json json = read_json(path);
    const Field root(json);
    const Field context = root.at("context");
    return context.at("date").string();
  } catch (const std::exception&) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) {
      return "unknown-date";
    }
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::localtime(facts.st_mtime));
  }
}

std::string file_name_safe(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '.' && c != '-'; }, '-');
  constexpr std::size_t kLongestName = 200;  // file systems take 255, and an ending follows
  return text.size() <= kLongestName ? text
                                     : fmt::format("{}-{}", text.substr(0, kLongestName), fingerprint(text));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

std::string user_in_words(uid_t user) {
  const passwd* const known = ::getpwuid(user);  // NOLINT(concurrency-mt-unsafe): no other thread asks
  return known == nullptr ? fmt::format("the user {}", user) : fmt::format("the user {}", known->pw_name);
}

// `path` is the result's.
[[noreturn]] void cannot_lock(const fs::path& lock, const fs::path& path, int error) {
  struct stat facts {};
  if (::lstat(lock.c_str(), &facts) != 0) {  // the folder takes no files
    cannot_write(path, error);
  }
  const std::string owner = user_in_words(facts.st_uid);
  if (S_ISREG(facts.st_mode)) {
    throw UsageError(fmt::format(
        "--out: the lock {} of {} cannot be opened ({}); wait for their bench to end, have the lock removed "
        "where none runs, or give another folder",
        path_in_words(lock), owner, std::generic_category().message(error)));
  }
  throw UsageError(fmt::format(
      "--out: {} of {} is no file, in the place of a lock; have it removed, or give another folder",
      path_in_words(lock), owner));
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

}  // namespace

ResultFile::ResultFile(const fs::path& folder, const std::string& sweep, const std::string& workload,
                       const std::string& device) {
  if (folder.empty()) {
    return;
  }
  const std::string name = file_name_safe(fmt::format("{}-{}-{}", sweep, workload, device)) + ".json";
  path_ = folder / name;
  path_ = behind_links(path_);
  lock_path_ = path_.parent_path() / fmt::format(".{}.lock", path_.filename().string());
}

ResultFile::~ResultFile() {
  if (lock_.is_open()) {
    std::error_code ignored;
    fs::remove(lock_path_, ignored);
  }
}

void ResultFile::check_writable() {
  if (path_.empty()) {
    return;
  }
  // At a file size limit write() then fails with EFBIG; the signal would end the process.
  std::signal(SIGXFSZ, SIG_IGN);
  std::error_code error;
  fs::create_directories(path_.parent_path(), error);
  if (error) {
    cannot_write(path_, error.value());
  }
  if (fs::is_directory(path_, error)) {
    cannot_write(path_, EISDIR);
  }
  lock();
  remove_left_over(path_);
  TemporaryFile tried(path_);
  tried.write(std::string(4096, ' '));
  require_written(path_, tried.error());
  require_replaceable();
}

// In a folder with the sticky bit, as /tmp, nobody replaces another user's file; and what cannot be given a
// second name must be read for a copy.
void ResultFile::require_replaceable() const {
  struct stat file {};
  struct stat folder {};
  if (::lstat(path_.c_str(), &file) != 0 || ::stat(folder_of(path_).c_str(), &folder) != 0) {
    return;
  }
  const uid_t user = ::geteuid();
  const bool kept_from_us = (folder.st_mode & S_ISVTX) != 0 && file.st_uid != user && folder.st_uid != user;
  if (user != 0 && kept_from_us) {
    throw UsageError(
        fmt::format("--out: {} belongs to {}, and its folder lets nobody else replace it; give "
                    "another folder",
                    path_in_words(path_), user_in_words(file.st_uid)));
  }
  if (keep_previous_ && file.st_uid != user && ::faccessat(AT_FDCWD, path_.c_str(), R_OK, AT_EACCESS) != 0) {
    throw UsageError(
        fmt::format("--out: {} belongs to {} and cannot be read, so that it cannot be kept under "
                    "another name; give another folder",
                    path_in_words(path_), user_in_words(file.st_uid)));
  }
}

void ResultFile::lock() {
  while (!lock_.is_open()) {
    FileDescriptor file = open_lock(lock_path_);
    if (!file.is_open()) {
      cannot_lock(lock_path_, path_, errno);
    }
    // File systems without locks answer otherwise than EWOULDBLOCK: there, two processes are on their own.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw UsageError(
          fmt::format("--out: another bench is writing {}; wait for it to end or give another folder",
                      path_in_words(path_)));
    }
    // The holder before us removes the file when it ends: what we locked may have lost its name meanwhile.
    if (still_names(lock_path_.c_str(), file.get())) {
      lock_ = std::move(file);
    }
  }
}

// Gives the older result a second name. The first one then goes to the new result in a single step, so that
// there is a whole file under it at every moment.
void ResultFile::put_aside() {
  std::error_code missing;
  if (!fs::exists(path_, missing)) {
    return;
  }
  const std::string stem = path_.stem().string() + "." + file_name_safe(date_of(path_));
  for (int copy = 1;; ++copy) {
    const fs::path target =
        path_.parent_path() / (copy == 1 ? stem + ".json" : fmt::format("{}-{}.json", stem, copy));
    if (::link(path_.c_str(), target.c_str()) == 0 || same_file(path_, target)) {
      earlier_ = target;
      return;
    }
    if (errno == EEXIST) {
      continue;
    }
    // No hard links here (FAT, some network file systems): copy, which does not overwrite either.
    std::error_code error;
    if (fs::copy_file(path_, target, fs::copy_options::none, error)) {
      earlier_ = target;
      return;
    }
    if (error != std::errc::file_exists) {
      cannot_write(target, error.value());
    }
  }
}

void ResultFile::write(const ResultDocument& document) {
  write(text_.of(document));
}

void ResultFile::write(const std::string& text) {
  if (path_.empty()) {
    written_ = true;
    return;
  }
  lock();
  TemporaryFile made(path_);
  made.write(text);
  require_written(path_, made.error());
  if (keep_previous_) {
    put_aside();
    keep_previous_ = false;
  }
  made.take_place();
  require_written(path_, made.error());
  written_ = true;
}

Json read_json(const fs::path& path) {
  return parse_json(read_text(path), path_in_words(path));
}

ResultDocument document_of(const Json& json, const fs::path& path) {
  try {
    return document_from_json(json);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("{} is not a result this program can read: {}", path_in_words(path), error.what()));
  }
}

ResultDocument read_result(const fs::path& path) {
  return document_of(read_json(path), path);
}

}  // namespace bench
