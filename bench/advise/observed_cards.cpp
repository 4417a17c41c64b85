// Time to train as it is, with other cards, and as it is proposed.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bench/advise/change_words.h"
#include "bench/advise/observed_parts.h"
#include "bench/model/parallel_step.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Why the earlier run's steps are other work; empty where they are the same.
std::string other_work(const Observed& observed, const OtherRun& earlier) {
  if (earlier.image_size && observed.image_size && *earlier.image_size != *observed.image_size) {
    const double ratio =
        std::pow(static_cast<double>(*observed.image_size) / static_cast<double>(*earlier.image_size), 2);
    return fmt::format("its images of {}×{} have {:.2f} times {} pixels", *earlier.image_size,
                       *earlier.image_size, std::max(ratio, 1 / ratio), ratio > 1 ? "fewer" : "more");
  }
  for (const auto& [what, now, then] :
       {std::tuple{"batch", std::optional(observed.settings.batch), earlier.batch},
        std::tuple{"accumulations", std::optional(observed.settings.accumulate), earlier.accumulate},
        std::tuple{"tokens a sample", observed.sequence, earlier.sequence}}) {
    if (then && now && *now > 0 && *then != *now) {
      return fmt::format("it has {} {} in place of {}", *then, what, *now);
    }
  }
  return "";
}

struct TwoCounts {
  TimedRun fewer, more;  // by cards

  double ratio() const { return static_cast<double>(more.count) / static_cast<double>(fewer.count); }
  double efficiency() const { return fewer.step_s / more.step_s; }
  // Of what the step grew by, what waits for data took; nullopt: not read.
  std::optional<double> waits() const {
    return fewer.data_s && more.data_s
               ? std::optional((*more.data_s - *fewer.data_s) / (more.step_s - fewer.step_s))
               : std::nullopt;
  }
  std::string in_words() const {
    return fmt::format(
        "{} cards process {:.2f}× the samples of {} in the same time, {:.0f} % of what they could",
        more.count, ratio() * efficiency(), fewer.count, 100 * efficiency());
  }
};

// This run and an earlier one of the same work; nullopt where there are none of two counts.
std::optional<TwoCounts> two_counts(const Observed& observed) {
  const auto& earlier = observed.earlier_run;
  if (!earlier || !earlier->step_s || !earlier->cards || *earlier->cards == observed.settings.cards ||
      !observed.step_s || !is_same_work(observed, *earlier)) {
    return std::nullopt;
  }
  TwoCounts counts{{*earlier->cards, *earlier->step_s, earlier->data_s},
                   {observed.settings.cards, *observed.step_s, observed.data_s}};
  if (counts.fewer.count > counts.more.count) {
    std::swap(counts.fewer, counts.more);
  }
  return counts;
}

// As proposed, where these are others.
std::optional<std::int64_t> other_cards(const Observed& observed) {
  const auto cards = observed.proposed ? observed.proposed->cards : std::nullopt;
  return cards != observed.settings.cards ? cards : std::nullopt;
}

// The step of so many cards. Likely, what it grew by grows on as a ring's exchange does. It may stay as it
// is, or grow by each doubling as it did by the first; each doubling beyond the runs adds what published
// pairs differ by.
ReadScaling measured_scaling(const Observed& observed, const TwoCounts& counts, std::int64_t cards) {
  const auto& [fewer, more] = counts;
  const double doublings =
      std::log2(static_cast<double>(cards) / static_cast<double>(fewer.count)) / std::log2(counts.ratio());
  const double by_doubling = fewer.step_s * std::pow(more.step_s / fewer.step_s, doublings);
  const double grown =
      (times_sent(cards) - times_sent(fewer.count)) / (times_sent(more.count) - times_sent(fewer.count));
  const double by_ring = fewer.step_s + (more.step_s - fewer.step_s) * grown;
  const double nearest = cards < more.count ? fewer.step_s : more.step_s;
  const auto [least, most] = std::minmax(nearest, by_doubling);
  const double likely = std::clamp(by_ring, least, most);
  const std::int64_t next_to = cards < more.count ? fewer.count : more.count;
  const double beyond = std::abs(std::log2(static_cast<double>(cards) / static_cast<double>(next_to)));
  const double now = *observed.step_s;
  constexpr double kRun = 1.05;  // one run may take so much longer than the other of the same settings
  const double low = kRun * std::pow(kPublishedMedian / kPublishedEfficiency.low, beyond);
  const double high = kRun * std::pow(kPublishedEfficiency.high / kPublishedMedian, beyond);
  return {.brings = {.likely = now / likely, .efficiency = {now / most / low, now / least * high}},
          .evidence = counts.in_words(),
          .is_measured = true};
}

