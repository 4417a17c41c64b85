// What batch, sequence and sharing out would change in memory, and what cards exchange, by the plan of a
// stand-in network.
#include <algorithm>

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

}  // namespace bench
