#include "kernels/workloads/network/gradient_check.h"

#include <cmath>
#include <limits>
#include <vector>

namespace bench::kernels {
namespace {

double norm_of(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) {
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(squares);
}

// Between two vectors that are given piece by piece.
class Angle {
 public:
  void add(const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      one_ += static_cast<double>(a[i]) * static_cast<double>(a[i]);
      other_ += static_cast<double>(b[i]) * static_cast<double>(b[i]);
      product_ += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
  }
  double cosine() const { return product_ / std::sqrt(one_ * other_); }
  double norm_ratio() const { return std::sqrt(one_ / other_); }

 private:
  double one_ = 0;
  double other_ = 0;
  double product_ = 0;
};

// The loss with parameters moved by `length` along the direction.
double loss_at(Trainer& trainer, const std::vector<std::vector<float>>& parameters,
               const std::vector<std::vector<float>>& direction, double length) {
  std::vector<float> moved;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    moved = parameters[index];
    for (std::size_t i = 0; i < moved.size(); ++i) {
      moved[i] += static_cast<float>(length * static_cast<double>(direction[index][i]));
    }
    trainer.set_parameter(index, moved);
  }
  trainer.run_gradients();
  return trainer.loss();
}

}  // namespace

GradientCheck check_gradient(Trainer& trainer, double change) {
  GradientCheck check;
  trainer.run_gradients();
  check.loss = trainer.loss();
  std::vector<std::vector<float>> parameters;
  std::vector<std::vector<float>> direction;
  bool missing = false;
  for (std::size_t index = 0; index < trainer.plan().parameters.size(); ++index) {
    parameters.push_back(trainer.parameter(index));
    direction.push_back(trainer.gradient(index));
    const double norm = norm_of(direction.back());
    missing = missing || norm == 0;
    check.expected += norm;
    for (float& value : direction.back()) {
      value = static_cast<float>(value / norm);
    }
  }
  if (missing) {
    check.error = std::numeric_limits<double>::infinity();
    return check;
  }
  const double length = change * check.loss / check.expected;
  const double above = loss_at(trainer, parameters, direction, length);
  const double below = loss_at(trainer, parameters, direction, -length);
  loss_at(trainer, parameters, direction, 0);
  check.measured = (above - below) / (2 * length);
  check.error = std::abs(check.measured / check.expected - 1);
  if (!std::isfinite(check.error)) {
    check.error = std::numeric_limits<double>::infinity();
  }
  return check;
}

bool GradientLikeness::finite() const {
  return std::isfinite(loss_difference) && std::isfinite(norm_ratio) && std::isfinite(cosine);
}

double rounding_turn(Trainer& trainer, Dtype dtype) {
  std::vector<std::vector<float>> parameters;
  std::vector<std::vector<float>> gradients;
  trainer.run_gradients();
  for (std::size_t index = 0; index < trainer.plan().parameters.size(); ++index) {
    parameters.push_back(trainer.parameter(index));
    gradients.push_back(trainer.gradient(index));
    std::vector<float> rounded(parameters.back().size());
    const TensorDesc row{1, static_cast<std::int64_t>(rounded.size()), 1, 1, Layout::nhwc, dtype};
    std::vector<std::byte> stored(static_cast<std::size_t>(row.bytes()));
    store(row, parameters.back(), stored.data());
    load(row, stored.data(), rounded);
    trainer.set_parameter(index, rounded);
  }
  trainer.run_gradients();
  Angle angle;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    angle.add(gradients[index], trainer.gradient(index));
    trainer.set_parameter(index, parameters[index]);
  }
  return 1 - angle.cosine();
}

GradientLikeness compare_gradients(Trainer& trainer, Trainer& expected) {
  trainer.run_gradients();
  expected.run_gradients();
  Angle angle;
  for (std::size_t index = 0; index < expected.plan().parameters.size(); ++index) {
    angle.add(trainer.gradient(index), expected.gradient(index));
  }
  const double loss = expected.loss();
  return {.loss_difference = std::abs(trainer.loss() - loss) / std::abs(loss),
          .norm_ratio = angle.norm_ratio(),
          .cosine = angle.cosine()};
}

}  // namespace bench::kernels
