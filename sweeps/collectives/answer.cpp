#include "sweeps/collectives/answer.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "bench/result/flags.h"

namespace bench::sweeps {

std::optional<Estimate> CollectiveSeries::bus_bytes_per_s() const {
  return has_model() && curve->bytes_per_s
             ? std::optional(scaled(*curve->bytes_per_s, bus_factor(operation, ranks)))
             : std::nullopt;
}

std::string CollectiveSeries::finding_name() const {
  return (has_model() ? "model/" : "largest_size/") + label();
}

CollectivesAnswer collectives_answer(const ResultDocument& document) {
  const FlagMarks marks(measured_points(document));
  const auto place_of = [](const CollectiveParams& params) {
    return std::tuple(params.operation, params.hosts, params.peer, params.label());
  };
  std::map<decltype(place_of(CollectiveParams())), CollectiveSeries> by_place;
  for (const Point& measured : measured_points(document)) {
    const auto params = read_collective_params(measured.params);
    if (!params) {
      continue;
    }
    CollectiveSeries& series =
        by_place.try_emplace(place_of(*params), CollectiveSeries{*params}).first->second;
    const auto bytes = static_cast<double>(params->bytes);
    series.points.push_back({.name = measured.name,
                             .bytes = bytes,
                             .moved = bytes * bus_factor(params->operation, params->ranks),
                             .ns = measured.stats.step_time(),
                             .rounds = {},
                             .mark = std::string(marks.of(measured))});
  }
  CollectivesAnswer answer;
  for (auto& [place, series] : by_place) {
    std::ranges::sort(series.points, {}, &SizePoint::bytes);
    series.curve = fit_size_curve(series.points);
    answer.series.push_back(std::move(series));
  }
  return answer;
}

}  // namespace bench::sweeps
