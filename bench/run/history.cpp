#include "bench/run/history.h"

#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/host/file_descriptor.h"
#include "bench/host/temporary_file.h"
#include "bench/host/user_folders.h"
#include "bench/json.h"
#include "bench/result/json_members.h"
#include "bench/result/json_text.h"
#include "bench/result/result_sessions.h"
#include "bench/text/quote.h"

namespace bench {

// Two numbers a point: a history holds thousands.
inline Json written_value(const RunMedian& median) {
  constexpr double kFigures = 1e6;
  return Json::array({median.median_ns, std::round(median.standard_error * kFigures) / kFigures});
}

namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "bench-history/1";

using Machines = HistoryFile::Machines;

Json to_json(const PastRun& run) {
  Json points = Json::object();
  for (const auto& [key, median] : run.points) {
    points[key] = written_value(median);
  }
  Json calibration = Json::object();
  for (const auto& [processor, times] : run.calibration) {
    calibration[processor] = {times.arithmetic_ns, times.copy_ns};
  }
  return {{"id", run.id}, {"started", run.started}, {"calibration", calibration}, {"points", points}};
}

double positive(const Field& field) {
  const double value = field.number();
  if (!(value >= 0)) {
    throw UsageError(field.path() + " is negative");
  }
  return value;
}

PastRun run_from_json(const Field& field) {
  PastRun run{.id = field.at("id").string(),
              .started = field.at("started").string(),
              .calibration = {},
              .points = {}};
  const Field calibration = field.at("calibration");
  calibration.for_each([&](const std::string& processor, const Field& times) {
    run.calibration[processor] = {.arithmetic_ns = positive(times.at(std::size_t{0})),
                                  .copy_ns = positive(times.at(std::size_t{1}))};
  });
  const Field points = field.at("points");
  points.for_each([&](const std::string& key, const Field& median) {
    run.points[key] = {.median_ns = positive(median.at(std::size_t{0})),
                       .standard_error = positive(median.at(std::size_t{1}))};
  });
  return run;
}

Json to_json(const Machines& machines) {
  Json list = Json::array();
  for (const auto& [name, runs] : machines) {
    Json entries = Json::array();
    for (const PastRun& run : runs) {
      entries.push_back(to_json(run));
    }
    list.push_back({{"machine", name}, {"runs", std::move(entries)}});
  }
  return {{"format", kFormat}, {"machines", std::move(list)}};
}

// Throws where anything makes no sense.
Machines machines_from(const std::string& text) {
  const Json json = parse_json(text, "it");
  const Field root(json);
  if (root.at("format").string() != kFormat) {
    throw UsageError("it is of another format");
  }
  Machines machines;
  const Field list = root.at("machines");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field machine = list.at(i);
    auto& [name, runs] = machines.emplace_back(machine.at("machine").string(), std::vector<PastRun>{});
    const Field entries = machine.at("runs");
    for (std::size_t run = 0; run < entries.size(); ++run) {
      runs.push_back(run_from_json(entries.at(run)));
    }
  }
  return machines;
}

// Holds the lock until it ends; a process that does not get it within a second goes on without. The lock's
// file stays: what removes it would have to know that nobody waits for it.
class Lock {
 public:
  explicit Lock(const fs::path& path) : file_(open_lock(path)) {
    constexpr int kTries = 100;
    for (int attempt = 0; file_.is_open() && attempt < kTries && !held_; ++attempt) {
      held_ = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
      if (!held_) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }
  bool held() const { return held_; }

 private:
  FileDescriptor file_;
  bool held_ = false;
};

void replace(const fs::path& path, const std::string& text) {
  remove_left_over(path);
  TemporaryFile made(path);
  made.write(text);
  made.take_place();
}

std::string text_of(const Machines& machines) {
  return to_json(machines).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Half of the runs of the machine measured longest ago, and the machine with its last.
void drop_oldest(Machines& machines) {
  auto& runs = machines.front().second;
  runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>((runs.size() + 1) / 2));
  if (runs.empty()) {
    machines.erase(machines.begin());
  }
}

void trim(PastRun& run) {
  while (run.points.size() > HistoryFile::kMostPoints) {
    run.points.erase(std::prev(run.points.end()));
  }
}

// Throws std::runtime_error where it cannot be read; none where there is none.
Machines read(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);  // an error too where it is no ordinary file
  if (error) {
    return {};
  }
  if (bytes > HistoryFile::kMostBytes) {
    throw std::runtime_error("it is too large");
  }
  std::ifstream in(path, std::ios::binary);
  return machines_from(std::string{std::istreambuf_iterator<char>(in), {}});
}

}  // namespace

std::optional<fs::path> history_file() {
  const std::optional<fs::path> folder = cache_folder();
  return folder ? std::optional(*folder / "history.json") : std::nullopt;
}

std::vector<PastRun> HistoryFile::runs(const std::string& machine) {
  try {
    for (auto& [name, runs] : read(path_)) {
      if (name == machine) {
        return std::move(runs);
      }
    }
  } catch (const std::exception& failure) {
    problem_ = fmt::format("the history of runs in {} could not be read: {}", printable(path_.string(), 4096),
                           printable(failure.what()));
  }
  return {};
}

HistoryFile::Machines HistoryFile::read_or_put_aside() {
  try {
    return read(path_);
  } catch (const std::exception& failure) {
    const fs::path aside = path_.string() + ".damaged";
    std::error_code error;
    fs::rename(path_, aside, error);
    problem_ =
        fmt::format("the history of runs could not be read ({}); it is kept as {}, and a new one begins",
                    printable(failure.what()), printable(aside.string(), 4096));
    return {};
  }
}

void HistoryFile::add(const std::string& machine, PastRun run) {
  std::error_code error;
  fs::create_directories(path_.parent_path(), error);
  const Lock lock(path_.string() + ".lock");
  if (!lock.held()) {
    return;
  }
  trim(run);
  Machines machines = read_or_put_aside();
  std::vector<PastRun> runs;
  if (const auto known = std::ranges::find(machines, machine, [](const auto& entry) { return entry.first; });
      known != machines.end()) {
    runs = std::move(known->second);
    machines.erase(known);
  }
  std::erase_if(runs, [&](const PastRun& known) { return known.id == run.id; });
  runs.push_back(std::move(run));
  if (runs.size() > kMostRuns) {
    runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(kMostRuns));
  }
  machines.emplace_back(machine, std::move(runs));
  if (machines.size() > kMostMachines) {
    machines.erase(machines.begin());
  }
  std::string text = text_of(machines);
  while (text.size() > kMostBytes) {
    drop_oldest(machines);
    text = text_of(machines);
  }
  replace(path_, text);
}

}  // namespace bench
