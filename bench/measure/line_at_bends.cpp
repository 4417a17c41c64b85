#include "bench/measure/line_at_bends.h"

#include <algorithm>
#include <limits>

namespace bench {
namespace {

// Elimination along the three diagonals.
Nodes solve(Nodes diagonal, const Nodes& above, Nodes right) {
  for (std::size_t i = 1; i < right.size(); ++i) {
    const double factor = above[i - 1] / diagonal[i - 1];
    diagonal[i] -= factor * above[i - 1];
    right[i] -= factor * right[i - 1];
  }
  for (std::size_t i = right.size(); i-- > 0;) {
    if (i + 1 < right.size()) {
      right[i] -= above[i] * right[i + 1];
    }
    right[i] /= diagonal[i];
  }
  return right;
}

using Flat = std::array<bool, Nodes::kMost>;  // pieces whose two ends have one value

// With one unknown for the nodes on either side of a flat piece.
Nodes solve_with(const Flat& flat, const Nodes& diagonal, const Nodes& above, const Nodes& right) {
  Nodes fewer_diagonal;
  Nodes fewer_above;
  Nodes fewer_right;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (i > 0 && flat[i - 1]) {
      const std::size_t at = fewer_right.size() - 1;
      fewer_diagonal[at] += diagonal[i] + 2 * above[i - 1];
      fewer_above[at] = above[i];
      fewer_right[at] += right[i];
    } else {
      fewer_diagonal.push(diagonal[i]);
      fewer_above.push(above[i]);
      fewer_right.push(right[i]);
    }
  }
  const Nodes solved = solve(fewer_diagonal, fewer_above, fewer_right);
  Nodes values;
  std::size_t at = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    at += i > 0 && !flat[i - 1] ? 1 : 0;
    values.push(solved[at]);
  }
  return values;
}

}  // namespace

PointSums::PointSums(const LinePoints& points) : points_(points), runs_(points.x.size() * points.x.size()) {
  const std::size_t count = points.x.size();
  for (std::size_t first = 0; first < count; ++first) {
    Sums sums;
    for (std::size_t i = first; i < count; ++i) {
      const double weight = points.weights[i];
      const double x = points.x[i] - points.x[first];
      sums.w += weight;
      sums.wx += weight * x;
      sums.wxx += weight * x * x;
      sums.wy += weight * points.y[i];
      sums.wxy += weight * x * points.y[i];
      runs_[first * count + i] = sums;
    }
    squares_ += points.weights[first] * points.y[first] * points.y[first];
  }
}

std::size_t PointSums::up_to(double x) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(points_.x, x) - points_.x.begin());
}

std::size_t PointSums::within(double from, double to) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(points_.x, to) -
                                  std::ranges::lower_bound(points_.x, from));
}

LineAtBends::LineAtBends(const PointSums& sums, const Nodes& nodes)
    : nodes_(nodes), diagonal_(nodes.size()), above_(nodes.size()) {
  const std::size_t pieces = nodes.size() - 1;
  Nodes right(nodes.size());
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    add_points(sums, piece, right);
  }
  values_ = solve(diagonal_, above_, right);
  Flat flat{};
  for (std::size_t flats = 0; flats < pieces; ++flats) {
    std::size_t falls = pieces;
    double most = 0;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const double fall = values_[piece] - values_[piece + 1];
      if (!flat[piece] && fall > most) {
        most = fall;
        falls = piece;
      }
    }
    if (falls == pieces) {
      break;
    }
    flat[falls] = true;
    values_ = solve_with(flat, diagonal_, above_, right);
  }
  unexplained_ = sums.squares();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    unexplained_ -= right[i] * values_[i];
  }
  unexplained_ = std::max(0.0, unexplained_);
  if (!(values_[pieces] > values_[0])) {  // not a number either
    unexplained_ = std::numeric_limits<double>::infinity();
  }
}

// Those beyond the piece's first node, up to its last.
void LineAtBends::add_points(const PointSums& sums, std::size_t piece, Nodes& right) {
  const std::size_t first = piece == 0 ? 0 : sums.up_to(nodes_[piece]);
  const std::size_t last =
      piece + 2 == nodes_.size() ? sums.points().x.size() : sums.up_to(nodes_[piece + 1]);
  if (first >= last) {
    return;
  }
  const PointSums::Sums& run = sums.of(first, last);
  const double offset = sums.points().x[first] - nodes_[piece];
  const double share = (run.wx + offset * run.w) / width(piece);  // of the way to the next node, weighted
  const double share_squared =
      (run.wxx + 2 * offset * run.wx + offset * offset * run.w) / (width(piece) * width(piece));
  const double share_y = (run.wxy + offset * run.wy) / width(piece);
  diagonal_[piece] += run.w - 2 * share + share_squared;
  diagonal_[piece + 1] += share_squared;
  above_[piece] += share - share_squared;
  right[piece] += run.wy - share_y;
  right[piece + 1] += share_y;
}

double LineAtBends::at(double x) const {
  std::size_t piece = 0;
  while (piece + 2 < nodes_.size() && x > nodes_[piece + 1]) {
    ++piece;
  }
  return on(piece, x);
}

double LineAtBends::slope_variance(std::size_t piece) const {
  return variance(piece, -1 / width(piece), 1 / width(piece));
}

double LineAtBends::intercept_variance(std::size_t piece) const {
  const double share = -nodes_[piece] / width(piece);
  return variance(piece, 1 - share, share);
}

// Of the value at this node and that at the next, with these factors.
double LineAtBends::variance(std::size_t piece, double first, double second) const {
  Nodes factors(nodes_.size());
  factors[piece] = first;
  factors[piece + 1] = second;
  const Nodes solved = solve(diagonal_, above_, factors);
  return first * solved[piece] + second * solved[piece + 1];
}

}  // namespace bench
