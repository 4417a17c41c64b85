#include "bench/model/parallel_step.h"

#include <algorithm>

namespace bench {
namespace {

// Of each byte of a buffer, how often a ring's card sends one.
double times_sent(std::int64_t cards) {
  const auto n = static_cast<double>(cards);
  return 2 * (n - 1) / n;
}

double rate(const Link& link, Bandwidth bandwidth) {
  return bandwidth == Bandwidth::low    ? link.bytes_per_s_range.low
         : bandwidth == Bandwidth::high ? link.bytes_per_s_range.high
                                        : link.bytes_per_s;
}

}  // namespace

double ring_all_reduce_ns(const CardLinks& links, std::int64_t cards, double bytes, Bandwidth bandwidth) {
  if (cards < 2) {
    return 0;
  }
  double bytes_per_s = rate(links.inside, bandwidth);
  std::int64_t hosts = 1;
  double round_ns = static_cast<double>(cards - 1) * links.inside.hop_ns;
  if (links.between && links.per_host > 0 && cards > links.per_host) {
    hosts = (cards + links.per_host - 1) / links.per_host;
    const double between = rate(*links.between, bandwidth);
    bytes_per_s = links.per_host == 1 ? between : std::min(bytes_per_s, between);
    // Of the n−1 hops that a part of the sum takes, one for each host but the last leaves it.
    round_ns = static_cast<double>(cards - hosts) * links.inside.hop_ns +
               static_cast<double>(hosts - 1) * links.between->hop_ns;
  }
  return 2 * round_ns + times_sent(cards) * bytes / bytes_per_s * 1e9;
}

double measured_all_reduce_ns(const MeasuredAllReduce& measured, std::int64_t cards, double bytes) {
  if (cards < 2) {
    return 0;
  }
  const auto& points = measured.points;
  auto above = std::ranges::lower_bound(points, bytes, {}, &MeasuredAllReduce::Point::bytes);
  above = std::clamp(above, points.begin() + 1, points.end() - 1);
  const auto below = above - 1;
  const double slope = std::max(0.0, (above->ns - below->ns) / (above->bytes - below->bytes));
  const double ns = std::max(0.0, below->ns + slope * (bytes - below->bytes));
  return ns * times_sent(cards) / times_sent(measured.ranks);
}

ReplayedStep replay_step(const GradientTimeline& timeline, std::int64_t bucket, bool overlap,
                         const std::function<double(double bytes)>& all_reduce_ns) {
  ReplayedStep step;
  double computed = 0;  // the backward pass stood still for the rest
  double done = 0;      // the last bucket
  double stood_still = 0;
  std::int64_t waiting = 0;  // bytes that are ready and not yet sent
  for (std::size_t i = 0; i < timeline.parts.size(); ++i) {
    const GradientTimeline::Part& part = timeline.parts[i];
    computed = std::min(part.ready_ns, timeline.backward_ns);
    waiting += part.bytes;
    if (waiting == 0 || (waiting < bucket && i + 1 < timeline.parts.size())) {
      continue;
    }
    const double ns = all_reduce_ns(static_cast<double>(waiting));
    if (overlap) {
      done = std::max(done, computed) + ns;
    } else {
      stood_still += ns;
    }
    step.all_reduce_ns += ns;
    step.bytes += waiting;
    ++step.buckets;
    waiting = 0;
  }
  step.exposed_ns = overlap ? std::max(0.0, done - timeline.backward_ns) : stood_still;
  step.step_ns = timeline.step_ns() + step.exposed_ns;
  return step;
}

}  // namespace bench
