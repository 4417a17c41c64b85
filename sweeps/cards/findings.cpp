#include "sweeps/cards/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bench/measure/finding.h"
#include "bench/measure/flags.h"
#include "bench/measure/statistics.h"
#include "bench/measure/units.h"
#include "sweeps/cards/planned.h"
#include "sweeps/cards/stage_findings.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr double kUnbalanced = 0.1;  // beyond the other ranks' median

double median_of(std::vector<double> values) {
  return values.empty() ? 0 : median(values);
}

void read_notes(const MeasuredPoint& measured, CardsPoint& point) {
  std::vector<double> exposed;
  std::vector<std::vector<double>> own;  // by rank
  for (const auto& note : measured.notes) {
    const auto* const steps = dynamic_cast<const RankSteps*>(note.get());
    if (steps == nullptr || steps->step_ns.size() != static_cast<std::size_t>(point.ranks)) {
      continue;
    }
    exposed.push_back(std::ranges::min(steps->waited_ns));
    own.resize(steps->step_ns.size());
    for (std::size_t rank = 0; rank < own.size(); ++rank) {
      own[rank].push_back(steps->step_ns[rank] - steps->waited_ns[rank]);
    }
    point.plan_bytes = steps->plan_bytes;
    point.peak_bytes = steps->peak_bytes;
    point.activation_bytes = steps->activation_bytes;
  }
  point.exposed_ns = median_of(exposed);
  for (const std::vector<double>& values : own) {
    point.own_ns.push_back(median_of(values));
  }
}

// "a step of 1.93 s waits 12 ms for gradients, and each rank computes 13 % longer than alone".
std::string losses_in_words(const CardsPoint& point, const CardsPoint& alone, bool strong) {
  const double waited = point.exposed_ns / point.ns.value;
  std::string text = fmt::format("a step of {} waits {} ({}) for gradients", format_duration(point.ns.value),
                                 format_duration(point.exposed_ns), format_percent(waited));
  if (!strong && !point.own_ns.empty()) {
    const double slower = median_of(point.own_ns) / alone.ns.value - 1;
    if (slower > 0.02) {
      text += fmt::format(", and a rank computes {} longer than alone", format_percent(slower));
    }
  }
  return text;
}

Finding claim_efficiency(const CardsPoint& point, const CardsPoint& alone, bool strong) {
  Finding finding = finding_of(fmt::format("efficiency/ranks:{}/batch:{}", point.ranks, point.batch), "share",
                               {alone.name, point.name});
  const Estimate times = speedup(point, alone);
  const Estimate efficiency = scaled(times, 1.0 / point.ranks);
  finding.set(efficiency);
  finding.details = {{"speedup", times.value},
                     {"step_ns", point.ns.value},
                     {"exposed_ns", point.exposed_ns},
                     {"own_ns", median_of(point.own_ns)},
                     {"alone_ns", alone.ns.value}};
  finding.claim = fmt::format("{} ranks of batch {}: {}, {} one rank's, an efficiency of {}; {}.",
                              point.ranks, point.batch, per_second(point), times_in_words(times),
                              format_percent(efficiency.value), losses_in_words(point, alone, strong));
  return finding;
}

// The part of the loss that is the larger one.
Finding claim_limit(const CardsPoint& point, const CardsPoint& alone, const CardsSetup& setup) {
  Finding finding = finding_of("limit", "share", {alone.name, point.name});
  const double computed = median_of(point.own_ns) - alone.ns.value;
  const double lost = point.ns.value - alone.ns.value;
  if (lost < 0.02 * point.ns.value) {
    finding.claim = fmt::format("{} ranks lose nothing to speak of.", point.ranks);
    return finding;
  }
  finding.value = point.exposed_ns / lost;
  const bool one_host = setup.ranks.near == static_cast<int>(setup.ranks.hosts.size());
  finding.claim =
      point.exposed_ns >= computed
          ? fmt::format(
                "The collective limits {} ranks: {} of the {} that a step is longer wait for gradients "
                "[larger batches, accumulation].",
                point.ranks, format_duration(point.exposed_ns), format_duration(lost))
          : fmt::format("{} limits {} ranks: {} of the {} that a step is longer are computing{}.",
                        one_host ? "The host, which the ranks share," : "Computing", point.ranks,
                        format_duration(computed), format_duration(lost),
                        one_host ? " (memory bandwidth, caches, clocks)" : "");
  return finding;
}

