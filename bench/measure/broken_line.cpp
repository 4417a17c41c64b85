#include "bench/measure/broken_line.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "bench/measure/student_t.h"

namespace bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// Few, and millions of them are tried: without a thing on the heap.
class Nodes {
 public:
  static constexpr std::size_t kMost = 6;

  explicit Nodes(std::size_t size = 0) : size_(size) {}
  std::size_t size() const { return size_; }
  double& operator[](std::size_t i) { return values_[i]; }
  double operator[](std::size_t i) const { return values_[i]; }
  void push(double value) { values_[size_++] = value; }
  void pop() { --size_; }

 private:
  std::array<double, kMost> values_{};
  std::size_t size_;
};

struct Points {
  std::span<const double> x;
  std::span<const double> y;
  std::span<const double> weights;
};

// The line's values at its nodes, the ends and the bends between them. A point depends on the two nodes
// around it only, so that the normal equations have three diagonals and stay well conditioned where sizes
// differ by a factor of a million.
class NodeValues {
 public:
  NodeValues(const Points& points, const Nodes& nodes)
      : nodes_(nodes), diagonal_(nodes.size()), above_(nodes.size()) {
    Nodes right(nodes.size());
    for_each_point(points, [&](std::size_t i, std::size_t node) {
      const double share = (points.x[i] - nodes[node]) / width(node);
      const double weight = points.weights[i];
      diagonal_[node] += weight * (1 - share) * (1 - share);
      diagonal_[node + 1] += weight * share * share;
      above_[node] += weight * share * (1 - share);
      right[node] += weight * (1 - share) * points.y[i];
      right[node + 1] += weight * share * points.y[i];
    });
    values_ = solve(right);
    for_each_point(points, [&](std::size_t i, std::size_t node) {
      const double residual = points.y[i] - at(node, points.x[i]);
      unexplained_ += points.weights[i] * residual * residual;
    });
    for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
      if (!(values_[i + 1] > values_[i])) {  // not a number either
        unexplained_ = kNone;
      }
    }
  }

  // None where a piece does not grow.
  double unexplained() const { return unexplained_; }

  double slope(std::size_t piece) const { return (values_[piece + 1] - values_[piece]) / width(piece); }
  double intercept(std::size_t piece) const { return at(piece, 0); }

  // For an unexplained variance of 1.
  double slope_variance(std::size_t piece) const {
    return variance(piece, -1 / width(piece), 1 / width(piece));
  }
  double intercept_variance(std::size_t piece) const {
    const double share = -nodes_[piece] / width(piece);
    return variance(piece, 1 - share, share);
  }

 private:
  // With the node before it.
  template <typename Use>
  void for_each_point(const Points& points, Use use) const {
    std::size_t node = 0;
    for (std::size_t i = 0; i < points.x.size(); ++i) {
      while (node + 2 < nodes_.size() && points.x[i] > nodes_[node + 1]) {
        ++node;
      }
      use(i, node);
    }
  }

  double width(std::size_t piece) const { return nodes_[piece + 1] - nodes_[piece]; }
  double at(std::size_t piece, double x) const {
    return values_[piece] + (values_[piece + 1] - values_[piece]) * (x - nodes_[piece]) / width(piece);
  }

  // Of a value at this node and another at the next, with these factors.
  double variance(std::size_t piece, double first, double second) const {
    Nodes factors(nodes_.size());
    factors[piece] = first;
    factors[piece + 1] = second;
    const Nodes solved = solve(factors);
    return first * solved[piece] + second * solved[piece + 1];
  }

  // Elimination along the three diagonals.
  Nodes solve(Nodes right) const {
    Nodes diagonal = diagonal_;
    for (std::size_t i = 1; i < right.size(); ++i) {
      const double factor = above_[i - 1] / diagonal[i - 1];
      diagonal[i] -= factor * above_[i - 1];
      right[i] -= factor * right[i - 1];
    }
    for (std::size_t i = right.size(); i-- > 0;) {
      if (i + 1 < right.size()) {
        right[i] -= above_[i] * right[i + 1];
      }
      right[i] /= diagonal[i];
    }
    return right;
  }

  Nodes nodes_;
  Nodes diagonal_;
  Nodes above_;  // the same below it
  Nodes values_;
  double unexplained_ = 0;
};

// The best places of the bends.
class Search {
 public:
  explicit Search(const Points& points) : points_(points) {
    for (std::size_t i = 1; i + 1 < points.x.size(); ++i) {
      candidates_.push_back(points.x[i]);
      if (i + 2 < points.x.size()) {
        candidates_.push_back(std::sqrt(points.x[i] * points.x[i + 1]));
      }
    }
  }

  struct Found {
    Nodes nodes;
    double unexplained = kNone;
  };
  // Among all candidates, then on between their neighbours.
  Found best(std::size_t bends) const {
    Found found;
    Nodes nodes;
    nodes.push(points_.x.front());
    add_bends(bends, 0, nodes, found);
    if (found.unexplained < kNone && bends > 0) {
      constexpr int kTurns = 3;  // a bend's best place moves little with the others'
      for (int turn = 0; turn < kTurns; ++turn) {
        for (std::size_t bend = 1; bend <= bends; ++bend) {
          refine(bend, found);
        }
      }
    }
    return found;
  }

