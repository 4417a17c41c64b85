#include "kernels/devices/cuda/compiled_plans.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/host/file_descriptor.h"
#include "bench/host/temporary_file.h"
#include "bench/json.h"
#include "bench/text/fingerprint.h"

namespace bench::kernels::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".plan";
constexpr std::string_view kTriedEnding = ".tried";
constexpr std::chrono::hours kTriedFor{24};

fs::path tried(fs::path file) {
  return file.replace_extension(kTriedEnding);
}

// Of an ordinary file that is this user's and that nobody else can write: it holds code. Empty where it is
// none.
std::string own_content(const fs::path& file) {
  const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (in.get() < 0 || ::fstat(in.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
      status.st_size > static_cast<off_t>(2 * CompiledPlans::kMostBytes)) {
    return "";
  }
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < content.size()) {
    const ssize_t more = ::read(in.get(), content.data() + got, content.size() - got);
    if (more <= 0) {
      return "";
    }
    got += static_cast<std::size_t>(more);
  }
  return content;
}

struct Kept {
  fs::path path;
  fs::file_time_type written;
  std::uintmax_t bytes;
};

// The ordinary files of plans, those that are being tried among them, the newest first.
std::vector<Kept> kept_in(const fs::path& folder) {
  std::vector<Kept> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const Kept one{at->path(), at->last_write_time(gone), at->file_size(gone)};
    const fs::path ending = one.path.extension();
    if (!gone && (ending == kEnding || ending == kTriedEnding) &&
        at->symlink_status(gone).type() == fs::file_type::regular) {
      all.push_back(one);
    }
  }
  std::ranges::sort(all, std::ranges::greater(), &Kept::written);
  return all;
}

}  // namespace

void CompiledPlans::keep_in(fs::path folder, std::string machine) {
  folder_ = std::move(folder);
  machine_ = std::move(machine);
}

std::optional<std::string> CompiledPlans::take(const std::string& work, const std::string& plan) {
  if (!is_kept()) {
    return std::nullopt;
  }
  const fs::path file = file_of(work, plan);
  if (is_tried(file)) {
    return std::nullopt;
  }
  const std::string content = own_content(file);
  const std::size_t line = content.find('\n');
  std::string text = line == std::string::npos ? "" : content.substr(line + 1);
  std::error_code error;
  if (line == std::string::npos || content.compare(0, line, heading(work, plan, text)) != 0) {
    fs::remove(file, error);
    return std::nullopt;
  }
  // From now on it is being tried, however old it is. Another process may have been faster.
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
  if (!error) {
    fs::rename(file, tried(file), error);
  }
  if (error) {
    return std::nullopt;
  }
  taken_.insert(file);
  return text;
}

bool CompiledPlans::put_back(const std::string& work, const std::string& plan) {
  const fs::path file = is_kept() ? file_of(work, plan) : fs::path();
  if (taken_.erase(file) == 0) {
    return false;
  }
  std::error_code error;
  fs::rename(tried(file), file, error);
  fs::last_write_time(file, fs::file_time_type::clock::now(), error);
  return true;
}

void CompiledPlans::drop(const std::string& work, const std::string& plan) {
  const fs::path file = is_kept() ? file_of(work, plan) : fs::path();
  if (taken_.erase(file) > 0) {
    std::error_code error;
    fs::remove(tried(file), error);
  }
}

void CompiledPlans::put(const std::string& work, const std::string& plan, std::string_view text) const {
  if (!is_kept() || text.size() > kMostBytes) {
    return;
  }
  std::error_code error;
  const fs::path file = file_of(work, plan);
  if (is_tried(file)) {
    return;
  }
  if (fs::create_directories(folder_, error)) {
    fs::permissions(folder_, fs::perms::owner_all, error);
  }
  std::string content = heading(work, plan, text) + "\n";
  content += text;
  make_room(content.size());
  remove_left_over(file);
  TemporaryFile made(file);
  made.write(content);
  made.take_place();
}

// Whether a process that loaded it has not said yet that it ran: it is running, or the plan ended it. After a
// day it is tried again.
bool CompiledPlans::is_tried(const fs::path& file) const {
  std::error_code error;
  const auto since = fs::last_write_time(tried(file), error);
  if (error) {
    return false;
  }
  if (fs::file_time_type::clock::now() - since < kTriedFor) {
    return true;
  }
  fs::remove(tried(file), error);
  return false;
}

fs::path CompiledPlans::file_of(const std::string& work, const std::string& plan) const {
  return folder_ / (fingerprint(machine_ + "\n" + work + "\n" + plan) + std::string(kEnding));
}

std::string CompiledPlans::heading(const std::string& work, const std::string& plan,
                                   std::string_view text) const {
  const Json json = {{"format", kFormat}, {"machine", machine_},  {"work", work},
                     {"plan", plan},      {"bytes", text.size()}, {"fingerprint", fingerprint(text)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void CompiledPlans::make_room(std::uintmax_t bytes) const {
  std::size_t plans = 1;
  for (const Kept& kept : kept_in(folder_)) {
    bytes += kept.bytes;
    if (++plans > kMostPlans || bytes > kMostInAll) {
      std::error_code error;
      fs::remove(kept.path, error);
    }
  }
}

}  // namespace bench::kernels::cuda
