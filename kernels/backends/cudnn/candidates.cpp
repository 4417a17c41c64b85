#include "kernels/backends/cudnn/candidates.h"

#include <algorithm>
#include <exception>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::cudnn {
namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;
constexpr std::int64_t kNotes = 4 * kMebibyte;
constexpr std::int64_t kLeastCap = 32 * kMebibyte;
constexpr std::int64_t kMostCap = 1024 * kMebibyte;

std::int64_t bytes_of(const Tensor& tensor, Dtype dtype) {
  const auto& d = tensor.dims;
  return d[0] * d[1] * d[2] * d[3] * bench::bytes_of(dtype);
}

}  // namespace

std::int64_t workspace_cap(const Convolution& convolution) {
  std::int64_t copies = kNotes;
  for (const Tensor* tensor : {&convolution.x, &convolution.w, &convolution.y}) {
    copies += bytes_of(*tensor, convolution.dtype);
  }
  return std::clamp(copies, kLeastCap, kMostCap);
}

bool keeps(const Plan& plan, Dtype dtype) {
  return !plan.unknown && !plan.narrows && !(dtype == Dtype::fp32 && plan.tensor_cores);
}

Selection select(std::span<const Plan> plans, Dtype dtype, std::int64_t cap, std::size_t most) {
  Selection selection;
  std::optional<std::size_t> leanest;
  std::size_t compiled = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!keeps(plans[i], dtype)) {
      continue;
    }
    if (!leanest || plans[i].workspace < plans[*leanest].workspace) {
      leanest = i;
    }
    if (plans[i].workspace > cap) {
      continue;
    }
    if (selection.plans.size() < most && (!plans[i].compiles || compiled < kMostCompiled)) {
      selection.plans.push_back(i);
      compiled += plans[i].compiles ? 1 : 0;
    } else {
      selection.reserve = i;
    }
  }
  if (selection.plans.empty() && leanest) {
    selection.plans.push_back(*leanest);
  }
  for (const std::size_t plan : selection.plans) {
    selection.workspace = std::max(selection.workspace, plans[plan].workspace);
  }
  if (selection.reserve) {
    selection.workspace = std::max(selection.workspace, plans[*selection.reserve].workspace);
  }
  return selection;
}

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
