#include "bench/measure/bend_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr double kNoFit = std::numeric_limits<double>::infinity();

// Pairs of places are tried, so that thousands of points would take minutes: of more than these, every second
// one serves, or third.
constexpr std::size_t kMostPlaces = 64;

class Search {
 public:
  explicit Search(const PointSums& sums) : sums_(sums), points_(sums.points()) {
    const LinePoints& points = points_;
    const std::size_t stride = 1 + points.x.size() / kMostPlaces;
    for (std::size_t i = 1; i + 1 < points.x.size(); i += stride) {
      candidates_.push_back(points.x[i]);
      if (i + 2 < points.x.size()) {
        candidates_.push_back(std::sqrt(points.x[i] * points.x[i + 1]));
      }
    }
  }

  // Among all candidates, then on between their neighbours.
  FoundBends best(std::size_t bends) const {
    FoundBends found;
    Nodes nodes;
    nodes.push(points_.x.front());
    add_bends(bends, 0, nodes, found);
    if (found.unexplained < kNoFit && bends > 0) {
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
  void add_bends(std::size_t left, std::size_t from, Nodes& nodes, FoundBends& best) const {
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
      if (sums_.within(nodes[i], nodes[i + 1]) < 2) {
        return kNoFit;
      }
    }
    return LineAtBends(sums_, nodes).unexplained();
  }

  // By golden sections, in powers, first below and then above: at a point the slope of the sum jumps.
  void refine(std::size_t bend, FoundBends& found) const {
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

  void narrow(std::size_t bend, double low, double high, FoundBends& found) const {
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

  const PointSums& sums_;
  const LinePoints& points_;
  std::vector<double> candidates_;
};

}  // namespace

FoundBends best_bends(const PointSums& sums, std::size_t bends) {
  return Search(sums).best(bends);
}

}  // namespace bench