 private:
  void add_bends(std::size_t left, std::size_t from, Nodes& nodes, Found& best) const {
    if (left == 0) {
      nodes.push(points_.x.back());
      if (const double unexplained = of(nodes); unexplained < best.unexplained) {
        best = {.nodes = nodes, .unexplained = unexplained};
      }
      nodes.pop();
      return;
    }
    for (std::size_t i = from; i < candidates_.size(); ++i) {
      nodes.push(candidates_[i]);
      add_bends(left - 1, i + 1, nodes, best);
      nodes.pop();
    }
  }

  double of(const Nodes& nodes) const {
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
      if (points_between(nodes[i], nodes[i + 1]) < 2) {
        return kNone;
      }
    }
    return NodeValues(points_, nodes).unexplained();
  }

  std::ptrdiff_t points_between(double from, double to) const {
    return std::ranges::upper_bound(points_.x, to) - std::ranges::lower_bound(points_.x, from);
  }

  // By golden sections, in powers, first below and then above: at a point the slope of the sum jumps.
  void refine(std::size_t bend, Found& found) const {
    const double place = found.nodes[bend];
    const auto at = std::ranges::upper_bound(points_.x, place);
    const auto here = std::ranges::lower_bound(points_.x, place);
    const double below = *(here == points_.x.begin() ? here : here - 1);
    const double above = *(at == points_.x.end() ? at - 1 : at);
    for (const auto& [low, high] : {std::pair(below, place), std::pair(place, above)}) {
      const double first = std::max(low, found.nodes[bend - 1]);
      const double last = std::min(high, found.nodes[bend + 1]);
      if (first < last) {
        narrow(bend, std::log(first), std::log(last), found);
      }
    }
  }

  void narrow(std::size_t bend, double low, double high, Found& found) const {
    constexpr double kGolden = 0.6180339887498949;
    constexpr double kCloseEnough = 1e-5;
    Nodes nodes = found.nodes;
    const auto tried = [&](double power) {
      nodes[bend] = std::exp(power);
      const double unexplained = of(nodes);
      if (unexplained < found.unexplained) {
        found = {.nodes = nodes, .unexplained = unexplained};
      }
      return unexplained;
    };
    double left = high - kGolden * (high - low);
    double right = low + kGolden * (high - low);
    double at_left = tried(left);
    double at_right = tried(right);
    while (high - low > kCloseEnough) {
      if (at_left <= at_right) {
        high = std::exchange(right, left);
        at_right = at_left;
        left = high - kGolden * (high - low);
        at_left = tried(left);
      } else {
        low = std::exchange(left, right);
        at_left = at_right;
        right = low + kGolden * (high - low);
        at_right = tried(right);
      }
    }
  }

  Points points_;
  std::vector<double> candidates_;
};

double criterion(double unexplained, std::size_t bends, std::size_t points, double resolution) {
  const auto n = static_cast<double>(points);
  const double variance = std::max(unexplained / n, resolution * resolution);
  return n * std::log(std::max(variance, std::numeric_limits<double>::min())) +
         static_cast<double>(2 + 3 * bends) * std::log(n);
}

Estimate estimate(double value, double variance, double freedom) {
  if (freedom < 1) {
    return {.value = value, .ci95 = std::nullopt};
  }
  const double half = student_t_quantile(0.975, freedom) * std::sqrt(variance);
  return {.value = value, .ci95 = Interval{.low = value - half, .high = value + half}};
}

BrokenLine described(const Points& points, const Search::Found& found) {
  const NodeValues values(points, found.nodes);
  const double freedom =
      static_cast<double>(points.x.size()) - 2 * static_cast<double>(found.nodes.size() - 1);
  const double variance = freedom > 0 ? found.unexplained / freedom : 0;
  BrokenLine line;
  line.unexplained = found.unexplained;
  for (std::size_t i = 0; i + 1 < found.nodes.size(); ++i) {
    LinePiece piece{
        .from = found.nodes[i], .to = found.nodes[i + 1], .points = 0, .intercept = {}, .slope = {}};
    piece.points = static_cast<std::size_t>(
        std::ranges::count_if(points.x, [&](double x) { return piece.from <= x && x <= piece.to; }));
    piece.intercept = estimate(values.intercept(i), variance * values.intercept_variance(i), freedom);
    piece.slope = estimate(values.slope(i), variance * values.slope_variance(i), freedom);
    line.pieces.push_back(piece);
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
  const Points points{.x = x, .y = y, .weights = weights.empty() ? std::span<const double>(ones) : weights};
  if (!fit_line(x, y, points.weights)) {  // which looks at what it is given
    return std::nullopt;
  }
  if (x.front() <= 0 || std::ranges::adjacent_find(x, std::greater_equal{}) != x.end()) {
    throw std::invalid_argument("a broken line wants x that is positive and grows");
  }
  const Search search(points);
  Search::Found chosen;
  double least = kNone;
  for (std::size_t bends = 0; bends <= rule.most_bends; ++bends) {
    if (bends > 0 && x.size() < 2 * bends + 4) {
      break;
    }
    const Search::Found found = search.best(bends);
    if (found.unexplained == kNone) {
      continue;
    }
    const double now = criterion(found.unexplained, bends, x.size(), rule.resolution);
    if (now < least) {
      least = now;
      chosen = found;
    }
  }
  return least < kNone ? std::optional(described(points, chosen)) : std::nullopt;
}

}  // namespace bench
