// What a cards sweep answers, decided once from its points: how many ranks pay, what limits them, which rank
// is slow, and whether loading feeds them. Findings, tables and charts put it into words.
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

  Estimate per_s() const { return inverse(ns, samples() * 1e9); }  // samples of all ranks
};
// By ranks, then by samples and micro-batches.
std::vector<CardsPoint> cards_points(const ResultDocument& document);

// Throughput over that of a point of one rank, by rounds.
Estimate speedup(const CardsPoint& point, const CardsPoint& alone);
// The point of one rank that it is compared with: with the same batch a rank, or (strong scaling) in all;
// nullptr: there is none.
const CardsPoint* alone_for(const CardsPoint& point, const std::vector<CardsPoint>& all, bool strong);
// By rank: the share of a step in which it computes nothing.
std::vector<double> idle_shares(const CardsPoint& point);
// The share of a step in which each rank works on nothing, because the pipeline fills and empties, where all
// stages take as long.
double pipeline_idle(int stages, std::int64_t micro_batches);

struct CardsSetup {
  RankSetup ranks;
  int threads = 1;  // of each rank
  bool strong = false;
  bool split_layers = false;          // the batch is of all ranks then
  std::optional<HostLimit> loader{};  // of the first host, measured by the workers sweep
  LibraryMemory library{};
  std::optional<std::int64_t> whole_optimizer{};  // see planned.h

  bool takes_turns() const { return ranks.takes_turns(threads); }
};
// As a file tells it: without loader, library and whole optimizer. Throws Json::exception.
CardsSetup cards_setup_in(const ResultDocument& document);

// Ranks pay as long as each that is added gives at least half of what the first gives. Layers over ranks pay
// where a step is significantly faster than one rank's.
struct PayingRanks {
  const CardsPoint* best = nullptr;  // of layers the fastest, whether or not it pays
  Estimate times{.value = 1};        // its throughput over one rank's
  // The first with more ranks than `best` of which the intervals do not decide; nullptr: there is none. Of
  // layers `best`.
  const CardsPoint* open = nullptr;
  Estimate more_times{};  // of `open`; where none is open and one rank pays, of the fewest ranks
  double would_pay = 0;   // of more_times
  int ranks = 1;          // that pay, where none is open
};

struct CardsLimit {
  enum class Kind {
    shared_cores,  // ranks take turns, so that waiting and computing are not told apart
    bus,           // of cards
    launch,        // of cards
    nothing,       // that is lost
    undecided,
    waiting,    // for gradients
    computing,  // longer than alone
  };
  Kind kind = Kind::undecided;
  double longest_ns = 0;  // on the bus, or launching
  double lost_ns = 0;     // of a step, compared with one rank's
  double part_ns = 0;     // of these, waiting or computing
  Estimate share{};       // of lost_ns: waiting
};

// The rank that computes longest, and by how much longer than the others' median: 0.1 is 10 %, with the
// interval by rounds.
struct SlowestRank {
  std::size_t rank = 0;
  double own_ns = 0;
  double longer = 0;
  std::optional<Interval> ci95{};

  bool is_sure() const { return ci95 && ci95->low > 0; }
  // Longer than ranks that are alike do.
  bool is_unbalanced() const;
};

// What all ranks of the first host read together, against what its loader gives.
struct LoaderNeed {
  double needed_per_s = 0;
  std::optional<HostLimit> loader{};  // none: not measured
  double workers = 0;                 // for all ranks together

  bool limits() const { return loader && needed_per_s > loader->per_s; }
};

// Of several ranks.
struct CardsStepAnswer {
  const CardsPoint* point = nullptr;
  const CardsPoint* alone = nullptr;  // see alone_for()
};

// Refers to the points, which have to outlive it.
struct CardsAnswer {
  std::vector<CardsStepAnswer> steps{};  // in the order of the points
  // Of the largest batch that one rank ran too, else of the largest: the most ranks; of layers over ranks the
  // fastest. nullptr: no point of several ranks.
  const CardsPoint* most = nullptr;
  const CardsPoint* alone = nullptr;         // that `most` is compared with; nullptr: not measured
  std::vector<const CardsPoint*> scaling{};  // of that batch, by growing ranks; none of layers
  std::optional<PayingRanks> pays{};
  std::optional<CardsLimit> limit{};  // of layers none: their pipeline limits
  std::optional<SlowestRank> slowest{};
  std::optional<LoaderNeed> loader{};
};
CardsAnswer answer_of(const std::vector<CardsPoint>& all, const CardsSetup& setup);

std::vector<Finding> cards_findings(const ResultDocument& document, const CardsSetup& setup);
std::vector<TextTable> cards_tables(const ResultDocument& document, const CardsSetup& setup);
void choose_cards_headlines(const CardsAnswer& answer, const CardsSetup& setup,
                            std::vector<Finding>& findings);

}  // namespace bench::sweeps
