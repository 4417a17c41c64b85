// The cards sweep's headlines and pictures in a report.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/registry.h"
#include "bench/report/sweep_report.h"
#include "sweeps/cards/answer.h"

namespace bench::sweeps {
namespace {

std::vector<plots::Chart> cards_charts(ResultDocument& document) {
  const std::vector<CardsPoint> all = cards_points(document);
  const bool strong = cards_setup_in(document).strong;
  using Size = std::pair<double, std::int64_t>;  // the batch, and micro-batches where ranks share out layers
  const auto size_of = [&](const CardsPoint& point) {
    return Size(strong ? point.samples() : static_cast<double>(point.batch), point.micro_batches);
  };
  const bool split = std::ranges::any_of(all, &CardsPoint::split_layers);
  std::set<Size> sizes;
  for (const CardsPoint& point : all) {
    if (!split || point.split_layers) {  // one rank belongs to all then
      sizes.insert(size_of(point));
    }
  }
  plots::Curves curves{
      .x = {.label = "ranks",
            .quantity = plots::Quantity::number,
            .scale = plots::AxisScale::linear,
            .whole = true},
      .y = {.label = "samples/s", .quantity = plots::Quantity::per_second, .scale = plots::AxisScale::linear},
      .series = {}};
  plots::Curves steps{
      .x = curves.x, .y = {.label = "ns", .quantity = plots::Quantity::duration}, .series = {}};
  std::size_t place = 0;
  for (const Size& size : sizes) {
    const std::string micro_batches = split ? fmt::format(", micro-batches: {}", size.second) : "";
    plots::ChartSeries measured{
        .name = fmt::format("batch {:.0f} {}{}", size.first, strong ? "in all" : "each", micro_batches),
        .points = {},
        .colour = place % plots::kSeriesColours,
        .shape = place};
    ++place;
    plots::ChartSeries step = measured;
    plots::ChartSeries busy = measured;
    busy.name += ", without waiting";
    busy.marks = false;
    busy.dashed = true;
    plots::ChartSeries perfect{.name = measured.name + ", perfect scaling",
                               .points = {},
                               .colour = measured.colour,
                               .marks = false,
                               .dashed = true};
    for (const CardsPoint& point : all) {
      const bool is_alone = split && point.ranks == 1 && size_of(point).first == size.first;
      if (size_of(point) != size && !is_alone) {
        continue;
      }
      const Estimate rate = point.per_s();
      measured.points.push_back({.x = static_cast<double>(point.ranks),
                                 .y = rate.value,
                                 .interval = rate.ci95,
                                 .open = !point.mark.empty()});
      step.points.push_back({.x = static_cast<double>(point.ranks),
                             .y = point.ns.value,
                             .interval = point.ns.ci95,
                             .open = !point.mark.empty()});
      busy.points.push_back({.x = static_cast<double>(point.ranks), .y = point.ns.value - point.exposed_ns});
      if (const CardsPoint* const alone = alone_for(point, all, strong)) {
        perfect.points.push_back(
            {.x = static_cast<double>(point.ranks), .y = point.ranks * alone->per_s().value});
      }
    }
    curves.series.push_back(std::move(measured));
    steps.series.push_back(std::move(step));
    steps.series.push_back(std::move(busy));
    if (perfect.points.size() > 1) {
      curves.series.push_back(std::move(perfect));
    }
  }
  return {{.title = "Throughput by ranks", .content = std::move(curves)},
          {.title = "A step of the slowest rank", .content = std::move(steps)}};
}

const Registration<report::SweepReport> cards_report{
    {.name = "cards",
     .choose_headlines =
         [](ResultDocument& document) {
           const CardsSetup setup = cards_setup_in(document);
           const std::vector<CardsPoint> all = cards_points(document);
           choose_cards_headlines(answer_of(all, setup), setup, document.findings);
         },
     .charts = cards_charts}};

}  // namespace
}  // namespace bench::sweeps
