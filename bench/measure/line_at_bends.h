// The best line through points where the places of its bends are given.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace bench {

// Few, and very many of them are tried: without a thing on the heap.
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

struct LinePoints {
  std::span<const double> x;  // growing
  std::span<const double> y;
  std::span<const double> weights;
};

// What a straight piece needs of any run of neighbouring points, so that a line is fitted without going over
// the points again. Each run has sums of its own, x counted from that of its first point: differences of sums
// from the first point on would lose the digits of points that weigh a million times less. Memory grows with
// the square of the points.
class PointSums {
 public:
  struct Sums {
    double w = 0;
    double wx = 0;
    double wxx = 0;
    double wy = 0;
    double wxy = 0;
  };

  explicit PointSums(const LinePoints& points);
  const LinePoints& points() const { return points_; }
  const Sums& of(std::size_t first, std::size_t last) const {  // without the last
    return runs_[first * points_.x.size() + last - 1];
  }
  double squares() const { return squares_; }        // of y, weighted
  std::size_t up_to(double x) const;                 // how many points lie there or below
  std::size_t within(double from, double to) const;  // ends counted

 private:
  LinePoints points_;
  std::vector<Sums> runs_;
  double squares_ = 0;
};

// Weighted least squares over continuous lines that bend at the inner nodes and never fall. The unknowns are
// the values at the nodes: a point depends on the two around it only, so that the normal equations have three
// diagonals and stay well conditioned where x differ by a factor of a million. A piece that would fall is
// flat instead, the one that falls most first; that is the least sum of squares but for rare cases of
// several such pieces.
class LineAtBends {
 public:
  LineAtBends(const PointSums& sums, const Nodes& nodes);

  // From the sums: exact to some 1e-15 of the sum of squares of y. Infinite where every piece is flat.
  double unexplained() const { return unexplained_; }
  double at(double x) const;
  double slope(std::size_t piece) const { return (values_[piece + 1] - values_[piece]) / width(piece); }
  double intercept(std::size_t piece) const { return on(piece, 0); }

  // For an unexplained variance of 1, with the nodes known; of a flat piece as if it were free to fall.
  double slope_variance(std::size_t piece) const;
  double intercept_variance(std::size_t piece) const;

 private:
  void add_points(const PointSums& sums, std::size_t piece, Nodes& right);
  double width(std::size_t piece) const { return nodes_[piece + 1] - nodes_[piece]; }
  double on(std::size_t piece, double x) const {
    return values_[piece] + (values_[piece + 1] - values_[piece]) * (x - nodes_[piece]) / width(piece);
  }
  double variance(std::size_t piece, double first, double second) const;

  Nodes nodes_;
  Nodes diagonal_;
  Nodes above_;  // the same below it
  Nodes values_;
  double unexplained_ = 0;
};

}  // namespace bench
