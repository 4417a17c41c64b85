// Simulated runs of a sweep under several kinds of noise, for the benchmark of the comparison.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/stats/comparison.h"

namespace bench::gate {

// Round times of measured points, each over its point's median.
struct RecordedRounds {
  std::vector<std::vector<double>> points;
};

// Reads results/reference. Points with fewer than four rounds are left out.
RecordedRounds read_recorded(const std::string& file);

// Noise of a sweep's times. A standard deviation is that of a logarithm.
struct NoiseModel {
  std::string name;
  // A round's time around its run's level, and a run's level of a point around the point's.
  double round_sd = 0.005;
  double run_sd = 0.01;
  bool lognormal = false;  // levels and rounds are 1 + sd·exp(z), z standard normal, not exp(sd·z)
  double phi = 0;          // correlation of one round with the next
  bool carried = false;    // also from one run's last round to the next run's first
  // A round is slow with this chance, by this factor; or all rounds of a run's point are.
  double slow_share = 0;
  double slow_by = 0.10;
  bool whole_runs = false;
  std::vector<double> run_sds{};  // of the points in turn, instead of run_sd
  double shift_sd = 0;            // of a run, common to all points
  double drift = 0;               // from -drift at the first run to +drift at the last, common to all points
  enum class Calibration { none, shares, independent } calibration = Calibration::none;
  bool in_turn = false;  // base and next alternate in time, A B B A; else all base runs come first
  std::shared_ptr<const RecordedRounds> recorded{};  // rounds are drawn from these instead
  bool together = false;  // the same recorded rounds for all points, which keeps what they share
};

struct Design {
  int points = 20;
  int runs = 5;       // of the next side
  int base_runs = 0;  // 0: as many
  int rounds = 10;
  bool paired = false;
  int history = 0;  // earlier runs
};

// Logarithms by which the next side is slower: one of its points, and all of them.
struct Effects {
  double one = 0;
  double all = 0;
  int point = 0;  // the one
};

RunsToCompare simulate(const NoiseModel& model, const Design& design, const Effects& effects,
                       std::uint64_t seed);

}  // namespace bench::gate
