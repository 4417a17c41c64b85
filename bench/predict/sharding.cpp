#include "bench/predict/sharding.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/model/parallel_step.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::int64_t share_of(std::int64_t bytes, std::int64_t cards) {
  return (bytes + cards - 1) / cards;
}

// An all-reduce is a reduce-scatter and an all-gather, each of which takes half of its time.
std::optional<Interval> step_between(const CardsStep& step, double all_reduces) {
  if (step.one_ns <= 0 || step.at_least) {
    return std::nullopt;
  }
  const double moving = all_reduces * step.replay.all_reduce_ns;
  const double in_turn = step.one_ns + moving;
  const double least = step.on_cpu ? in_turn : std::max(step.one_ns, moving);
  return Interval{least * step.loss80.low, in_turn * step.loss80.high};
}

// With as many digits as its interval allows.
std::string step_in_words(const CardsStep& step) {
  return step.at_least ? "≥ " + format_duration(step.quoted_ns()) : duration80(step.step_ns, step.step80_ns);
}

std::string range_of(const std::optional<Interval>& ns) {
  if (!ns) {
    return "–";
  }
  const auto end = [](double of) { return duration80(of, {0.9 * of, of}); };  // in two digits
  const std::string low = end(ns->low);
  const std::string high = end(ns->high);
  return low == high ? low : low + std::string(kToInCell) + high;
}

}  // namespace

std::vector<ShardedPlan> sharded_plans(const CardsStep& step) {
  const std::int64_t n = step.cards;
  const std::int64_t parameters = step.memory[MemoryCategory::weights];
  const std::int64_t gradients = step.memory[MemoryCategory::gradients];
  const std::int64_t optimizer = step.memory[MemoryCategory::optimizer];
  const std::int64_t bucket = std::min(gradients, step.bucket);
  const std::int64_t gathered = std::min(parameters, step.largest_part);
  // Of the gradients as they are sent, which are as many bytes as the parameters that come back.
  const std::int64_t half = std::llround(times_sent(n) / 2 * static_cast<double>(step.replay.bytes));
  const std::int64_t micro_batches = step.accumulate;
  const auto free_share_of = [&](MemoryCategory category, std::int64_t passing, ShardedPlan& plan) {
    const std::int64_t saved = plan.memory[category] - share_of(plan.memory[category], n);
    const std::int64_t held = std::min(passing, saved);  // never more than the whole
    plan.memory[category] -= saved;
    plan.memory[MemoryCategory::workspace] += held;
    plan.passing += held;
    plan.peak += held - saved;
  };
  const std::int64_t own_optimizer = share_of(optimizer, n);

  ShardedPlan one{.id = "optimizer",
                  .shared = "optimizer (ZeRO-1)",
                  .memory = step.memory,
                  .peak = step.peak,
                  .sent = 2 * half,
                  .step_ns = step_between(step, 1)};
  free_share_of(MemoryCategory::optimizer, 0, one);
  ShardedPlan two = one;
  two.id = "gradients";
  two.shared = "gradients too (ZeRO-2)";
  free_share_of(MemoryCategory::gradients, bucket, two);
  two.sent = (micro_batches + 1) * half;
  two.step_ns = step_between(step, 0.5 * static_cast<double>(micro_batches + 1));
  std::vector<ShardedPlan> plans{one, two};
  if (gathered > 0) {
    ShardedPlan three = two;
    three.id = "parameters";
    three.shared = "parameters too (ZeRO-3)";
    free_share_of(MemoryCategory::weights, gathered, three);
    three.sent = 3 * micro_batches * half;
    three.step_ns = step_between(step, 1.5 * static_cast<double>(micro_batches));
    plans.push_back(std::move(three));
  }
  if (!step.on_cpu) {
    ShardedPlan on_host = two;
    on_host.id = "optimizer-on-host";
    on_host.shared = "ZeRO-2, on the host (Offload)";
    on_host.host = own_optimizer + share_of(gradients, n);
    on_host.peak -= on_host.host;
    on_host.memory[MemoryCategory::optimizer] = 0;
    on_host.memory[MemoryCategory::gradients] = 0;
    // Each micro-batch's share of the gradients there, the updated parameters' back.
    on_host.over_bus = (micro_batches + 1) * share_of(step.replay.bytes, n);
    on_host.step_ns = std::nullopt;
    plans.push_back(std::move(on_host));
  }
  for (ShardedPlan& plan : plans) {
    plan.at_start =
        parameters + plan.memory[MemoryCategory::gradients] + plan.memory[MemoryCategory::optimizer];
  }
  return plans;
}

std::vector<Cells> sharing_rows(const CardsStep& step) {
  std::vector<Cells> rows{
      {fmt::format("shared out over {}", step.cards), "a card", "at start", "host", "sent", "bus", "step"},
      {"nothing", Cell::bytes(step.peak), Cell::bytes(step.memory.fixed_part()), Cell::none(),
       Cell::bytes(std::llround(times_sent(step.cards) * static_cast<double>(step.replay.bytes))),
       Cell::none(), Cell::figure(step_in_words(step))}};
  for (const ShardedPlan& plan : sharded_plans(step)) {
    rows.push_back({plan.shared, Cell::bytes(plan.peak), Cell::bytes(plan.at_start), Cell::bytes(plan.host),
                    Cell::bytes(plan.sent), Cell::bytes(plan.over_bus),
                    Cell::figure(range_of(plan.step_ns))});
  }
  if (step.one_ns <= 0) {
    for (Cells& row : rows) {
      row.pop_back();
    }
  }
  return rows;
}

}  // namespace bench
