#include "sweeps/cards/planned.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/predict/sharding.h"
#include "sweeps/cards/workload.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

// Of one rank with this batch, or with any.
const GradientTimeline* timeline_for(const CardsParams& params, const ResultDocument& document) {
  const GradientTimeline* any = nullptr;
  for (const MeasuredPoint& point : document.benchmarks) {
    const auto* const own = params_as<CardsParams>(point);
    if (own == nullptr || !point.timeline || point.timeline->parts.empty()) {
      continue;
    }
    any = &*point.timeline;
    if (own->batch == params.batch) {
      break;
    }
  }
  return any;
}

std::optional<CardsStep> step_of(const MeasuredPoint& point, const ResultDocument& document) {
  const auto* const params = params_as<CardsParams>(point);
  const MemoryByCategory& memory = point.memory.by_category;
  if (params == nullptr || params->ranks < 2 || params->shard_optimizer || params->split_layers ||
      memory[MemoryCategory::gradients] <= 0) {
    return std::nullopt;
  }
  CardsStep step{.cards = params->ranks,
                 .dtype = params->dtype,
                 .batch = params->batch,
                 .peak = point.memory.peak_measured,
                 .memory = memory,
                 .bucket = params->bucket,
                 .on_cpu = document.context.device.kind == "cpu"};
  // Measured, it has what the system saw beyond the peak too.
  step.memory[MemoryCategory::other] += step.peak - step.memory.total();
  step.replay.bytes = memory[MemoryCategory::gradients];
  if (const GradientTimeline* const timeline = timeline_for(*params, document)) {
    step.replay.bytes = 0;
    for (const GradientTimeline::Part& part : timeline->parts) {
      step.replay.bytes += part.bytes;
      step.largest_part = std::max(step.largest_part, part.bytes);
    }
  }
  return step;
}

}  // namespace

std::vector<PredictedPoint> planned_sharing(const ResultDocument& document) {
  std::vector<PredictedPoint> planned;
  for (const MeasuredPoint& point : document.benchmarks) {
    const auto step = step_of(point, document);
    if (!step) {
      continue;
    }
    for (const ShardedPlan& plan : sharded_plans(*step)) {
      if (plan.id == "optimizer") {  // that is run: --shard optimizer
        continue;
      }
      Json params = point.params;
      params["shard"] = plan.id;
      planned.push_back({.name = fmt::format("{}/shard:{}", point.name, plan.id),
                         .params = std::move(params),
                         .items_per_step = point.items_per_step,
                         .memory = plan.memory,
                         .peak = plan.peak,
                         .status = "planned",
                         .model = {{"basis", "planned, never run"},
                                   {"shared", plan.shared},
                                   {"start_bytes", plan.at_start},
                                   {"passing_bytes", plan.passing},
                                   {"host_bytes", plan.host},
                                   {"sent_bytes", plan.sent},
                                   {"bus_bytes", plan.over_bus}}});
    }
  }
  return planned;
}

std::vector<TextTable> sharing_tables(const ResultDocument& document) {
  std::optional<CardsStep> most;
  for (const MeasuredPoint& point : document.benchmarks) {
    const auto step = step_of(point, document);
    if (step && (!most || std::tuple(step->cards, step->batch) > std::tuple(most->cards, most->batch))) {
      most = step;
    }
  }
  if (!most) {
    return {};
  }
  std::vector<std::vector<std::string>> rows = sharing_rows(*most);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string& shared = rows[row].front();
    rows[row].emplace_back(row == 0                       ? ""
                           : shared == "nothing"          ? "measured"
                           : shared.ends_with("(ZeRO-1)") ? "planned"
                                                          : "planned, never run");
  }
  return {{.title =
               fmt::format("Memory where {} ranks of batch {} share out more (--shard optimizer runs ZeRO-1)",
                           most->cards, most->batch),
           .rows = std::move(rows),
           .right = {false, true, true, true, true, true, false}}};
}

}  // namespace bench::sweeps
