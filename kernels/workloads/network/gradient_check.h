// Whether a trainer's gradient is that of its loss: by central differences, by another trainer of the same
// network, and by the reference implementations at a small size.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "bench/workload.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/network_workload.h"

namespace bench::kernels {

// --- By central differences of the loss, at the trainer's own size. In fp32.

// The slope of the loss along d, which goes as far in every parameter tensor k, with a sign each:
// d_k = s_k · g_k / ||g_k||. By the gradient it is Σ s_k ||g_k||.
class SlopeMeter {
 public:
  // A pass with gradients. Holds the parameters on the host, and puts them back at its end.
  explicit SlopeMeter(Trainer& trainer);
  SlopeMeter(const SlopeMeter&) = delete;
  SlopeMeter& operator=(const SlopeMeter&) = delete;
  ~SlopeMeter();

  std::size_t tensors() const { return norms_.size(); }
  double loss() const { return loss_; }
  double total() const { return total_; }  // Σ ||g_k||
  bool is_finite() const;
  // The tensors whose gradients are all zeros. They take no part in the slopes below.
  std::vector<std::size_t> flat() const;
  // Whether the loss stays the same, but for rounding, when this tensor's values change by up to `change`,
  // upwards and downwards. Two forward passes.
  bool is_level(std::size_t tensor, double change, std::uint64_t seed);

  double by_gradient(std::span<const int> signs) const;
  // (L(w + h·d) − L(w − h·d)) / 2h. Two forward passes.
  double by_differences(std::span<const int> signs, double h);

 private:
  double loss_at(std::span<const int> signs, double length);

  Trainer& trainer_;
  double loss_ = 0;
  double total_ = 0;
  std::vector<double> norms_;
  std::vector<std::vector<float>> start_;  // the parameters as stored
};

// Slopes along several directions, in shares of Σ ||g_k||.
struct SlopeCheck {
  enum class Outcome { right, wrong, unsettled };
  Outcome outcome = Outcome::right;
  double loss = 0;
  double by_gradient = 0;  // of the direction that decided, or where they differ most
  double by_differences = 0;
  double error = 0;  // |by_gradient − by_differences|; infinite where a gradient is not finite, or zero and
                     // the loss depends on its tensor
};

inline constexpr double kSlopeTolerance = 5e-3;

// Along all tensors' gradients, which shows a gradient of the wrong length, and along them with random signs,
// by which an error of one tensor cannot make up for that of another. The step is halved until the slope
// hardly changes with it; where it never settles, as where batch norm has few values, neither does the check.
// A gradient may rightly be zero, as behind a rectifier that is off for all samples: then the loss must not
// change when the tensor does. A pass with gradients, 12 to 60 forward passes, and 2 to 4 for each tensor
// without a gradient.
SlopeCheck check_slopes(Trainer& trainer, std::uint64_t seed);

// --- By another trainer of the same network, batch and seed.

// Of a parameter tensor.
struct TensorDifference {
  std::string name;       // "layer1.0.conv1 weights"
  double error = 0;       // ||g − g'|| / ||g'||, or by the least norm where that is larger
  double norm_ratio = 0;  // ||g|| / ||g'||
  double cosine = 0;  // of the angle between the gradients; near 0 for unrelated ones; NaN where one is not
                      // finite
};

// A gradient may be zero but for roundings: that of a shift in front of a normalisation.
inline constexpr double kLeastShare = 1e-4;  // of the norm of all tensors: the least norm of one

TensorDifference compare_tensor(std::string name, const std::vector<float>& values,
                                const std::vector<float>& expected, double least_norm);

struct GradientDifference {
  double loss = 0;         // |L − L'| / |L'|
  TensorDifference whole;  // of all tensors as one
  std::vector<TensorDifference> tensors;
};

// Of the latest passes with gradients.
GradientDifference compare_gradients(Trainer& trainer, Trainer& expected);

// 1 − cosine between a trainer's gradient and the one with its parameters rounded to a 16-bit dtype: how much
// of the difference in that dtype is the network's own sensitivity. Two passes; leaves the parameters as they
// were.
double rounding_turn(Trainer& trainer, Dtype dtype);

// --- By the reference implementations, tensor by tensor, at a small size.

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
