// Results of the batch and the workers sweep to advise from, with figures that are easy to follow, and what
// is looked up in an advice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/advise/advice.h"
#include "bench/advise/loading_model.h"
#include "bench/advise/step_model.h"
#include "bench/registry.h"
#include "tests/bench/evaluate/documents.h"

namespace bench::testing {

// A loader of two cores whose workers never vary: its file says how long a worker takes for a sample, what
// limits it, how much each worker slows computing down, and what else went on.
class SteadyLoading final : public LoadingModel {
 public:
  explicit SteadyLoading(const Json& file)  // the file's "sweep"
      : sample_ns_(file.at("sample_ns").get<double>()),
        slowdown_(file.value("slowdown", 0.0)),
        measured_(file.value("measured", -1)),
        storage_(file.value("storage", false)),
        out_of_memory_(file.value("oom", false)) {
    facts_ = {.measured = {.batch = 8},
              .compute_ns = 80e6,
              .most_workers = 8,
              .cores = 2,
              .other_cores = file.value("other_cores", 0.0),
              .samples_per_s_of_a_worker = 1e9 / sample_ns_,
              .error = 0.02,
              .consumer = "resnet50"};
  }

  LoadedStep step(const TrainingSettings& settings, double compute_ns,
                  std::optional<double> copy_ns) const override {
    const double load = static_cast<double>(settings.batch) * sample_ns_ /
                        static_cast<double>(std::clamp<std::int64_t>(settings.workers, 1, 2));
    const double copy = copy_ns.value_or(0);
    const double computing = compute_ns * (1 + slowdown_ * static_cast<double>(settings.workers));
    const double ready = std::max(computing, copy);
    const double whole = settings.workers == 0 ? ready + load : std::max(ready, load);
    return {.step_ns = whole,
            .computing_ns = computing,
            .copying_ns = ready - computing,
            .waiting_ns = whole - ready,
            .measured_deviation = settings.workers == measured_ ? std::optional(0.03) : std::nullopt};
  }
  Bottleneck limit(const TrainingSettings& /*settings*/, double /*compute_ns*/,
                   std::optional<double> /*copy_ns*/) const override {
    return storage_ ? Bottleneck::storage : Bottleneck::loader_cpu;
  }
  double host_bytes(const TrainingSettings& settings) const override {
    return 10.0 * static_cast<double>(settings.workers * settings.batch);
  }
  bool ran_out_of_memory(const TrainingSettings& settings) const override {
    return out_of_memory_ && settings.workers > 1;
  }

 private:
  double sample_ns_;
  double slowdown_;
  std::int64_t measured_;  // a count of workers; -1: none
  bool storage_;
  bool out_of_memory_;
};

inline const Registration<LoadingModelReader> steady_loading{LoadingModelReader{
    .name = "workers",
    .read = [](const ResultDocument& document, bool /*on_cores*/) -> std::unique_ptr<LoadingModel> {
      return std::make_unique<SteadyLoading>(document.sweep.state);
    }}};

// 10 ms a sample, and at batch 1 twice that.
inline EvaluatedFile batch_file(double error = 0.01) {
  EvaluatedFile file{.path = "batch.json", .document = batch_document("gpu")};
  file.document.sweep.mode = "train";
  file.document.context.device.kind = "cuda";
  for (const std::int64_t batch : {1, 8, 16}) {
    add_measured(file.document, "fp32", batch, batch == 1 ? 50 : 100, error, 100 + 10 * batch);
  }
  return file;
}

inline EvaluatedFile workers_file(double sample_ms, bool storage = false) {
  EvaluatedFile file{.path = "workers.json", .document = batch_document("cpu")};
  file.document.sweep.state = {
      {"sample_ns", sample_ms * 1e6}, {"storage", storage}, {"rate", {{"per_s", 100}, {"cores", 2}}}};
  file.document.sweep.name = "workers";
  file.document.sweep.workload = "resnet50";
  file.document.context.host.memory_bytes = 1'000'000;
  return file;
}

// The fixed part of a step: 40 of 50 ms at batch 1, of which moving the weights takes 10 with 1 GB/s, and
// 10000 operations are started.
inline EvaluatedFile fixed_cost_file() {
  EvaluatedFile file{.path = "batch.json", .document = batch_document("gpu")};
  file.document.sweep.mode = "train";
  file.document.context.device.kind = "cpu";
  for (const std::int64_t batch : {1, 2, 4}) {
    const auto samples = static_cast<double>(batch);
    add_measured(file.document, "fp32", batch, samples / (0.04 + 0.01 * samples), 0.01, 100 + 100 * batch);
    file.document.points.back().work.fixed_bytes = 10e6;
    file.document.points.back().work.launches = 10'000;
  }
  Finding fixed = finding_of("t0", "ns");  // as a sweep in one dtype calls it
  fixed.set({.value = 40e6, .ci95 = Interval{39e6, 41e6}});
  file.document.findings.push_back(fixed);
  file.document.context.peaks[Dtype::fp32] = {.flops_per_s = 1e9, .bytes_per_s = 1e9, .source = "measured"};
  return file;
}

inline const Change* change_named(const Advice& advice, const std::string& what) {
  const auto found = std::ranges::find(advice.changes, what, &Change::what);
  return found == advice.changes.end() ? nullptr : &*found;
}

inline double part_named(const Advice& advice, const std::string& name) {
  const auto found = std::ranges::find(advice.budget, name, &BudgetPart::name);
  return found == advice.budget.end() ? 0 : found->ns;
}

}  // namespace bench::testing
