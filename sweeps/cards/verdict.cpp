#include "sweeps/cards/verdict.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "bench/stats/paired_ratio.h"
#include "bench/stats/statistics.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

constexpr double kWorth = 0.5;       // that a rank has to give, of what the first gives
constexpr double kUnbalanced = 0.1;  // beyond the other ranks' median

// Of what each rank beyond `base` gives; no interval where a speedup has none.
Estimate gain_of_each(const Estimate& times, int ranks, const Estimate& base, int base_ranks) {
  const double more = ranks - base_ranks;
  Estimate gain{.value = (times.value - base.value) / more};
  if (times.ci95) {  // the base's is exact for one rank
    const double below = combined_deviation({times.value - times.low(), base.high() - base.value});
    const double above = combined_deviation({times.high() - times.value, base.value - base.low()});
    gain.ci95 = Interval{gain.value - below / more, gain.value + above / more};
  }
  return gain;
}

std::string batch_in_words(const CardsPoint& point, bool strong) {
  return strong
             ? fmt::format("the batch of all stays {:.0f}, and the learning rate as it is", point.samples())
             : fmt::format(
                   "the effective batch is {:.0f}, {} times one rank's; scale the learning rate by as "
                   "much with "
                   "SGD (linear scaling, with a warm-up), and check the accuracy",
                   point.samples(), point.ranks);
}

// The rounds' range of the time that the rank computes which computes longest; nullopt where it is not known
// by rounds.
std::optional<Interval> computing(const CardsPoint& point) {
  std::optional<Interval> range;
  for (std::size_t round = 0; !point.own_by_round.empty() && round < point.own_by_round.front().size();
       ++round) {
    double longest = 0;
    for (const std::vector<double>& of_rank : point.own_by_round) {
      longest = std::max(longest, of_rank.at(round));
    }
    range = range ? Interval{std::min(range->low, longest), std::max(range->high, longest)}
                  : Interval{longest, longest};
  }
  return range;
}

}  // namespace

std::string percent_in_words(const Estimate& share) {
  const Estimate percent = scaled(share, 100);
  return percent.ci95 ? plus_minus(percent.value, percent.ci95) + " %" : format_percent(share.value);
}

Finding claim_cards(const std::vector<CardsPoint>& scaling, const CardsPoint& alone, bool strong) {
  Finding finding = finding_of("cards", "ranks", {alone.name});
  const CardsPoint* best = &alone;
  Estimate best_times{.value = 1};
  const CardsPoint* open = nullptr;  // the first beyond `best` that the intervals do not decide
  Estimate open_times;
  for (const CardsPoint& point : scaling) {
    finding.evidence.push_back(point.name);
    const Estimate times = speedup(point, alone);
    const Estimate gain = gain_of_each(times, point.ranks, best_times, best->ranks);
    if (gain.ci95 && gain.low() >= kWorth) {
      best = &point;
      best_times = times;
      open = nullptr;
    } else if (open == nullptr && (!gain.ci95 || gain.high() >= kWorth)) {
      open = &point;
      open_times = times;
    }
  }
  finding.details = {{"speedup", best_times.value}, {"effective_batch", best->samples()}};
  if (open != nullptr) {
    finding.details["at_least"] = best->ranks;
    const double wanted = best_times.value + kWorth * (open->ranks - best->ranks);
    finding.claim = fmt::format(
        "{} not significant whether {} ranks pay: they give {} one rank's throughput, and {:.2f} times would "
        "pay "
        "[{}].",
        best->ranks == 1 ? "It is" : fmt::format("{} ranks pay; it is", best->ranks), open->ranks,
        times_in_words(open_times), wanted, kGiveTime);
    return finding;
  }
  finding.value = best->ranks;
  finding.claim =
      best->ranks == 1
          ? fmt::format(
                "One rank pays: with {} each further one gives less than half of what the first gives.",
                scaling.front().ranks == 2 ? "more" : std::to_string(scaling.front().ranks))
          : fmt::format("{} ranks pay{}: {}.", best->ranks,
                        best->ranks == scaling.back().ranks ? ", the most that were started" : "",
                        batch_in_words(*best, strong));
  return finding;
}

std::string alone_was_not_measured(const ResultDocument& document, int ranks) {
  const Json& axes = document.sweep.axes;
  const Json asked = axes.is_object() ? axes.value("ranks", Json()) : Json();
  const bool was_asked = asked.is_array() && std::ranges::find(asked, Json(1)) != asked.end();
  return fmt::format("One rank alone was not measured, so that there is no speedup [{}].",
                     was_asked ? std::string(kGiveTime) : fmt::format("--cards 1,{}", ranks));
}

Finding claim_batch(const CardsPoint& most, bool strong, const ResultDocument& document) {
  Finding finding = finding_of("cards", "ranks", {most.name});
  finding.details = {{"effective_batch", most.samples()}};
  finding.claim = fmt::format("{} With {} ranks {}.", alone_was_not_measured(document, most.ranks),
                              most.ranks, batch_in_words(most, strong));
  return finding;
}