constexpr double kMostlyWaits = 0.7;

// Two step times at the same batch a card give what cards bring.
std::optional<NamedBottleneck> compare_cards(const Observed& observed, Advice& advice) {
  const auto counts = two_counts(observed);
  if (!counts) {
    return std::nullopt;
  }
  const auto& [fewer, more] = *counts;
  const double longer = more.step_s - fewer.step_s;
  std::string told = counts->in_words();
  constexpr double kGrown = 0.05;
  if (longer < kGrown * fewer.step_s) {
    return NamedBottleneck{Bottleneck::undecided,
                           told + ": the cards scale, and what limits one of them was not read."};
  }
  told += fmt::format(": a step takes {} longer ({} with {}, {} with {})", seconds_in_words(longer),
                      seconds_in_words(fewer.step_s), fewer.count, seconds_in_words(more.step_s), more.count);
  if (!counts->waits()) {
    advice.missing.emplace_back(
        "data_ms of both runs: whether the loader or the link between the cards takes the "
        "time that a step grew by");
    return NamedBottleneck{Bottleneck::undecided, told + ", by the link, the loader or the host's cores."};
  }
  constexpr double kLeast = 0.2;
  constexpr double kFree = 0.8;  // of the cores' time: below it, they do not slow the cards' processes down
  const double waits = *counts->waits();
  if (waits >= kMostlyWaits) {
    return NamedBottleneck{Bottleneck::loader,
                           told +
                               ", most of it waiting for data: the host feeds so many cards more "
                               "slowly."};
  }
  if (waits <= kLeast && observed.host_cpu && *observed.host_cpu < kFree) {
    return NamedBottleneck{Bottleneck::link,
                           told +
                               ", which neither the loader nor the host's cores explain: the cards exchange "
                               "gradients."};
  }
  if (!observed.host_cpu) {
    advice.missing.emplace_back(
        "host_cpu_percent with all cards: whether the host's cores or the link take it");
  }
  return NamedBottleneck{
      Bottleneck::undecided,
      fmt::format("{}, {:.0f} % of that waiting for data; the rest is the link's or the host's.", told,
                  100 * std::max(0.0, waits))};
}

// Of NVLink between them, which the cards of published pairs have.
bool lacks_nvlink(const Observed& observed) {
  const Gpu* const gpu = card_of(observed);
  return gpu != nullptr && gpu->nvlink && gpu->nvlink->empty();
}

// By published pairs of cards.
ReadScaling published_scaling(std::int64_t now, std::int64_t cards) {
  const auto [fewer, more] = std::minmax(now, cards);
  // The published pairs double the cards: each further doubling multiplies, so that the interval widens.
  const double doublings = std::max(1.0, std::log2(static_cast<double>(cards) / static_cast<double>(now)));
  const bool beyond = fewer < kFewestPublished || more > kMostPublished;
  return {.brings = {.likely = std::pow(kPublishedMedian, doublings),
                     .efficiency = {std::pow(kPublishedEfficiency.low, doublings),
                                    std::pow(kPublishedEfficiency.high, doublings)}},
          .evidence = published_scaling_in_words() + ", not this network" +
                      (beyond ? " and not these counts" : "") +
                      (doublings > 1 ? ", once for each doubling" : "")};
}

