#include "sweeps/cards/findings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/stats/ratio.h"
#include "bench/stats/statistics.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/cards/planned.h"
#include "sweeps/cards/stage_findings.h"
#include "sweeps/cards/verdict.h"

namespace bench::sweeps {
namespace {

double median_of(std::vector<double> values) {
  return values.empty() ? 0 : median(values);
}

void read_notes(const MeasuredPoint& measured, CardsPoint& point) {
  const auto ranks = static_cast<std::size_t>(point.ranks);
  std::vector<double> exposed;
  std::vector<double> queued;
  std::vector<double> copied;
  std::vector<std::vector<double>> own(ranks);
  std::vector<std::shared_ptr<const RankSteps>> kept;
  std::vector<const RankSteps*> all;  // by sample
  for (const auto& note : measured.notes) {
    const auto* steps = dynamic_cast<const RankSteps*>(note.get());
    if (steps == nullptr && note != nullptr) {  // as a file has it
      kept.push_back(read_rank_steps(note->to_json()));
      steps = kept.back().get();
    }
    if (steps != nullptr && steps->step_ns.size() != ranks) {
      steps = nullptr;
    }
    all.push_back(steps);
    if (steps == nullptr) {
      continue;
    }
    exposed.push_back(std::ranges::min(steps->waited_ns));
    for (const auto& [values, longest] :
         {std::pair(&steps->queued_ns, &queued), std::pair(&steps->copied_ns, &copied)}) {
      if (!values->empty()) {
        longest->push_back(std::ranges::max(*values));
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      own[rank].push_back(steps->own_ns(rank));
    }
    point.plan_bytes = steps->plan_bytes;
    point.peak_bytes = steps->peak_bytes;
    point.activation_bytes = steps->activation_bytes;
  }
  if (exposed.empty()) {
    return;
  }
  point.exposed_ns = median_of(exposed);
  point.queued_ns = median_of(queued);
  point.copied_ns = median_of(copied);
  for (const std::vector<double>& values : own) {
    point.own_ns.push_back(median_of(values));
  }
  point.own_by_round.resize(ranks);
  std::size_t next = 0;
  for (const MeasuredRound& round : measured.rounds) {
    const std::size_t end = std::min(next + static_cast<std::size_t>(round.samples), all.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<double> values;
      for (std::size_t sample = next; sample < end; ++sample) {
        if (all[sample] != nullptr) {
          values.push_back(all[sample]->own_ns(rank));
        }
      }
      point.own_by_round[rank].push_back(median_of(values));
    }
    next = end;
  }
}

// "a step of 1.93 s waits 12 ms for gradients, and each rank computes 13 % longer than alone".
std::string losses_in_words(const CardsPoint& point, const CardsPoint* alone, bool strong) {
  const double waited = point.exposed_ns / point.ns.value;
  std::string text = fmt::format("a step of {} waits {} ({}) for gradients", format_duration(point.ns.value),
                                 format_duration(point.exposed_ns), format_percent(waited));
  if (alone != nullptr && !strong && !point.own_ns.empty()) {
    const double slower = median_of(point.own_ns) / alone->ns.value - 1;
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
  finding.claim =
      fmt::format("{} ranks of batch {}: {}, {} one rank's{}; {}.", point.ranks, point.batch,
                  per_second(point), times_in_words(times),
                  efficiency.ci95 ? fmt::format(", an efficiency of {}", percent_in_words(efficiency)) : "",
                  losses_in_words(point, &alone, strong));
  return finding;
}

// Where one rank alone was not measured.
Finding claim_waits(const CardsPoint& point) {
  Finding finding =
      finding_of(fmt::format("waits/ranks:{}/batch:{}", point.ranks, point.batch), "share", {point.name});
  finding.value = point.exposed_ns / point.ns.value;
  finding.details = {{"step_ns", point.ns.value}, {"exposed_ns", point.exposed_ns}};
  finding.claim = fmt::format("{} ranks of batch {}: {}; {}.", point.ranks, point.batch, per_second(point),
                              losses_in_words(point, nullptr, true));
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

}  // namespace

std::string memory_alone(Finding& finding, const CardsPoint* alone) {
  if (alone == nullptr || alone->peak_bytes.empty()) {
    return "";
  }
  finding.evidence.insert(finding.evidence.begin(), alone->name);
  finding.details["alone_bytes"] = alone->peak_bytes.front();
  return ", one alone " + format_bytes(alone->peak_bytes.front());
}

namespace {

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
      "A rank of {} takes {}{}{}{}; the library of the ranks takes {}.", point.ranks, format_bytes(most),
      as_planned ? ", as planned on every rank" : ", not what was planned", than,
      holds_less ? ": each keeps its share of the optimizer's state" : "",
      library.joining.empty() ? std::string("more, which could not be measured here")
                              : fmt::format("{} more, measured as the process grew by joining and summing {}",
                                            library.in_words(), format_bytes(library.summed)));
  if (!library.joining.empty()) {
    finding.details["library_bytes"] = library.total();
  }
  return finding;
}

// Fewer digits where nobody knows how many hold.
std::string times_alone(const Estimate& speedup) {
  const int digits = speedup.ci95 || speedup.value == 1 ? 2 : speedup.value < 10 ? 1 : 0;
  return fmt::format("{:.{}f}", speedup.value, digits);
}

}  // namespace

std::string per_second(const CardsPoint& point) {
  const Estimate rate = inverse(point.ns, point.samples() * 1e9);
  return plus_minus(rate.value, rate.ci95) + " samples/s";
}

std::string times_in_words(const Estimate& speedup) {
  return speedup.ci95
             ? fmt::format("{:.2f} times ({:.2f} to {:.2f})", speedup.value, speedup.low(), speedup.high())
             : fmt::format("{} times (one round or two: no interval)", times_alone(speedup));
}

SlowestRank slowest_rank(const CardsPoint& point) {
  const auto slowest = std::ranges::max_element(point.own_ns);
  const auto rank = static_cast<std::size_t>(slowest - point.own_ns.begin());
  const auto of_others = [rank](std::vector<double> all) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(rank));
    return median_of(all);
  };
  SlowestRank found{.rank = rank, .own_ns = *slowest, .longer = *slowest / of_others(point.own_ns) - 1};
  if (point.own_by_round.size() == point.own_ns.size()) {
    const std::vector<double>& own = point.own_by_round[rank];
    std::vector<double> others;
    for (std::size_t round = 0; round < own.size(); ++round) {
      std::vector<double> all;
      for (const std::vector<double>& values : point.own_by_round) {
        all.push_back(values[round]);
      }
      others.push_back(of_others(std::move(all)));
    }
    if (const auto times = paired_ratio(own, others); times && times->ci95) {
      found.ci95 = Interval{times->low() - 1, times->high() - 1};
    }
  }
  return found;
}

