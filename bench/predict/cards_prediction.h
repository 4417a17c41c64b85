// `bench predict --cards`: training on several cards, from a result of one card.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/model/links.h"
#include "bench/model/parallel_step.h"
#include "bench/result/result.h"
#include "bench/stats/estimate.h"

namespace bench {

struct CardsRequest {
  std::string path;  // of the result
  std::vector<std::int64_t> cards;
  CardsLink link;
  std::vector<std::string> dtypes{};    // empty: all
  std::vector<std::int64_t> batches{};  // of a card; empty: all
};

// So many cards, each with this batch.
struct CardsStep {
  std::int64_t cards = 1;  // 1: as measured
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
  std::int64_t bucket = 0;        // bytes of gradients that are added up together, at least
  std::int64_t largest_part = 0;  // bytes of the timeline's
  bool on_cpu = false;            // where all-reduces do not overlap with the backward pass
  Interval loss80{1, 1};          // of a step over its replay
  // Nobody measured what such a step loses beyond its replay: it takes the low end of step80_ns at least, and
  // the other end is none.
  bool at_least = false;
  bool is_extrapolated = false;  // gradients make it longer than they made the steps that its loss is from

  double efficiency() const { return one_ns / step_ns; }
  Interval efficiency80() const { return {1 / slowdown80.high, 1 / slowdown80.low}; }
  double per_s() const { return static_cast<double>(cards * batch) / step_ns * 1e9; }
  Interval per_s80() const {
    const double samples = static_cast<double>(cards * batch) * 1e9;
    return {samples / step80_ns.high, samples / step80_ns.low};
  }

  // By which gradients make the step longer: of the replay, grown with it to the step.
  double exposed_ns() const {
    return cards == 1 || at_least ? replay.exposed_ns : replay.exposed_ns * step_ns / replay.step_ns;
  }

  // The figures to quote: the likely ones or, of a step that takes `at_least` so long, their bounds.
  double quoted_ns() const { return at_least ? step80_ns.low : step_ns; }
  double quoted_efficiency() const { return at_least ? efficiency80().high : efficiency(); }
  double quoted_per_s() const { return at_least ? per_s80().high : per_s(); }
};

// What a step took over its replay.
struct CardsLoss : ParallelLoss {
  std::string measured{};  // "batch 16 in fp32": by two ranks of the result; empty: by published steps

  bool operator==(const CardsLoss&) const = default;
};

struct CardsPrediction {
  std::string workload;
  std::string device;  // that one card was measured on
  bool overlap = true;
  std::string link{};                   // in words
  std::string link_source{};            // where its rates come from
  std::vector<std::string> cautions{};  // sentences on the link
  std::vector<CardsLoss> losses{};      // that were used
  std::vector<CardsStep> steps{};       // by dtype and batch, then cards growing, one first
  std::vector<std::string> machines{};  // sentences, where several were measured
};

// Whether it has a training step to predict from.
bool holds_timeline(const ResultDocument& document);

// Where the result has a step of two ranks too, that over its replay takes the place of what published steps
// took. Throws UsageError naming --from and the file where the result holds no training step with a timeline,
// and --dtype or --batch where no such point is left.
CardsPrediction predict_cards(const ResultDocument& document, const CardsRequest& request,
                              const LinkCatalogue& catalogue);

}  // namespace bench
