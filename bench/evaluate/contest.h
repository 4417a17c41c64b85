// Devices ranked by samples a second over what they cost.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/evaluate/evaluation.h"

namespace bench {

struct Contestant {
  std::string label;
  CurvePoint point;
  double cost = 1;         // money an hour, or watts; 1 where speed is the question
  bool by_loader = false;  // it could use more samples than the host's loader makes
  double score() const { return point.per_s / cost; }
};

// A row as its owner may use it: with a host's limit, what that lets the device do.
Contestant used_contestant(const Evaluation& evaluation, const EvaluatedRow& row);
// How fast one is compared with the other. Two devices that the loader limits get as many samples, whatever
// it makes.
Ratio rate_ratio(const Contestant& one, const Contestant& other);

class Contest {
 public:
  explicit Contest(std::vector<Contestant> contestants);
  std::size_t size() const { return ranked_.size(); }
  // The best first.
  const Contestant& operator[](std::size_t i) const { return ranked_[i]; }
  // The best's score over another's.
  Ratio lead_over(std::size_t other) const;
  // How many are not significantly worse than the best, it among them.
  std::size_t leaders() const;
  // Of the first ones: "a, b and c".
  std::string named(std::size_t count) const;

 private:
  std::vector<Contestant> ranked_;
};

// Of leaders that no evidence tells apart: "a and b are about equally fast", or where their ratio may be far
// from 1, "Cannot tell which of a and b is faster".
std::string tie_in_words(const Contest& contest, const std::string& adjective, const std::string& compared);

// How fast the best of at least two is, compared with the next, and with the last where that is another one.
// `in`: " in fp16", or nothing.
std::string ranking_in_words(const Contest& contest, const std::string& in);

}  // namespace bench
