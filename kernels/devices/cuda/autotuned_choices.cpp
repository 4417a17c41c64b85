#include "kernels/devices/cuda/autotuned_choices.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/host/temporary_file.h"
#include "bench/json.h"

namespace bench::kernels::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 8 << 20;  // 2 KiB a choice, which takes about 250 B

struct Choice {
  std::string machine;
  std::string work;
  std::string name;
};

Json parsed(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);  // an error too where it is no ordinary file
  if (error || bytes > kMostBytes) {
    return {};
  }
  std::ifstream in(file, std::ios::binary);
  return Json::parse(std::string{std::istreambuf_iterator<char>(in), {}}, nullptr, false);
}

// Oldest first; entries that make no sense are left out.
std::vector<Choice> read(const fs::path& file) {
  const Json json = parsed(file);
  std::vector<Choice> choices;
  if (!json.is_object() || !json.contains("choices") || !json.contains("format") ||
      json["format"] != AutotunedChoices::kFormat) {
    return choices;
  }
  for (const Json& entry : json["choices"]) {
    if (entry.is_array() && entry.size() == 3 && entry[0].is_string() && entry[1].is_string() &&
        entry[2].is_string()) {
      choices.push_back(
          {entry[0].get<std::string>(), entry[1].get<std::string>(), entry[2].get<std::string>()});
    }
  }
  return choices;
}

void write(const fs::path& file, const std::vector<Choice>& choices) {
  Json json = {{"format", AutotunedChoices::kFormat}, {"choices", Json::array()}};
  for (const Choice& choice : choices) {
    json["choices"].push_back(Json::array({choice.machine, choice.work, choice.name}));
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  remove_left_over(file);
  TemporaryFile made(file);
  made.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  made.take_place();
}

}  // namespace

AutotunedChoices::AutotunedChoices(fs::path file, std::string machine)
    : file_(std::move(file)), machine_(std::move(machine)) {
  for (const Choice& choice : read(file_)) {
    if (choice.machine == machine_) {
      choices_[choice.work] = choice.name;
    }
  }
}

std::optional<std::size_t> AutotunedChoices::find(const std::string& work, std::size_t candidates,
                                                  const std::function<std::string(std::size_t)>& name) const {
  const auto known = choices_.find(work);
  for (std::size_t i = 0; known != choices_.end() && i < candidates; ++i) {
    if (name(i) == known->second) {
      return i;
    }
  }
  return std::nullopt;
}

void AutotunedChoices::add(const std::string& work, const std::string& choice) {
  choices_[work] = choice;
  replace(work, choice);
}

void AutotunedChoices::forget(const std::string& work) {
  choices_.erase(work);
  replace(work, std::nullopt);
}

void AutotunedChoices::replace(const std::string& work, const std::optional<std::string>& choice) const {
  if (file_.empty()) {
    return;
  }
  std::vector<Choice> all = read(file_);
  std::erase_if(all, [&](const Choice& old) { return old.machine == machine_ && old.work == work; });
  if (choice) {
    all.push_back({machine_, work, *choice});
  }
  if (all.size() > kMostChoices) {
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(kMostChoices));
  }
  write(file_, all);
}

}  // namespace bench::kernels::cuda
