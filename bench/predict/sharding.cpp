#include "bench/predict/sharding.h"

#include <algorithm>

namespace bench {
namespace {

std::int64_t share_of(std::int64_t bytes, std::int64_t cards) {
  return (bytes + cards - 1) / cards;
}

// An all-reduce is a reduce-scatter and an all-gather, each of which takes half of its time.
Interval step_between(const CardsStep& step, double all_reduces) {
  const double moving = all_reduces * step.replay.all_reduce_ns;
  const double in_turn = step.one_ns + moving;
  const double least = step.on_cpu ? in_turn : std::max(step.one_ns, moving);
  return {least * step.loss80.low, in_turn * step.loss80.high};
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
  const std::int64_t half = step.replay.bytes * (n - 1) / n;
  const auto saved = [n](std::int64_t bytes) { return bytes - share_of(bytes, n); };
  const std::int64_t own_optimizer = share_of(optimizer, n);

  ShardedPlan one{.shared = "optimizer (ZeRO-1)",
                  .peak = step.peak - saved(optimizer),
                  .at_start = parameters + own_optimizer,
                  .sent = 2 * half,
                  .step_ns = step_between(step, 1)};
  ShardedPlan two = one;
  two.shared = "gradients too (ZeRO-2)";
  two.passing = std::min(bucket, saved(gradients));
  two.peak = one.peak - saved(gradients) + two.passing;
  ShardedPlan three = two;
  three.shared = "parameters too (ZeRO-3)";
  three.passing = two.passing + std::min(gathered, saved(parameters));
  three.peak = two.peak - saved(parameters) + three.passing - two.passing;
  three.sent = 3 * half;
  three.step_ns = step_between(step, 1.5);
  if (step.on_cpu) {
    return {one, two, three};
  }
  const ShardedPlan on_host{.shared = "ZeRO-2, on the host (Offload)",
                            .peak = two.peak - own_optimizer - share_of(gradients, n),
                            .passing = two.passing,
                            .at_start = parameters,
                            .host = own_optimizer + share_of(gradients, n),
                            .sent = 2 * half,
                            .over_bus = 2 * share_of(step.replay.bytes, n)};
  return {one, two, three, on_host};
}

}  // namespace bench
