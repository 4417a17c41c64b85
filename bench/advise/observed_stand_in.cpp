// What batch, sequence and the optimizer's place would change in memory, by the plan of a stand-in network.
#include <algorithm>

#include <fmt/format.h>

#include "bench/advise/observed_parts.h"

namespace bench {

void advise_stand_in(const Observed& observed, const StandIn& stand_in, Advice& advice) {
  if (stand_in.plans.empty()) {
    return;
  }
  const std::int64_t cards = observed.settings.cards;
  const bool has_state = std::ranges::any_of(stand_in.plans, [](const StandInPlan& plan) {
    return plan.memory.at_peak[MemoryCategory::optimizer] > 0;
  });
  const bool shards = has_state && cards > 1;
  AdviceTable table{.question = fmt::format("Memory of {}, a stand-in for your network", stand_in.name),
                    .table = {},
                    .notes = {}};
  table.table.rows = {{"dtype", "batch", "sequence", "planned", "fixed part"}};
  table.table.right = {false, true, true, true, true};
  if (shards) {
    table.table.rows.front().push_back(fmt::format("state over {} cards", cards));
    table.table.right.push_back(true);
  }
  if (has_state) {
    table.table.rows.front().emplace_back("state in host memory");
    table.table.right.push_back(true);
  }
  double state = 0;
  for (const StandInPlan& plan : stand_in.plans) {
    const auto optimizer = static_cast<double>(plan.memory.at_peak[MemoryCategory::optimizer]);
    const auto peak = static_cast<double>(plan.memory.peak);
    state = optimizer;
    std::vector<std::string> row{plan.dtype, fmt::format("{}", plan.batch),
                                 plan.sequence ? fmt::format("{}", *plan.sequence) : "–", gib_in_words(peak),
                                 gib_in_words(static_cast<double>(plan.memory.at_peak.fixed_part()))};
    if (shards) {
      row.push_back(gib_in_words(peak - optimizer + optimizer / static_cast<double>(cards)));
    }
    if (has_state) {
      row.push_back(gib_in_words(peak - optimizer));
    }
    table.table.rows.push_back(std::move(row));
  }
  table.notes.push_back(
      fmt::format("Planned for {}, training with {}; the network that was read may differ by any factor.",
                  stand_in.planned_for, stand_in.optimizer));
  if (has_state) {
    table.notes.push_back(
        fmt::format("The state takes {}; its shards and its place in host memory are computed, without "
                    "buffers and time of the "
                    "transfers.",
                    gib_in_words(state)));
    if (observed.host_memory && observed.host_memory_used) {
      const double room = *observed.host_memory - *observed.host_memory_used;
      const double copies = state * static_cast<double>(cards);
      table.notes.push_back(fmt::format("In host memory: {} sharded, {} as a copy of each card; {} is free.",
                                        gib_in_words(state), gib_in_words(copies), gib_in_words(room)));
    }
  }
  table.notes.emplace_back("Accumulation changes no memory of a card; only its batch does.");
  advice.tables.push_back(std::move(table));
}

}  // namespace bench
