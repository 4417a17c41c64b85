#include "trial.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <thread>

#include "bench/compare/duet.h"
#include "bench/stats/random.h"

namespace bench::gate {
namespace {

bool is(const ChangeEstimate& change, ComparisonVerdict verdict) {
  return change.verdict == verdict;
}

bool any(const Comparison& comparison, ComparisonVerdict verdict) {
  return (comparison.common && is(*comparison.common, verdict)) ||
         std::ranges::any_of(comparison.points, [&](const auto& point) { return is(point, verdict); });
}

bool settled(const Comparison& comparison) {
  return any(comparison, ComparisonVerdict::slower) || !any(comparison, ComparisonVerdict::inconclusive);
}

// Which point of a suite is slowed: each in turn, as their noise may differ.
int slowed_point(const Design& design, std::int64_t suite) {
  return static_cast<int>(suite % design.points);
}

void add(const Comparison& comparison, int slowed, Tally& tally) {
  const bool slower = any(comparison, ComparisonVerdict::slower);
  tally.slower.add(slower);
  tally.changed.add(slower || any(comparison, ComparisonVerdict::faster));
  for (const ChangeEstimate& point : comparison.points) {
    tally.undecided.add(is(point, ComparisonVerdict::inconclusive));
  }
  tally.settled.add(!any(comparison, ComparisonVerdict::inconclusive));
  tally.common.add(comparison.common && is(*comparison.common, ComparisonVerdict::slower));
  const ChangeEstimate& point = comparison.points[static_cast<std::size_t>(slowed)];
  tally.found.add(is(point, ComparisonVerdict::slower));
  tally.sure.add(point.ratio.differs_from_one() && point.ratio.value > 1);
  if (point.smallest_change) {
    tally.smallest_changes.push_back(*point.smallest_change);
  }
}

RunsToCompare simulate_suite(const Trial& trial, Effects effects, std::int64_t suite, std::uint64_t seed) {
  effects.point = slowed_point(trial.design, suite);
  return simulate(trial.model, trial.design, effects, stream_seed(seed, static_cast<std::uint64_t>(suite)));
}

Comparison look_repeatedly(const RunsToCompare& all, const ComparisonOptions& options, double& pairs_used) {
  Comparison comparison;
  const auto pairs = static_cast<std::int64_t>(all.base.size());
  std::int64_t look = 0;
  for (std::int64_t pair = 1; pair <= pairs; ++pair) {
    if (!is_duet_look(pair) && pair != pairs) {
      continue;
    }
    RunsToCompare seen{.base = {}, .next = {}, .paired = true, .history = {}};
    seen.base.assign(all.base.begin(), all.base.begin() + pair);
    seen.next.assign(all.next.begin(), all.next.begin() + pair);
    ComparisonOptions now = options;
    now.look = ++look;
    comparison = compare_runs(seen, now);
    pairs_used = static_cast<double>(pair);
    if (settled(comparison)) {
      break;
    }
  }
  return comparison;
}

void append(Tally& to, const Tally& from) {
  for (const auto count : {&Tally::slower, &Tally::changed, &Tally::undecided, &Tally::settled, &Tally::found,
                           &Tally::sure, &Tally::common}) {
    (to.*count).of += (from.*count).of;
    (to.*count).hits += (from.*count).hits;
  }
  to.pairs += from.pairs;
  to.smallest_changes.insert(to.smallest_changes.end(), from.smallest_changes.begin(),
                             from.smallest_changes.end());
}

// one(suite, sum) for each suite, in parallel; each thread has its own sum.
template <class Sum, class One>
std::vector<Sum> for_each_suite(std::int64_t suites, const One& one) {
  const auto workers = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  std::vector<Sum> sums(static_cast<std::size_t>(workers));
  std::vector<std::jthread> threads;
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&one, &sum = sums[static_cast<std::size_t>(worker)], worker, workers, suites] {
      for (std::int64_t suite = worker; suite < suites; suite += workers) {
        one(suite, sum);
      }
    });
  }
  threads.clear();
  return sums;
}

}  // namespace

Tally run_trial(const Trial& trial) {
  Tally sum;
  for (const Tally& part : for_each_suite<Tally>(trial.suites, [&](std::int64_t suite, Tally&tally) {
         const RunsToCompare runs = simulate_suite(trial, trial.effects, suite, trial.seed);
         double pairs = 0;
         const Comparison comparison =
             trial.looks ? look_repeatedly(runs, trial.options, pairs) : compare_runs(runs, trial.options);
         add(comparison, slowed_point(trial.design, suite), tally);
         tally.pairs += pairs / static_cast<double>(trial.suites);
       })) {
    append(sum, part);
  }
  std::ranges::sort(sum.smallest_changes);
  return sum;
}

Count find_showable(const Trial& trial) {
  Count sum;
  for (const Count& part : for_each_suite<Count>(trial.suites, [&](std::int64_t suite, Count&count) {
         const auto at = static_cast<std::size_t>(slowed_point(trial.design, suite));
         const Comparison before = compare_runs(simulate_suite(trial, {}, suite, trial.seed), trial.options);
         const std::optional<double> change = before.points[at].smallest_change;
         if (change) {
           const Effects effects{.one = std::log1p(*change)};
           const RunsToCompare runs = simulate_suite(trial, effects, suite, trial.seed + 1);
           count.add(is(compare_runs(runs, trial.options).points[at], ComparisonVerdict::slower));
         }
       })) {
    sum.of += part.of;
    sum.hits += part.hits;
  }
  return sum;
}

}  // namespace bench::gate
