#include "kernels/cudnn/candidates.h"

#include <algorithm>
#include <optional>

namespace bench::kernels::cudnn {

void build(std::vector<Candidate>& candidates, std::int64_t workspace) {
  const auto unusable = [&](const Candidate& candidate) {
    const std::optional<std::int64_t> wanted = candidate.plans->build(candidate.plan);
    return !wanted || *wanted > workspace;
  };
  std::erase_if(candidates, [&](const Candidate& c) { return !c.reserve && unusable(c); });
  if (std::ranges::any_of(candidates, [](const Candidate& c) { return !c.reserve; })) {
    std::erase_if(candidates, [](const Candidate& c) { return c.reserve; });
  } else {
    std::erase_if(candidates, unusable);
  }
}

}  // namespace bench::kernels::cudnn
