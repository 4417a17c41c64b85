// The runs that this machine is known by, in a file of the user's cache folder: their calibrations and their
// points' last medians.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/result/between_runs.h"

namespace bench {

// Its place; nullopt where the user has no cache folder.
std::optional<std::filesystem::path> history_file();

// Any number of processes may use the file at the same time: it is replaced as a whole, under a lock. Nothing
// here throws: a history that cannot be read is none, and one that cannot be written stays as it is.
class HistoryFile {
 public:
  static constexpr std::size_t kMostRuns = 30;              // of a machine; the oldest is dropped first
  static constexpr std::size_t kMostMachines = 8;           // the one measured longest ago is dropped first
  static constexpr std::size_t kMostPoints = 2'000;         // of a run
  static constexpr std::uintmax_t kMostBytes = 16U << 20U;  // a larger file is damaged

  explicit HistoryFile(std::filesystem::path path) : path_(std::move(path)) {}

  // Oldest first; none where the file is damaged, which stays as it is.
  std::vector<PastRun> runs(const std::string& machine);
  // In place of one of the same id. A damaged file is put aside, as "<name>.damaged".
  void add(const std::string& machine, PastRun run);

  // One sentence on what is wrong with the file; empty: nothing.
  const std::string& problem() const { return problem_; }

  // The last one was measured last.
  using Machines = std::vector<std::pair<std::string, std::vector<PastRun>>>;

 private:
  Machines read_or_put_aside();

  std::filesystem::path path_;
  std::string problem_;
};

}  // namespace bench
