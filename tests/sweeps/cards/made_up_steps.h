// Results of the cards sweep that nobody measured, for its findings.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sweeps/cards/answer.h"
#include "sweeps/cards/workload.h"

namespace bench::sweeps {

// Three rounds of steps of so many milliseconds, each this much longer or shorter by round.
inline void add_rounds(Point& point, double step_ms, const std::shared_ptr<const RankSteps>& note,
                       const std::vector<double>& by_round = {1, 1, 1}) {
  for (std::size_t round = 0; round < by_round.size(); ++round) {
    point.samples_ns.push_back(std::llround(1e6 * step_ms * by_round[round]));
    point.rounds.push_back({.samples = 1, .round = static_cast<std::int64_t>(round)});
    point.notes.push_back(note);
  }
  point.stats.median_ns = 1e6 * step_ms;
  point.stats.ci95_ns = Interval{0.99e6 * step_ms, 1.01e6 * step_ms};
}

// Steps of 100 ms alone; of several ranks longer, of which a part is waited, and one rank slower.
inline ResultDocument made_up_steps(const std::vector<double>& step_ms, double waited_ms, double slower = 1,
                                    const std::vector<double>& by_round = {1, 1, 1}) {
  ResultDocument document;
  for (std::size_t i = 0; i < step_ms.size(); ++i) {
    const int ranks = 1 << i;
    Point point;
    point.name = fmt::format("p{}", ranks);
    point.params = {{"ranks", ranks}, {"batch", 8}};
    auto note = std::make_shared<RankSteps>();
    for (int rank = 0; rank < ranks; ++rank) {
      const double own = 1e6 * (step_ms[i] - (ranks > 1 ? waited_ms : 0));
      const bool slow = ranks > 1 && rank == ranks - 1;
      note->step_ns.push_back(1e6 * step_ms[i]);
      note->waited_ns.push_back(1e6 * step_ms[i] - (slow || ranks == 1 ? own : own / slower));
      note->plan_bytes.push_back(1 << 20);
      note->peak_bytes.push_back(1 << 20);
    }
    add_rounds(point, step_ms[i], note, ranks == 1 ? std::vector<double>{1, 1, 1} : by_round);
    document.points.push_back(point);
  }
  return document;
}

// What each rank computes and waits, by round.
inline void compute_by_round(Point& point, const std::vector<double>& own_ms,
                             const std::vector<double>& waited_ms) {
  std::size_t sample = 0;
  for (std::size_t round = 0; round < point.rounds.size(); ++round) {
    for (std::int64_t i = 0; i < point.rounds[round].samples; ++i, ++sample) {
      const auto& before = dynamic_cast<const RankSteps&>(*point.notes[sample]);
      auto note = std::make_shared<RankSteps>();
      note->step_ns.assign(before.step_ns.size(), 1e6 * (own_ms[round] + waited_ms[round]));
      note->waited_ns.assign(before.step_ns.size(), 1e6 * waited_ms[round]);
      note->plan_bytes = before.plan_bytes;
      note->peak_bytes = before.peak_bytes;
      point.notes[sample] = note;
    }
  }
}

inline const Finding& named(const std::vector<Finding>& findings, std::string_view name) {
  const auto at = std::ranges::find(findings, name, &Finding::name);
  EXPECT_NE(at, findings.end()) << name;
  return *at;
}

inline CardsSetup one_host(int ranks, int cores) {
  return {.ranks = {.hosts = std::vector<std::string>(static_cast<std::size_t>(ranks), "a"),
                    .near = ranks,
                    .cores = cores}};
}

}  // namespace bench::sweeps
