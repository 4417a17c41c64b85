// The answer of the cards sweep on layers over ranks, in words.

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/cards/words.h"

namespace bench::sweeps {
namespace {

// "19 to 41 %", "980 KiB to 1.20 MiB".
std::string range_in_words(const std::string& least, const std::string& most) {
  if (least == most) {
    return most;
  }
  const std::size_t unit = least.rfind(' ');
  const bool one_unit = unit != std::string::npos && most.ends_with(least.substr(unit));
  return (one_unit ? least.substr(0, unit) : least) + " to " + most;
}

std::string idle_in_words(const CardsPoint& point) {
  const std::vector<double> idle = idle_shares(point);
  return idle.empty()
             ? std::string("–")
             : range_in_words(format_percent(std::ranges::min(idle)), format_percent(std::ranges::max(idle)));
}

std::string bytes_in_words(const std::vector<std::int64_t>& by_rank) {
  return range_in_words(format_bytes(std::ranges::min(by_rank)), format_bytes(std::ranges::max(by_rank)));
}

std::string ranks_in_words(const CardsPoint& point) {
  return fmt::format("{} ranks with {} micro-batch{}", point.ranks, point.micro_batches,
                     point.micro_batches == 1 ? "" : "es");
}

Finding claim_stage_efficiency(const CardsPoint& point, const CardsPoint& alone) {
  Finding finding = finding_of(stage_step_name(point), "share", {alone.name, point.name});
  const Estimate times = speedup(point, alone);
  finding.set(scaled(times, 1.0 / point.ranks));
  finding.details = {{"speedup", times.value},
                     {"step_ns", point.ns.value},
                     {"alone_ns", alone.ns.value},
                     {"idle", idle_shares(point)}};
  finding.claim = fmt::format("{} of batch {}: {}, {} one rank's; each rank is idle for {} of a step of {}.",
                              ranks_in_words(point), point.batch, per_second(point), times_in_words(times),
                              idle_in_words(point), format_duration(point.ns.value));
  return finding;
}

Finding claim_stage_cards(const PayingRanks& pays, const CardsPoint& alone) {
  const CardsPoint& best = *pays.best;
  Finding finding = finding_of("cards", "ranks", {alone.name, best.name});
  finding.details = {{"speedup", pays.times.value}, {"micro_batches", best.micro_batches}};
  if (pays.open != nullptr) {
    finding.claim = fmt::format(
        "Inconclusive whether layers over ranks pay at batch {}: {} give {} one rank's throughput "
        "[{}].",
        best.batch, ranks_in_words(best), times_in_words(pays.times), give_time());
    return finding;
  }
  finding.value = pays.ranks;
  finding.claim =
      pays.ranks > 1
          ? fmt::format("{} give the most at batch {}: {} one rank's throughput.", ranks_in_words(best),
                        best.batch, times_in_words(pays.times))
          : fmt::format(
                "One rank gives the most at batch {}: layers over several give {} its throughput at "
                "best, with {}.",
                best.batch, times_in_words(pays.times), ranks_in_words(best));
  return finding;
}

Finding claim_stages_without_one_rank(const CardsPoint& best, const ResultDocument& document) {
  Finding finding = finding_of("cards", "ranks", {best.name});
  finding.details = {{"micro_batches", best.micro_batches}};
  finding.claim = fmt::format("{} {} take {} a step of batch {}: {}.",
                              alone_was_not_measured(document, best.ranks), ranks_in_words(best),
                              plus_minus_duration(best.ns.value, best.ns.ci95), best.batch, per_second(best));
  return finding;
}

Finding claim_pipeline(const CardsPoint& point, const std::vector<CardsPoint>& all) {
  Finding finding = finding_of("limit", "share", {point.name});
  const double planned = pipeline_idle(point.ranks, point.micro_batches);
  const double least = std::ranges::min(idle_shares(point));
  finding.value = planned;
  finding.details = {{"least_idle", least}};
  const bool more_were_slower = std::ranges::any_of(all, [&](const CardsPoint& other) {
    return other.split_layers && other.ranks == point.ranks && other.batch == point.batch &&
           other.micro_batches > point.micro_batches;
  });
  finding.claim = fmt::format(
      "{}: filling and emptying the pipeline leaves each of equal stages idle for {} of a step; the busiest "
      "rank is idle for {}{}.",
      ranks_in_words(point), format_percent(planned), format_percent(least),
      planned > least / 2 && !more_were_slower ? " [more micro-batches]" : "");
  return finding;
}

Finding claim_slowest_stage(const CardsPoint& point, const SlowestRank& slowest) {
  Finding finding = finding_of("balance", "share", {point.name});
  finding.set({.value = slowest.longer, .ci95 = slowest.ci95});
  finding.details = {{"slowest_rank", slowest.rank}, {"own_ns", point.own_ns}};
  finding.claim = fmt::format(
      "{} for {} of a step of {}, {}.",
      slowest.is_sure() ? fmt::format("Rank {} has the slowest stage: it computes", slowest.rank)
                        : fmt::format("No stage is significantly slower: rank {} computes", slowest.rank),
      format_duration(slowest.own_ns), format_duration(point.ns.value),
      slowest.longer > 2
          ? fmt::format("{:.0f} times as long as the others", 1 + slowest.longer)
          : percent_in_words({.value = slowest.longer, .ci95 = slowest.ci95}) + " longer than the others");
  return finding;
}

Finding claim_stage_memory(const CardsPoint& point, const CardsPoint* alone) {
  Finding finding = finding_of("memory", "bytes", {point.name});
  const auto most = std::ranges::max_element(point.peak_bytes);
  finding.value = static_cast<double>(*most);
  finding.details = {{"peak_bytes", point.peak_bytes}, {"plan_bytes", point.plan_bytes}};
  const std::string than = memory_alone(finding, alone);
  if (!point.activation_bytes.empty()) {
    finding.details["activation_bytes"] = point.activation_bytes;
  }
  const std::string activations =
      point.activation_bytes.empty()
          ? ""
          : fmt::format(", {} of it activations", bytes_in_words(point.activation_bytes));
  finding.claim = fmt::format(
      "{}: a rank takes {}{}, {}{}; rank {} takes the most. What the library of the ranks takes is not in "
      "it.",
      ranks_in_words(point), bytes_in_words(point.peak_bytes), activations,
      point.peak_bytes == point.plan_bytes ? "as planned on every rank" : "not what was planned", than,
      most - point.peak_bytes.begin());
  return finding;
}

// The most and the fewest micro-batches of the same ranks and batch.
std::optional<Finding> claim_micro_batches(const CardsPoint& best, const std::vector<CardsPoint>& all) {
  const CardsPoint* few = nullptr;
  const CardsPoint* many = nullptr;
  for (const CardsPoint& point : all) {
    if (point.split_layers && point.ranks == best.ranks && point.batch == best.batch &&
        !point.peak_bytes.empty()) {
      few = few == nullptr || point.micro_batches < few->micro_batches ? &point : few;
      many = many == nullptr || point.micro_batches > many->micro_batches ? &point : many;
    }
  }
  if (few == many) {
    return std::nullopt;
  }
  Finding finding = finding_of("micro-batches", "ratio", {few->name, many->name});
  const std::int64_t before = std::ranges::max(few->peak_bytes);
  const std::int64_t after = std::ranges::max(many->peak_bytes);
  finding.value = static_cast<double>(after) / static_cast<double>(before);
  finding.details = {{"micro_batches", {few->micro_batches, many->micro_batches}},
                     {"most_bytes", {before, after}},
                     {"step_ns", {few->ns.value, many->ns.value}}};
  finding.claim = fmt::format(
      "{} micro-batches in place of {} take {} of memory on the rank that takes most, not {}, and {} a step, "
      "not {}.",
      many->micro_batches, few->micro_batches, format_bytes(after), format_bytes(before),
      format_duration(many->ns.value), format_duration(few->ns.value));
  return finding;
}

}  // namespace

std::string stage_step_name(const CardsPoint& point) {
  return fmt::format("efficiency/split:layers/ranks:{}/micro-batches:{}/batch:{}", point.ranks,
                     point.micro_batches, point.batch);
}

std::vector<Finding> stage_findings(const std::vector<CardsPoint>& all, const CardsAnswer& answer,
                                    const ResultDocument& document) {
  std::vector<Finding> findings;
  for (const auto& [point, alone] : answer.steps) {
    if (alone != nullptr) {
      findings.push_back(claim_stage_efficiency(*point, *alone));
    }
  }
  if (answer.most == nullptr) {
    return findings;
  }
  const CardsPoint& best = *answer.most;
  findings.push_back(answer.pays ? claim_stage_cards(*answer.pays, *answer.alone)
                                 : claim_stages_without_one_rank(best, document));
  if (answer.slowest) {
    findings.push_back(claim_pipeline(best, all));
    findings.push_back(claim_slowest_stage(best, *answer.slowest));
  }
  if (!best.peak_bytes.empty()) {
    findings.push_back(claim_stage_memory(best, answer.alone));
  }
  if (auto finding = claim_micro_batches(best, all)) {
    findings.push_back(*std::move(finding));
  }
  return findings;
}

std::vector<TextTable> stage_tables(const std::vector<CardsPoint>& all) {
  TextTable table{.title = "Batches through stages that ranks have",
                  .rows = {{"ranks", "micro-batches", "batch", "step", "samples/s", "speedup", "slowest",
                            "idle a rank", "memory a rank", ""}},
                  .lists_points = true};
  for (const CardsPoint& point : all) {
    const CardsPoint* const alone = alone_for(point, all, true);
    const bool several = point.ranks > 1 && !point.own_ns.empty();
    const auto slowest = std::ranges::max_element(point.own_ns) - point.own_ns.begin();
    table.rows.push_back(
        {point.ranks, point.micro_batches, point.batch, Cell::time(point.ns.value, point.ns.ci95),
         rate_cell(point), alone == nullptr ? Cell::none() : Cell::times(speedup(point, *alone).value),
         several ? Cell::figure(fmt::format("rank {}", slowest)) : Cell::none(),
         several ? Cell::figure(idle_in_words(point)) : Cell::none(),
         point.peak_bytes.empty() ? Cell::none() : Cell::figure(bytes_in_words(point.peak_bytes)),
         point.mark});
  }
  return all.empty() ? std::vector<TextTable>{} : std::vector{table};
}

}  // namespace bench::sweeps
