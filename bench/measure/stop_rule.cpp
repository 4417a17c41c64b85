#include "bench/measure/stop_rule.h"

#include <algorithm>

namespace bench {

bool StopRule::narrow(const SampleStats& stats) const {
  const double below = stats.median_ns - stats.ci95_ns.low;
  const double above = stats.ci95_ns.high - stats.median_ns;
  return std::max(below, above) <= settings_.half_width * stats.median_ns;
}

Verdict StopRule::decide(const SampleStats& stats, std::chrono::nanoseconds elapsed) const {
  if (enough_rounds(stats) && stats.rounds >= settings_.trusted_rounds && narrow(stats)) {
    return Verdict::precise;
  }
  return elapsed >= settings_.budget ? Verdict::out_of_time : Verdict::keep_going;
}

std::vector<std::string> StopRule::flags(const SampleStats& stats) const {
  if (!enough_rounds(stats)) {
    return {"few_rounds"};
  }
  if (!narrow(stats)) {
    return {"noisy"};
  }
  return {};
}

std::int64_t samples_for_visit(double step_ns, std::chrono::nanoseconds slice, std::int64_t max,
                               std::int64_t min) {
  if (!(step_ns > 0)) {
    return max;
  }
  const double fitting = static_cast<double>(slice.count()) / step_ns;
  return static_cast<std::int64_t>(std::clamp(fitting, static_cast<double>(min), static_cast<double>(max)));
}

}  // namespace bench
