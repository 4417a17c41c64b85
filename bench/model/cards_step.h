// A step of several cards that train together, predicted from one card's: the one rule behind `predict
// --cards`, `evaluate --cards` and `advise --cards`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/memory.h"
#include "bench/model/parallel_step.h"
#include "bench/stats/ratio.h"

namespace bench {

// Two ranks of the result that has one card's step: what they took over their replay takes the place of what
// published steps took.
struct TwoRanks {
  double step_ns = 0;
  double deviation = 0;  // of its logarithm
  std::string where;     // see place_of_cards()
};

// So many cards, each with this batch.
struct CardsStep {
  std::int64_t cards = 1;  // 1: the one that the others are predicted from
  std::string dtype{};
  std::int64_t batch = 1;
  double step_ns = 0;
  Interval step80_ns{};         // the one card's own interval is in it, where that is known
  Interval slowdown80{1, 1};    // of the step over one card's, in which the one card's error cancels
  double one_ns = 0;            // one card's step
  std::int64_t accumulate = 1;  // micro-batches of a step
  ReplayedStep replay{};
  std::int64_t peak = 0;          // bytes of a card, tracked
  MemoryByCategory memory{};      // at the peak
  Interval peak80{};              // empty where it was measured
  std::int64_t bucket = 0;        // bytes of gradients that are added up together, at least
  std::int64_t largest_part = 0;  // bytes of the timeline's
  bool on_cpu = false;            // where all-reduces do not overlap with the backward pass
  Interval loss80{1, 1};          // of a step over its replay
  double added_deviation = 0;     // of the step's logarithm, by the link and the loss
  // Nobody measured what such a step loses beyond its replay: it takes the low end of step80_ns at least,
  // where one card takes one_ns, and the other end is none.
  bool at_least = false;
  bool is_extrapolated = false;  // gradients make it longer than they made the steps that its loss is from

  // Over one card, and of each card; samples a second. The value to quote is likely or, of a step that takes
  // `at_least` so long, a bound.
  Ratio speedup() const {
    const auto all = static_cast<double>(cards);
    return quoted(all * one_ns / step_ns, {all / slowdown80.high, all / slowdown80.low});
  }
  Ratio efficiency() const { return quoted(one_ns / step_ns, {1 / slowdown80.high, 1 / slowdown80.low}); }
  Ratio per_s() const {
    const double samples = static_cast<double>(cards * batch) * 1e9;
    return quoted(likely_per_s(), {samples / step80_ns.high, samples / step80_ns.low});
  }
  double likely_per_s() const { return static_cast<double>(cards * batch) / step_ns * 1e9; }
  double quoted_ns() const { return at_least ? step80_ns.low : step_ns; }

  // By which gradients make the step longer: of the replay, grown with it to the step.
  double exposed_ns() const {
    return cards == 1 || at_least ? replay.exposed_ns : replay.exposed_ns * step_ns / replay.step_ns;
  }

 private:
  Ratio quoted(double likely, const Interval& interval80) const {
    return {.value = at_least ? interval80.high : likely,
            .interval = interval80,
            .level = kPredictedLevel,
            .is_bound = at_least};
  }
};

// What a step took over its replay.
struct CardsLoss : ParallelLoss {
  std::string measured{};  // "batch 16 in fp32": by two ranks of the result; empty: by published steps

  bool operator==(const CardsLoss&) const = default;
};

struct CurvePoint;

// Of one card's step of training, which has a timeline: its own, and that of so many cards. `link` as it
// joins such cards: see CardsLink::of_cards(). Adds to `losses` what it used, where it is new.
CardsStep step_of_one(const CurvePoint& one, const std::string& dtype, bool on_cpu, const CardsLink& link);
CardsStep cards_step(const CurvePoint& one, const std::string& dtype, bool on_cpu, std::int64_t cards,
                     const CardsLink& link, const LinkCatalogue& catalogue, std::vector<CardsLoss>& losses);

}  // namespace bench
