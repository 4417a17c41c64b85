#include "kernels/backends/cudnn/plans.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/lru_cache.h"
#include "bench/registry.h"

namespace bench::kernels::cudnn {
namespace {

// Plans, or why there are none.
struct Answer {
  std::shared_ptr<Plans> plans;
  std::string refusal;
};

Answer ask(const Convolution& convolution, cuda::Card& card) {
  try {
    return {plan_source().plans(convolution, card), {}};
  } catch (const Unsupported& error) {
    return {nullptr, error.what()};
  }
}

// Kept by a card.
struct KnownPlans {
  explicit KnownPlans(const cuda::Card& /*card*/) {}
  LruCache<Convolution, Answer> known{kMostKept};
};

}  // namespace

const PlanSource& plan_source() {
  const PlanSource* const source = registry<PlanSource>().find("cudnn");
  if (source == nullptr) {
    throw Unsupported("this program was built without cuDNN");
  }
  return *source;
}

std::shared_ptr<Plans> plans_for(const Convolution& convolution, cuda::Card& card) {
  const int newest = plan_source().newest_capability();
  const int capability = card.compute_capability();
  if (capability < 75 || capability > newest) {
    throw Unsupported(fmt::format("cuDNN {} knows compute capabilities 7.5 to {}.{}, this device has {}.{}",
                                  plan_source().version(), newest / 10, newest % 10, capability / 10,
                                  capability % 10));
  }
  const Answer& answer =
      card.keep<KnownPlans>()->known.get(convolution, [&] { return ask(convolution, card); });
  if (answer.plans == nullptr) {
    throw Unsupported(answer.refusal);
  }
  return answer.plans;
}

}  // namespace bench::kernels::cudnn
