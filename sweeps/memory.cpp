// Memory by cause, the batches that fit, and growth from step to step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/flags.h"
#include "bench/sweep.h"
#include "sweeps/memory/claims.h"
#include "sweeps/memory/label.h"
#include "sweeps/memory/limits.h"
#include "sweeps/memory/study.h"
#include "sweeps/memory/tables.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

using Combination = std::map<std::string, std::string>;

// Every choice of one value for each option.
std::vector<Combination> combinations(const std::map<std::string, std::vector<std::string>>& values) {
  std::vector<Combination> all{{}};
  for (const auto& [name, choices] : values) {
    std::vector<Combination> grown;
    for (const Combination& combination : all) {
      for (const std::string& choice : choices) {
        grown.push_back(combination);
        grown.back()[name] = choice;
      }
    }
    all = std::move(grown);
  }
  return all;
}

class MemoryPlanner {
 public:
  MemoryPlanner(const SweepRequest& request, const Device& device)
      : request_(request),
        dtypes_(request.dtypes.empty() ? default_dtypes(device) : request.dtypes),
        modes_(request.modes.empty() ? request.workload->modes : request.modes) {}

  SweepPlan run(bool soaks) && {
    plan_.open_ended = request_.batches.empty();
    plan_.rounds.when_growing = 1;  // memory is the same every time
    plan_.rounds.at_most = 5;       // enough to find the saturation batch
    plan_.share_of_budget = soaks ? 0.4 : 0.8;
    plan_.axes = {{"mode", modes_}, {"dtype", Json::array()}, {"batch", Json::array()}};
    for (const Dtype dtype : dtypes_) {
      plan_.axes["dtype"].push_back(name_of(dtype));
    }
    for (const std::string& mode : modes_) {
      const auto values = option_values(request_, mode);
      for (const auto& [name, choices] : values) {
        if (choices.size() > 1) {
          plan_.axes[name] = choices;
        }
      }
      for (const Dtype dtype : dtypes_) {
        for (const Combination& options : combinations(values)) {
          add_series({.mode = mode, .dtype = dtype, .batch = 1, .seed = request_.seed, .options = options});
        }
      }
    }
    std::ranges::sort(batches_);
    batches_.erase(std::unique(batches_.begin(), batches_.end()), batches_.end());
    plan_.axes["batch"] = batches_;
    return std::move(plan_);
  }

 private:
  void add_series(WorkloadSpec spec) {
    std::vector<std::int64_t> batches = request_.batches;
    if (batches.empty()) {
      for (const std::int64_t batch : default_batches()) {
        batches.push_back(batch * batch_unit(spec));
      }
    }
    std::ranges::sort(batches);
    std::string series =
        fmt::format("memory/{}/{}/{}", request_.workload->name, spec.mode, name_of(spec.dtype));
    for (const auto& [name, value] : spec.options) {
      if (plan_.axes.contains(name)) {
        series += fmt::format("/{}:{}", name, value);
      }
    }
    for (const std::int64_t batch : batches) {
      spec.batch = batch;
      const Json params = params_of(request_.workload->name, spec);
      plan_.points.push_back({.name = fmt::format("{}/batch:{}", series, batch),
                              .params = params,
                              .parsed = read_params(params).value(),
                              .spec = spec,
                              .series = series,
                              .workload = request_.workload->configure(spec)});
      batches_.push_back(batch);
    }
  }

  const SweepRequest& request_;
  std::vector<Dtype> dtypes_;
  std::vector<std::string> modes_;
  std::vector<std::int64_t> batches_;
  SweepPlan plan_;
};

// A leak first, then the batches that fit, then the memory by cause.
void choose_headlines(std::vector<Finding>& findings, const std::vector<std::string>& caps) {
  std::vector<std::string> names;
  const auto add = [&](const char* prefix, std::size_t most, auto accepted) {
    for (const Finding& finding : findings) {
      if (most > 0 && finding.name.starts_with(prefix) && accepted(finding)) {
        names.push_back(finding.name);
        --most;
      }
    }
  };
  const auto any = [](const Finding&) { return true; };
  add("memory_growth/", 2, [](const Finding& finding) {
    return finding.details.is_object() && finding.details["grows"].get<bool>();
  });
  names.insert(names.end(), caps.begin(), caps.end());
  add("limits_left_out", 1, any);
  for (const char* prefix : {"activations_per_sample/", "optimizer_multiple/", "memory_growth/", "peak/",
                             "memory_line/", "ceiling_batch/", "system_memory"}) {
    add(prefix, 1, any);
  }
  set_headlines(findings, names);
}

// The findings of the smallest cap that holds a batch, and of the largest cap.
std::vector<std::string> telling_caps(const std::vector<Finding>& largest) {
  std::vector<std::string> names;
  const auto fits = std::ranges::find_if(largest, [](const Finding& finding) { return *finding.value > 0; });
  if (fits != largest.end()) {
    names.push_back(fits->name);
  }
  if (!largest.empty() && (names.empty() || largest.back().name != names.front())) {
    names.push_back(largest.back().name);
  }
  return names;
}