// Ranks pay as long as one more gives at least half of what the first gives.
Finding claim_cards(const std::vector<CardsPoint>& scaling, const CardsPoint& alone) {
  constexpr double kWorth = 0.5;
  Finding finding = finding_of("cards", "ranks", {alone.name});
  const CardsPoint* best = &alone;
  double best_times = 1;
  for (const CardsPoint& point : scaling) {
    finding.evidence.push_back(point.name);
    const double times = speedup(point, alone).value;
    if ((times - best_times) / (point.ranks - best->ranks) >= kWorth) {
      best = &point;
      best_times = times;
    }
  }
  finding.value = best->ranks;
  finding.details = {{"speedup", best_times}, {"effective_batch", best->samples()}};
  const bool all = best->ranks == scaling.back().ranks;
  finding.claim =
      best->ranks == 1
          ? fmt::format("{} give less than half of what the first gives, each: one pays.",
                        scaling[1].ranks == 2 ? "More ranks" : fmt::format("{} ranks", scaling[1].ranks))
          : fmt::format(
                "{} ranks pay{}: the effective batch is {:.0f}, {:.3g} times one rank's; scale "
                "the learning rate by "
                "as much with SGD (linear scaling, with a warm-up), and check the accuracy.",
                best->ranks, all ? ", the most that were started" : "", best->samples(),
                best->samples() / alone.samples());
  return finding;
}

Finding claim_balance(const CardsPoint& point) {
  Finding finding = finding_of("balance", "share", {point.name});
  const auto [rank, own_ns, slower] = slowest_rank(point);
  finding.value = slower;
  finding.details = {{"slowest_rank", rank}, {"own_ns", point.own_ns}};
  finding.claim =
      slower > kUnbalanced
          ? fmt::format("Rank {} is the slowest: it computes {} longer than the others, which wait for it.",
                        rank, format_percent(slower))
          : fmt::format("The ranks are alike: the slowest, rank {}, computes {} longer than the others.",
                        rank, format_percent(slower));
  return finding;
}

// What all ranks of the first host read together, against what its loader gives.
Finding claim_loader(const CardsPoint& point, const CardsSetup& setup) {
  Finding finding = finding_of("loader", "workers", {point.name});
  const auto started = static_cast<double>(setup.ranks.hosts.size());
  const double share = started > 0 ? setup.ranks.near / started : 1;
  const double needed = point.samples() / point.ns.value * 1e9 * share;  // samples a second
  finding.details = {{"needed_per_s", needed}};
  if (!setup.loader) {
    finding.claim = fmt::format(
        "Whether loading feeds {} to all ranks of a host was not measured [bench --sweep workers, then "
        "--loader with its result].",
        format_rate(needed, "samples/s"));
    return finding;
  }
  const HostLimit& loader = *setup.loader;
  finding.value = std::ceil(needed / loader.per_core());
  finding.details["loader_per_s"] = loader.per_s;
  finding.details["loader_cores"] = loader.cores;
  const std::string rates =
      fmt::format("{} of {} cores, {} needed for the ranks of a host", format_rate(loader.per_s, "samples/s"),
                  loader.cores, format_rate(needed, "samples/s"));
  finding.claim = needed > loader.per_s
                      ? fmt::format("The loader limits {} ranks: {} [fewer ranks a host, smaller images].",
                                    point.ranks, rates)
                      : fmt::format(
                            "The loader feeds {} ranks: {}, which {:.0f} worker{} for all together "
                            "give; the ranks' own computing takes cores too.",
                            point.ranks, rates, *finding.value, *finding.value == 1 ? "" : "s");
  return finding;
}

