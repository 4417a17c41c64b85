// The plans that a convolution is tried with, and which of them are left once they have been built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/backends/cudnn/plans.h"

namespace bench::kernels::cudnn {

struct Candidate {
  std::shared_ptr<Plans> plans;
  std::size_t plan = 0;
  bool bare = false;     // what stands behind the convolution is left to our own kernel
  bool reserve = false;  // only for where none of the others can be used
};

// Builds candidates, of which there is at least one, and returns those left: without those that cuDNN cannot
// build after all, that lack memory now, or that then want more workspace than the bytes that have been
// planned, for memory has been laid out by what the heuristics said. Reserves are built only where nothing
// else is left, and dropped otherwise.
//
// Where none is left the given ones stay as they were, and may be tried again: throws OutOfMemory where one
// of them lacked memory, else Unsupported with cuDNN's last reason, both of `what`.
std::vector<Candidate> prepared(const std::vector<Candidate>& candidates, std::int64_t workspace,
                                std::string_view what);

}  // namespace bench::kernels::cudnn
