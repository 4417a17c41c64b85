#include "bench/commands/start_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/request.h"
#include "bench/run/context.h"

namespace bench {

ResultDocument start_document(const Sweep& sweep, const SweepRequest& request, const SweepPlan& plan,
                              Device& device, const Options& options, const std::vector<std::string>& argv) {
  ResultDocument document;
  document.context = make_context(device.info(), argv, options.seed);
  document.sweep = {
      {"name", sweep.name},
      {"question", sweep.question},
      {"workload", request.label},
      {"mode", request.workloads.size() > 1 ? "all" : fmt::format("{}", fmt::join(request.modes, ","))},
      {"workload_options", Json::object()},
      {"memory_cap_bytes", request.largest_cap()},
      {"time_budget_ns", options.time_budget.count()},
      {"axes", plan.axes}};
  for (const auto& [name, values] : request.workload_options) {
    if (request.workloads.size() > 1) {
      break;  // each point's own stand in its params
    }
    document.sweep["workload_options"][name] = fmt::format("{}", fmt::join(values, ","));
  }
  if (!sweep.options.empty()) {
    document.sweep["sweep_options"] = request.sweep_options;
  }
  if (request.memory_caps.size() > 1) {
    document.sweep["memory_caps_bytes"] = request.memory_caps;
  }
  if (sweep.predict) {
    sweep.predict(request, plan, device, document);
  }
  return document;
}

}  // namespace bench
