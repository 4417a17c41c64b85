// The tables of the cards sweep.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/text/intervals.h"
#include "sweeps/cards/answer.h"
#include "sweeps/cards/planned.h"
#include "sweeps/cards/words.h"

namespace bench::sweeps {

std::vector<TextTable> cards_tables(const ResultDocument& document, const CardsSetup& setup) {
  const std::vector<CardsPoint> all = cards_points(document);
  if (setup.split_layers) {
    return stage_tables(all);
  }
  TextTable table{.title = "Training steps that ranks do together",
                  .rows = {{"ranks", "batch each", "step", "samples/s", "speedup", "efficiency", "waits",
                            "memory a rank", ""}},
                  .lists_points = true};
  for (const CardsPoint& point : all) {
    const CardsPoint* const alone = alone_for(point, all, setup.strong);
    const Estimate speed = alone == nullptr ? Estimate{} : speedup(point, *alone);
    const bool is_known = point.ranks == 1 || speed.ci95;
    const Cell efficiency = alone == nullptr || !is_known ? Cell::none()
                            : point.ranks == 1
                                ? Cell::share(1)
                                : Cell::figure(percent_in_words(scaled(speed, 1.0 / point.ranks), kToInCell));
    table.rows.push_back(
        {point.ranks, point.batch, Cell::time(point.ns.value, point.ns.ci95), rate_cell(point),
         alone == nullptr ? Cell::none() : Cell::figure(times_alone(speed)), efficiency,
         point.ranks == 1 ? Cell::none() : Cell::time(point.exposed_ns),
         point.peak_bytes.empty() ? Cell::none() : Cell::bytes(std::ranges::max(point.peak_bytes)),
         point.mark});
  }
  if (all.empty()) {
    return {};
  }
  std::vector<TextTable> tables = sharing_tables(document, setup.whole_optimizer);
  tables.insert(tables.begin(), std::move(table));
  return tables;
}

}  // namespace bench::sweeps
