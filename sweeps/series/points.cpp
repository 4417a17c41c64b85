#include "sweeps/series/points.h"

#include <charconv>
#include <utility>

namespace bench::sweeps {
namespace {

constexpr std::int64_t kLargestDefaultBatch = 65'536;

// A number where the whole text is one, so that a result file holds numbers as numbers.
Json typed(const std::string& text) {
  const Json read = Json::parse(text, nullptr, false);
  return read.is_number() ? read : Json(text);
}

}  // namespace

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

std::map<std::string, std::vector<std::string>> option_values(const SweepRequest& request,
                                                              const std::string& mode) {
  std::map<std::string, std::vector<std::string>> values;
  for (const CommandOption& option : request.workload->options) {
    if (!option.mode.empty() && option.mode != mode) {
      continue;
    }
    const auto given = request.workload_options.find(option.name);
    values[option.name] =
        given == request.workload_options.end() ? std::vector{option.default_value} : given->second;
  }
  return values;
}

std::int64_t batch_unit(const WorkloadSpec& spec) {
  const auto at = spec.options.find("accumulate");
  std::int64_t unit = 1;
  if (at != spec.options.end()) {
    const char* const end = at->second.data() + at->second.size();
    const auto read = std::from_chars(at->second.data(), end, unit);
    unit = read.ec == std::errc{} && read.ptr == end && unit > 0 ? unit : 1;
  }
  return unit;
}

Json params_of(const std::string& workload, const WorkloadSpec& spec) {
  Json params = {
      {"batch", spec.batch}, {"dtype", name_of(spec.dtype)}, {"mode", spec.mode}, {"workload", workload}};
  for (const auto& [name, value] : spec.options) {
    params[name] = typed(value);
  }
  return params;
}

SweepPoint batch_point(const WorkloadType& workload, const WorkloadSpec& spec, std::string name,
                       std::string series) {
  return {.name = std::move(name),
          .params = params_of(workload.name, spec),
          .spec = spec,
          .series = std::move(series),
          .workload = workload.configure(spec)};
}

}  // namespace bench::sweeps
