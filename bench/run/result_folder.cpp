#include "bench/run/result_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/user_folders.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// Results, and what commands write, name their schema first.
bool is_one_of(const std::vector<std::string>& schemas, const fs::path& path) {
  std::array<char, 256> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view start(bytes.data(), static_cast<std::size_t>(file.gcount()));
  return std::ranges::any_of(schemas, [&](const std::string& schema) {
    return start.find(fmt::format("\"{}/", schema)) != std::string_view::npos;
  });
}

// The result that took the place of this one, `name.json` of `name.<date>.json`; empty where there is none.
fs::path later_run(const fs::path& path) {
  const std::string stem = path.stem().string();
  std::error_code error;
  for (std::size_t dot = stem.find('.'); dot != std::string::npos; dot = stem.find('.', dot + 1)) {
    const fs::path later = path.parent_path() / (stem.substr(0, dot) + ".json");
    if (fs::exists(later, error)) {
      return later;
    }
  }
  return {};
}

// "Left out of results: a.json, b.json (why)."
std::string left_out_in_words(const fs::path& folder, std::vector<std::string> names, std::string_view why) {
  constexpr std::size_t kMostNamed = 20;
  std::ranges::sort(names);
  const std::size_t more = names.size() - std::min(names.size(), kMostNamed);
  names.resize(names.size() - more);
  return fmt::format("Left out of {}: {}{} ({}).", path_in_words(folder), fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "", why);
}

// Of the folder; a file that is given itself too is not left out.
void add_files_in(const fs::path& folder, const std::vector<std::string>& given,
                  const std::vector<std::string>& schemas, const RunChooser& chosen_run,
                  ChosenFiles& chosen) {
  const auto is_given = [&](const fs::path& path) {
    return std::ranges::any_of(
        given, [&](const fs::path& one) { return one.lexically_normal() == path.lexically_normal(); });
  };
  std::map<std::string, std::vector<std::string>> earlier;  // by the run that took their place
  std::vector<std::string> foreign;
  const auto in_folder = [&](const fs::path& path) {
    return printable(path.lexically_relative(folder).string());
  };
  const std::size_t before = chosen.paths.size();
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code unreadable;
    if (path.filename().string().starts_with('.')) {
      at.disable_recursion_pending();
    } else if (path.extension() == ".json" && !at->is_directory(unreadable)) {
      const bool is_read = at->is_regular_file(unreadable) && is_one_of(schemas, path);
      const fs::path later = is_read ? later_run(path) : fs::path();
      if (is_read && later.empty()) {
        chosen.paths.push_back(path.string());
      } else if (is_read && !is_given(path)) {
        earlier[later.string()].push_back(path.string());
      } else if (!is_given(path)) {
        foreign.push_back(in_folder(path));
      }
    }
  }
  if (error) {
    throw UsageError(fmt::format("{} cannot be read: {}", path_in_words(folder), error.message()));
  }
  if (chosen.paths.size() == before) {
    throw UsageError(
        fmt::format("{} holds no result; give a folder that bench --out wrote to", path_in_words(folder)));
  }
  std::sort(chosen.paths.begin() + static_cast<std::ptrdiff_t>(before), chosen.paths.end());
  std::vector<std::string> replaced;
  std::vector<std::string> worse;
  for (auto& [later, runs] : earlier) {
    const std::string best = chosen_run ? chosen_run(later, runs) : later;
    if (const auto place = std::ranges::find(chosen.paths, later);
        place != chosen.paths.end() && best != later) {
      *place = best;
      std::erase(runs, best);
      worse.push_back(in_folder(later));
    }
    std::ranges::transform(runs, std::back_inserter(replaced), in_folder);
  }
  if (!replaced.empty()) {
    chosen.left_out.push_back(left_out_in_words(
        folder, std::move(replaced), "a later run took its place; to show one too, give its path"));
  }
  if (!worse.empty()) {
    chosen.left_out.push_back(left_out_in_words(
        folder, std::move(worse), "an earlier run was measured better; to show one too, give its path"));
  }
  if (!foreign.empty()) {
    chosen.left_out.push_back(left_out_in_words(folder, std::move(foreign),
                                                "not what this command reads; to see why, give a path"));
  }
}

}  // namespace

ResultFolder default_result_folder() {
  const fs::path usual = "results/local";
  std::error_code error;
  const bool in_root = fs::current_path(error) == fs::path("/");
  if (!in_root && can_be_written(usual)) {
    return {.path = usual, .note = ""};
  }
  const char* const here = in_root ? "the current folder is /" : "the current folder cannot be written";
  const auto data = data_folder();
  if (data && can_be_written(*data / "results")) {
    return {.path = *data / "results",
            .note = fmt::format("results go to {}: {}", path_in_words(*data / "results"), here)};
  }
  return {
      .path = {},
      .note = fmt::format("no result is written: {}, and neither XDG_DATA_HOME nor HOME names a folder that "
                          "can be; give one with --out",
                          here)};
}

std::vector<std::string> result_paths(const std::vector<std::string>& given) {
  return files_of(given, {"bench-result"}).paths;
}

ChosenFiles files_of(const std::vector<std::string>& given, const std::vector<std::string>& schemas,
                     const RunChooser& chosen_run) {
  ChosenFiles chosen;
  for (const std::string& path : given) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      add_files_in(path, given, schemas, chosen_run, chosen);
    } else {
      chosen.paths.push_back(path);
    }
  }
  return chosen;
}

ChosenFiles results_of_sweeps(const std::vector<std::string>& given, const std::vector<std::string>& sweeps) {
  ChosenFiles chosen;
  for (const std::string& path : given) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      chosen.paths.push_back(path);
      continue;
    }
    std::size_t others = 0;
    std::set<std::string> names;
    const std::size_t before = chosen.paths.size();
    for (const std::string& found : result_paths({path})) {
      const std::string sweep = read_result(found).sweep.name;
      if (std::ranges::find(sweeps, sweep) != sweeps.end()) {
        chosen.paths.push_back(found);
      } else {
        ++others;
        names.insert(printable(sweep));
      }
    }
    if (chosen.paths.size() == before) {
      throw UsageError(fmt::format("{} holds no result of the sweep {}, but of {}", path_in_words(path),
                                   fmt::join(sweeps, " or "), fmt::join(names, ", ")));
    }
    if (others > 0) {
      chosen.left_out.push_back(fmt::format("{}: {} result{} of other sweeps {} left out ({}).",
                                            path_in_words(path), others, others == 1 ? "" : "s",
                                            others == 1 ? "is" : "are", fmt::join(names, ", ")));
    }
  }
  return chosen;
}

}  // namespace bench
