// What checking the points' answers took of a run.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "bench/text/units.h"

namespace bench {

class VerificationCost {
 public:
  void add(const std::string& point, double ns) {
    ++points_;
    total_ns_ += ns;
    if (longest_.empty() || ns > longest_ns_) {
      longest_ = point;
      longest_ns_ = ns;
    }
  }

  // "verification took 12 s for 5 points, at most 4.1 s, of resnet50/train/fp16/64"; empty where none was
  // checked.
  std::string text() const {
    return points_ == 0 ? ""
                        : fmt::format("verification took {} for {} point{}, at most {}, of {}",
                                      format_duration(total_ns_), points_, points_ == 1 ? "" : "s",
                                      format_duration(longest_ns_), longest_);
  }

 private:
  std::int64_t points_ = 0;
  double total_ns_ = 0;
  std::string longest_;
  double longest_ns_ = 0;
};

}  // namespace bench
