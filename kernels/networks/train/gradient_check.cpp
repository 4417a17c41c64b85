#include "kernels/networks/train/gradient_check.h"

#include <cmath>
#include <limits>
#include <vector>

namespace bench::kernels {
namespace {

// Parameters moved by `length` along `direction` (of norm 1), and the loss there.
double loss_at(Trainer& trainer, const std::vector<std::vector<float>>& parameters,
               const std::vector<std::vector<float>>& gradients, double factor) {
  std::vector<float> moved;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    moved = parameters[index];
    for (std::size_t i = 0; i < moved.size(); ++i) {
      moved[i] += static_cast<float>(factor * static_cast<double>(gradients[index][i]));
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
  std::vector<std::vector<float>> gradients;
  double squares = 0;
  for (std::size_t index = 0; index < trainer.plan().step.parameters.size(); ++index) {
    parameters.push_back(trainer.parameter(index));
    gradients.push_back(trainer.gradient(index));
    for (const float g : gradients.back()) {
      squares += static_cast<double>(g) * static_cast<double>(g);
    }
  }
  check.norm = std::sqrt(squares);
  const double step = change * check.loss / check.norm;  // changes the loss by about step · norm
  const double above = loss_at(trainer, parameters, gradients, step / check.norm);
  const double below = loss_at(trainer, parameters, gradients, -step / check.norm);
  loss_at(trainer, parameters, gradients, 0);
  check.measured = (above - below) / (2 * step);
  check.error = std::abs(check.measured / check.norm - 1);
  if (!std::isfinite(check.error)) {
    check.error = std::numeric_limits<double>::infinity();
  }
  return check;
}

}  // namespace bench::kernels
