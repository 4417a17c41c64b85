#include "bench/measure/broken_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bench/measure/bend_search.h"

namespace bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

double criterion(double unexplained, std::size_t bends, std::size_t points, double resolution) {
  const auto n = static_cast<double>(points);
  const double variance = std::max(unexplained / n, resolution * resolution);
  return n * std::log(std::max(variance, std::numeric_limits<double>::min())) +
         static_cast<double>(2 + 3 * bends) * std::log(n);
}

BrokenLine described(const PointSums& sums, const FoundBends& found) {
  const LineAtBends fitted(sums, found.nodes);
  const LinePoints& points = sums.points();
  BrokenLine line;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    const double residual = points.y[i] - fitted.at(points.x[i]);
    line.unexplained += points.weights[i] * residual * residual;
  }
  const double freedom =
      static_cast<double>(points.x.size()) - 2 * static_cast<double>(found.nodes.size() - 1);
  const double error = freedom > 0 ? std::sqrt(line.unexplained / freedom) : 0;
  for (std::size_t i = 0; i + 1 < found.nodes.size(); ++i) {
    const double from = found.nodes[i];
    const double to = found.nodes[i + 1];
    line.pieces.push_back(
        {.from = from,
         .to = to,
         .points = sums.within(from, to),
         .intercept =
             with_interval(fitted.intercept(i), error * std::sqrt(fitted.intercept_variance(i)), freedom),
         .slope = with_interval(fitted.slope(i), error * std::sqrt(fitted.slope_variance(i)), freedom)});
  }
  return line;
}

}  // namespace

std::optional<BrokenLine> fit_broken_line(std::span<const double> x, std::span<const double> y,
                                          std::span<const double> weights, const BrokenLineRule& rule) {
  const std::vector<double> ones(weights.empty() ? x.size() : 0, 1.0);
  if (rule.most_bends + 2 > Nodes::kMost) {
    throw std::invalid_argument("a broken line has at most four bends");
  }
  const LinePoints points{
      .x = x, .y = y, .weights = weights.empty() ? std::span<const double>(ones) : weights};
  if (!fit_line(x, y, points.weights)) {  // which looks at what it is given
    return std::nullopt;
  }
  if (x.front() <= 0 || std::ranges::adjacent_find(x, std::greater_equal{}) != x.end()) {
    throw std::invalid_argument("a broken line wants x that is positive and grows");
  }
  const PointSums sums(points);
  FoundBends chosen;
  double least = kNone;
  for (std::size_t bends = 0; bends <= rule.most_bends; ++bends) {
    if (bends > 0 && x.size() < 2 * bends + 4) {
      break;
    }
    const FoundBends found = best_bends(sums, bends);
    if (found.unexplained == kNone) {
      continue;
    }
    const double now = criterion(found.unexplained, bends, x.size(), rule.resolution);
    if (now < least) {
      least = now;
      chosen = found;
    }
  }
  return least < kNone ? std::optional(described(sums, chosen)) : std::nullopt;
}

}  // namespace bench
