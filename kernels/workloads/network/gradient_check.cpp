#include "kernels/workloads/network/gradient_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "bench/stats/random.h"

namespace bench::kernels {
namespace {

// Between two vectors that are given piece by piece.
class Angle {
 public:
  void add(const std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto one = static_cast<double>(a[i]);
      const auto other = static_cast<double>(b[i]);
      one_ += one * one;
      other_ += other * other;
      product_ += one * other;
      difference_ += (one - other) * (one - other);
    }
  }
  void add(const Angle& angle) {
    one_ += angle.one_;
    other_ += angle.other_;
    product_ += angle.product_;
    difference_ += angle.difference_;
  }
  double cosine() const { return product_ / std::sqrt(one_ * other_); }
  double expected_norm() const { return std::sqrt(other_); }
  TensorDifference difference(std::string name, double least_norm) const {
    return {.name = std::move(name),
            .error = std::sqrt(difference_) / std::max(expected_norm(), least_norm),
            .norm_ratio = std::sqrt(one_ / other_),
            .cosine = cosine()};
  }

 private:
  double one_ = 0;
  double other_ = 0;
  double product_ = 0;
  double difference_ = 0;
};

double run_with_gradients(Trainer& trainer) {
  trainer.run_gradients();
  return trainer.loss();
}

}  // namespace

SlopeMeter::SlopeMeter(Trainer& trainer) : trainer_(trainer), loss_(run_with_gradients(trainer)) {
  for (std::size_t index = 0; index < trainer_.plan().parameters.size(); ++index) {
    start_.push_back(trainer_.stored_parameter(index));
    norms_.push_back(trainer_.gradient_norm(index));
    total_ += norms_.back();
  }
}

SlopeMeter::~SlopeMeter() {
  for (std::size_t index = 0; index < start_.size(); ++index) {
    trainer_.move_parameter(index, start_[index], 0);
  }
}

std::optional<std::size_t> SlopeMeter::without_gradient() const {
  const auto at = std::ranges::find_if(norms_, [](double norm) { return norm == 0 || !std::isfinite(norm); });
  return at == norms_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - norms_.begin()));
}

double SlopeMeter::by_gradient(std::span<const int> signs) const {
  double slope = 0;
  for (std::size_t index = 0; index < norms_.size(); ++index) {
    slope += signs[index] * norms_[index];
  }
  return slope;
}

double SlopeMeter::by_differences(std::span<const int> signs, double h) {
  const double above = loss_at(signs, h);
  const double below = loss_at(signs, -h);
  return (above - below) / (2 * h);
}

double SlopeMeter::loss_at(std::span<const int> signs, double length) {
  for (std::size_t index = 0; index < start_.size(); ++index) {
    trainer_.move_parameter(index, start_[index], length * signs[index] / norms_[index]);
  }
  trainer_.run_loss();
  return trainer_.loss();
}

namespace {

std::vector<int> random_signs(std::size_t count, double positive, std::mt19937_64& engine) {
  std::vector<int> signs(count);
  std::ranges::generate(signs, [&] { return unit_draw(engine) < positive ? 1 : -1; });
  return signs;
}

// The error of a central difference falls with the square of the step: two of them give the slope
// (Richardson), and their distance bounds its error. The rounding of the loss and the parameters grows with
// each halving.
SlopeCheck check_slope(SlopeMeter& meter, std::span<const int> signs) {
  constexpr double kFirstChange = 8e-3;  // of the loss, if it fell along every tensor's gradient
  constexpr int kHalvings = 9;
  constexpr double kSettled = kSlopeTolerance / 2;
  SlopeCheck check{.outcome = SlopeCheck::Outcome::unsettled,
                   .loss = meter.loss(),
                   .by_gradient = meter.by_gradient(signs) / meter.total()};
  double h = kFirstChange * meter.loss() / meter.total();
  double before = meter.by_differences(signs, h) / meter.total();
  int alike = 0;  // lengths in a row
  for (int halving = 0; halving < kHalvings; ++halving) {
    h /= 2;
    const double now = meter.by_differences(signs, h) / meter.total();
    alike = std::abs(now - before) <= kSettled ? alike + 1 : 0;
    check.by_differences = now + (now - before) / 3;
    check.error = std::abs(check.by_differences - check.by_gradient);
    if (alike > 0 && check.error <= kSlopeTolerance) {
      check.outcome = SlopeCheck::Outcome::right;
      return check;
    }
    if (alike > 1 && check.error > 2 * kSlopeTolerance) {  // two may be alike where the loss is curved
      check.outcome = SlopeCheck::Outcome::wrong;
      return check;
    }
    before = now;
  }
  return check;
}

}  // namespace

SlopeCheck check_slopes(Trainer& trainer, std::uint64_t seed) {
  constexpr std::array kPositive{1.0, 0.5, 0.5};  // share of the signs, by direction
  SlopeMeter meter(trainer);
  if (meter.without_gradient()) {
    return {.outcome = SlopeCheck::Outcome::wrong,
            .loss = meter.loss(),
            .error = std::numeric_limits<double>::infinity()};
  }
  std::mt19937_64 engine(stream_seed(seed, 0x736C6F7065));
  SlopeCheck worst;
  for (const double positive : kPositive) {
    const SlopeCheck now = check_slope(meter, random_signs(meter.tensors(), positive, engine));
    if (now.outcome != SlopeCheck::Outcome::right) {
      return now;
    }
    worst = now.error >= worst.error ? now : worst;
  }
  return worst;
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

GradientDifference compare_gradients(Trainer& trainer, Trainer& expected) {
  const auto& parameters = expected.plan().parameters;
  std::vector<Angle> angles(parameters.size());
  Angle all;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    angles[index].add(trainer.gradient(index), expected.gradient(index));
    all.add(angles[index]);
  }
  GradientDifference found;
  const double loss = expected.loss();
  found.loss = std::abs(trainer.loss() - loss) / std::abs(loss);
  found.whole = all.difference("all parameters", 0);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const PlannedParameter& parameter = parameters[index];
    found.tensors.push_back(angles[index].difference(
        fmt::format("{} {}", expected.plan().graph[parameter.layer].name, name_of(parameter.slot)),
        kLeastShare * all.expected_norm()));
  }
  return found;
}

}  // namespace bench::kernels
