// The memory line bytes(b) = fixed + slope·b, its steps, the largest batch below a cap, and how close to the
// cap is too close.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/stats/fit.h"

namespace bench {

struct MemoryPoint {
  std::int64_t batch = 0;
  std::int64_t bytes = 0;    // at the peak, positive
  std::int64_t weights = 0;  // of these, held by weights: their layout is an algorithm's choice, which may
                             // change with the batch
};

// From `batch` on, memory follows another line, for example because another algorithm needs a workspace.
struct MemoryStep {
  std::int64_t batch = 0;  // first measured batch on the new line
  std::int64_t bytes = 0;  // how far that batch lies above the old line; negative for a step down
};

// From `batch` on, another algorithm stores the weights in another layout, for example Winograd's.
struct WeightStep {
  std::int64_t batch = 0;  // first measured batch with the new ones
  std::int64_t from = 0;   // bytes
  std::int64_t to = 0;     // bytes
};

struct MemoryLine {
  Estimate fixed_bytes;                  // the largest batch's weights counted
  Estimate slope_bytes;                  // per sample
  std::size_t points = 0;                // on this line
  std::int64_t first_batch = 0;          // the line was fitted from here …
  std::int64_t last_batch = 0;           // … to here
  double max_residual_bytes = 0;         // largest distance of its points from it
  double max_relative_residual = 0;      // of the measured bytes
  std::vector<MemoryStep> steps;         // by batch, over all points; of what is not weights
  std::vector<WeightStep> weight_steps;  // by batch, over all points

  // The largest batch predicted to need at most `cap` bytes, 0 where not even one does; steps are counted,
  // and above the last point its line goes on. nullopt where the slope is not positive: these points cannot
  // tell.
  std::optional<std::int64_t> largest_batch(std::int64_t cap_bytes) const;

  struct Segment {
    std::int64_t first_batch = 0;
    double fixed = 0;  // bytes, weights counted
    double slope = 0;  // bytes per sample
  };
  std::vector<Segment> segments;  // the lines between the steps, by batch
};

inline constexpr double kMemoryTolerance = 0.02;  // of a point's bytes

// Fits all bytes but the weights, which are known and added as they are: splits the points, from the largest
// batch down, into runs that lie on one line within 2 % of their bytes, and fits the longest run (of equals,
// the one of larger batches), relatively weighted. Averaging across a step would describe neither side of it.
// A run of a single point takes the fitted slope. Points in any order; of points with the same batch the
// largest counts. nullopt for fewer than two batches.
std::optional<MemoryLine> fit_memory_line(std::span<const MemoryPoint> points);

inline constexpr double kSafeShare = 0.90;  // of a cap

// "safe" below 90 % of a cap, "tight" to 95 %, else "danger". The rest is for fragmentation, other processes
// and libraries' buffers.
constexpr std::string_view headroom(double used_share) {
  return used_share < kSafeShare ? "safe" : used_share <= 0.95 ? "tight" : "danger";
}

}  // namespace bench
