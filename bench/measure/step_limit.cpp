#include "bench/measure/step_limit.h"

namespace bench {

std::string_view name_of(StepLimit limit) {
  switch (limit) {
    case StepLimit::compute:
      return "compute";
    case StepLimit::memory:
      return "memory";
    case StepLimit::overhead:
      return "launch/overhead";
    case StepLimit::unknown:
      return "unknown";
  }
  return "?";
}

LimitReport find_limit(const Work& work, const Peaks& peaks, double step_ns) {
  LimitReport report;
  if (peaks.flops_per_s > 0) {
    report.compute_share = work.flops / peaks.flops_per_s * 1e9 / step_ns;
  }
  if (peaks.bytes_per_s > 0) {
    report.memory_share = (work.fixed_bytes + work.sample_bytes) / peaks.bytes_per_s * 1e9 / step_ns;
    report.fixed_bytes_ns = work.fixed_bytes / peaks.bytes_per_s * 1e9;
  }
  const double compute = report.compute_share.value_or(0);
  const double memory = report.memory_share.value_or(0);
  if (compute >= 0.5 || memory >= 0.5) {
    report.limit = compute >= memory ? StepLimit::compute : StepLimit::memory;
  } else if (report.compute_share && report.memory_share) {
    report.limit = StepLimit::overhead;
  }
  return report;
}

}  // namespace bench
