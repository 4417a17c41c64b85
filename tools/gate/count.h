// How many of the trials did something, and a bound on its probability.
#pragma once

#include <cstdint>

namespace bench::gate {

struct Count {
  std::int64_t of = 0;
  std::int64_t hits = 0;

  double share() const { return of > 0 ? static_cast<double>(hits) / static_cast<double>(of) : 0; }
  // One-sided 95 % bound (Clopper and Pearson 1934).
  double upper() const;
  void add(bool hit) {
    ++of;
    hits += hit ? 1 : 0;
  }
};

}  // namespace bench::gate
