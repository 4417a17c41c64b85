// Service times drawn from measured ones.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "bench/measure/random.h"

namespace bench::simulator {

// Values in shuffled order, each once a pass: every pass keeps their mean exactly, so that a heavy tail does
// not bias a short simulation.
class Draws {
 public:
  Draws(std::span<const double> values, std::uint64_t seed)
      : values_(values.begin(), values.end()), engine_(seed) {}

  double next() {
    if (values_.size() == 1) {
      return values_.front();
    }
    const auto left = static_cast<std::uint64_t>(values_.size() - taken_);
    const std::size_t chosen = taken_ + static_cast<std::size_t>(bounded_draw(engine_, left));
    std::swap(values_[taken_], values_[chosen]);
    const double value = values_[taken_];
    taken_ = taken_ + 1 == values_.size() ? 0 : taken_ + 1;
    return value;
  }

 private:
  std::vector<double> values_;
  std::size_t taken_ = 0;
  std::mt19937_64 engine_;
};

}  // namespace bench::simulator
