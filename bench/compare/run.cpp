#include "bench/compare/run.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/between_runs.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/stats/statistics.h"
#include "bench/text/fingerprint.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Tells files apart.
class ContentHash {
 public:
  void add(std::string_view text) {
    hash_.add(text);
    hash_.add(static_cast<unsigned char>(0xFF));
  }
  void add(std::int64_t value) { hash_.add_bytes_of(static_cast<std::uint64_t>(value)); }
  std::string text() const { return fmt::format("content {:016x}", hash_.value()); }

 private:
  Fnv1a hash_;
};

std::string identity_of(const ResultDocument& document) {
  ContentHash hash;
  hash.add(document.sweep.name);
  hash.add(document.sweep.workload);
  if (!document.context.run_id.empty()) {  // a run writes a file for each sweep
    hash.add(document.context.run_id);
    return hash.text();
  }
  for (const Point& point : measured_points(document)) {
    hash.add(point.name);
    for (const std::int64_t sample : point.samples_ns) {
      hash.add(sample);
    }
  }
  return hash.text();
}

// Stall by point: what the consumer of a loader waits is what is missing to full utilisation.
std::unordered_map<std::string, double> stalls_of(const SweepDescription& sweep) {
  std::unordered_map<std::string, double> stalls;
  const auto measured = sweep.state.find("measured");
  if (measured == sweep.state.end() || !measured->is_array()) {
    return stalls;
  }
  for (const Json& row : *measured) {
    if (!row.is_object()) {
      continue;
    }
    const auto name = row.find("name");
    const auto utilisation = row.find("au");
    if (name == row.end() || !name->is_string() || utilisation == row.end() || !utilisation->is_number()) {
      continue;
    }
    const double share = utilisation->get<double>();
    if (share > 0 && share <= 1) {
      stalls[name->get<std::string>()] = 1 - share;
    }
  }
  return stalls;
}

RunPoint run_point(const Point& point) {
  const std::vector<double> medians = round_medians(point);
  return {.name = point.name,
          .params = point.params,
          .median_ns = medians.empty() ? 0 : median(medians),
          .rounds = std::ssize(medians),
          .items_per_step = point.items_per_step,
          .planned_bytes = point.memory.peak_predicted,
          .tracked_bytes = point.memory.peak_measured,
          .driver_bytes = point.memory.driver_used,
          .work = point.work,
          .algorithms = point.algorithms,
          .flags = point.validity.flags,
          .mixed_sessions = std::ranges::any_of(point.rounds, [&](const MeasuredRound& round) {
            return round.session != point.rounds.front().session;
          })};
}

// The mean of the logarithms of arithmetic and copy, each the median over all rounds.
std::map<std::string, double> calibrations_of(const ResultDocument& document) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> readings;
  for (const Point& point : measured_points(document)) {
    for (const MeasuredRound& round : point.rounds) {
      for (const auto& [name, calibration] : round.calibration) {
        if (calibration.arithmetic_ns > 0 && calibration.copy_ns > 0) {
          readings[name].first.push_back(calibration.arithmetic_ns);
          readings[name].second.push_back(calibration.copy_ns);
        }
      }
    }
  }
  std::map<std::string, double> calibrations;
  for (const auto& [name, times] : readings) {
    calibrations[name] = (std::log(median(times.first)) + std::log(median(times.second))) / 2;
  }
  return calibrations;
}

std::optional<double> clock_of(const ResultDocument& document) {
  std::vector<double> clocks;
  for (const Point& point : measured_points(document)) {
    for (const MeasuredRound& round : point.rounds) {
      if (round.clock_mhz) {
        clocks.push_back(*round.clock_mhz);
      }
    }
  }
  return clocks.empty() ? std::nullopt : std::optional(median(clocks));
}

}  // namespace

ComparedRun compared_run(const ResultDocument& document, const std::filesystem::path& path) {
  if (is_predicted(document)) {
    throw NotComparable(
        fmt::format("{} was predicted for {}, which is not here: nothing of it was measured; "
                    "compare measured results, or put devices side by side with bench evaluate",
                    path_in_words(path), printable(document.context.device.name)));
  }
  ComparedRun run{.path = path_in_words(path),
                  .identity = identity_of(document),
                  .context = document.context,
                  .sessions = document.sessions,
                  .sweep = document.sweep,
                  .points = {},
                  .unmeasured = document.unmeasured,
                  .calibrations = calibrations_of(document),
                  .clock_mhz = clock_of(document)};
  run.sweep.state = Json::object();
  run.points.reserve(measured_points(document).size());
  const std::unordered_map<std::string, double> stalls = stalls_of(document.sweep);
  const std::optional<PointKeys> keys =
      document.sessions.empty() ? std::nullopt : std::optional(PointKeys(document, document.sessions.back()));
  for (const Point& point : measured_points(document)) {
    RunPoint& added = run.points.emplace_back(run_point(point));
    added.key = keys ? keys->of(point) : "";
    if (const auto stall = stalls.find(point.name); stall != stalls.end()) {
      added.stall = stall->second;
    }
  }
  return run;
}

std::vector<ComparedRun> read_runs(const std::vector<std::string>& paths) {
  std::vector<ComparedRun> runs(paths.size());
  std::vector<std::exception_ptr> errors(paths.size());
  std::atomic<std::size_t> next = 0;
  const auto read = [&] {
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      try {
        runs[i] = compared_run(read_result(paths[i]), paths[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  // Each file takes tens of times its size while it is read.
  constexpr std::size_t kMostAtOnce = 4;
  const std::size_t cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min({cores, paths.size(), kMostAtOnce}); ++i) {
      others.emplace_back(read);
    }
    read();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
  return runs;
}

}  // namespace bench