std::optional<Finding> claim_card_limit(const CardsPoint& point) {
  constexpr double kNearlyAll = 0.9;  // of a step
  const double step = point.ns.value;
  const bool by_bus = point.copied_ns >= kNearlyAll * step;
  if (!by_bus && point.queued_ns < kNearlyAll * step) {
    return std::nullopt;
  }
  const double longest = by_bus ? point.copied_ns : point.queued_ns;
  Finding finding = finding_of("limit", "share", {point.name});
  finding.value = longest / step;
  finding.details = {{"limit", by_bus ? "bus" : "launch"}, {"step_ns", step}, {"longest_ns", longest}};
  finding.claim =
      by_bus ? fmt::format(
                   "The bus limits {} ranks: copying their batches at the same time takes {}, a step {} "
                   "[send images as bytes].",
                   point.ranks, format_duration(longest), format_duration(step))
             : fmt::format(
                   "Launching limits {} ranks: a host takes {} to start a step's operations, the step {} "
                   "[larger batches].",
                   point.ranks, format_duration(longest), format_duration(step));
  return finding;
}

Finding claim_limit(const CardsPoint& point, const CardsPoint& alone, const CardsSetup& setup) {
  constexpr double kLittle = 0.02;  // of a step
  Finding finding = finding_of("limit", "share", {alone.name, point.name});
  const RankSetup& ranks = setup.ranks;
  if (ranks.takes_turns(setup.threads)) {
    finding.details = {{"takes_turns", true}};
    finding.claim = fmt::format(
        "Warning: shared cores limit {} ranks: {} of {} thread{} take turns on {}, so that waiting and "
        "computing "
        "are not told apart [start {} ranks a host].",
        point.ranks, ranks.near, setup.threads, setup.threads == 1 ? "" : "s",
        ranks.cores == 1 ? "one core" : fmt::format("{} cores", ranks.cores), ranks.cores);
    return finding;
  }
  const double lost = point.ns.value - alone.ns.value;
  const Estimate efficiency = scaled(speedup(point, alone), 1.0 / point.ranks);
  if (lost < kLittle * point.ns.value && efficiency.ci95 && efficiency.low() > 1 - 5 * kLittle) {
    finding.claim = fmt::format("{} ranks lose nothing to speak of.", point.ranks);
    return finding;
  }
  // A rank may wait longer than a step is longer, where it computes less than alone.
  const double waits = std::clamp(point.exposed_ns, 0.0, std::max(0.0, lost));
  // A step that is longer because it waits longer is no doubt about what it waits for: the computing alone
  // tells how much of a step is not waiting.
  const Interval own{std::max(0.0, point.ns.low() - point.exposed_ns),
                     std::max(0.0, point.ns.high() - point.exposed_ns)};
  const Interval computes = computing(point).value_or(own);
  const auto share_where = [&](double longer) {
    const double all = point.exposed_ns + std::max(0.0, longer);
    return all > 0 ? std::min(1.0, point.exposed_ns / all) : 0;
  };
  const double low = share_where(computes.high - alone.ns.low());
  const double high = share_where(computes.low - alone.ns.high());
  const bool known = point.ns.ci95 && alone.ns.ci95;
  if (lost <= 0 || !known || (low < 0.5 && high >= 0.5)) {
    finding.claim = fmt::format(
        "Not significant what limits {} ranks: a step takes {}, alone {}, and waits {} for gradients [{}].",
        point.ranks, plus_minus_duration(point.ns.value, point.ns.ci95),
        plus_minus_duration(alone.ns.value, alone.ns.ci95), format_duration(point.exposed_ns), kGiveTime);
    return finding;
  }
  finding.set({.value = waits / lost, .ci95 = Interval{low, high}});
  const bool by_waiting = low >= 0.5;
  const double part = by_waiting ? waits : lost - waits;
  const std::string share = fmt::format("a step takes {} longer than alone, {} of it", format_duration(lost),
                                        part < lost ? format_duration(part) : std::string("all"));
  const bool one_host = ranks.near == static_cast<int>(ranks.hosts.size());
  finding.claim =
      by_waiting
          ? fmt::format(
                "The collective limits {} ranks: {} waiting for gradients [larger batches, accumulation].",
                point.ranks, share)
          : fmt::format("{} limits {} ranks: {} computing{}.",
                        one_host ? "The host, which the ranks share," : "Computing", point.ranks, share,
                        one_host ? " (memory bandwidth, caches, clocks)" : "");
  return finding;
}

Finding claim_balance(const CardsPoint& point) {
  Finding finding = finding_of("balance", "share", {point.name});
  const SlowestRank slowest = slowest_rank(point);
  finding.details = {{"slowest_rank", slowest.rank}, {"own_ns", point.own_ns}};
  finding.set({.value = slowest.longer, .ci95 = slowest.ci95});
  const std::string longer = percent_in_words({.value = slowest.longer, .ci95 = slowest.ci95});
  const bool sure = slowest.ci95 && slowest.ci95->low > 0;
  finding.claim =
      !sure ? fmt::format("No rank is significantly slower: rank {} computes {} longer than the others.",
                          slowest.rank, longer)
      : slowest.longer > kUnbalanced
          ? fmt::format("Rank {} is the slowest: it computes {} longer than the others, which wait for it.",
                        slowest.rank, longer)
          : fmt::format("The ranks are alike: the slowest, rank {}, computes {} longer than the others.",
                        slowest.rank, longer);
  return finding;
}

}  // namespace bench::sweeps
