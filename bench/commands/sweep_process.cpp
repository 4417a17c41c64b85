#include "bench/commands/sweep_process.h"

#include <chrono>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/child_process.h"
#include "bench/host/interrupt.h"
#include "bench/run/result_folder.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// The last line that says something.
std::string last_line(const fs::path& log) {
  std::ifstream file(log);
  std::string last;
  for (std::string line; std::getline(file, line);) {
    last = line.find_first_not_of(" \t\r") == std::string::npos ? last : line;
  }
  constexpr std::size_t kLongest = 300;
  return printable(last, kLongest);
}

ProcessEnd wait_for(ChildProcess& child, const Clock& clock, const std::function<void()>& tick) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  bool told = false;
  for (;;) {
    if (const std::optional<ProcessEnd> end = child.ended()) {
      return *end;
    }
    if (interrupted() && !std::exchange(told, true)) {
      child.interrupt();
    }
    tick();
    clock.sleep_until(clock.now() + kPause);
  }
}

// A run with points in error is a result; one that was refused is a mistake to mend.
void check(const ProcessEnd& end, const SweepProcess& process, const fs::path& log) {
  if (end.signal == 0 && (end.code == static_cast<int>(ExitCode::done) ||
                          end.code == static_cast<int>(ExitCode::inconclusive))) {
    return;
  }
  const std::string how = end.signal != 0 ? fmt::format("was ended by signal {}", end.signal)
                                          : fmt::format("ended with {}", end.code);
  const std::string last = last_line(log);
  throw UsageError(fmt::format("{}: {} {}{}; its output is in {}", process.who, quote(process.program), how,
                               last.empty() ? "" : fmt::format(" ({})", last), log.string()));
}

}  // namespace

std::optional<std::string> run_sweep_process(const SweepProcess& process, const Clock& clock,
                                             const std::function<void()>& tick) {
  std::error_code refused;
  fs::create_directories(process.folder, refused);
  if (refused) {
    throw UsageError(fmt::format("--out: {} cannot be made ({}); give another folder",
                                 quote(process.folder.string()), refused.message()));
  }
  const fs::path log = process.folder / "log.txt";
  std::vector<std::string> words{process.program};
  words.insert(words.end(), process.words.begin(), process.words.end());
  words.insert(words.end(), {"--out", process.folder.string(), "--no-plot"});
  std::optional<ChildProcess> child;
  try {
    child.emplace(words, process.environment, log);
  } catch (const std::runtime_error& error) {
    throw UsageError(
        fmt::format("{}: {} cannot be started ({})", process.who, quote(process.program), error.what()));
  }
  const ProcessEnd end = wait_for(*child, clock, tick);
  if (interrupted()) {
    return std::nullopt;
  }
  check(end, process, log);
  std::vector<std::string> files;
  std::error_code error;  // a program may have removed its folder
  for (const auto& entry : fs::directory_iterator(process.folder, error)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path().string());
    }
  }
  if (files.size() != 1) {
    throw UsageError(
        fmt::format("{}: {} wrote {} to {}; give a bench program and one sweep; its output is in {}",
                    process.who, quote(process.program),
                    files.empty() ? "no result file" : fmt::format("{} result files", files.size()),
                    quote(process.folder.string()), log.string()));
  }
  return files.front();
}

void make_new_folder(const fs::path& folder) {
  std::error_code error;
  const bool exists = fs::exists(folder, error);
  if (exists && (!fs::is_directory(folder, error) || !fs::is_empty(folder, error))) {
    throw UsageError(
        fmt::format("--out: {} {}; give a new or empty folder", quote(folder.string()),
                    fs::is_directory(folder, error) ? "holds files already" : "is not a folder"));
  }
  fs::create_directories(folder, error);
  if (error) {
    throw UsageError(fmt::format("--out: {} cannot be made ({}); give a folder that can",
                                 quote(folder.string()), error.message()));
  }
}

fs::path dated_folder(const std::string& command) {
  const ResultFolder parent = default_result_folder();
  if (parent.path.empty()) {
    throw UsageError(fmt::format("{}: {}", command, parent.note));
  }
  const std::string name = fmt::format("{}/{}-{:%Y-%m-%dT%H-%M-%S}", parent.path.string(), command,
                                       fmt::localtime(std::time(nullptr)));
  fs::path folder = name;
  std::error_code error;
  for (int other = 2; fs::exists(folder, error); ++other) {
    folder = fmt::format("{}-{}", name, other);
  }
  return folder;
}

}  // namespace bench
