#include "sweeps/memory/limits.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bench/predicted_step.h"
#include "bench/result/json_members.h"
#include "bench/stats/memory_line.h"
#include "sweeps/series/planned.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

// The limit of a cap, without the series' label and params; nullopt where no batch can run. Throws
// PlanningEnded.
std::optional<Limit> limit_of(PlannedSeries& series, std::int64_t cap_bytes) {
  const std::int64_t smallest = series.smallest();
  if (smallest == 0) {
    return std::nullopt;
  }
  const MemoryPlan& first = *series.at(smallest).plan;
  Limit limit{.cap_bytes = cap_bytes,
              .fixed_bytes = first.at_peak.fixed_part(),
              .setup_bytes = first.setup_peak,
              .smallest_batch = smallest * series.unit(),
              .smallest_bytes = first.peak};
  if (const auto most = series.at(smallest).most_bytes; most > cap_bytes) {
    limit.smallest_bytes = *most;
    return limit;
  }
  const std::int64_t largest = series.largest_within(cap_bytes);
  const auto safe = static_cast<std::int64_t>(kSafeShare * static_cast<double>(cap_bytes)) - 1;
  const PlannedSeries::Planned& at_largest = series.at(largest);
  limit.largest_batch = largest * series.unit();
  limit.largest_bytes = at_largest.most_bytes;
  limit.input_bytes = at_largest.plan ? at_largest.plan->at_peak[MemoryCategory::input] : 0;
  const PlannedSeries::Planned& next = series.at(largest + 1);
  limit.next_bytes = next.most_bytes;
  limit.next_unsupported = next.unsupported;
  limit.safe_batch = series.largest_within(safe) * series.unit();
  return limit;
}

}  // namespace

void members(auto& io, Of<LimitTrial> auto& trial) {
  io.optional("not_tried", trial.not_tried);
  if (trial.not_tried) {
    return;
  }
  io("largest_batch", trial.largest_batch);
  io("probes", trial.probes);
  io("tracked_bytes", trial.tracked_bytes);
  io("ran_a_step", trial.ran_a_step);
  io.optional("refused_batch", trial.refused_batch);
}

void members(auto& io, Of<Limit> auto& limit) {
  io("label", limit.label);
  io("params", limit.params);
  io("cap_bytes", limit.cap_bytes);
  io("fixed_bytes", limit.fixed_bytes);
  io("setup_bytes", limit.setup_bytes);
  io("smallest_batch", limit.smallest_batch);
  io("smallest_bytes", limit.smallest_bytes);
  io("largest_batch", limit.largest_batch);
  io.optional("largest_bytes", limit.largest_bytes);
  io.optional("next_bytes", limit.next_bytes);
  io.optional("next_unsupported", limit.next_unsupported);
  io("safe_batch", limit.safe_batch);
  io.optional("proof", limit.proof);
}

const Limit* Limits::find(std::string_view label, std::int64_t cap_bytes) const {
  const auto at = std::ranges::find_if(
      all, [&](const Limit& limit) { return limit.label == label && limit.cap_bytes == cap_bytes; });
  return at == all.end() ? nullptr : &*at;
}

void Limits::adopt(const Limits& before) {
  for (const Limit& limit : before.all) {
    if (left_out && find(limit.label, limit.cap_bytes) == nullptr) {
      all.push_back(limit);
      all.back().proof.reset();
      if (--left_out->count == 0) {
        left_out.reset();
      }
    }
  }
}

bool describe(Limit& limit, const Json& axes) {
  Json of_point = limit.params;
  of_point["batch"] = limit.smallest_batch;
  const auto params = read_params(of_point);
  if (params) {
    limit.mode = params->mode;
    limit.dtype = params->dtype;
    limit.kind = memory_kind(*params, axes);
  }
  return params.has_value();
}

Json written_value(const Limit& limit) {
  return write_struct(limit);
}

void read_value(const Field& field, Limit& limit) {
  JsonReader io(field);
  members(io, limit);
}

void predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device,
                    const PlanningEnd& end, Limits& limits) {
  limits.left_out.reset();
  std::set<std::string> seen;
  for (const SweepPoint& point : plan.points) {
    if (!seen.insert(point.series).second || unsupported_on(device, *point.workload, point.spec)) {
      continue;
    }
    const std::string label = memory_label(*read_params(point.params), plan.axes);
    PlannedSeries series(*request.workload, point.spec, device, end);
    for (const std::int64_t cap : request.memory_caps) {
      if (limits.find(label, cap) != nullptr) {
        continue;
      }
      if (limits.left_out) {
        ++limits.left_out->count;
        continue;
      }
      try {
        if (auto limit = limit_of(series, cap)) {
          limit->label = label;
          limit->params = point.params;
          limit->params.erase("batch");
          describe(*limit, plan.axes);
          limits.all.push_back(*std::move(limit));
        }
      } catch (const PlanningEnded& ended) {
        limits.left_out = Limits::LeftOut{.count = 1, .reason = ended.what()};
      }
    }
  }
}

}  // namespace bench::sweeps
