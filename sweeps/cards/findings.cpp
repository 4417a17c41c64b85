// The answer of the cards sweep in words.
#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/result/shared_cores.h"
#include "bench/run/remedies.h"
#include "bench/stats/statistics.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/cards/answer.h"
#include "sweeps/cards/words.h"

namespace bench::sweeps {
namespace {

double median_own_ns(const CardsPoint& point) {
  return point.own_ns.empty() ? 0 : median(point.own_ns);
}

// Of the finding on a step of several ranks.
std::string step_name(const CardsStepAnswer& step) {
  return fmt::format("{}/ranks:{}/batch:{}", step.alone != nullptr ? "efficiency" : "waits",
                     step.point->ranks, step.point->batch);
}

// "a step of 1.93 s waits 12 ms for gradients, computes 13 % longer".
std::string losses_in_words(const CardsPoint& point, const CardsPoint* alone, bool strong) {
  const double waited = point.exposed_ns / point.ns.value;
  std::string text = fmt::format("a step of {} waits {} ({}) for gradients", format_duration(point.ns.value),
                                 format_duration(point.exposed_ns), format_percent(waited));
  if (alone != nullptr && !strong) {
    const double slower = (point.ns.value - point.exposed_ns) / alone->ns.value - 1;
    if (slower > 0.02) {
      text += fmt::format(", computes {} longer", format_percent(slower));
    }
  }
  return text;
}

Finding claim_efficiency(const CardsPoint& point, const CardsPoint& alone, bool strong) {
  Finding finding = finding_of(step_name({&point, &alone}), "share", {alone.name, point.name});
  const Estimate times = speedup(point, alone);
  const Estimate efficiency = scaled(times, 1.0 / point.ranks);
  finding.set(efficiency);
  finding.details = {{"speedup", times.value},
                     {"step_ns", point.ns.value},
                     {"exposed_ns", point.exposed_ns},
                     {"own_ns", median_own_ns(point)},
                     {"alone_ns", alone.ns.value}};
  finding.claim = fmt::format(
      "{} ranks of batch {}: {}, {}; {}.", point.ranks, point.batch, per_second(point),
      efficiency.ci95 ? "efficiency " + percent_in_words(efficiency) : times_in_words(times) + " one rank's",
      losses_in_words(point, &alone, strong));
  return finding;
}

// Where one rank alone was not measured.
Finding claim_waits(const CardsPoint& point) {
  Finding finding = finding_of(step_name({&point, nullptr}), "share", {point.name});
  finding.value = point.exposed_ns / point.ns.value;
  finding.details = {{"step_ns", point.ns.value}, {"exposed_ns", point.exposed_ns}};
  finding.claim = fmt::format("{} ranks of batch {}: {}; {}.", point.ranks, point.batch, per_second(point),
                              losses_in_words(point, nullptr, true));
  return finding;
}

Finding claim_loader(const CardsPoint& point, const LoaderNeed& need) {
  Finding finding = finding_of("loader", "workers", {point.name});
  finding.details = {{"needed_per_s", need.needed_per_s}};
  if (!need.loader) {
    finding.claim = fmt::format(
        "Loading was not measured: the ranks of a host need {} [bench --sweep workers, then --loader with "
        "its "
        "result].",
        format_rate(need.needed_per_s, "samples/s"));
    return finding;
  }
  const HostLimit& loader = *need.loader;
  finding.value = need.workers;
  finding.details["loader_per_s"] = loader.per_s;
  finding.details["loader_cores"] = loader.cores;
  const std::string rates =
      fmt::format("{} of {} cores, {} needed for the ranks of a host", format_rate(loader.per_s, "samples/s"),
                  loader.cores, format_rate(need.needed_per_s, "samples/s"));
  finding.claim = need.limits()
                      ? fmt::format("The loader limits {} ranks: {} [fewer ranks a host, smaller images].",
                                    point.ranks, rates)
                      : fmt::format(
                            "The loader feeds {} ranks: {}, which {:.0f} worker{} for all together "
                            "give; the ranks' own computing takes cores too.",
                            point.ranks, rates, need.workers, need.workers == 1 ? "" : "s");
  return finding;
}

Finding claim_memory(const CardsPoint& point, const CardsPoint* alone, const LibraryMemory& library) {
  Finding finding = finding_of("memory", "bytes", {point.name});
  const std::int64_t most = std::ranges::max(point.peak_bytes);
  const bool as_planned = point.peak_bytes == point.plan_bytes;
  finding.value = static_cast<double>(most);
  finding.details = {{"peak_bytes", point.peak_bytes}, {"plan_bytes", point.plan_bytes}};
  const std::string than = memory_alone(finding, alone);
  // SGD has no state to share.
  const bool holds_less = point.shard_optimizer && !than.empty() && most < alone->peak_bytes.front();
  finding.claim = fmt::format(
      "Each of {} ranks takes {}{}{}{}; the library of the ranks takes {}.", point.ranks, format_bytes(most),
      as_planned ? ", as planned" : ", not what was planned", than,
      holds_less ? ": each keeps its share of the optimizer's state" : "",
      library.joining.empty() ? std::string("more, which could not be measured here")
                              : fmt::format("{} more, by which the process grew when it joined and summed {}",
                                            library.in_words(), format_bytes(library.summed)));
  if (!library.joining.empty()) {
    finding.details["library_bytes"] = library.total();
  }
  return finding;
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

Finding claim_cards(const CardsAnswer& answer, bool strong) {
  const PayingRanks& pays = *answer.pays;
  const CardsPoint& best = *pays.best;
  Finding finding = finding_of("cards", "ranks", {answer.alone->name});
  for (const CardsPoint* const point : answer.scaling) {
    finding.evidence.push_back(point->name);
  }
  finding.details = {{"speedup", pays.times.value}, {"effective_batch", best.samples()}};
  if (pays.open != nullptr) {
    finding.details["at_least"] = best.ranks;
    finding.claim = fmt::format(
        "{}nconclusive whether {} ranks pay: they give {} one rank's throughput, and {:.2f} times would "
        "pay "
        "[{}].",
        best.ranks == 1 ? "I" : fmt::format("{} ranks pay; i", best.ranks), pays.open->ranks,
        times_in_words(pays.more_times), pays.would_pay, give_time());
    return finding;
  }
  finding.value = pays.ranks;
  finding.claim =
      pays.ranks == 1
          ? fmt::format("Use one rank: {} give {} its throughput, and {:.2f} times would pay.",
                        answer.scaling.front()->ranks, times_in_words(pays.more_times), pays.would_pay)
          : fmt::format("{} ranks pay{}: {} one rank's throughput; {}.", pays.ranks,
                        pays.ranks == answer.most->ranks ? ", the most that were started" : "",
                        times_in_words(pays.times), batch_in_words(best, strong));
  return finding;
}

// Where one rank was not measured: what the most ranks' batch asks for.
Finding claim_batch(const CardsPoint& most, bool strong, const ResultDocument& document) {
  Finding finding = finding_of("cards", "ranks", {most.name});
  finding.details = {{"effective_batch", most.samples()}};
  finding.claim = fmt::format("{} With {} ranks {}.", alone_was_not_measured(document, most.ranks),
                              most.ranks, batch_in_words(most, strong));
  return finding;
}

Finding claim_limit(const CardsAnswer& answer, const CardsSetup& setup) {
  using Kind = CardsLimit::Kind;
  const CardsLimit& limit = *answer.limit;
  const CardsPoint& point = *answer.most;
  const double step = point.ns.value;
  if (limit.kind == Kind::bus || limit.kind == Kind::launch) {
    const bool by_bus = limit.kind == Kind::bus;
    Finding finding = finding_of("limit", "share", {point.name});
    finding.value = limit.longest_ns / step;
    finding.details = {
        {"limit", by_bus ? "bus" : "launch"}, {"step_ns", step}, {"longest_ns", limit.longest_ns}};
    const std::string longest = format_duration(limit.longest_ns);
    finding.claim =
        by_bus ? fmt::format(
                     "The bus limits {} ranks: copying their batches at the same time takes {}, a step {} "
                     "[send images as bytes].",
                     point.ranks, longest, format_duration(step))
               : fmt::format(
                     "Launching limits {} ranks: a host takes {} to start a step's operations, the step {} "
                     "[larger batches].",
                     point.ranks, longest, format_duration(step));
    return finding;
  }
  const CardsPoint& alone = *answer.alone;
  Finding finding = finding_of("limit", "share", {alone.name, point.name});
  const RankSetup& ranks = setup.ranks;
  if (limit.kind == Kind::shared_cores) {
    finding.details = {{kTakesTurns, true}};
    finding.claim = "Warning: shared cores " + turns_in_words(ranks.sharing(setup.threads), point.ranks);
    return finding;
  }
  if (limit.kind == Kind::nothing) {
    finding.claim = fmt::format("{} ranks lose nothing to speak of.", point.ranks);
    return finding;
  }
  if (limit.kind == Kind::undecided) {
    finding.claim = fmt::format(
        "Inconclusive what limits {} ranks: a step takes {}, alone {}, and waits {} for gradients [{}].",
        point.ranks, plus_minus_duration(step, point.ns.ci95),
        plus_minus_duration(alone.ns.value, alone.ns.ci95), format_duration(point.exposed_ns), give_time());
    return finding;
  }
  finding.set(limit.share);
  const std::string share =
      fmt::format("a step takes {} longer than alone, {} of it", format_duration(limit.lost_ns),
                  limit.part_ns < limit.lost_ns ? format_percent(limit.part_ns / limit.lost_ns) : "all");
  const bool one_host = ranks.near == static_cast<int>(ranks.hosts.size());
  finding.claim =
      limit.kind == Kind::waiting
          ? fmt::format(
                "The collective limits {} ranks: {} waiting for gradients [larger batches, accumulation].",
                point.ranks, share)
          : fmt::format("{} limits {} ranks: {} computing{}.",
                        one_host ? "The host, which the ranks share," : "Computing", point.ranks, share,
                        one_host ? " (memory bandwidth, caches, clocks)" : "");
  return finding;
}

Finding claim_balance(const CardsPoint& point, const SlowestRank& slowest) {
  Finding finding = finding_of("balance", "share", {point.name});
  finding.details = {{"slowest_rank", slowest.rank}, {"own_ns", point.own_ns}};
  finding.set({.value = slowest.longer, .ci95 = slowest.ci95});
  const std::string longer = percent_in_words({.value = slowest.longer, .ci95 = slowest.ci95});
  finding.claim =
      !slowest.is_sure()
          ? fmt::format("No rank is significantly slower: rank {} computes {} longer than the others.",
                        slowest.rank, longer)
      : slowest.is_unbalanced()
          ? fmt::format("Rank {} is the slowest: it computes {} longer than the others, which wait for it.",
                        slowest.rank, longer)
          : fmt::format("The ranks are alike: the slowest, rank {}, computes {} longer than the others.",
                        slowest.rank, longer);
  return finding;
}

// Where only one rank was measured.
Finding claim_one_rank(const std::vector<CardsPoint>& all, const ResultDocument& document) {
  const CardsPoint& best =
      *std::ranges::max_element(all, {}, [](const CardsPoint& point) { return point.per_s().value; });
  Finding finding = finding_of("cards", "ranks", {best.name});
  const Json& axes = document.sweep.axes;
  const Json asked = axes.is_object() ? axes.value("ranks", Json()) : Json();
  const bool several = std::ranges::any_of(asked, [](const Json& ranks) { return ranks != 1; });
  finding.claim = fmt::format("One rank of batch {}: {}; several were not measured [{}].", best.batch,
                              per_second(best), several ? std::string(give_time()) : "--cards 1,2");
  return finding;
}

std::vector<Finding> rank_findings(const std::vector<CardsPoint>& all, const CardsAnswer& answer,
                                   const CardsSetup& setup, const ResultDocument& document) {
  std::vector<Finding> findings;
  for (const auto& [point, alone] : answer.steps) {
    findings.push_back(alone != nullptr ? claim_efficiency(*point, *alone, setup.strong)
                                        : claim_waits(*point));
  }
  if (answer.most == nullptr) {
    if (!all.empty()) {
      findings.push_back(claim_one_rank(all, document));
    }
    return findings;
  }
  const CardsPoint& most = *answer.most;
  findings.push_back(answer.pays ? claim_cards(answer, setup.strong)
                                 : claim_batch(most, setup.strong, document));
  if (answer.limit) {
    findings.push_back(claim_limit(answer, setup));
  }
  if (answer.slowest) {
    findings.push_back(claim_balance(most, *answer.slowest));
  }
  if (!most.peak_bytes.empty()) {
    findings.push_back(claim_memory(most, answer.alone, setup.library));
  }
  findings.push_back(claim_loader(most, *answer.loader));
  return findings;
}

}  // namespace

std::string percent_in_words(const Estimate& share, std::string_view to) {
  const Estimate percent = scaled(share, 100);
  return percent.ci95 ? plus_minus(percent.value, percent.ci95, to) + " %" : format_percent(share.value);
}

std::string memory_alone(Finding& finding, const CardsPoint* alone) {
  if (alone == nullptr || alone->peak_bytes.empty()) {
    return "";
  }
  finding.evidence.insert(finding.evidence.begin(), alone->name);
  finding.details["alone_bytes"] = alone->peak_bytes.front();
  return ", one alone " + format_bytes(alone->peak_bytes.front());
}

Cell rate_cell(const CardsPoint& point) {
  const Estimate rate = point.per_s();
  return Cell::figure(Cell::number(rate.value, rate.ci95).text + (rate.ci95 ? "" : " ± ?"));
}

std::string per_second(const CardsPoint& point) {
  const Estimate rate = point.per_s();
  return fmt::format("{}{} samples/s", plus_minus(rate.value, rate.ci95), rate.ci95 ? "" : " ± ?");
}

// Fewer digits where nobody knows how many hold.
std::string times_alone(const Estimate& speedup) {
  const int digits = speedup.ci95 || speedup.value == 1 ? 2 : speedup.value < 10 ? 1 : 0;
  return fmt::format("{:.{}f}", speedup.value, digits);
}

std::string times_in_words(const Estimate& speedup) {
  return speedup.ci95
             ? fmt::format("{:.2f} times ({:.2f} to {:.2f})", speedup.value, speedup.low(), speedup.high())
             : fmt::format("{} times (one round or two: no interval)", times_alone(speedup));
}

std::string alone_was_not_measured(const ResultDocument& document, int ranks) {
  const Json& axes = document.sweep.axes;
  const Json asked = axes.is_object() ? axes.value("ranks", Json()) : Json();
  const bool was_asked = asked.is_array() && std::ranges::find(asked, Json(1)) != asked.end();
  return fmt::format("One rank alone was not measured, so that there is no speedup [{}].",
                     was_asked ? std::string(give_time()) : fmt::format("--cards 1,{}", ranks));
}

std::vector<Finding> cards_findings(const ResultDocument& document, const CardsSetup& setup) {
  const std::vector<CardsPoint> all = cards_points(document);
  const CardsAnswer answer = answer_of(all, setup);
  std::vector<Finding> findings = setup.split_layers ? stage_findings(all, answer, document)
                                                     : rank_findings(all, answer, setup, document);
  findings.push_back(claim_ranks(setup.ranks, setup.threads));
  if (auto conditions = claim_conditions(document)) {
    findings.push_back(*std::move(conditions));
  }
  choose_cards_headlines(answer, setup, findings);
  return findings;
}

void choose_cards_headlines(const CardsAnswer& answer, const CardsSetup& setup,
                            std::vector<Finding>& findings) {
  std::vector<std::string> names{"cards"};
  const bool limited_by_cores = answer.limit && answer.limit->kind == CardsLimit::Kind::shared_cores;
  if (limited_by_cores || setup.takes_turns()) {  // one warning of the two
    names.emplace_back(limited_by_cores ? "limit" : "ranks");
  }
  for (const CardsStepAnswer& step : answer.steps | std::views::reverse) {  // of the most ranks
    if (!setup.split_layers || step.alone != nullptr) {
      names.push_back(setup.split_layers ? stage_step_name(*step.point) : step_name(step));
      break;
    }
  }
  names.emplace_back("limit");
  // That the ranks are alike tells the least.
  const auto& slowest = answer.slowest;
  const bool alike = slowest && !(setup.split_layers ? slowest->is_sure() : slowest->is_unbalanced());
  const auto rest = alike ? std::array{"loader", "memory", "balance", "ranks"}
                          : std::array{"balance", "memory", "loader", "ranks"};
  names.insert(names.end(), rest.begin(), rest.end());
  set_headlines(findings, names, true);
}

}  // namespace bench::sweeps
