// Memory by cause, the batches that fit, and growth from step to step.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/flags.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"
#include "bench/sweep.h"
#include "sweeps/memory/answer.h"
#include "sweeps/memory/limits.h"
#include "sweeps/memory/plan.h"
#include "sweeps/memory/soak.h"

namespace bench::sweeps {
namespace {

// Memory in use over one step of the largest measured point, by plan: of a training series if there is one.
// null where no point was measured, or its plan does not tell.
Json step_memory(const SweepStudy& study, const std::vector<StudiedSeries>& all) {
  const auto measured = [](const StudiedSeries& series) { return series.largest != nullptr; };
  auto shown = std::ranges::find_if(all, [&](const StudiedSeries& series) {
    return measured(series) && series.first->spec.mode == "train";
  });
  shown = shown == all.end() ? std::ranges::find_if(all, measured) : shown;
  if (shown == all.end()) {
    return nullptr;
  }
  const SweepPoint& point = *shown->largest_point;
  Json memory = {
      {"label", shown->label},     {"point", point.name},
      {"batch", point.spec.batch}, {"reserved_bytes", point.workload->plan(study.device).in_step.total()},
      {"names", Json::array()},    {"bytes", Json::object()}};
  for (const MemoryMoment& moment : point.workload->timeline(study.device)) {
    memory["names"].push_back(moment.name);
    for (const MemoryCategory category : kMemoryCategories) {
      memory["bytes"][std::string(name_of(category))].push_back(moment.bytes[category]);
    }
  }
  return memory["names"].empty() ? Json() : memory;
}

class MemorySweep final : public Sweep {
 public:
  MemorySweep(const SweepRequest& request, Device& device)
      : request_(request),
        device_(device),
        soak_steps_(soak_steps(request)),
        plan_(plan_memory(request, device)) {
    if (soak_steps_ > 0 && device.model() != nullptr) {
      throw UsageError(fmt::format("--soak: {} was given, but {} is not here and runs no steps; leave it out",
                                   soak_steps_, device.info().id));
    }
    plan_.share_of_budget = soak_steps_ > 0 ? 0.4 : 0.8;
  }

  const SweepPlan& plan() const override { return plan_; }

  void predict(const PlanningEnd& end) override { plan_limits(end); }

  void study(SweepStudy& study) override {
    if (limits_.left_out) {  // the points came first
      study.report("planning the largest batches");
      plan_limits([&]() -> std::optional<std::string> {
        return study.interrupted()    ? std::optional<std::string>("the run was interrupted")
               : study.left_ns() <= 0 ? std::optional<std::string>("the time budget ended")
                                      : std::nullopt;
      });
    }
    const std::vector<StudiedSeries> all = studied_series(study);
    step_memory_ = step_memory(study, all);
    study.save();
    if (soak_steps_ > 0) {
      soak_all(study, all, soak_steps_, soaks_before_, soaks_);
    }
    prove_limits(study, all, limits_before_, limits_);
  }

  // For each dtype optimizer_multiple and activations_per_sample; for each series memory_line, peak,
  // ceiling_batch, and left_out where points ran above the device's peak; the name ends in "/" and the dtype
  // or the series' label. largest_batch for each cap, system_memory, after a soak memory_growth for each
  // series, and conditions where other processes used the CPU.
  std::vector<Finding> findings(const ResultDocument& document) const override {
    const MemoryAnswer answer = memory_answer(document, limits_.all, soaks_);
    const std::vector<BatchSeries>& all = answer.series;
    std::vector<Finding> findings;
    const auto add = [&](std::optional<Finding> finding, const std::string& suffix = "") {
      if (finding) {
        finding->name += suffix;
        findings.push_back(*std::move(finding));
      }
    };
    std::set<Dtype> claimed;
    for (const BatchSeries& series : all) {
      const Dtype dtype = series.params.dtype;
      if (claimed.insert(dtype).second) {
        add(claim_multiples(all, dtype), fmt::format("/{}", name_of(dtype)));
        add(claim_activations(all, dtype), fmt::format("/{}", name_of(dtype)));
      }
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
    const std::vector<Finding> largest = claim_largest(
        limits_, request_.batches.size() == 1 ? std::optional(request_.batches.front()) : std::nullopt);
    findings.insert(findings.end(), largest.begin(), largest.end());
    add(claim_left_out(limits_));
    add(claim_system(all));
    for (const SoakAnswer& soak : answer.soaks) {
      add(claim_growth(soak, document));
    }
    add(claim_conditions(document));
    choose_memory_headlines(answer, findings);
    return findings;
  }

  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return limit_tables(limits_, memory_answer(document, limits_.all, soaks_).series);
  }

  // "limits", "limits_left_out", "step_memory" and "soak". Of these restore() leaves two out: the step's
  // memory, which costs nothing to plan, and the limits left out, which this process plans.
  Json to_json() const override {
    JsonWriter io;
    io("limits", limits_.all);
    if (limits_.left_out) {
      io.object("limits_left_out", [this](JsonWriter& left_out) {
        left_out("count", limits_.left_out->count);
        left_out("reason", limits_.left_out->reason);
      });
    }
    io.maybe("step_memory", step_memory_);
    io.unless_empty("soak", soaks_);
    return io.take();
  }
  void restore(ResultDocument& document) override {
    const Field sweep(document.sweep.state, "sweep");
    JsonReader io(sweep);
    io.maybe("limits", limits_before_.all);
    std::erase_if(limits_before_.all, [&](Limit& limit) { return !describe(limit, plan_.axes); });
    io.maybe("soak", soaks_before_);
    limits_.adopt(limits_before_);
  }

 private:
  void plan_limits(const PlanningEnd& end) { predict_limits(request_, plan_, device_, end, limits_); }

  const SweepRequest& request_;
  Device& device_;
  std::int64_t soak_steps_;
  SweepPlan plan_;
  Limits limits_;
  std::vector<Soak> soaks_;
  Json step_memory_;
  // From the process that lost the device before this one.
  Limits limits_before_;
  std::vector<Soak> soaks_before_;
};

const Registration<SweepType> BENCH_REGISTERED{SweepType{
    .name = "memory",
    .question = "What fills the memory, which batch fits, and does memory grow from step to step?",
    .default_workload = "resnet18",
    .options = {{"soak", "0",
                 "steps of each series' largest batch while memory is watched: 0, or 25 and more"}},
    .takes_lists = true,
    .complete =
        [](SweepRequest& request) {
          const auto optimizer = request.workload_options.find("optimizer");
          if (optimizer != request.workload_options.end() && !request.given_options.contains("optimizer")) {
            optimizer->second = {"sgd", "momentum", "adam"};
          }
        },
    .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
      return std::make_unique<MemorySweep>(request, device);
    }}};

}  // namespace
}  // namespace bench::sweeps
