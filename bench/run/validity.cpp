#include "bench/run/validity.h"

#include <set>
#include <string>
#include <vector>

namespace bench {

void set_peaks(ResultDocument& document, Dtype dtype, const Peaks& peaks) {
  document.context["device"]["peaks"][std::string(name_of(dtype))] = {
      {"flops_per_s", peaks.flops_per_s}, {"bytes_per_s", peaks.bytes_per_s}, {"source", peaks.source}};
}

void ValidityJudge::set_validity(MeasuredPoint& entry, Dtype dtype, const DeviceState& state) {
  std::set<std::string> flags;
  for (const std::string& flag : entry.validity.flags) {
    if (flag.starts_with("throttled:")) {
      flags.insert(flag);
    }
  }
  for (const std::string& reason : state.throttle_reasons) {
    flags.insert("throttled:" + reason);
  }
  const std::vector<std::string> precision = rule_.flags(entry.stats);
  flags.insert(precision.begin(), precision.end());
  if (above_peak(entry, dtype)) {
    flags.insert("above_peak");
  }
  entry.validity = {{flags.begin(), flags.end()}, state.clock_mhz, state.temperature_c, state.power_w};
}

// A measured peak has an error of its own: 10 % keeps it from accusing an honest point, and it is measured
// anew before it accuses one.
bool ValidityJudge::above_peak(const MeasuredPoint& entry, Dtype dtype) {
  if (!(entry.work.value("flops", 0.0) > 0)) {
    return false;  // and no need to measure what the device can do
  }
  const double rate = entry.work.value("flops", 0.0) / (entry.stats.median_ns * 1e-9);
  const auto exceeded = [&](const Peaks& peaks) {
    return peaks.flops_per_s > 0 && rate > 1.1 * peaks.flops_per_s;
  };
  if (!exceeded(device_.peaks(dtype))) {
    return false;
  }
  if (refreshes_left_ > 0) {
    --refreshes_left_;
    set_peaks(document_, dtype, device_.refresh_peaks(dtype));
  }
  return exceeded(device_.peaks(dtype));
}

}  // namespace bench
