// The candidates that a convolution is autotuned with: which of cuDNN's plans, with how much workspace, and
// which of them are left once they have been built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/backends/cudnn/plans.h"

namespace bench::kernels::cudnn {

// The most workspace a plan may have, in bytes: a second copy of source, result and weights, for kernels that
// rearrange their tensors, and 4 MiB for their notes; in all at least 32 MiB and at most 1 GiB.
// Without a cap some plans take gigabytes: on a T4 the first layer's backward-data wants 6.8 GB.
std::int64_t workspace_cap(const Convolution& convolution);

// A kernel that is compiled when its plan is built delays every convolution of a network: only this many such
// plans are tried.
inline constexpr std::size_t kMostCompiled = 1;

// Whether a plan computes what the dtype promises. Sums are always in fp32. fp32 keeps to the ordinary cores;
// tf32 may use the tensor cores, which drop 13 bits of each factor: that is how the two differ.
bool keeps(const Plan& plan, Dtype dtype);

struct Selection {
  std::vector<std::size_t> plans;  // into the list, the heuristics' favourite first
  // The last one that qualifies, where it is not among them: it supports anything, but is slow. Used where
  // none of the others can be built.
  std::optional<std::size_t> reserve;
  std::int64_t workspace = 0;  // bytes, enough for each of them
};

// The first `most` plans that keep the dtype's promise within the cap, kMostCompiled of them compiled. Where
// none has so little workspace, the one with the least: a convolution that runs is worth more than the cap.
// Empty where none keeps the promise.
Selection select(std::span<const Plan> plans, Dtype dtype, std::int64_t cap, std::size_t most);

struct Candidate {
  std::shared_ptr<Plans> plans;
  std::size_t plan = 0;
  bool bare = false;     // bias, residual and activation are left to our own kernel
  bool reserve = false;  // only for where none of the others can be used
};

// Builds the candidates (at least one) and returns the usable ones. A candidate is dropped if cuDNN cannot
// build it, if memory is short, or if the built plan needs more than `workspace`, the bytes planned from the
// heuristics. Reserves are built only if no other candidate is usable.
//
// If none is usable, throws OutOfMemory if one lacked memory, else Unsupported with cuDNN's last reason; both
// name `what`. The candidates are unchanged and may be tried again.
std::vector<Candidate> prepared(const std::vector<Candidate>& candidates, std::int64_t workspace,
                                std::string_view what);

}  // namespace bench::kernels::cudnn