// Why nothing tells what so many cards bring.
void ask_for_scaling(const Observed& observed, std::int64_t cards, Advice& advice) {
  if (const auto counts = two_counts(observed); counts && counts->waits().value_or(0) >= kMostlyWaits) {
    advice.warnings.push_back(
        fmt::format("{}, for each waits longer for its data: nothing follows for {} cards. Feed these first.",
                    counts->in_words(), cards));
    return;
  }
  if (const auto counts = two_counts(observed)) {
    advice.warnings.push_back(
        fmt::format("{}: something between them is at fault (NCCL_DEBUG=INFO shows the way they exchange by, "
                    "NCCL_P2P_DISABLE=1 another one), so nothing follows for {} cards. Mend it first.",
                    counts->in_words(), cards));
    return;
  }
  const Gpu& gpu = *card_of(observed);
  advice.missing.push_back(fmt::format(
      "earlier_run of another count of cards (cards, step_ms), or scaling_efficiency_percent: a {} has no "
      "NVLink, which the cards of published pairs have; bench predict --gpu {} --mode {} --cards {},{} tells "
      "it "
      "of a network",
      display_name(gpu), gpu.id, observed.mode, std::min(observed.settings.cards, cards),
      std::max(observed.settings.cards, cards)));
}

double of_all(const Observed& observed) {
  return static_cast<double>(*observed.all_iterations());
}

double to_go(const Observed& observed) {
  return of_all(observed) - static_cast<double>(observed.iterations_done.value_or(0));
}

// Of what is saved: "74.1 h (3.1 days)", or "25.0 h longer".
std::string saving_in_words(double seconds) {
  return hours_in_words(std::abs(seconds)) + (seconds < 0 ? "" : " longer");
}

void advise_more_cards(const ReadStep& read, std::int64_t cards, Advice& advice) {
  const Observed& observed = read.observed;
  if (!read.scaling) {
    ask_for_scaling(observed, cards, advice);
    return;
  }
  TrainingSettings after = observed.settings;
  after.cards = cards;
  Change change = change_to(read.model, read.now, step_option(read.model, after));
  if (!accumulation_s(observed)) {
    change.step_ns = 0;
    change.step90_ns.reset();
  }
  if (observed.step_s && observed.iterations_done.value_or(0) > 0) {
    change.costs.push_back(fmt::format(
        "a restart loses {} iterations, {}, unless a checkpoint keeps them", *observed.iterations_done,
        hours_in_words(static_cast<double>(*observed.iterations_done) * *observed.step_s)));
  }
  change.evidence = {read.scaling->evidence};
  if (read.paying(&TrainingSettings::cards) != nullptr) {
    advice.changes.push_back(std::move(change));
    return;
  }
  advice.warnings.push_back(fmt::format(
      "With {} cards a sample takes {:.2f} times as long{}, by {}.", cards, 1 / change.speedup,
      read.scaling->is_measured
          ? fmt::format(" ({:.2f} to {:.2f})", 1 / change.speedup90->high, 1 / change.speedup90->low)
          : "",
      change.evidence.front()));
}

