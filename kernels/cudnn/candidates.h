// The plans that a convolution is tried with, and which of them are left once they have been built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cudnn/plans.h"

namespace bench::kernels::cudnn {

struct Candidate {
  std::shared_ptr<Plans> plans;
  std::size_t plan = 0;
  bool bare = false;     // what stands behind the convolution is left to our own kernel
  bool reserve = false;  // only for where none of the others can be used
};

// Builds them, and drops those that cuDNN cannot build after all, or that then want more workspace than the
// bytes that have been planned: memory has been laid out by what the heuristics said. Reserves are built only
// where nothing else is left, and dropped otherwise.
void build(std::vector<Candidate>& candidates, std::int64_t workspace);

}  // namespace bench::kernels::cudnn
