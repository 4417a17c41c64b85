#include "bench/model/step_limit.h"

#include <algorithm>
#include <array>

namespace bench {

std::string_view name_of(StepLimit limit) {
  switch (limit) {
    case StepLimit::compute:
      return "compute";
    case StepLimit::memory:
      return "memory";
    case StepLimit::launch:
      return "launch";
    case StepLimit::implementation:
      return "implementation";
    case StepLimit::unknown:
      return "unknown";
  }
  return "?";
}

LimitReport find_limit(const Work& work, const Peaks& peaks, const Estimate& step_ns,
                       const std::optional<Estimate>& launch_ns) {
  LimitReport report;
  if (peaks.flops_per_s > 0) {
    report.compute_share = work.flops / peaks.flops_per_s * 1e9 / step_ns.value;
  }
  if (launch_ns && work.launches > 0) {
    report.launch_share = ratio(scaled(*launch_ns, static_cast<double>(work.launches)), step_ns);
  }
  if (peaks.bytes_per_s > 0) {
    report.memory_share = (work.fixed_bytes + work.sample_bytes) / peaks.bytes_per_s * 1e9 / step_ns.value;
    report.fixed_bytes_ns = work.fixed_bytes / peaks.bytes_per_s * 1e9;
  }
  const double compute = report.compute_share.value_or(0);
  const double memory = report.memory_share.value_or(0);
  constexpr double kHalf = 0.5;
  if (compute >= kHalf || memory >= kHalf) {
    report.limit = compute >= memory ? StepLimit::compute : StepLimit::memory;
  } else if (report.compute_share && report.memory_share) {
    const bool launches =
        report.launch_share && report.launch_share->ci95 && report.launch_share->low() >= kHalf;
    report.limit = launches ? StepLimit::launch : StepLimit::implementation;
  }
  return report;
}

LongestPart longest_part(const PredictedStep& step) {
  if (step.host_ns > step.gpu_ns) {
    return {StepLimit::launch, step.host_ns};
  }
  return std::ranges::max(
      std::array{LongestPart{StepLimit::compute, step.products_ns},
                 LongestPart{StepLimit::memory, step.memory_ns},
                 LongestPart{StepLimit::implementation, step.tiles_ns + step.launches_ns}},
      {}, &LongestPart::ns);
}

}  // namespace bench
