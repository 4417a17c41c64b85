#include "kernels/devices/cuda/compiled_plans.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/host/temporary_file.h"
#include "bench/json.h"
#include "bench/measure/fingerprint.h"

namespace bench::kernels::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".plan";

struct Kept {
  fs::path path;
  fs::file_time_type written;
  std::uintmax_t bytes;
};

// The ordinary files with a plan's ending, the newest first.
std::vector<Kept> kept_in(const fs::path& folder) {
  std::vector<Kept> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const Kept one{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (!gone && one.path.extension() == kEnding &&
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

std::optional<std::string> CompiledPlans::take(const std::string& work, const std::string& plan) const {
  if (!is_kept()) {
    return std::nullopt;
  }
  const fs::path file = file_of(work, plan);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);  // an error too where it is no ordinary file
  std::string content;
  if (!error && bytes <= 2 * kMostBytes && fs::symlink_status(file, error).type() == fs::file_type::regular) {
    std::ifstream in(file, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(in), {});
  }
  // One that stays would be loaded again by a process that it ends.
  if (!fs::remove(file, error)) {
    return std::nullopt;
  }
  const std::size_t line = content.find('\n');
  if (line == std::string::npos) {
    return std::nullopt;
  }
  std::string text = content.substr(line + 1);
  return content.compare(0, line, heading(work, plan, text)) == 0 ? std::optional(std::move(text))
                                                                  : std::nullopt;
}

void CompiledPlans::put(const std::string& work, const std::string& plan, std::string_view text) const {
  if (!is_kept() || text.size() > kMostBytes) {
    return;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  const std::string line = heading(work, plan, text);
  make_room(line.size() + 1 + text.size());
  const fs::path file = file_of(work, plan);
  remove_left_over(file);
  TemporaryFile made(file);
  made.write(line + "\n");
  made.write(text);
  made.take_place();
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
