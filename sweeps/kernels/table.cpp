#include "sweeps/kernels/table.h"

#include <algorithm>

#include "bench/measure/flags.h"
#include "bench/measure/units.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {

std::vector<TextTable> kernels_tables(const ResultDocument& document) {
  const std::vector<KernelResult> points = read_results(document);
  if (points.empty()) {
    return {};
  }
  const Roofline roofline = roofline_of(points, last_cache_bytes(document.context));
  const FlagMarks marks(document.benchmarks);
  TextTable table;
  table.rows.push_back({"point", "step time", "bandwidth", "arithmetic", "FLOP/B", "of the roofline", ""});
  bool any_share = false;
  for (const KernelResult& point : points) {
    const double bandwidth = point.bandwidth().value;
    const double rate = point.rate().value;
    std::string share;
    if (point.is_stream() && roofline.memory) {
      share = format_percent(bandwidth / roofline.memory->rate.value);
    } else if (const auto limit = roofline.limit(point)) {
      share = format_percent(rate / limit->value);
    }
    any_share = any_share || !share.empty();
    const bool computes = point.flops > 0;
    table.rows.push_back(
        {point.short_name(), format_duration(point.step_ns.value), format_rate(bandwidth, "B/s"),
         computes ? format_rate(rate, "FLOP/s") : "", computes ? format_number(point.intensity()) : "", share,
         std::string(marks.of(*std::ranges::find(document.benchmarks, point.name, &MeasuredPoint::name)))});
  }
  table.right = {false, true, true, true, true, true, false};
  table.lists_points = true;
  if (any_share) {
    table.title = "Rates, and the share of the measured roofline (above 100 %: data from a cache)";
    return {table};
  }
  constexpr std::ptrdiff_t kShareColumn = 5;
  for (auto& row : table.rows) {
    row.erase(row.begin() + kShareColumn);
  }
  table.right.erase(table.right.begin() + kShareColumn);
  const auto reason = std::ranges::find(document.findings, "memory_bandwidth", &Finding::name);
  table.title = reason == document.findings.end() || reason->value ? "Rates" : "Rates. " + reason->claim;
  return {table};
}

}  // namespace bench::sweeps
