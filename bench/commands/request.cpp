#include "bench/commands/request.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"

namespace bench {
namespace {

constexpr double kDefaultCapShare = 0.8;  // of the memory free at start

}  // namespace

SweepRequest make_request(const Options& options, const Sweep& sweep, const WorkloadType& type,
                          const Device& device) {
  SweepRequest request;
  request.workload = &type;
  request.workloads = {&type};
  if (options.workload.empty() && !sweep.workloads.empty()) {
    request.workloads.clear();
    for (const std::string& name : sweep.workloads) {
      request.workloads.push_back(registry<WorkloadType>().find(name));
    }
  }
  request.modes = !options.modes.empty() ? options.modes
                  : sweep.all_modes      ? type.modes
                                         : std::vector{type.modes.front()};
  request.modes_given = !options.modes.empty();
  request.dtypes = options.dtypes;
  request.batches = options.batches;
  for (const CommandOption& option : type.options) {
    const auto given = options.workload_options.find(option.name);
    const auto preferred = sweep.default_values.find(option.name);
    if (given != options.workload_options.end()) {
      request.given_options.insert(option.name);
    }
    request.workload_options[option.name] = given != options.workload_options.end() ? given->second
                                            : preferred != sweep.default_values.end()
                                                ? preferred->second
                                                : std::vector{option.default_value};
    if (given != options.workload_options.end() && !option.mode.empty() &&
        std::ranges::find(request.modes, option.mode) == request.modes.end()) {
      throw UsageError(fmt::format("--{}: {} was given, but belongs to --mode {}; give that with it",
                                   option.name, quote(fmt::format("{}", fmt::join(given->second, ","))),
                                   option.mode));
    }
  }
  for (const CommandOption& option : sweep.options) {
    const auto given = options.sweep_options.find(option.name);
    if (given != options.sweep_options.end()) {
      request.given_sweep_options.insert(option.name);
    }
    request.sweep_options[option.name] =
        given == options.sweep_options.end() ? option.default_value : given->second;
  }
  request.seed = options.seed;
  request.memory_caps = options.memory_caps;
  if (request.memory_caps.empty()) {
    request.memory_caps.push_back(
        static_cast<std::int64_t>(kDefaultCapShare * static_cast<double>(device.info().available_bytes)));
  }
  request.label = sweep.label                     ? sweep.label(request)
                  : request.workloads.size() == 1 ? request.workloads.front()->name
                                                  : "all";
  return request;
}

}  // namespace bench
