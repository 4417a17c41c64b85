// When the backward pass of one card's training step leaves the gradients that several cards would add up.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

struct GradientTimeline {
  // Of neighbouring parameters.
  struct Part {
    double ready_ns = 0;  // since the step's start
    std::int64_t bytes = 0;

    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;  // in the order of time; together all gradients
  double backward_ns = 0;   // since the step's start, of the end of the backward pass
  double update_ns = 0;     // of the parameters' update, which follows

  double step_ns() const { return backward_ns + update_ns; }
  bool operator==(const GradientTimeline&) const = default;
};

}  // namespace bench
