#include "kernels/backends/cudnn/candidates.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::cudnn {

std::vector<Candidate> prepared(const std::vector<Candidate>& candidates, std::int64_t workspace,
                                std::string_view what) {
  std::exception_ptr full;
  const auto unusable = [&](const Candidate& candidate) {
    try {
      const std::optional<std::int64_t> wanted = candidate.plans->build(candidate.plan);
      return !wanted || *wanted > workspace;
    } catch (const OutOfMemory&) {  // of another plan there may be enough
      full = std::current_exception();
      return true;
    }
  };
  std::vector<Candidate> built = candidates;
  std::erase_if(built, [&](const Candidate& c) { return !c.reserve && unusable(c); });
  if (std::ranges::any_of(built, [](const Candidate& c) { return !c.reserve; })) {
    std::erase_if(built, [](const Candidate& c) { return c.reserve; });
  } else {
    std::erase_if(built, unusable);
  }
  if (built.empty() && full) {
    std::rethrow_exception(full);
  }
  if (built.empty()) {
    const std::string refusal = candidates.back().plans->last_refusal();
    throw Unsupported(
        fmt::format("cuDNN could build none of its plans for {} in the planned {} B of workspace{}{}", what,
                    workspace, refusal.empty() ? "" : ": ", refusal));
  }
  return built;
}

}  // namespace bench::kernels::cudnn
