#include "kernels/backends/cudnn/eager_choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::cudnn {
namespace {

// PyTorch drops plans that narrow their factors where the dtype has 32 bits, and tensor cores where tf32 is
// not allowed. Its 16-bit convolutions take every plan.
bool takes(const Plan& plan, Dtype dtype) {
  return bytes_of(dtype) == 2 ? !plan.unknown : keeps(plan, dtype);
}

struct Workspaces : cuda::KeptAnswers<Conv2d, std::optional<std::int64_t>> {
  using KeptAnswers::KeptAnswers;
};

}  // namespace

std::optional<std::int64_t> eager_workspace(const Conv2d& convolution, cuda::Card& card) {
  if (const auto reason = cannot_plan(card)) {
    throw Unsupported(*reason);
  }
  return card.keep<Workspaces>()->get(convolution, [&]() -> std::optional<std::int64_t> {
    try {  // the plans themselves are not kept: they take a hundred times the memory
      const std::unique_ptr<Plans> plans = plan_source().plans(convolution, card);
      const auto chosen = std::ranges::find_if(
          plans->list(), [&](const Plan& plan) { return takes(plan, convolution.dtype); });
      return chosen == plans->list().end() ? std::nullopt : std::optional(chosen->workspace);
    } catch (const Unsupported&) {
      return std::nullopt;
    }
  });
}

std::optional<std::string> cannot_plan(const cuda::Card& card) {
  try {
    return unknown_capability(card.compute_capability());
  } catch (const Unsupported& missing) {
    return missing.what();
  }
}

std::string planned_by(const cuda::Card& card) {
  const std::int64_t version = plan_source().version();
  return fmt::format("cuDNN {}.{} for sm_{}", version / 10'000, version / 100 % 100,
                     card.compute_capability());
}

}  // namespace bench::kernels::cudnn
