// A model's layers split over cards, against a copy of the model on each; and by the plan of a stand-in
// network, what batch, sequence and sharing out would change in memory, and what cards exchange.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/observed_parts.h"
#include "bench/model/parallel_step.h"
#include "bench/predict/sharding.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// As the user trains; nullptr: not planned.
const StandInPlan* current_plan(const Observed& observed, const StandIn& stand_in) {
  const auto& plans = stand_in.plans;
  const auto found = std::ranges::find_if(plans, [&](const StandInPlan& plan) {
    return plan.batch == observed.settings.batch && plan.dtype == observed.settings.dtype &&
           (!plan.sequence || !observed.sequence || plan.sequence == observed.sequence);
  });
  return found == plans.end() ? nullptr : &*found;
}

void advise_sharing(const Observed& observed, const StandIn& stand_in, const StandInPlan& plan,
                    Advice& advice) {
  CardsStep step{.cards = observed.settings.cards,
                 .accumulate = observed.settings.accumulate,
                 .peak = plan.memory.peak,
                 .memory = plan.memory.at_peak};
  step.bucket = CardsLink{}.bucket;
  step.largest_part = static_cast<std::int64_t>(stand_in.largest_parameter *
                                                static_cast<double>(step.memory[MemoryCategory::weights]));
  step.replay.bytes = plan.memory.at_peak[MemoryCategory::gradients];
  AdviceTable table{
      .question = fmt::format("What could {} cards share out? Planned, never run", step.cards),
      .notes = {fmt::format(
          "Of the stand-in in {} at batch {}{}. at start: where the framework makes the "
          "whole parameters on each card first. sent: over the link between the cards in "
          "an optimizer step{}; bus: between a card and the host.",
          plan.dtype, plan.batch, plan.sequence ? fmt::format(" and sequence {}", *plan.sequence) : "",
          step.accumulate > 1 ? fmt::format(", where ZeRO-2 and ZeRO-3 sum gradients in each of {} "
                                            "accumulations",
                                            step.accumulate)
                              : "")}};
  table.table.rows = sharing_rows(step);
  if (observed.host_memory && observed.host_memory_used) {
    const auto shares = static_cast<double>(plan.memory.at_peak[MemoryCategory::optimizer] +
                                            plan.memory.at_peak[MemoryCategory::gradients]);
    table.notes.push_back(fmt::format(
        "In host memory, optimizer state and gradients: the shares of all cards take {}, a whole copy for "
        "each card {}; {} is free.",
        gib_in_words(shares), gib_in_words(shares * static_cast<double>(step.cards)),
        gib_in_words(*observed.host_memory - *observed.host_memory_used)));
  }
  advice.tables.push_back(std::move(table));
}

// The readings have no timeline: gradients are spread evenly over the last two thirds of the step.
bool advise_exchange(const Observed& observed, const StandIn& stand_in, const StandInPlan& plan,
                     Advice& advice) {
  const auto accumulation = accumulation_s(observed);
  const bool more = observed.proposed && observed.proposed->cards;
  const std::int64_t cards = more ? *observed.proposed->cards : observed.settings.cards;
  const std::int64_t bytes = plan.memory.at_peak[MemoryCategory::gradients];
  if (!accumulation || cards < 2 || bytes == 0) {
    return false;
  }
  const double waiting = observed.data_s ? *observed.data_s / *observed.step_s : 0;
  const GradientTimeline timeline = even_timeline(1e9 * *accumulation * (1 - waiting),
                                                  observed.settings.accumulate, static_cast<double>(bytes));
  const OneCard one{.timeline = timeline, .step_ns = timeline.step_ns()};
  AdviceTable table{
      .question = fmt::format("Do {} cards wait for each other's gradients? Replayed", cards),
      .notes = {fmt::format(
          "{} of gradients, as the stand-in has in {}. They are ready evenly over the last two thirds of the "
          "step's computing, and are added up in buckets while it goes on; over the links within a host it "
          "goes "
          "on more slowly meanwhile. Links as in results/links.json. What the host, the loader and the "
          "framework cost more is not in it.",
          format_bytes(bytes), plan.dtype)}};
  table.table.rows = {{"link", "all-reduce", "a step is longer by"}};
  std::vector<Link> links;
  for (const Link& link : stand_in.links.links) {
    links.push_back(link_of_cards(link, {.peer_access = true}));
    if (link.through_host) {  // the readings do not name a card
      links.push_back(link_of_cards(link, {.peer_access = false}));
    }
  }
  for (const Link& link : links) {
    const ReplayedStep step =
        parallel_step(one, cards, {.link = CardLinks{.inside = link}}, stand_in.links).replay;
    table.table.rows.push_back(
        {link.name, Cell::time(step.all_reduce_ns),
         Cell::figure(fmt::format("{} ({})", format_duration(step.exposed_ns),
                                  format_percent(step.exposed_ns / (step.step_ns - step.exposed_ns))))});
  }
  advice.tables.push_back(std::move(table));
  return true;
}

}  // namespace

