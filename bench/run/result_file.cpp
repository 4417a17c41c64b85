#include "bench/run/result_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/file_descriptor.h"
#include "bench/measure/json_text.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_json.h"
#include "bench/run/whole_file.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty() || (fs::exists(status) && !fs::is_regular_file(status))) {
    throw UsageError(fmt::format("{} is not a file", path.empty() ? "''" : path_in_words(path)));
  }
  constexpr std::size_t kChunk = 1 << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string chunk(kChunk, '\0');
  do {
    file.read(chunk.data(), kChunk);
    text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (!file.is_open() || file.bad()) {
    throw UsageError(
        fmt::format("{} cannot be read ({})", path_in_words(path), std::generic_category().message(errno)));
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
  return text;
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
  const std::string hidden = fmt::format(".{}", path_.filename().string());
  temporary_ = path_.parent_path() / (hidden + ".new");
  lock_path_ = path_.parent_path() / (hidden + ".lock");
}

ResultFile::~ResultFile() {
  if (lock_ >= 0) {
    std::error_code ignored;
    fs::remove(lock_path_, ignored);
    ::close(lock_);
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
  const TemporaryFile guard(temporary_);
  write_durably(temporary_, path_, std::string(4096, ' '));
}

void ResultFile::lock() {
  while (lock_ < 0) {
    FileDescriptor file(::open(lock_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file.is_open()) {
      cannot_write(path_, errno);
    }
    // File systems without locks answer otherwise than EWOULDBLOCK: there, two processes are on their own.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw UsageError(
          fmt::format("--out: another bench is writing {}; wait for it to end or give another folder",
                      path_in_words(path_)));
    }
    // The holder before us removes the file when it ends: what we locked may have lost its name meanwhile.
    struct stat locked {};
    struct stat named {};
    if (::fstat(file.get(), &locked) == 0 && ::stat(lock_path_.c_str(), &named) == 0 &&
        locked.st_ino == named.st_ino && locked.st_dev == named.st_dev) {
      lock_ = file.release();
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
  TemporaryFile guard(temporary_);
  write_durably(temporary_, path_, text);
  if (keep_previous_) {
    put_aside();
    keep_previous_ = false;
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    cannot_write(path_, errno);
  }
  guard.keep();
  written_ = true;
  sync_folder(path_.parent_path());
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
