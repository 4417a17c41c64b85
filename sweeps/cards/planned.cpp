#include "sweeps/cards/planned.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/model/curve.h"
#include "bench/predict/sharding.h"
#include "bench/text/units.h"
#include "sweeps/cards/workload.h"

namespace bench::sweeps {
namespace {

// Of one rank with this batch, or with any.
const GradientTimeline* timeline_for(const CardsParams& params, const ResultDocument& document) {
  const GradientTimeline* any = nullptr;
  for (const Point& point : measured_points(document)) {
    const auto own = read_cards_params(point.params);
    if (!own || !point.timeline || point.timeline->parts.empty()) {
      continue;
    }
    any = &*point.timeline;
    if (own->batch == params.batch) {
      break;
    }
  }
  return any;
}

// A step of ranks that share out nothing.
struct WholeStep : CardsStep {
  std::optional<std::int64_t> shared_peak{};  // measured, of a rank that shares the optimizer
};

std::optional<WholeStep> step_of(const Point& point, const ResultDocument& document,
                                 std::optional<std::int64_t> whole_optimizer) {
  const auto params = read_cards_params(point.params);
  const MemoryByCategory& memory = point.memory.by_category;
  if (!params || params->ranks < 2 || params->split_layers || memory[MemoryCategory::gradients] <= 0 ||
      (params->shard_optimizer && !whole_optimizer)) {
    return std::nullopt;
  }
  const GradientTimeline* const timeline = timeline_for(*params, document);
  CardsLink link;
  link.bucket = params->bucket;
  CurvePoint one{.batch = params->batch,
                 .memory = {.at_peak = memory, .peak = point.memory.peak_measured},
                 .accumulate = params->accumulate,
                 .timeline = timeline == nullptr ? GradientTimeline{} : *timeline};
  WholeStep step{step_of_one(one, params->dtype, document.context.device.kind == "cpu", link)};
  step.cards = params->ranks;
  // Measured, it has what the system saw beyond the peak too.
  step.memory[MemoryCategory::other] += step.peak - step.memory.total();
  if (params->shard_optimizer) {  // all moments of a step hold the state
    step.shared_peak = step.peak;
    step.peak += *whole_optimizer - memory[MemoryCategory::optimizer];
    step.memory[MemoryCategory::optimizer] = *whole_optimizer;
  }
  step.replay.bytes = memory[MemoryCategory::gradients];
  if (timeline != nullptr) {
    step.replay.bytes = 0;
    for (const GradientTimeline::Part& part : timeline->parts) {
      step.replay.bytes += part.bytes;
    }
  }
  return step;
}

}  // namespace

std::vector<Point> planned_sharing(const ResultDocument& document,
                                   std::optional<std::int64_t> whole_optimizer) {
  std::vector<Point> planned;
  for (const Point& point : measured_points(document)) {
    const auto step = step_of(point, document, whole_optimizer);
    if (!step) {
      continue;
    }
    for (const ShardedPlan& plan : sharded_plans(*step)) {
      if (plan.id == "optimizer") {  // that is run: --shard optimizer
        continue;
      }
      Json params = point.params;
      params["shard"] = plan.id;
      std::string name = point.name;
      if (const std::size_t shared = name.find("shard:optimizer/"); shared != std::string::npos) {
        name.erase(shared, std::string_view("shard:optimizer/").size());
      }
      planned.push_back({.name = fmt::format("{}/shard:{}", name, plan.id),
                         .params = std::move(params),
                         .origin = Origin::planned,
                         .items_per_step = point.items_per_step,
                         .memory = {.by_category = plan.memory, .peak_predicted = plan.peak},
                         .prediction = {.model = {{"basis", "planned, never run"},
                                                  {"shared", plan.shared},
                                                  {"start_bytes", plan.at_start},
                                                  {"passing_bytes", plan.passing},
                                                  {"host_bytes", plan.host},
                                                  {"sent_bytes", plan.sent},
                                                  {"bus_bytes", plan.over_bus}}}});
    }
  }
  return planned;
}

std::vector<TextTable> sharing_tables(const ResultDocument& document,
                                      std::optional<std::int64_t> whole_optimizer) {
  std::optional<WholeStep> most;
  for (const Point& point : measured_points(document)) {
    const auto step = step_of(point, document, whole_optimizer);
    if (step && (!most || std::tuple(step->cards, step->batch) > std::tuple(most->cards, most->batch))) {
      most = step;
    }
  }
  if (!most) {
    return {};
  }
  std::vector<Cells> rows = sharing_rows(*most);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool nothing = row == 1;
    const bool optimizer = row == 2;
    if (optimizer && most->shared_peak) {
      rows[row][1] = Cell::bytes(*most->shared_peak);
    }
    rows[row].emplace_back(row == 0            ? ""
                           : most->shared_peak ? (optimizer ? "measured"
                                                  : nothing ? "planned"
                                                            : "planned, never run")
                           : nothing           ? "measured"
                           : optimizer         ? "planned"
                                               : "planned, never run");
  }
  return {{.title = fmt::format("Memory where {} ranks of batch {} share out more{}", most->cards,
                                most->batch, most->shared_peak ? "" : " (--shard optimizer runs ZeRO-1)"),
           .rows = std::move(rows),
           .name = "memory by sharding"}};
}

}  // namespace bench::sweeps
