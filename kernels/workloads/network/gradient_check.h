// Whether a trainer's gradient is that of its loss.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/networks/program/trainer.h"

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
  std::string name;  // "layer1.0.conv1 weights"
  double error = 0;  // ||g − g'|| / ||g'||; below stands at least kLeastShare of the norm of all tensors
  double norm_ratio = 0;  // ||g|| / ||g'||
  double cosine = 0;  // of the angle between the gradients; near 0 for unrelated ones; NaN where one is not
                      // finite
};

// A gradient may be zero but for roundings: that of a shift in front of a normalisation.
inline constexpr double kLeastShare = 1e-4;

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

}  // namespace bench::kernels
