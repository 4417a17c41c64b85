#include "kernels/networks/launch.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"

namespace bench::kernels {

WorkloadType::Option launch_option() {
  return {.name = "launch",
          .default_value = "stream",
          .help =
              "how a step is started: stream queues its operations one by one, graph records them once and "
              "starts them as one",
          .words = [] {
            return std::vector<std::string>{"stream", "graph"};
          }};
}

Launch launch_of(const WorkloadSpec& spec) {
  const auto given = spec.options.find("launch");
  const std::string text = given == spec.options.end() ? "stream" : given->second;
  if (text != "stream" && text != "graph") {
    throw UsageError(fmt::format("--launch {}: accepted are stream and graph", quote(text)));
  }
  return text == "graph" ? Launch::graph : Launch::stream;
}

std::optional<std::string> launch_unsupported(const WorkloadSpec& spec, const Device& device) {
  if (launch_of(spec) == Launch::stream) {
    return std::nullopt;
  }
  const auto reason = device.cannot_record();
  return reason ? std::optional(fmt::format("--launch graph: {}", *reason)) : std::nullopt;
}

std::unique_ptr<RecordedStep> record_if_asked(const WorkloadSpec& spec, Device& device,
                                              const std::function<void()>& step) {
  return launch_of(spec) == Launch::graph ? device.record(step) : nullptr;
}

}  // namespace bench::kernels
