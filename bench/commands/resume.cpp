#include "bench/commands/resume.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// "process id, points in error, nanoseconds". The id tells a successor from other programs that inherit the
// environment: it stays the same.
constexpr const char* kVariable = "BENCH_CONTINUES";

constexpr const char* kStartOver = "run without --resume to start over (the old file is kept)";

ResultDocument read_resumable(const std::filesystem::path& path) {
  try {
    return read_result(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--resume: {}; accepted is a whole {} file; {}", error.what(), kResultSchema,
                                 kStartOver));
  }
}

void require_same(std::string_view what, const std::string& old, const std::string& fresh) {
  const auto shown = [](const std::string& value) { return value.empty() ? "nothing" : printable(value); };
  if (old != fresh) {
    throw UsageError(fmt::format("--resume: the result was measured with another {}: {} there, {} now; {}",
                                 what, shown(old), shown(fresh), kStartOver));
  }
}

// A result of another graph that had the file's name has another name itself, by the graph's hash.
void refuse_other_graph(const std::filesystem::path& path, const WorkloadFile& file) {
  const std::string wanted = path.filename().string();
  const std::string mark = fmt::format("-{}-", file.hash);
  const std::size_t at = wanted.rfind(mark);
  if (at == std::string::npos) {
    return;
  }
  const std::string head = wanted.substr(0, at + 1);
  const std::string tail = wanted.substr(at + mark.size() - 1);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != wanted.size() || !name.starts_with(head) || !name.ends_with(tail)) {
      continue;
    }
    const std::string hash = name.substr(head.size(), file.hash.size());
    if (hash.find_first_not_of("0123456789abcdef") == std::string::npos) {
      throw UsageError(
          fmt::format("--resume: the graph of {} has changed: {} was measured with {}, now it is "
                      "{}; {}",
                      quote(file.path), path_in_words(entry.path()), hash, file.hash, kStartOver));
    }
  }
}

// Every name that either side has, `ignored` left out.
void require_same_values(std::string_view what, const std::map<std::string, std::string>& old,
                         const std::map<std::string, std::string>& fresh, std::string_view ignored = {}) {
  const auto value_in = [](const auto& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
  std::map<std::string, std::string> all = old;
  all.insert(fresh.begin(), fresh.end());
  for (const auto& [name, value] : all) {
    if (name != ignored) {
      require_same(fmt::format("{} {}", what, printable(name)), value_in(old, name), value_in(fresh, name));
    }
  }
}

// Whether the points of `old` may be kept next to points measured now.
void require_same_run(const ResultDocument& old, const ResultDocument& fresh) {
  require_same("sweep", old.sweep.name, fresh.sweep.name);
  require_same("workload", old.sweep.workload, fresh.sweep.workload);
  require_same("mode", old.sweep.mode, fresh.sweep.mode);
  require_same_values("option", old.sweep.workload_options, fresh.sweep.workload_options);
  require_same("seed", std::to_string(old.context.seed), std::to_string(fresh.context.seed));
  require_same("device", old.context.device.id, fresh.context.device.id);
  require_same("device", old.context.device.name, fresh.context.device.name);
  require_same("device", old.context.detail("uuid"), fresh.context.detail("uuid"));
  require_same("machine", old.context.host.cpu, fresh.context.host.cpu);
  require_same("number of usable cores", std::to_string(old.context.host.usable_cores),
               std::to_string(fresh.context.host.usable_cores));
  // A commit changes with every word of the documentation; the version tells what measures differently.
  require_same_values("version of", old.context.software, fresh.context.software, "git");
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[noreturn]] void disagree(const std::filesystem::path& path, const std::string& name, const std::string& key,
                           const Json& there, const std::string& named) {
  throw UsageError(
      fmt::format("--resume: {}: the point {} has {} {} in its params, but this run means {} by that name: "
                  "it was measured with other options, or the file was edited; {}",
                  path_in_words(path), quote(name), printable(key),
                  there.is_null() ? "nothing" : printable(text_of(there)), printable(named), kStartOver));
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
    for (const Point& point : measured_points(document)) {
      widen_axis(axis, name, point.params);
    }
    for (const UnmeasuredPoint& point : document.unmeasured) {
      widen_axis(axis, name, point.params);
    }
  }
}

// $'…', in which no byte reaches the terminal as it is.
std::string escaped_word(const std::string& word) {
  std::string inner;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr unsigned char kDelete = 0x7f;
    inner += byte < ' ' || byte >= kDelete ? fmt::format("\\x{:02x}", byte)
             : c == '\'' || c == '\\'      ? std::string{'\\', c}
                                           : std::string(1, c);
  }
  return fmt::format("$'{}'", inner);
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  if (printable(word, word.size()) != word) {
    return escaped_word(word);
  }
  std::string inner;
  for (const char c : word) {
    inner += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return fmt::format("'{}'", inner);
}

}  // namespace

std::string shell_command(const std::vector<std::string>& argv) {
  std::string command;
  for (const std::string& argument : argv) {
    command += fmt::format("{}{}", command.empty() ? "" : " ", shell_word(argument));
  }
  return command;
}

std::string command_to_resume(const std::vector<std::string>& argv) {
  const std::string command = shell_command(argv);
  return std::ranges::find(argv, "--resume") == argv.end() ? command + " --resume" : command;
}

bool take_over(const std::filesystem::path& path, const SweepPlan& plan, ResumeReason reason,
               ResultDocument& document) {
  if (!std::filesystem::exists(path)) {
    if (reason == ResumeReason::requested && document.context.workload_file) {
      refuse_other_graph(path, *document.context.workload_file);
    }
    return false;
  }
  ResultDocument old = read_resumable(path);
  require_same_run(old, document);
  const NameCheck names(path, plan);
  for (const Point& point : measured_points(old)) {
    names.check(point.name, point.params);
  }
  for (const UnmeasuredPoint& point : old.unmeasured) {
    names.check(point.name, point.params);
  }
  set_modelled_points(old, {});
  document.points = std::move(old.points);
  document.context.run_id = old.context.run_id;
  std::ranges::move(document.sessions, std::back_inserter(old.sessions));
  document.sessions = std::move(old.sessions);
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

std::optional<Continuation> take_continuation() {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr) {
    return std::nullopt;
  }
  std::istringstream fields(text);
  std::int64_t process = 0;
  std::size_t errors = 0;
  std::int64_t started_ns = 0;
  fields >> process >> errors >> started_ns;
  unsetenv(kVariable);
  if (!fields || process != getpid()) {
    return std::nullopt;
  }
  const auto since_boot =
      std::chrono::duration_cast<Clock::time_point::duration>(std::chrono::nanoseconds(started_ns));
  return Continuation{errors, Clock::time_point(since_boot)};
}

std::string restart(const std::vector<std::string>& argv, const Continuation& continuation) {
  const std::chrono::nanoseconds started = continuation.started.time_since_epoch();
  const std::string state = fmt::format("{} {} {}", getpid(), continuation.errors, started.count());
  setenv(kVariable, state.c_str(), 1);
  const std::string why_not = start_again(argv);
  unsetenv(kVariable);
  return why_not;
}

std::string start_again(const std::vector<std::string>& argv) {
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // execv changes none of them
  }
  arguments.push_back(nullptr);
  std::cout.flush();
  std::fflush(nullptr);
  const InterruptsBlocked blocked;  // later signals reach the fresh process
  if (interrupted()) {
    return "the run was interrupted";
  }
  execv("/proc/self/exe", arguments.data());
  return std::generic_category().message(errno);
}

}  // namespace bench
