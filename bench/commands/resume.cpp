#include "bench/commands/resume.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/run/result_file.h"

namespace bench {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void disagree(const std::filesystem::path& path, const std::string& name, const std::string& key,
                           const Json& there, const std::string& named) {
  throw UsageError(
      fmt::format("--resume: {}: the point {} has {} {} in its params, but this run means {} by that name: "
                  "it was measured with other options, or the file was edited; run without --resume to start "
                  "over (the old file is kept)",
                  printable(path.string(), 4096), quote(name), printable(key),
                  there.is_null() ? "nothing" : printable(text_of(there)), printable(named)));
}

// A name is the point's key everywhere: where its params say something else, one of them lies. Points of this
// run's plan have params that are known whole; of others, which an earlier run with more batches left, the
// name gives the params it holds as "key:value".
class NameCheck {
 public:
  NameCheck(const std::filesystem::path& path, const SweepPlan& plan) : path_(path) {
    for (const SweepPoint& point : plan.points) {
      planned_[point.name] = &point.params;
    }
  }

  // Whether this run asks for the point.
  bool planned(const std::string& name) const { return planned_.contains(name); }

  void check(const std::string& name, const Json& params) const {
    const auto planned = planned_.find(name);
    if (planned == planned_.end()) {
      check_parts(name, params);
      return;
    }
    for (const auto& [key, value] : planned->second->items()) {
      const auto there = params.find(key);
      if (there == params.end() || *there != value) {
        disagree(path_, name, key, there == params.end() ? Json() : *there, text_of(value));
      }
    }
  }

 private:
  void check_parts(std::string_view name, const Json& params) const {
    for (std::string_view rest = name; !rest.empty();) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(part.size() + 1, rest.size()));
      const std::size_t colon = part.find(':');
      if (colon == std::string_view::npos) {
        continue;
      }
      const std::string key(part.substr(0, colon));
      const std::string value(part.substr(colon + 1));
      const auto there = params.find(key);
      if (there != params.end() && text_of(*there) != value) {
        disagree(path_, std::string(name), key, *there, value);
      }
    }
  }

  const std::filesystem::path& path_;
  std::map<std::string_view, const Json*> planned_;
};

// Adds the param of an earlier run's point to an axis of this run, so that it says what the file holds. A
// point without that param adds nothing.
void widen_axis(Json& axis, const std::string& name, const Json& params) {
  const auto value = params.find(name);
  if (value == params.end() || !axis.is_array() || std::ranges::find(axis, *value) != axis.end()) {
    return;
  }
  auto& values = axis.get_ref<Json::array_t&>();
  values.push_back(*value);
  if (std::ranges::all_of(values, [](const Json& entry) { return entry.is_number(); })) {
    std::ranges::sort(values);
  }
}

void widen_axes(ResultDocument& document) {
  for (auto& [name, axis] : document.sweep.axes.items()) {
    for (const MeasuredPoint& point : document.benchmarks) {
      widen_axis(axis, name, point.params);
    }
    for (const UnmeasuredPoint& point : document.unmeasured) {
      widen_axis(axis, name, point.params);
    }
  }
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string inner;
  for (const char c : word) {
    inner += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return fmt::format("'{}'", inner);
}

}  // namespace

std::string command_to_resume(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& argument : argv) {
    command += fmt::format("{}{}", command.empty() ? "" : " ", shell_word(argument));
  }
  return std::ranges::find(argv, "--resume") == argv.end() ? command + " --resume" : command;
}

bool take_over(const std::filesystem::path& path, const SweepPlan& plan, ResumeReason reason,
               ResultDocument& document) {
  if (!std::filesystem::exists(path)) {
    return false;
  }
  ResultDocument old = read_resumable(path);
  check_resumable(old, document);
  const NameCheck names(path, plan);
  for (const MeasuredPoint& point : old.benchmarks) {
    names.check(point.name, point.params);
  }
  for (const UnmeasuredPoint& point : old.unmeasured) {
    names.check(point.name, point.params);
  }
  document.benchmarks = std::move(old.benchmarks);
  // A point that may turn out differently is tried again; memory will not, and a point that this run does not
  // ask for is kept. An unsupported one may be due to the environment. An error of this run would come again.
  const bool same_run = reason == ResumeReason::device_lost;
  for (UnmeasuredPoint& point : old.unmeasured) {
    const bool unsupported = point.status == "unsupported" && (same_run || !names.planned(point.name));
    if (point.status == "oom" || unsupported || (same_run && point.status == "error")) {
      document.unmeasured.push_back(std::move(point));
    }
  }
  widen_axes(document);
  if (same_run) {
    document.sweep.lost = std::move(old.sweep.lost);
    document.sweep.state = std::move(old.sweep.state);
  }
  return true;
}

}  // namespace bench