class MemorySweep final : public Sweep {
 public:
  MemorySweep(const SweepRequest& request, Device& device)
      : request_(request),
        device_(device),
        soak_steps_(soak_steps(request)),
        plan_(MemoryPlanner(request, device).run(soak_steps_ > 0)) {}

  const SweepPlan& plan() const override { return plan_; }

  void predict(const RunContext& /*context*/, const PlanningEnd& end) override { plan_limits(end); }

  void study(SweepStudy& study) override {
    if (state_.limits_left_out) {  // the points came first
      study.report("planning the largest batches");
      plan_limits([&]() -> std::optional<std::string> {
        return study.interrupted()    ? std::optional<std::string>("the run was interrupted")
               : study.left_ns() <= 0 ? std::optional<std::string>("the time budget ended")
                                      : std::nullopt;
      });
    }
    const std::vector<StudiedSeries> all = studied_series(study);
    state_.step_memory = plan_step_memory(study, all);
    study.save();
    if (soak_steps_ > 0) {
      soak_all(study, all, soak_steps_, before_, state_);
    }
    prove_limits(study, all, before_, state_);
  }

  // For each dtype optimizer_multiple and activations_per_sample; for each series memory_line, peak,
  // ceiling_batch, and left_out where points ran above the device's peak; the name ends in "/" and the dtype
  // or the series' label. largest_batch for each cap, system_memory, after a soak memory_growth for each
  // series, and conditions where other processes used the CPU.
  std::vector<Finding> findings(const ResultDocument& document) const override {
    const std::vector<BatchSeries> all = series_of(document);
    std::vector<Finding> findings;
    const auto add = [&](std::optional<Finding> finding, const std::string& suffix = "") {
      if (finding) {
        finding->name += suffix;
        findings.push_back(*std::move(finding));
      }
    };
    for (const auto& [dtype, series] : by_dtype(all)) {
      add(claim_multiples(series), fmt::format("/{}", name_of(dtype)));
      add(claim_activations(series), fmt::format("/{}", name_of(dtype)));
    }
    for (const BatchSeries& series : all) {
      const std::string suffix = "/" + series.label;
      add(claim_growing_memory(series), suffix);
      add(claim_peak(series), suffix);
      if (series.timed.size() > 1) {
        add(claim_saturation(series), suffix);
      }
      if (!series.left_out.empty()) {
        add(claim_left_out(series), suffix);
      }
    }
    const std::vector<Finding> largest = claim_largest(state_.limits);
    findings.insert(findings.end(), largest.begin(), largest.end());
    add(claim_left_out_limits(state_));
    add(claim_system(all));
    for (const Soak& soak : state_.soaks) {
      add(claim_growth(soak, document));
    }
    add(claim_conditions(document));
    choose_headlines(findings, telling_caps(largest));
    return findings;
  }

  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return limit_tables(state_.limits, series_of(document));
  }

  Json to_json() const override { return state_.to_json(); }
  void restore(ResultDocument& document) override {
    parse_params(document, read_params);
    before_ = MemoryState::from_json(document.sweep.state);
    adopt_limits(before_, state_);
  }

 private:
  void plan_limits(const PlanningEnd& end) {
    state_.limits_left_out = predict_limits(request_, plan_, device_, end, state_.limits);
  }
  static std::vector<BatchSeries> series_of(const ResultDocument& document) {
    return read_series(document,
                       [&](const BatchParams& params) { return memory_label(params, document.sweep.axes); });
  }

  // In the order of the points.
  static std::vector<std::pair<Dtype, std::vector<const BatchSeries*>>> by_dtype(
      const std::vector<BatchSeries>& all) {
    std::vector<std::pair<Dtype, std::vector<const BatchSeries*>>> groups;
    for (const BatchSeries& series : all) {
      auto at = std::ranges::find(groups, series.params.dtype, [](const auto& group) { return group.first; });
      if (at == groups.end()) {
        at = groups.insert(groups.end(), {series.params.dtype, {}});
      }
      at->second.push_back(&series);
    }
    return groups;
  }

  const SweepRequest& request_;
  Device& device_;
  std::int64_t soak_steps_;
  SweepPlan plan_;
  MemoryState state_;
  MemoryState before_;  // of the process that lost the device before this one
};

const Registration<SweepType> registered{
    SweepType{.name = "memory",
              .question = "What fills the memory, which batch fits, and does memory grow from step to step?",
              .default_workload = "resnet18",
              .options = {{"soak", "0",
                           "steps of each series' largest batch while memory is watched: 0, or 25 and more"}},
              .takes_lists = true,
              .default_values = {{"optimizer", {"sgd", "momentum", "adam"}}},
              .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
                return std::make_unique<MemorySweep>(request, device);
              }}};

}  // namespace
}  // namespace bench::sweeps
