#include "sweeps/memory/findings.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sweeps/memory/claims.h"
#include "sweeps/memory/label.h"

namespace bench::sweeps {
namespace {

std::string text_in(const Json& params, const char* name) {
  const auto at = params.find(name);
  return at != params.end() && at->is_string() ? at->get<std::string>() : "";
}

std::vector<MemorySeries> read(const ResultDocument& document) {
  const Json axes =
      document.sweep.is_object() ? document.sweep.value("axes", Json::object()) : Json::object();
  std::vector<MemorySeries> all;
  for (BatchSeries& series :
       read_series(document, [&](const Json& params) { return memory_label(params, axes); })) {
    MemorySeries made;
    made.batches = std::move(series);
    for (const MeasuredPoint& point : document.benchmarks) {
      if (!made.batches.points.empty() && point.name == made.batches.points.front().name) {
        made.mode = text_in(point.params, "mode");
        made.optimizer = made.mode == "train" ? text_in(point.params, "optimizer") : "";
      }
    }
    all.push_back(std::move(made));
  }
  return all;
}

// The first of each mode, of one dtype.
const MemorySeries* first_of(const std::vector<const MemorySeries*>& of_dtype, const std::string& mode) {
  const auto at = std::ranges::find(of_dtype, mode, [](const MemorySeries* series) { return series->mode; });
  return at == of_dtype.end() ? nullptr : *at;
}

}  // namespace

std::vector<Finding> memory_findings(const ResultDocument& document) {
  const std::vector<MemorySeries> all = read(document);
  std::vector<std::pair<std::string, std::vector<const MemorySeries*>>> by_dtype;
  for (const MemorySeries& series : all) {
    auto at =
        std::ranges::find(by_dtype, series.batches.dtype, [](const auto& entry) { return entry.first; });
    if (at == by_dtype.end()) {
      at = by_dtype.insert(by_dtype.end(), {series.batches.dtype, {}});
    }
    at->second.push_back(&series);
  }

  std::vector<Finding> findings;
  const auto add = [&](std::optional<Finding> finding, const std::string& of) {
    if (finding) {
      finding->name += of.empty() ? "" : "/" + of;
      findings.push_back(*std::move(finding));
    }
  };
  for (const auto& [dtype, series] : by_dtype) {
    add(claim_multiples(series), dtype);
    add(claim_activations(first_of(series, "train"), first_of(series, "infer")), dtype);
  }
  for (const MemorySeries& series : all) {
    Finding line = claim_memory_line(series.batches);
    line.claim += proportion_in_words(series.batches);
    add(std::move(line), series.batches.label);
    add(claim_peak(document, series), series.batches.label);
    if (series.batches.timed.size() > 1) {
      add(claim_ceiling(series.batches), series.batches.label);
    }
    if (!series.batches.left_out.empty()) {
      add(claim_left_out(series.batches), series.batches.label);
    }
  }
  for (Finding& finding : claim_largest(document)) {
    findings.push_back(std::move(finding));
  }
  add(claim_system(all), "");
  for (Finding& finding : claim_growth(document)) {
    findings.push_back(std::move(finding));
  }
  std::vector<BatchSeries> batches;
  batches.reserve(all.size());
  for (const MemorySeries& series : all) {
    batches.push_back(series.batches);
  }
  add(claim_conditions(batches, document.context), "");
  return findings;
}

}  // namespace bench::sweeps
