// Results of the batch and the workers sweep with figures that are easy to follow.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "bench/evaluate/evaluated_device.h"
#include "bench/evaluate/evaluation.h"
#include "bench/registry.h"

namespace bench::testing {

inline ResultDocument batch_document(const std::string& device) {
  ResultDocument document;
  document.sweep.name = "batch";
  document.sweep.workload = "resnet50";
  document.sweep.mode = "infer";
  document.sweep.workload_options = {{"image-size", "224"}, {"launch", "stream"}};
  document.context.device.id = device;
  document.context.device.kind = "cpu";
  document.context.device.name = device;
  document.context.device.memory_bytes = 1000;
  document.context.device.available_bytes = 1000;
  return document;
}

// `per_s` samples a second, ± `error` of it in the step time; `bytes` at the peak.
inline void add_measured(ResultDocument& document, const std::string& dtype, std::int64_t batch, double per_s,
                         double error = 0.01, std::int64_t bytes = 0) {
  Point point;
  point.name = "batch/" + dtype + "/batch:" + std::to_string(batch);
  point.params = {{"batch", batch}, {"dtype", dtype}};
  point.items_per_step = static_cast<double>(batch);
  point.stats.median_ns = static_cast<double>(batch) * 1e9 / per_s;
  point.stats.rounds = 3;
  if (error > 0) {
    point.stats.ci95_ns =
        Interval{.low = point.stats.median_ns * (1 - error), .high = point.stats.median_ns * (1 + error)};
  }
  point.memory.peak_measured = bytes;
  point.memory.by_category[MemoryCategory::input] = 4 * batch;
  point.work = {.samples = static_cast<double>(batch), .flops = 1e9 * static_cast<double>(batch)};
  document.points.push_back(point);
}

// A card of the catalogue that is not here.
inline ResultDocument predicted_document(const std::string& id, double power_w = 70) {
  ResultDocument document = batch_document(id);
  document.context.device.kind = "modelled";
  document.context.datasheet = {{"id", id},
                                {"aliases", {"alias-of-" + id}},
                                {"names", {"NVIDIA " + id}},
                                {"memory_bytes", 1000},
                                {"power_w", power_w},
                                {"pcie", {{"generation", 3}, {"lanes", 16}}},
                                {"flops_per_s", {{"fp32", 1e12}, {"fp16", 4e12}}}};
  document.sweep.memory_cap_bytes = 900;
  return document;
}

// The interval is ± 20 % in the step time; that of a ratio has `ratio_error` of each device.
inline void add_predicted(ResultDocument& document, const std::string& dtype, std::int64_t batch,
                          double per_s, double ratio_error = 0.1, std::int64_t bytes = 0) {
  Point point;
  point.name = "batch/" + dtype + "/batch:" + std::to_string(batch);
  point.params = {{"batch", batch}, {"dtype", dtype}};
  point.items_per_step = static_cast<double>(batch);
  point.origin = Origin::predicted;
  const double step_ns = static_cast<double>(batch) * 1e9 / per_s;
  point.prediction.step_ns = {.value = step_ns, .ci95 = Interval{step_ns * 0.8, step_ns * 1.2}};
  point.work.flops = 1e9 * static_cast<double>(batch);
  point.memory.by_category[MemoryCategory::input] = 4 * batch;
  point.memory.peak_predicted = bytes;
  point.prediction.model = {{"framework", "pytorch"}};
  if (ratio_error > 0) {
    point.prediction.model["ratio_deviation"] = ratio_error / 1.2816 / std::sqrt(2.0);
  }
  document.points.push_back(point);
}

// In place of the workers sweep.
inline const Registration<LoaderRateReader> told_rate{LoaderRateReader{
    .name = "workers", .read = [](const ResultDocument& document) -> std::optional<LoaderRate> {
      const Json& told = document.sweep.state.value("rate", Json());
      return told.is_null()
                 ? std::nullopt
                 : std::optional(LoaderRate{.samples_per_s = scaled({.value = 1, .ci95 = Interval{0.9, 1.1}},
                                                                    told.at("per_s").get<double>()),
                                            .cores = told.at("cores").get<double>()});
    }}};

inline ResultDocument workers_document(double per_s, double cores) {
  ResultDocument document = batch_document("cpu");
  document.sweep.name = "workers";
  document.sweep.workload = "20ms";
  document.context.host.cpu = "Example CPU 9000";
  document.context.host.usable_cores = 2;
  document.sweep.state["rate"] = {{"per_s", per_s}, {"cores", cores}};
  return document;
}

inline Evaluation evaluated(const std::vector<ResultDocument>& documents, PriceList prices = {},
                            std::optional<ResultDocument> workers = std::nullopt,
                            std::optional<Job> job = std::nullopt) {
  std::vector<EvaluatedFile> files;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    files.push_back({.path = "file" + std::to_string(i + 1) + ".json", .document = documents[i]});
  }
  EvaluatedDevices devices = evaluated_devices(files);
  std::optional<HostLimit> host;
  if (workers) {
    host = host_limit({.path = "workers.json", .document = *workers}, devices.task);
  }
  return evaluate(std::move(devices), std::move(prices), std::move(host), std::move(job));
}

inline std::string claim(const Evaluation& evaluation, const std::string& question,
                         const std::string& dtype = "") {
  for (const Answer& answer : evaluation.answers) {
    if (answer.question == question && (dtype.empty() || answer.dtype == dtype)) {
      return answer.claim;
    }
  }
  return "";
}

}  // namespace bench::testing