Finding claim_memory(const CardsPoint& point, const CardsPoint& alone, const LibraryMemory& library) {
  Finding finding = finding_of("memory", "bytes", {alone.name, point.name});
  const std::int64_t most = std::ranges::max(point.peak_bytes);
  const std::int64_t one = std::ranges::max(alone.peak_bytes);
  const bool as_planned = point.peak_bytes == point.plan_bytes;
  finding.value = static_cast<double>(most);
  finding.details = {
      {"peak_bytes", point.peak_bytes}, {"plan_bytes", point.plan_bytes}, {"alone_bytes", one}};
  finding.claim = fmt::format(
      "A rank of {} takes {}{}, one alone {}{}; the library of the ranks takes {}.", point.ranks,
      format_bytes(most), as_planned ? ", as planned on every rank" : ", not what was planned",
      format_bytes(one), point.shard_optimizer ? ": each keeps its share of the optimizer's state" : "",
      library.joining.empty() ? std::string("more, which could not be measured here")
                              : fmt::format("{} more, measured as the process grew by joining and summing {}",
                                            library.in_words(), format_bytes(library.summed)));
  if (!library.joining.empty()) {
    finding.details["library_bytes"] = library.total();
  }
  return finding;
}

}  // namespace

std::string per_second(const CardsPoint& point) {
  const Estimate rate = inverse(point.ns, point.samples() * 1e9);
  return plus_minus(rate.value, rate.ci95) + " samples/s";
}

std::string times_in_words(const Estimate& speedup) {
  return speedup.ci95
             ? fmt::format("{:.2f} times ({:.2f} to {:.2f})", speedup.value, speedup.low(), speedup.high())
             : fmt::format("{:.2f} times (one round or two: no interval)", speedup.value);
}

SlowestRank slowest_rank(const CardsPoint& point) {
  const auto slowest = std::ranges::max_element(point.own_ns);
  std::vector<double> others = point.own_ns;
  others.erase(others.begin() + (slowest - point.own_ns.begin()));
  return {.rank = static_cast<std::size_t>(slowest - point.own_ns.begin()),
          .own_ns = *slowest,
          .longer = *slowest / median_of(others) - 1};
}

std::vector<CardsPoint> cards_points(const ResultDocument& document) {
  const FlagMarks marks(document.benchmarks);
  std::vector<CardsPoint> all;
  for (const MeasuredPoint& measured : document.benchmarks) {
    const auto* const params = params_as<CardsParams>(measured);
    if (params == nullptr || measured.stats.median_ns <= 0) {
      continue;
    }
    CardsPoint point;
    static_cast<CardsParams&>(point) = *params;
    point.name = measured.name;
    point.ns = measured.stats.step_time();
    point.rounds = round_times(measured);
    point.mark = marks.of(measured);
    read_notes(measured, point);
    all.push_back(std::move(point));
  }
  std::ranges::sort(all, {}, [](const CardsPoint& point) {
    return std::tuple(point.ranks, point.batch, point.micro_batches);
  });
  return all;
}

Estimate speedup(const CardsPoint& point, const CardsPoint& alone) {
  return scaled(ratio_by_rounds(alone.ns, alone.rounds, point.ns, point.rounds),
                point.samples() / alone.samples());
}

const CardsPoint* alone_for(const CardsPoint& point, const std::vector<CardsPoint>& all, bool strong) {
  const auto at = std::ranges::find_if(all, [&](const CardsPoint& other) {
    return other.ranks == 1 && other.dtype == point.dtype &&
           (strong ? other.samples() == point.samples() : other.batch == point.batch);
  });
  return at == all.end() ? nullptr : &*at;
}

