// A training step's gradient against that of the reference implementations, tensor by tensor, at a small
// size.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "bench/workload.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/network_workload.h"

namespace bench::kernels {

// Fewest values of each channel that a batch norm normalises over; too few enlarge every rounding.
std::int64_t least_normalised(const Graph& graph, std::int64_t batch);

// A point of the same network that the reference computes in about a second: the cheapest of
// NetworkPoint::small_graphs at which each channel is normalised over enough values. nullopt where even that
// takes more than a share of the point's own step.
std::optional<NetworkPoint> small_point(const NetworkPoint& point);

// How each tensor of a gradient may differ from the reference's.
struct GradientTolerance {
  double error = 0;  // of a tensor, in addition to the noise
  // In fewer bits than fp32, also the reference's gradient differs from that in fp32: by this error in each
  // tensor. A right one may differ by three times as much. Empty: by nothing.
  std::vector<double> noise{};
};

// `passed`, or names the worst tensor; not checked where the noise is larger than what a missing tensor would
// do.
Verification judge(const GradientDifference& difference, const GradientTolerance& tolerance);

// Why nothing is checked where the network itself has no loss.
inline constexpr std::string_view kLossIsNotFinite =
    "the gradient: the reference's own loss is not finite, as where a logarithm is taken of a negative "
    "number";

// The comparison of points that differ in their batch alone is made once.
class GradientReference {
 public:
  // The device's implementations are those of another device of the same kind: nothing counts as the point's
  // memory. Throws Interrupted.
  Verification compare(const NetworkPoint& point, Device& device);

 private:
  using Question = std::tuple<std::string, Dtype, bool, bool, bool>;
  std::mutex mutex_;
  std::map<Question, Verification> known_;
};

}  // namespace bench::kernels
