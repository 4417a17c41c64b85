// What several ranks give, from measured steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/evaluate/host_limit.h"
#include "bench/result/result.h"
#include "bench/stats/estimate.h"
#include "bench/stats/paired_ratio.h"
#include "bench/sweep.h"
#include "sweeps/cards/library_memory.h"
#include "sweeps/cards/workload.h"
#include "sweeps/ranks/setup.h"

namespace bench::sweeps {

struct CardsPoint : CardsParams {
  std::string name;
  Estimate ns;  // of a step, of the slowest rank
  RoundTimes rounds;
  std::string mark;  // of the table, where it tells less
  // Medians over the samples.
  double exposed_ns = 0;                            // that even the rank that waits least waits for gradients
  std::vector<double> own_ns{};                     // of each rank, without waiting
  std::vector<std::vector<double>> own_by_round{};  // by rank
  // On cards, of the rank where it is the longest: see RankSteps. 0: not known.
  double queued_ns = 0;
  double copied_ns = 0;
  std::vector<std::int64_t> plan_bytes{}, peak_bytes{}, activation_bytes{};  // of each rank
};
// By ranks, then by samples and micro-batches.
std::vector<CardsPoint> cards_points(const ResultDocument& document);

// The rank that computes longest, and by how much longer than the others' median: 0.1 is 10 %, with the
// interval by rounds.
struct SlowestRank {
  std::size_t rank = 0;
  double own_ns = 0;
  double longer = 0;
  std::optional<Interval> ci95{};
};
SlowestRank slowest_rank(const CardsPoint& point);

// Throughput over that of a point of one rank, by rounds.
Estimate speedup(const CardsPoint& point, const CardsPoint& alone);
// The point of one rank that it is compared with: with the same batch a rank, or (strong scaling) in all;
// nullptr: there is none.
const CardsPoint* alone_for(const CardsPoint& point, const std::vector<CardsPoint>& all, bool strong);

// "57 ± 2 samples/s"; "1.58 times (1.34 to 1.87)".
std::string per_second(const CardsPoint& point);
std::string times_in_words(const Estimate& speedup);

// Adds the memory of one rank alone to a finding on that of several: ", one alone 99.9 MiB", for its claim;
// empty where it was not measured.
std::string memory_alone(Finding& finding, const CardsPoint* alone);

struct CardsSetup {
  RankSetup ranks;
  int threads = 1;  // of each rank
  bool strong = false;
  bool split_layers = false;          // the batch is of all ranks then
  std::optional<HostLimit> loader{};  // of the first host, measured by the workers sweep
  LibraryMemory library{};
  std::optional<std::int64_t> whole_optimizer{};  // see planned.h
};

std::vector<Finding> cards_findings(const ResultDocument& document, const CardsSetup& setup);
std::vector<TextTable> cards_tables(const ResultDocument& document, const CardsSetup& setup);
void choose_cards_headlines(std::vector<Finding>& findings);

}  // namespace bench::sweeps
