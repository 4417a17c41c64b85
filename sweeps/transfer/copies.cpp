#include "sweeps/transfer/copies.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "bench/result/flags.h"

namespace bench::sweeps {
namespace {

std::size_t place(const std::array<std::string_view, 3>& order, const std::string& word) {
  return static_cast<std::size_t>(std::ranges::find(order, word) - order.begin());
}

auto rank(const CopySeries& series) {
  return std::tuple(place({"h2d", "d2h", "both"}, series.direction), series.in_flight, series.first_touch,
                    place({"pinned", "pageable", "staged"}, series.kind));
}

}  // namespace

std::string CopyWay::label() const {
  return fmt::format("{}/{}{}{}", direction, kind, first_touch ? "/pages:cold" : "",
                     in_flight > 1 ? fmt::format("/in-flight:{}", in_flight) : "");
}

Json CopyParams::to_json() const {
  return {{"direction", way.direction},
          {"host-memory", way.kind},
          {"bytes", std::llround(bytes)},
          {"in-flight", way.in_flight},
          {"pages", way.first_touch ? "cold" : "touched"},
          {"node", node}};
}

std::optional<CopyParams> read_copy_params(const Json& params) {
  return CopyParams{.way = {.direction = params.value("direction", ""),
                            .kind = params.value("host-memory", ""),
                            .in_flight = params.value("in-flight", std::int64_t{1}),
                            .first_touch = params.value("pages", "") == "cold"},
                    .bytes = params.value("bytes", 0.0),
                    .node = params.value("node", "")};
}

const SizePoint* CopySeries::at(double bytes) const {
  const auto found = std::ranges::find(points, bytes, &SizePoint::bytes);
  return found == points.end() ? nullptr : &*found;
}

std::vector<std::string> CopySeries::names() const {
  std::vector<std::string> names;
  for (const SizePoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

std::vector<std::string> CopySeries::names_near(double bytes) const {
  std::vector<std::string> names;
  const auto above = std::ranges::lower_bound(points, bytes, {}, &SizePoint::bytes);
  if (above != points.begin() && (above == points.end() || above->bytes != bytes)) {
    names.push_back(std::prev(above)->name);
  }
  if (above != points.end()) {
    names.push_back(above->name);
  }
  return names;
}

std::vector<CopySeries> copy_series(const ResultDocument& document) {
  const FlagMarks marks(measured_points(document));
  std::vector<CopySeries> all;
  for (const Point& measured : measured_points(document)) {
    const auto params = read_copy_params(measured.params);
    if (!params) {
      continue;
    }
    auto series = std::ranges::find(all, params->way.label(), &CopySeries::label);
    if (series == all.end()) {
      series = all.insert(all.end(), CopySeries{params->way});
    }
    series->points.push_back({.name = measured.name,
                              .bytes = params->bytes,
                              .moved = measured.work.sample_bytes,
                              .ns = measured.stats.step_time(),
                              .rounds = round_times(measured),
                              .mark = std::string(marks.of(measured))});
  }
  for (CopySeries& series : all) {
    std::ranges::sort(series.points, {}, &SizePoint::bytes);
    series.curve = series.plain() ? fit_size_curve(series.points) : std::nullopt;
  }
  std::ranges::sort(all, {}, rank);
  return all;
}

const CopySeries* find_series(const std::vector<CopySeries>& all, const std::string& label) {
  const auto at = std::ranges::find(all, label, &CopySeries::label);
  return at == all.end() ? nullptr : &*at;
}

std::optional<SameSize> largest_of_both(const CopySeries* one, const CopySeries* other) {
  std::optional<SameSize> largest;
  if (one != nullptr && other != nullptr) {
    for (const SizePoint& point : one->points) {  // growing
      if (const SizePoint* const same = other->at(point.bytes)) {
        largest = {.one = &point, .other = same};
      }
    }
  }
  return largest;
}

}  // namespace bench::sweeps
