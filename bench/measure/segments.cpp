#include "bench/measure/segments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// Weighted sums around the means, one point after the other (West 1979).
class RunningLine {
 public:
  void add(double x, double y, double weight) {
    total_ += weight;
    const double share = weight / total_;
    const double dx = x - mean_x_;
    const double dy = y - mean_y_;
    mean_x_ += share * dx;
    mean_y_ += share * dy;
    sxx_ += weight * dx * (x - mean_x_);
    sxy_ += weight * dx * (y - mean_y_);
    syy_ += weight * dy * (y - mean_y_);
  }
  // The sum of squares that the best line leaves; none where it does not grow.
  double unexplained() const {
    return sxy_ > 0 && sxx_ > 0 ? std::max(0.0, syy_ - sxy_ * sxy_ / sxx_) : kNone;
  }

 private:
  double total_ = 0;
  double mean_x_ = 0;
  double mean_y_ = 0;
  double sxx_ = 0;
  double sxy_ = 0;
  double syy_ = 0;
};

// The best split of the first so many points, by the number of lines.
class Splits {
 public:
  Splits(std::span<const double> x, std::span<const double> y, std::span<const double> weights,
         const SegmentRule& rule)
      : count_(x.size()),
        left_(rule.most, std::vector<double>(count_ + 1, kNone)),
        begins_(rule.most, std::vector<std::size_t>(count_ + 1, 0)) {
    for (std::size_t first = 0; first < count_; ++first) {
      RunningLine line;
      for (std::size_t last = first; last < count_; ++last) {
        line.add(x[last], y[last], weights[last]);
        if (last - first + 1 >= rule.fewest) {
          take(first, last + 1, line.unexplained());
        }
      }
    }
  }

  double unexplained(std::size_t lines) const { return left_[lines - 1][count_]; }

  // Where each of so many lines begins.
  std::vector<std::size_t> begins(std::size_t lines) const {
    std::vector<std::size_t> begins;
    for (std::size_t end = count_; lines > 0; --lines) {
      end = begins_[lines - 1][end];
      begins.insert(begins.begin(), end);
    }
    return begins;
  }

 private:
  // `first` grows, so what ends there is settled.
  void take(std::size_t first, std::size_t end, double unexplained) {
    for (std::size_t line = 0; line < left_.size(); ++line) {
      const double before = line == 0 ? (first == 0 ? 0 : kNone) : left_[line - 1][first];
      if (before + unexplained < left_[line][end]) {
        left_[line][end] = before + unexplained;
        begins_[line][end] = first;
      }
    }
  }

  std::size_t count_;
  std::vector<std::vector<double>> left_;  // sum of squares
  std::vector<std::vector<std::size_t>> begins_;
};

double bic(double unexplained, std::size_t lines, std::size_t points, double resolution) {
  const auto n = static_cast<double>(points);
  const double variance = std::max(unexplained / n, resolution * resolution);
  return n * std::log(std::max(variance, std::numeric_limits<double>::min())) +
         static_cast<double>(3 * lines - 1) * std::log(n);
}

}  // namespace

std::vector<Segment> fit_segments(std::span<const double> x, std::span<const double> y,
                                  std::span<const double> weights, const SegmentRule& rule) {
  if (rule.most < 1 || rule.fewest < 2) {
    throw std::invalid_argument("segments want at least one line of at least two points");
  }
  const std::vector<double> ones(weights.empty() ? x.size() : 0, 1.0);
  const std::span<const double> used = weights.empty() ? std::span<const double>(ones) : weights;
  std::vector<Segment> segments;
  if (!fit_line(x, y, used)) {  // which looks at what it is given
    return segments;
  }
  const Splits splits(x, y, used, rule);
  std::size_t best = 0;
  double least = kNone;
  for (std::size_t lines = 1; lines <= rule.most; ++lines) {
    const double unexplained = splits.unexplained(lines);
    const double criterion = unexplained < kNone ? bic(unexplained, lines, x.size(), rule.resolution) : kNone;
    if (criterion < least) {
      least = criterion;
      best = lines;
    }
  }
  const std::vector<std::size_t> begins = splits.begins(best);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t first = begins[i];
    const std::size_t points = (i + 1 < begins.size() ? begins[i + 1] : x.size()) - first;
    if (auto line =
            fit_line(x.subspan(first, points), y.subspan(first, points), used.subspan(first, points))) {
      segments.push_back({.first = first, .points = points, .line = std::move(*line)});
    }
  }
  return segments;
}

}  // namespace bench
