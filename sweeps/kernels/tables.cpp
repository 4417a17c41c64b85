#include "sweeps/kernels/tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/units.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {

std::vector<TextTable> kernels_tables(const ResultDocument& document) {
  const std::vector<KernelPoint> points = kernel_points(document);
  if (points.empty()) {
    return {};
  }
  const Roofline roofline = roofline_of(points, last_cache_bytes(document));
  TextTable table;
  table.title =
      "Rates, and the share of what the measured roofline allows (above 100 % below the ridge: data from a "
      "cache)";
  table.rows.push_back(
      {"point", "step time", "bandwidth", "arithmetic", "FLOP/B", "of the roofline", "flags"});
  for (const KernelPoint& point : points) {
    const auto limit = roofline.limit(point);
    std::string share = limit ? format_percent(point.flops_per_s() / *limit) : "";
    if (point.workload == "stream" && roofline.memory) {
      share = format_percent(point.bytes_per_s() / roofline.memory->rate);
    }
    table.rows.push_back({point.name.starts_with("kernels/") ? point.name.substr(8) : point.name,
                          format_duration(point.median_ns), format_rate(point.bytes_per_s(), "B/s"),
                          point.flops > 0 ? format_rate(point.flops_per_s(), "FLOP/s") : "",
                          point.flops > 0 ? format_number(point.intensity()) : "", share,
                          fmt::format("{}", fmt::join(point.flags, ", "))});
  }
  table.right = {false, true, true, true, true, true, false};
  table.lists_points = true;
  return {table};
}

}  // namespace bench::sweeps
