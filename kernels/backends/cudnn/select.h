// Which of cuDNN's plans are tried, and with how much workspace. Pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/backends/cudnn/plans.h"

namespace bench::kernels::cudnn {

// The most workspace a plan may have, in bytes: room for a second copy of source, result and weights, which
// kernels need that rearrange their tensors, and 4 MiB for what they note besides; in all at least 32 MiB and
// at most 1 GiB.
// Without a cap some plans take gigabytes: on a T4 the first layer's backward-data wants 6.8 GB.
std::int64_t workspace_cap(const Convolution& convolution);

// A kernel that is compiled when its plan is built makes every convolution of a network wait: of such plans,
// this many are tried.
inline constexpr std::size_t kMostCompiled = 2;

// Whether a plan computes what the dtype promises. Sums are always in fp32. fp32 keeps to the ordinary cores;
// tf32 may use the tensor cores, which drop 13 bits of each factor: that is how the two differ.
bool keeps(const Plan& plan, Dtype dtype);

struct Selection {
  std::vector<std::size_t> plans;  // into the list, the heuristics' favourite first
  // The last one that qualifies, where it is not among them: it supports anything, but is slow. For where
  // none of the others can be built.
  std::optional<std::size_t> reserve;
  std::int64_t workspace = 0;  // bytes, enough for each of them
};

// The first `most` plans that keep the dtype's promise within the cap, kMostCompiled of them compiled. Where
// none has so little workspace, the one with the least: a convolution that runs is worth more than the cap.
// Empty where none keeps the promise.
Selection select(std::span<const Plan> plans, Dtype dtype, std::int64_t cap, std::size_t most);

}  // namespace bench::kernels::cudnn