std::vector<CardsPoint> cards_points(const ResultDocument& document) {
  const FlagMarks marks(document.benchmarks);
  std::vector<CardsPoint> all;
  for (const MeasuredPoint& measured : document.benchmarks) {
    const auto params = read_cards_params(measured.params);
    if (!params || measured.stats.median_ns <= 0) {
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
  return throughput_ratio({point.ns, point.rounds, point.samples()},
                          {alone.ns, alone.rounds, alone.samples()});
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
  std::vector<Finding> findings = setup.split_layers ? stage_findings(all, document) : std::vector<Finding>();
  std::vector<CardsPoint> scaling;  // of the largest batch that one rank ran too, else of the largest
  const CardsPoint* alone = nullptr;
  const auto size_of = [&](const CardsPoint& point) {
    return setup.strong ? point.samples() : static_cast<double>(point.batch);
  };
  for (const CardsPoint& point : all) {
    if (point.ranks == 1 || setup.split_layers) {
      continue;
    }
    const CardsPoint* const own = alone_for(point, all, setup.strong);
    findings.push_back(own != nullptr ? claim_efficiency(point, *own, setup.strong) : claim_waits(point));
    const bool is_larger = scaling.empty() ||
                           (own && (alone == nullptr || own->samples() > alone->samples())) ||
                           (own == nullptr && alone == nullptr && size_of(point) > size_of(scaling.front()));
    if (is_larger) {
      alone = own;
      scaling.clear();
    }
    if (own == alone && (scaling.empty() || size_of(point) == size_of(scaling.front()))) {
      scaling.push_back(point);
    }
  }
  if (!scaling.empty()) {
    const CardsPoint& most = scaling.back();
    findings.push_back(alone != nullptr ? claim_cards(scaling, *alone, setup.strong)
                                        : claim_batch(most, setup.strong, document));
    if (auto limit = claim_card_limit(most)) {
      findings.push_back(*std::move(limit));
    } else if (alone != nullptr && !setup.strong) {
      findings.push_back(claim_limit(most, *alone, setup));
    }
    if (most.own_ns.size() > 1) {
      findings.push_back(claim_balance(most));
    }
    if (!most.peak_bytes.empty()) {
      findings.push_back(claim_memory(most, alone, setup.library));
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
  const auto named = [&](const char* name) { return std::ranges::find(findings, name, &Finding::name); };
  for (const char* const name : {"limit", "ranks"}) {  // one warning of the two
    const auto warning = named(name);
    if (names.size() == 1 && warning != findings.end() && warning->details.contains("takes_turns")) {
      names.emplace_back(name);
    }
  }
  for (const Finding& finding : findings | std::views::reverse) {  // of the most ranks
    if (finding.name.starts_with("efficiency/") || finding.name.starts_with("waits/")) {
      names.push_back(finding.name);
      break;
    }
  }
  if (std::ranges::find(names, "limit") == names.end()) {
    names.emplace_back("limit");
  }
  // That the ranks are alike tells the least.
  const auto balance = named("balance");
  const bool alike = balance != findings.end() && !balance->claim.starts_with("Rank ");
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
                  .lists_points = true};
  for (const CardsPoint& point : all) {
    const CardsPoint* const alone = alone_for(point, all, setup.strong);
    const Estimate speed = alone == nullptr ? Estimate{} : speedup(point, *alone);
    const bool is_known = point.ranks == 1 || speed.ci95;
    const Cell efficiency = alone == nullptr || !is_known ? Cell::none()
                            : point.ranks == 1
                                ? Cell::share(1)
                                : Cell::figure(percent_in_words(scaled(speed, 1.0 / point.ranks)));
    table.rows.push_back(
        {point.ranks, point.batch, Cell::time(point.ns.value, point.ns.ci95),
         Cell::rate(point.samples() / point.ns.value * 1e9, ""),
         alone == nullptr ? Cell::none() : Cell::figure(times_alone(speed)), efficiency,
         point.ranks == 1 ? Cell::none() : Cell::time(point.exposed_ns),
         point.peak_bytes.empty() ? Cell::none() : Cell::bytes(std::ranges::max(point.peak_bytes)),
         point.mark});
  }
  if (all.empty()) {
    return {};
  }
  std::vector<TextTable> tables = sharing_tables(document, setup.whole_optimizer);
  tables.insert(tables.begin(), std::move(table));
  return tables;
}

}  // namespace bench::sweeps
