// What cuDNN answered once, kept for the process.
#include <cudnn_graph.h>

#include <map>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/cudnn/graph_plans.h"
#include "kernels/cudnn/plans.h"

namespace bench::kernels::cudnn {
namespace {

// Plans, or why there are none.
struct Answer {
  std::shared_ptr<Plans> plans;
  std::string refusal;
};

Answer ask(const Convolution& convolution, const Target& target) {
  try {
    return {graph_plans(convolution, target), {}};
  } catch (const Unsupported& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace

std::int64_t library_version() {
  return static_cast<std::int64_t>(cudnnGetVersion());
}

std::shared_ptr<Plans> plans_for(const Convolution& convolution, const Target& target) {
  const auto newest = static_cast<int>(cudnnGetMaxDeviceVersion() / 10);
  if (target.compute_capability < 75 || target.compute_capability > newest) {
    throw Unsupported(fmt::format("cuDNN {} knows compute capabilities 7.5 to {}.{}, this device has {}.{}",
                                  library_version(), newest / 10, newest % 10, target.compute_capability / 10,
                                  target.compute_capability % 10));
  }
  static std::map<std::pair<Target, Convolution>, Answer> known;
  auto at = known.find({target, convolution});
  if (at == known.end()) {
    at = known.emplace(std::pair{target, convolution}, ask(convolution, target)).first;
  }
  if (at->second.plans == nullptr) {
    throw Unsupported(at->second.refusal);
  }
  return at->second.plans;
}

}  // namespace bench::kernels::cudnn