void tabulate_efficiencies(const Observed& observed, std::int64_t cards, Advice& advice) {
  const double ratio = static_cast<double>(cards) / static_cast<double>(observed.settings.cards);
  if (!observed.all_iterations() || !observed.step_s || to_go(observed) <= 0) {
    return;
  }
  const double as_it_is = to_go(observed) * *observed.step_s;
  const double compute = hidden_step_s(observed).value_or(0);
  const bool can_hide = compute > 0;
  const double hidden = to_go(observed) * compute;
  const double ideal = of_all(observed) * *observed.step_s / ratio;  // from the start, at 100 %
  AdviceTable table{.question = fmt::format("What do {} cards save, restarted?", cards),
                    .table = {.rows = {{"scaling efficiency", "time to train", "saved against as it is"}}}};
  if (can_hide) {
    table.table.rows.front().emplace_back("saved against loading hidden");
  }
  for (const double share : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5}) {
    Cells row{Cell::figure(fmt::format("{:.0f} %", 100 * share)), Cell::figure(hours_in_words(ideal / share)),
              Cell::figure(saving_in_words(ideal / share - as_it_is))};
    if (can_hide) {
      row.push_back(Cell::figure(saving_in_words(ideal / share - hidden)));
    }
    table.table.rows.push_back(std::move(row));
  }
  table.notes.push_back(fmt::format(
      "Break-even: {} scaling efficiency against training on as it is{}.", share_in_words(ideal / as_it_is),
      can_hide ? fmt::format(", {} against loading hidden on {} cards", share_in_words(ideal / hidden),
                             observed.settings.cards)
               : ""));
  table.notes.emplace_back(
      "Scaling efficiency: throughput over that of these cards times the ratio of cards; not measured here.");
  if (can_hide) {
    table.notes.push_back(fmt::format("Both together, loading hidden and {} cards: {} at 100 %.", cards,
                                      hours_in_words(of_all(observed) * compute / ratio)));
  }
  advice.tables.push_back(std::move(table));
}

}  // namespace

void advise_training_time(const Observed& observed, Advice& advice) {
  if (!observed.all_iterations() || !observed.step_s) {
    return;
  }
  const double left = to_go(observed);
  AdviceTable table{
      .question = observed.mode == "infer" ? "How long does it take?" : "How long does training take?",
      .table = {.rows = {{"", "step", fmt::format("{:.0f} iterations to go", left)},
                         {"as it is", Cell::figure(seconds_in_words(*observed.step_s)),
                          Cell::figure(hours_in_words(left * *observed.step_s))}}}};
  if (observed.data_s) {
    const double compute = *hidden_step_s(observed);
    if (compute > 0) {
      table.table.rows.push_back({"loading hidden", Cell::figure(seconds_in_words(compute)),
                                  Cell::figure(hours_in_words(left * compute))});
    }
    table.notes.push_back(fmt::format("Hiding all of the wait saves {} of the time, {}.",
                                      share_in_words(1 - compute / *observed.step_s),
                                      hours_in_words(left * (*observed.step_s - compute))));
  }
  advice.tables.push_back(std::move(table));
}

std::optional<ReadScaling> scaling_of(const Observed& observed) {
  const auto cards = other_cards(observed);
  if (!cards) {
    return std::nullopt;
  }
  if (const auto& given = observed.scaling_efficiency) {
    return ReadScaling{.brings = {.likely = (given->low + given->high) / 2, .efficiency = *given},
                       .evidence = "scaling efficiency as given"};
  }
  if (const auto counts = two_counts(observed)) {
    return counts->ratio() * counts->efficiency() > 1
               ? std::optional(measured_scaling(observed, *counts, *cards))
               : std::nullopt;
  }
  return lacks_nvlink(observed) ? std::nullopt
                                : std::optional(published_scaling(observed.settings.cards, *cards));
}

bool is_same_work(const Observed& observed, const OtherRun& other) {
  return other_work(observed, other).empty();
}

std::optional<NamedBottleneck> compare_earlier_run(const Observed& observed, Advice& advice) {
  const auto& earlier = observed.earlier_run;
  if (!earlier) {
    return std::nullopt;
  }
  if (const std::string other = other_work(observed, *earlier); !other.empty()) {
    advice.warnings.push_back(fmt::format("The earlier run{} is no reference: {}, so its step is other work.",
                                          earlier->cards ? fmt::format(" on {} cards", *earlier->cards) : "",
                                          other));
    return std::nullopt;
  }
  return compare_cards(observed, advice);
}