std::vector<Finding> cards_findings(const ResultDocument& document, const CardsSetup& setup) {
  const std::vector<CardsPoint> all = cards_points(document);
  std::vector<Finding> findings = setup.split_layers ? stage_findings(all) : std::vector<Finding>();
  std::vector<CardsPoint> scaling;  // of the largest batch
  const CardsPoint* alone = nullptr;
  for (const CardsPoint& point : all) {
    const CardsPoint* const own = alone_for(point, all, setup.strong);
    if (point.ranks == 1 || own == nullptr || setup.split_layers) {
      continue;
    }
    findings.push_back(claim_efficiency(point, *own, setup.strong));
    if (alone == nullptr || own->samples() > alone->samples()) {
      alone = own;
      scaling.clear();
    }
    if (own == alone) {
      scaling.push_back(point);
    }
  }
  if (alone != nullptr) {
    const CardsPoint& most = scaling.back();
    findings.push_back(claim_cards(scaling, *alone));
    if (!setup.strong) {
      findings.push_back(claim_limit(most, *alone, setup));
    }
    if (most.own_ns.size() > 1) {
      findings.push_back(claim_balance(most));
    }
    if (!most.peak_bytes.empty() && !alone->peak_bytes.empty()) {
      findings.push_back(claim_memory(most, *alone, setup.library));
    }
    findings.push_back(claim_loader(most, setup));
  }
  findings.push_back(claim_ranks(setup.ranks, setup.threads));
  if (auto conditions = claim_conditions(document)) {
    findings.push_back(*std::move(conditions));
  }
  choose_cards_headlines(findings);
  return findings;
}

void choose_cards_headlines(std::vector<Finding>& findings) {
  std::vector<std::string> names{"cards"};
  for (const Finding& finding : findings | std::views::reverse) {  // of the most ranks
    if (finding.name.starts_with("efficiency/")) {
      names.push_back(finding.name);
      break;
    }
  }
  names.emplace_back("limit");
  // That the ranks are alike tells the least.
  const auto balance = std::ranges::find(findings, "balance", &Finding::name);
  const bool alike = balance != findings.end() && balance->value.value_or(0) <= kUnbalanced;
  const auto rest = alike ? std::array{"loader", "memory", "balance", "ranks"}
                          : std::array{"balance", "memory", "loader", "ranks"};
  names.insert(names.end(), rest.begin(), rest.end());
  set_headlines(findings, names, true);
}

std::vector<TextTable> cards_tables(const ResultDocument& document, const CardsSetup& setup) {
  const std::vector<CardsPoint> all = cards_points(document);
  if (setup.split_layers) {
    return stage_tables(all);
  }
  TextTable table{.title = "Training steps that ranks do together; ± half of the 95 % interval",
                  .rows = {{"ranks", "batch each", "step", "samples/s", "speedup", "efficiency", "waits",
                            "memory a rank", ""}},
                  .right = {true, true, true, true, true, true, true, true, false},
                  .lists_points = true};
  for (const CardsPoint& point : all) {
    const CardsPoint* const alone = alone_for(point, all, setup.strong);
    const std::string times = alone == nullptr ? "–" : fmt::format("{:.2f}", speedup(point, *alone).value);
    const std::string efficiency =
        alone == nullptr ? "–" : format_percent(speedup(point, *alone).value / point.ranks);
    table.rows.push_back({fmt::format("{}", point.ranks), fmt::format("{}", point.batch),
                          plus_minus_duration(point.ns.value, point.ns.ci95),
                          format_rate(point.samples() / point.ns.value * 1e9, ""), times, efficiency,
                          point.ranks == 1 ? "–" : format_duration(point.exposed_ns),
                          point.peak_bytes.empty() ? "–" : format_bytes(std::ranges::max(point.peak_bytes)),
                          point.mark});
  }
  if (all.empty()) {
    return {};
  }
  std::vector<TextTable> tables = sharing_tables(document);
  tables.insert(tables.begin(), std::move(table));
  return tables;
}

}  // namespace bench::sweeps
