// What a card holds where the cards share out what each of them would hold, from one card's step. Planned,
// never run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model/cards_step.h"
#include "bench/page/cell.h"
#include "bench/stats/estimate.h"

namespace bench {

// Bytes are a card's.
struct ShardedPlan {
  std::string id;             // "gradients"
  std::string shared;         // "gradients too (ZeRO-2)"
  MemoryByCategory memory{};  // at the peak in a step; what passes is in `workspace`
  std::int64_t peak = 0;      // in a step
  std::int64_t passing = 0;   // of it: the bucket being summed, the parameters gathered for computing
  // Before the first step: the whole parameters, which the framework makes on each card first, and the card's
  // gradients and optimizer state.
  std::int64_t at_start = 0;
  std::int64_t host = 0;      // in the host's memory
  std::int64_t sent = 0;      // over the link, in a step
  std::int64_t over_bus = 0;  // between card and host, both ways, in a step
  // From all transfers hidden behind the computing, or it behind them, to none; nullopt: not known, as the
  // host's update never is, nor the step of cards whose loss nobody measured.
  std::optional<Interval> step_ns{};
};

// ZeRO's stages 1, 2 and 3 (Rajbhandari et al. 2020, arXiv:1910.02054): each card keeps 1/cards of the
// optimizer's state, of the gradients too, of the parameters too; and ZeRO-Offload (Ren et al. 2021,
// arXiv:2101.06840): the optimizer's state and the gradients' shares in the host's memory, where the
// parameters are updated; not where the device is the host.
//
// Gradients are summed by a reduce-scatter, parameters come back by an all-gather, each of which sends
// bytes·(n−1)/n. A card that keeps a share of the gradients alone sums them after each micro-batch: from
// stage 2 on a step of k micro-batches has k reduce-scatters. Stage 3 gathers the parameters for the forward
// and for the backward pass of each. A framework's own buffers, such as flattened copies of what it sends,
// are not in it. Without the largest part stage 3 is left out, without one card's step the times.
std::vector<ShardedPlan> sharded_plans(const CardsStep& step);
// A header, a row of what nothing shared out takes, and one for each plan: the optimizer's is row 2. The last
// column has steps, where they are known.
std::vector<Cells> sharing_rows(const CardsStep& step);

}  // namespace bench