void advise_cards(const ReadStep& read, Advice& advice) {
  if (const auto cards = other_cards(read.observed)) {
    advise_more_cards(read, *cards, advice);
    tabulate_efficiencies(read.observed, *cards, advice);
  }
}

void advise_proposal(const ReadStep& read, Advice& advice) {
  const Observed& observed = read.observed;
  const auto& proposed = observed.proposed;
  if (!proposed || (!proposed->step_s && !proposed->batch && !proposed->accumulate)) {
    return;
  }
  TrainingSettings after = observed.settings;
  after.batch = proposed->batch.value_or(after.batch);
  after.accumulate = proposed->accumulate.value_or(after.accumulate);
  after.cards = proposed->cards.value_or(after.cards);
  const auto now_batch = static_cast<double>(observed.settings.effective_batch());
  const auto then_batch = static_cast<double>(after.effective_batch());
  if (now_batch <= 0 || then_batch <= 0) {
    advice.missing.emplace_back("batch: samples of a card in one accumulation");
    return;
  }
  const auto one = accumulation_s(observed);
  const auto sample =
      one ? std::optional(*one * static_cast<double>(observed.settings.accumulate) / now_batch)
          : std::nullopt;
  AdviceTable table{.question = "What does the proposal bring, per sample?",
                    .table = {.rows = {{"", "effective batch", "step", "a sample"}}}};
  const auto row = [&table](const char* what, double batch, const std::optional<double>& step) {
    table.table.rows.push_back({what, Cell::figure(fmt::format("{:.0f}", batch)),
                                step ? Cell::figure(seconds_in_words(*step)) : Cell::none(),
                                step ? Cell::figure(seconds_in_words(*step / batch)) : Cell::none()});
  };
  row("as it is", now_batch, sample ? std::optional(*sample * now_batch) : std::nullopt);
  // Of an optimizer step, as the rows are.
  std::optional<double> then_step = proposed->step_s;
  if (then_step && after.accumulate > 1) {
    then_step = !observed.step_is_optimizer ? std::nullopt
                : *observed.step_is_optimizer
                    ? then_step
                    : std::optional(*then_step * static_cast<double>(after.accumulate));
  }
  if (then_step) {
    row("as hoped for", then_batch, then_step);
  }
  if (sample && then_step) {
    const double ratio = *then_step / then_batch / *sample;
    table.notes.push_back(fmt::format(
        "{}: {} a sample then, {} now, so an epoch takes {:.1f} % {}; to gain, a step of {:.0f} must take "
        "less "
        "than {}.",
        then_batch != now_batch ? "The batches differ" : "The batches are the same",
        seconds_in_words(*then_step / then_batch), seconds_in_words(*sample), 100 * std::abs(ratio - 1),
        ratio > 1 ? "longer" : "less", then_batch, seconds_in_words(*sample * then_batch)));
    if (proposed->sequence && observed.sequence && *proposed->sequence != *observed.sequence) {
      const double a_token =
          ratio * static_cast<double>(*observed.sequence) / static_cast<double>(*proposed->sequence);
      table.notes.push_back(fmt::format(
          "Its samples have {} tokens in place of {}: a token takes {:.1f} % {}.", *proposed->sequence,
          *observed.sequence, 100 * std::abs(a_token - 1), a_token > 1 ? "longer" : "less"));
    }
  }
  const StepModel& model = read.model;
  if (const auto largest = model.largest_batch(after.dtype); largest && after.batch > *largest) {
    table.notes.push_back(
        fmt::format("Batch {} does not fit into {}: {} is the largest, {} the largest below 90 %.",
                    after.batch, format_bytes(model.memory_cap()), *largest, *model.safe_batch(after.dtype)));
  }
  if (then_batch != now_batch) {
    std::string words = effective_batch_words(observed.settings, after);
    words.front() = 'E';
    table.notes.push_back(words + ".");
  }
  advice.tables.push_back(std::move(table));
}

}  // namespace bench
