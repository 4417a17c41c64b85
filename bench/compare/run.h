// A run as a comparison needs it: one result file, read and checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"

namespace bench {

struct RunPoint {
  std::string name;
  std::string key{};  // in the machine's history: see PointKeys
  Json params;
  double median_ns = 0;     // median of its rounds' medians
  std::int64_t rounds = 0;  // with samples
  double items_per_step = 0;
  std::int64_t planned_bytes = 0;  // at the peak of a step
  std::int64_t tracked_bytes = 0;
  std::int64_t driver_bytes = 0;
  Work work;
  Algorithms algorithms{};
  std::vector<std::string> flags;
  bool mixed_sessions = false;
  std::optional<double>
      stall{};  // share of a step that the consumer waits for data, where loaders were measured
};

struct ComparedRun {
  std::string path;      // printable
  std::string identity;  // the same in two files of one run: its id, or its content where it has none
  RunContext context;
  std::vector<Session> sessions;
  SweepDescription sweep;  // without its state
  std::vector<RunPoint> points;
  std::vector<UnmeasuredPoint> unmeasured;
  // Logarithms of the calibrations' times, medians over the rounds: "host", "device".
  std::map<std::string, double> calibrations;
  std::optional<double> clock_mhz{};  // the device's, median over the rounds
};

ComparedRun compared_run(const ResultDocument& document, const std::filesystem::path& path);

// Reads the files, several at a time. Throws UsageError, as read_result(), for the first in order that cannot
// be read.
std::vector<ComparedRun> read_runs(const std::vector<std::string>& paths);

}  // namespace bench