bool advise_stand_in(const Observed& observed, const StandIn& stand_in, Advice& advice) {
  if (stand_in.plans.empty()) {
    return false;
  }
  AdviceTable table{.question = fmt::format("Memory of {}, a stand-in for your network", stand_in.name),
                    .table = {.rows = {{"dtype", "batch", "sequence", "planned", "fixed part"}}}};
  for (const StandInPlan& plan : stand_in.plans) {
    table.table.rows.push_back(
        {plan.dtype, plan.batch, plan.sequence ? Cell(*plan.sequence) : Cell::none(),
         Cell::figure(gib_in_words(static_cast<double>(plan.memory.peak))),
         Cell::figure(gib_in_words(static_cast<double>(plan.memory.at_peak.fixed_part())))});
  }
  table.notes.push_back(
      fmt::format("Planned for {}, training with {}; the network that was read may differ by any factor.",
                  stand_in.planned_for, stand_in.optimizer));
  table.notes.emplace_back("Accumulation changes no memory of a card; only its batch does.");
  advice.tables.push_back(std::move(table));
  const StandInPlan* const plan = current_plan(observed, stand_in);
  if (plan == nullptr || observed.mode != "train") {
    return false;
  }
  if (observed.settings.cards > 1 && plan->memory.at_peak[MemoryCategory::optimizer] > 0) {
    advise_sharing(observed, stand_in, *plan, advice);
  }
  return advise_exchange(observed, stand_in, *plan, advice);
}

void advise_split(const Observed& observed, Advice& advice) {
  if (!observed.split_by_layers) {
    return;
  }
  if (observed.memory.size() < 2) {
    advice.missing.emplace_back("memory_gib: of each card that holds a part of the layers");
    return;
  }
  const auto cards = static_cast<double>(observed.memory.size());
  const double whole = std::accumulate(observed.memory.begin(), observed.memory.end(), 0.0);
  const double most = std::ranges::max(observed.memory);
  const std::string idle = fmt::format("{:.0f} %", 100 * (cards - 1) / cards);
  const bool timed = observed.step_s && observed.all_iterations();
  const double time = timed ? static_cast<double>(*observed.all_iterations()) * *observed.step_s : 0;
  const bool fits = observed.memory_cap && whole <= *observed.memory_cap;
  // In training the copies exchange gradients, and what they take is not known.
  const bool may_copy = observed.mode == "infer" && (fits || !observed.memory_cap);

  const auto hours = [&](double seconds) {
    return timed ? Cell::figure(hours_in_words(seconds)) : Cell::none();
  };
  AdviceTable table{.question = fmt::format("Layers split over {:.0f} cards, or a copy on each?", cards)};
  table.table.rows = {
      {"", "time", "memory a card", "cards idle"},
      {"layers split", hours(time), Cell::figure("at most " + gib_in_words(most)), Cell::figure(idle)},
      {observed.memory_cap && !fits ? "a copy on each (does not fit)" : "a copy on each",
       may_copy ? hours(time / cards) : Cell::none(), Cell::figure(gib_in_words(whole)),
       Cell::figure("0 %")}};
  table.notes.push_back(
      fmt::format("Split, one card works at a time, so {} of the cards' time is idle.", idle));
  // The stage that takes longest sets the pace; a stage's part of the time is taken to be its part of the
  // memory.
  const double pace = most / whole;
  const double ahead = timed ? time * pace + *observed.step_s * (1 - pace) : 0;
  if (observed.mode == "infer") {
    table.table.rows.insert(
        table.table.rows.begin() + 2,
        {"split, several images at a time", hours(ahead),
         Cell::figure(fmt::format("at most {} and images", gib_in_words(most))),
         Cell::figure(
             fmt::format("{:.0f} %", 100 * (1 - (timed ? time / (cards * ahead) : 1 / (cards * pace)))))});
    table.notes.emplace_back(
        "Several at a time: a card works on one image while the next card works on the one before, and the "
        "slowest sets the pace. Planned, as if a card's part of the time were its part of the memory; bench "
        "--sweep cards --split layers --micro-batches 1,8 measures a network of yours.");
  }
  if (observed.memory_cap) {
    table.notes.push_back(fmt::format("A copy takes {} of a card's {} ({}): {} for inference.",
                                      gib_in_words(whole), gib_in_words(*observed.memory_cap),
                                      share_in_words(whole / *observed.memory_cap),
                                      fits ? "it fits" : "it does not fit"));
  } else {
    advice.missing.emplace_back("memory_cap_gib: the memory of a card");
  }
  table.notes.emplace_back(
      "Training is unknown: it adds gradients, optimizer state and saved activations, none of which was "
      "read; with "
      "Adam in one precision the weights alone count four times.");
  if (timed && may_copy) {
    table.notes.emplace_back(
        "The time of copies assumes that the images are shared out evenly and that the host feeds all "
        "cards.");
  }
  advice.tables.push_back(std::move(table));
  advice.missing.emplace_back(
      "parameters, optimizer and max_memory_reserved of one training step: whether training fits");
  const auto add = [&](const char* what, const char* setting, double speedup,
                       std::vector<std::string> costs) {
    Change change;
    change.what = what;
    change.setting = setting;
    change.after = observed.settings;
    change.speedup = speedup;
    change.step_ns = 1e9 * *observed.step_s;
    change.costs = std::move(costs);
    change.evidence = {fmt::format("memory of {:.0f} cards, step, iterations", cards)};
    advice.changes.push_back(std::move(change));
  };
  if (timed && observed.mode == "infer") {
    add("one image at a time → several, through the same stages",
        "torch.distributed.pipelining, ScheduleGPipe with several micro-batches", time / ahead,
        {"the activations of the images under way, on each card"});
  }
  if (timed && fits && may_copy) {
    add("layers split → a copy on each card",
        "one process a card, each with model.to(rank) and its share of the images", cards,
        {fmt::format("{} of memory a card in place of {}", gib_in_words(whole), gib_in_words(most)),
         "an upper bound: cards that share a host's loader or bus gain less"});
  }
}

}  // namespace bench
