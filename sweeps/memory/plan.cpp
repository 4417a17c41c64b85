#include "sweeps/memory/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

using Combination = std::map<std::string, std::string>;

// Every choice of one value for each option.
std::vector<Combination> combinations(const std::map<std::string, std::vector<std::string>>& values) {
  std::vector<Combination> all{{}};
  for (const auto& [name, choices] : values) {
    std::vector<Combination> grown;
    for (const Combination& options : all) {
      for (const std::string& choice : choices) {
        grown.push_back(options);
        grown.back()[name] = choice;
      }
    }
    all = std::move(grown);
  }
  return all;
}

// The batches asked for, or default ones.
std::vector<std::int64_t> batches_of(const SweepRequest& request, const WorkloadSpec& spec) {
  std::vector<std::int64_t> batches = request.batches.empty() ? default_batches() : request.batches;
  const std::int64_t unit = request.batches.empty() ? batch_unit(spec) : 1;
  for (std::int64_t& batch : batches) {
    batch *= unit;
  }
  std::ranges::sort(batches);
  return batches;
}

void add_series(const SweepRequest& request, WorkloadSpec spec, SweepPlan& plan) {
  std::string series = fmt::format("memory/{}/{}/{}", request.workload->name, spec.mode, name_of(spec.dtype));
  for (const auto& [name, value] : spec.options) {
    series += plan.axes.contains(name) ? fmt::format("/{}:{}", name, value) : "";
  }
  for (const std::int64_t batch : batches_of(request, spec)) {
    spec.batch = batch;
    plan.points.push_back(
        batch_point(*request.workload, spec, fmt::format("{}/batch:{}", series, batch), series));
  }
}

SeriesCost cost_of(const SweepStudy& study, const std::string& series) {
  const auto own = study.costs.find(series);
  const auto dearest =
      std::ranges::max_element(study.costs, {}, [](const auto& entry) { return entry.second.make_ns; });
  return own != study.costs.end()       ? own->second
         : dearest != study.costs.end() ? dearest->second
                                        : SeriesCost{};
}

}  // namespace

SweepPlan plan_memory(const SweepRequest& request, const Device& device) {
  const auto dtypes = request.dtypes.empty() ? default_dtypes(device) : request.dtypes;
  const auto modes = request.modes.empty() ? request.workload->modes : request.modes;
  SweepPlan plan;
  plan.open_ended = request.batches.empty();
  plan.rounds.when_growing = 1;  // memory is the same every time
  plan.rounds.at_most = 5;       // enough to find the saturation batch
  plan.axes = {{"mode", modes}, {"dtype", Json::array()}, {"batch", Json::array()}};
  for (const Dtype dtype : dtypes) {
    plan.axes["dtype"].push_back(name_of(dtype));
  }
  for (const std::string& mode : modes) {
    const auto values = option_values(request, mode);
    for (const auto& [name, choices] : values) {
      if (choices.size() > 1) {
        plan.axes[name] = choices;
      }
    }
    for (const Dtype dtype : dtypes) {
      for (const Combination& options : combinations(values)) {
        add_series(request, {.mode = mode, .dtype = dtype, .seed = request.seed, .options = options}, plan);
      }
    }
  }
  std::set<std::int64_t> batches;
  for (const SweepPoint& point : plan.points) {
    batches.insert(point.spec.batch);
  }
  plan.axes["batch"] = batches;
  return plan;
}

std::string memory_kind(const BatchParams& params, const Json& axes) {
  std::string optimizer;
  std::string training;
  std::string others;
  for (const auto& [name, value] : params.options) {
    if (name == "optimizer") {
      optimizer = fmt::format(" with {}", value);
    } else if (name == "accumulate") {
      training += value == "1" ? "" : fmt::format(", {} micro-batches", value);
    } else if (name == "recompute") {
      training += value == "yes" ? ", recomputing" : "";
    } else if (axes.is_object() && axes.contains(name) && axes[name].size() > 1) {
      others += fmt::format(", {} {}", name, value);
    }
  }
  const std::string_view mode = params.mode == "infer"   ? "inference"
                                : params.mode == "train" ? "training"
                                                         : std::string_view(params.mode);
  return fmt::format("{}{}{}{}", mode, optimizer, training, others);
}

std::string memory_label(const BatchParams& params, const Json& axes) {
  return fmt::format("{} {}", name_of(params.dtype), memory_kind(params, axes));
}

std::vector<StudiedSeries> studied_series(const SweepStudy& study) {
  std::map<std::string, const Point*> measured;
  for (const Point& point : measured_points(study.document)) {
    measured[point.name] = &point;
  }
  std::vector<StudiedSeries> all;
  for (const SweepPoint& point : study.plan.points) {
    const std::string label = memory_label(*read_params(point.params), study.plan.axes);
    if (all.empty() || all.back().label != label) {
      all.push_back({.label = label, .first = &point, .cost = cost_of(study, point.series)});
    }
    if (const auto at = measured.find(point.name); at != measured.end()) {
      all.back().largest = at->second;
      all.back().largest_point = &point;
    }
  }
  return all;
}

}  // namespace bench::sweeps
