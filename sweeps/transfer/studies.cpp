#include "sweeps/transfer/studies.h"

#include <algorithm>
#include <cmath>

#include "bench/measure/statistics.h"

namespace bench::sweeps {

Json time_of(const std::vector<double>& rounds_ns, std::uint64_t seed) {
  std::vector<std::int64_t> samples;
  samples.reserve(rounds_ns.size());
  for (const double ns : rounds_ns) {
    samples.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(ns)));
  }
  const SampleStats stats = summarize(samples, std::vector<std::int64_t>(samples.size(), 1), seed);
  return {{"median_ns", stats.median_ns},
          {"ci95_ns", {std::llround(stats.ci95_ns.low), std::llround(stats.ci95_ns.high)}}};
}

}  // namespace bench::sweeps
