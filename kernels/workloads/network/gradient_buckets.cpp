#include "kernels/workloads/network/gradient_buckets.h"

#include <algorithm>

#include "bench/host/interrupt.h"
#include "bench/stats/statistics.h"
#include "kernels/networks/passes/training.h"

namespace bench::kernels {

std::vector<GradientBucket> gradient_buckets(Trainer& trainer, std::int64_t least) {
  const ProgramPlan& plan = trainer.plan();
  std::vector<GradientBucket> buckets;
  for (const ParameterGroup& group : plan.groups) {
    if (plan.program.blocks()[group.gradients].bytes == 0) {
      continue;
    }
    for (const UpdateSlice& slice : update_slices(plan, group, least)) {
      buckets.push_back({.behind = slice.behind,
                         .data = trainer.gradients(group) + slice.offset,
                         .weights = trainer.weights(group) + slice.offset,
                         .bytes = slice.bytes});
    }
  }
  std::ranges::stable_sort(buckets, {}, &GradientBucket::behind);
  return buckets;
}

GradientTimeline gradient_timeline(Trainer& trainer, Device& device) {
  constexpr std::size_t kSteps = 3;
  constexpr double kEnough = 1e9;  // ns: long steps are timed once
  constexpr std::int64_t kMostParts = 32;
  const auto& blocks = trainer.plan().program.blocks();
  std::int64_t bytes = 0;
  for (const ParameterGroup& group : trainer.plan().groups) {
    bytes += blocks[group.gradients].bytes;
  }
  const std::vector<GradientBucket> buckets = gradient_buckets(trainer, bytes / kMostParts);
  std::vector<std::size_t> ends;
  for (const GradientBucket& bucket : buckets) {
    ends.push_back(bucket.behind + 1);
  }
  ends.push_back(trainer.plan().training->optimizer_begin);

  std::vector<std::vector<double>> parts(ends.size());
  std::vector<double> steps;
  for (double spent = 0; steps.size() < kSteps && (steps.empty() || spent < kEnough);) {
    std::size_t done = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      stop_if_interrupted("gradients were timed");
      const std::size_t end = ends[i];
      const auto ns = end > done ? device.time([&] { trainer.run_part(done, end); }) : 0;
      parts[i].push_back(static_cast<double>(ns));
      spent += parts[i].back();
      done = std::max(done, end);
    }
    steps.push_back(static_cast<double>(device.time([&] { trainer.run(); })));
    spent += steps.back();
  }

  GradientTimeline timeline;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    timeline.backward_ns += median(parts[i]);
    if (i < buckets.size()) {
      timeline.parts.push_back({.ready_ns = timeline.backward_ns, .bytes = buckets[i].bytes});
    }
  }
  timeline.update_ns = std::max(0.0, median(steps) - timeline.backward_ns);
  return timeline;
}

}  // namespace bench::kernels
