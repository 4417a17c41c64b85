// Where does a larger batch stop paying, and what does it cost in memory?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "bench/error.h"
#include "bench/sweep.h"
#include "sweeps/batch/findings.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kLargestDefaultBatch = 65'536;

std::vector<std::int64_t> default_batches() {
  std::vector<std::int64_t> batches;
  for (std::int64_t batch = 1; batch <= kLargestDefaultBatch; batch *= 2) {
    batches.push_back(batch);
  }
  return batches;
}

std::vector<Dtype> default_dtypes(const Device& device) {
  std::vector<Dtype> dtypes;
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    if (!device.unsupported(dtype)) {
      dtypes.push_back(dtype);
    }
  }
  return dtypes.empty() ? std::vector{Dtype::fp32} : dtypes;
}

std::string mode_of(const SweepRequest& request) {
  const std::vector<std::string>& modes = request.workload->modes;
  if (request.mode.empty()) {
    return modes.front();
  }
  if (std::ranges::find(modes, request.mode) == modes.end()) {
    throw UsageError(fmt::format("--mode: '{}' is not a mode of {}; give one of: {}", request.mode,
                                 request.workload->name, fmt::join(modes, ", ")));
  }
  return request.mode;
}

// The workload's options with its defaults filled in.
std::map<std::string, std::string> options_of(const SweepRequest& request) {
  std::map<std::string, std::string> options;
  std::vector<std::string> names;
  for (const WorkloadType::Option& option : request.workload->options) {
    options[option.name] = option.default_value;
    names.push_back("--" + option.name);
  }
  for (const auto& [name, value] : request.workload_options) {
    if (!options.contains(name)) {
      throw UsageError(fmt::format("--{}: '{}' was given, but {} has no such option; it takes {}", name,
                                   value, request.workload->name,
                                   names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    options[name] = value;
  }
  return options;
}

// A number where the whole text is one, so that a result file holds numbers as numbers.
Json typed(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end) {
    return whole;
  }
  double real = 0;
  const bool starts_as_number = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (const auto read = std::from_chars(text.data(), end, real);
      starts_as_number && read.ec == std::errc{} && read.ptr == end) {
    return real;
  }
  return text;
}

SweepPoint point_of(const std::string& workload, const WorkloadSpec& spec) {
  const std::string dtype(name_of(spec.dtype));
  SweepPoint point;
  point.name = fmt::format("batch/{}/{}/{}/batch:{}", workload, spec.mode, dtype, spec.batch);
  point.params = {{"batch", spec.batch}, {"dtype", dtype}, {"mode", spec.mode}, {"workload", workload}};
  for (const auto& [name, value] : spec.options) {
    point.params[name] = typed(value);
  }
  point.spec = spec;
  point.series = dtype;
  return point;
}

SweepPlan plan(const SweepRequest& request, Device& device) {
  const auto dtypes = request.dtypes.empty() ? default_dtypes(device) : request.dtypes;
  auto batches = request.batches.empty() ? default_batches() : request.batches;
  std::ranges::sort(batches);

  WorkloadSpec spec;
  spec.mode = mode_of(request);
  spec.options = options_of(request);
  spec.seed = request.seed;

  SweepPlan plan;
  plan.open_ended = request.batches.empty();
  plan.axes = {{"batch", batches}, {"dtype", Json::array()}};
  for (const Dtype dtype : dtypes) {
    plan.axes["dtype"].push_back(name_of(dtype));
    spec.dtype = dtype;
    for (const std::int64_t batch : batches) {
      spec.batch = batch;
      plan.points.push_back(point_of(request.workload->name, spec));
    }
  }
  return plan;
}

const Registration<Sweep> registered{
    Sweep{.name = "batch",
          .question = "Where does a larger batch stop paying, and what does it cost in memory?",
          .default_workload = "resnet50",
          .plan = plan,
          .findings = batch_findings}};

}  // namespace
}  // namespace bench::sweeps
