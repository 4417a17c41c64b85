// Gradients of neighbouring parameters, and when the backward pass leaves them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/result/gradient_timeline.h"
#include "kernels/networks/program/trainer.h"

namespace bench::kernels {

struct GradientBucket {
  std::size_t behind = 0;  // the last instruction that touches it
  std::byte* data = nullptr;
  std::byte* weights = nullptr;  // the parameters, laid out alike
  std::int64_t bytes = 0;
};
// Of at least so many bytes, but the last of each dtype; together all gradients, in the order in which they
// are done.
std::vector<GradientBucket> gradient_buckets(Trainer& trainer, std::int64_t least);

// Takes a few steps of the batch that is set. Each part of the backward pass between two buckets is timed by
// itself, so that a device's launches are not hidden behind the part before; the sum is that of whole steps.
GradientTimeline gradient_timeline(Trainer& trainer, Device& device);

}  // namespace bench::kernels
