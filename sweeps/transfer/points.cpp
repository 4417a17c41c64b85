#include "sweeps/transfer/points.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace bench::sweeps {
namespace {

template <std::size_t Count>
std::size_t place(const std::array<std::string_view, Count>& order, const std::string& word) {
  return static_cast<std::size_t>(std::ranges::find(order, word) - order.begin());
}

auto rank(const TransferSeries& series) {
  return std::tuple(place<3>({"h2d", "d2h", "both"}, series.direction), series.at_once, series.cold_pages,
                    place<3>({"pinned", "pageable", "staged"}, series.kind));
}

}  // namespace

std::string TransferSeries::label() const {
  return fmt::format("{}/{}{}{}", direction, kind, cold_pages ? "/pages:cold" : "",
                     at_once > 1 ? fmt::format("/in-flight:{}", at_once) : "");
}

std::vector<CopyTime> TransferSeries::times() const {
  std::vector<CopyTime> times;
  for (const TransferPoint& point : points) {
    times.push_back({.bytes = point.bytes, .ns = point.ns, .ci95_ns = point.ci95_ns});
  }
  return times;
}

const TransferPoint* TransferSeries::at(double bytes) const {
  const auto found = std::ranges::find(points, bytes, &TransferPoint::bytes);
  return found == points.end() ? nullptr : &*found;
}

std::vector<TransferSeries> transfer_series(const ResultDocument& document) {
  std::vector<TransferSeries> all;
  for (const MeasuredPoint& measured : document.benchmarks) {
    TransferSeries key;
    key.direction = measured.params.value("direction", "");
    key.kind = measured.params.value("host-memory", "");
    key.at_once = measured.params.value("in-flight", std::int64_t{1});
    key.cold_pages = measured.params.value("pages", "") == "cold";
    auto series = std::ranges::find(all, key.label(), &TransferSeries::label);
    if (series == all.end()) {
      series = all.insert(all.end(), key);
    }
    series->points.push_back({.name = measured.name,
                              .bytes = measured.params.value("bytes", 0.0),
                              .moved = measured.work.value("sample_bytes", 0.0),
                              .ns = measured.stats.median_ns,
                              .ci95_ns = measured.stats.ci95_ns,
                              .cpu_ns = measured.cpu_time_ns,
                              .flagged = !measured.validity.flags.empty()});
  }
  for (TransferSeries& series : all) {
    std::ranges::sort(series.points, {}, &TransferPoint::bytes);
  }
  std::ranges::sort(all, {}, rank);
  return all;
}

const TransferSeries* find_series(const std::vector<TransferSeries>& all, const std::string& label) {
  const auto at = std::ranges::find(all, label, &TransferSeries::label);
  return at == all.end() ? nullptr : &*at;
}

std::vector<std::string> series_names_near(const std::vector<TransferSeries>& all, const std::string& label,
                                           double bytes) {
  std::vector<std::string> names;
  const TransferSeries* const series = find_series(all, label);
  if (series == nullptr) {
    return names;
  }
  const auto above = std::ranges::lower_bound(series->points, bytes, {}, &TransferPoint::bytes);
  if (above != series->points.begin() && (above == series->points.end() || above->bytes != bytes)) {
    names.push_back(std::prev(above)->name);
  }
  if (above != series->points.end()) {
    names.push_back(above->name);
  }
  return names;
}

}  // namespace bench::sweeps
