#include "kernels/workloads/network/gradient_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/registry.h"
#include "bench/stats/random.h"
#include "kernels/workloads/network/second_device.h"
#include "kernels/workloads/network/step.h"
#include "kernels/workloads/network/train.h"
#include "kernels/workloads/reference_answers.h"

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
  double cosine() const { return are_zero() ? 1 : product_ / std::sqrt(one_ * other_); }
  double expected_norm() const { return std::sqrt(other_); }
  // Where both are zero, they are alike.
  TensorDifference difference(std::string name, double least_norm) const {
    return {.name = std::move(name),
            .error = difference_ == 0 ? 0 : std::sqrt(difference_) / std::max(expected_norm(), least_norm),
            .norm_ratio = are_zero() ? 1 : std::sqrt(one_ / other_),
            .cosine = cosine()};
  }

 private:
  bool are_zero() const { return one_ == 0 && other_ == 0; }

  double one_ = 0;
  double other_ = 0;
  double product_ = 0;
  double difference_ = 0;
};

double run_with_gradients(Trainer& trainer) {
  trainer.run_gradients();
  return trainer.loss();
}

// At a point's own size one takes seconds, and a check sixty of them.
double run_forward(Trainer& trainer) {
  stop_if_interrupted("the gradient was verified");
  trainer.run_loss();
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

bool SlopeMeter::is_finite() const {
  return std::ranges::all_of(norms_, [](double norm) { return std::isfinite(norm); });
}

std::vector<std::size_t> SlopeMeter::flat() const {
  std::vector<std::size_t> tensors;
  for (std::size_t index = 0; index < norms_.size(); ++index) {
    if (norms_[index] == 0) {
      tensors.push_back(index);
    }
  }
  return tensors;
}

bool SlopeMeter::is_level(std::size_t tensor, double change, std::uint64_t seed) {
  constexpr double kRounding = 1e-6;  // of a loss in fp32
  const std::vector<float> start = trainer_.parameter(tensor);
  const double largest = std::transform_reduce(
      start.begin(), start.end(), 0.0, [](double a, double b) { return std::max(a, b); },
      [](float value) { return std::abs(static_cast<double>(value)); });
  const double length = change * (largest > 0 ? largest : 1);
  std::array<double, 2> losses{};
  for (const int side : {0, 1}) {
    std::mt19937_64 engine(stream_seed(seed, tensor));
    std::vector<float> moved = start;
    for (float& value : moved) {
      value += static_cast<float>((side == 0 ? length : -length) * (2 * unit_draw(engine) - 1));
    }
    trainer_.set_parameter(tensor, moved);
    losses.at(static_cast<std::size_t>(side)) = run_forward(trainer_);
  }
  trainer_.set_parameter(tensor, start);
  return std::abs(losses[0] - losses[1]) <= kRounding * std::abs(loss_);
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
    if (norms_[index] > 0) {
      trainer_.move_parameter(index, start_[index], length * signs[index] / norms_[index]);
    }
  }
  return run_forward(trainer_);
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

// Tensors whose gradients are zero. The larger change shows a small slope; where it reaches across a
// rectifier's kink, the smaller one does not.
bool are_level(SlopeMeter& meter, std::uint64_t seed) {
  constexpr double kLarge = 1e-2;
  constexpr double kSmall = 1e-3;
  return std::ranges::all_of(meter.flat(), [&](std::size_t tensor) {
    return meter.is_level(tensor, kLarge, seed) || meter.is_level(tensor, kSmall, seed);
  });
}

}  // namespace

SlopeCheck check_slopes(Trainer& trainer, std::uint64_t seed) {
  constexpr std::array kPositive{1.0, 0.5, 0.5};  // share of the signs, by direction
  SlopeMeter meter(trainer);
  if (!meter.is_finite() || !are_level(meter, seed)) {
    return {.outcome = SlopeCheck::Outcome::wrong,
            .loss = meter.loss(),
            .error = std::numeric_limits<double>::infinity()};
  }
  if (meter.total() == 0) {
    return {.outcome = SlopeCheck::Outcome::right, .loss = meter.loss()};
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

TensorDifference compare_tensor(std::string name, const std::vector<float>& values,
                                const std::vector<float>& expected, double least_norm) {
  Angle angle;
  angle.add(values, expected);
  return angle.difference(std::move(name), least_norm);
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
  found.loss = trainer.loss() == loss ? 0 : std::abs(trainer.loss() - loss) / std::abs(loss);
  found.whole = all.difference("all parameters", 0);
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const PlannedParameter& parameter = parameters[index];
    found.tensors.push_back(angles[index].difference(
        fmt::format("{} {}", expected.plan().graph[parameter.layer].name, name_of(parameter.slot)),
        kLeastShare * all.expected_norm()));
  }
  return found;
}

namespace {

// Of a tensor of a gradient in fp32. Right ones differ by 1e-3 at most.
constexpr double kTolerance = 1e-2;
// Samples that are tried until the gradients agree: where a value lies so near to a rectifier's kink that it
// falls on either side of it, right gradients differ. That happens with few samples, a wrong gradient is
// wrong with all.
constexpr std::uint64_t kTries = 3;

// Multiply-adds of the reference, and what handling the parameters costs in such.
double cost(const Graph& graph, std::int64_t batch) {
  constexpr double kOfParameter = 30;
  return 3 * static_cast<double>(graph.macs() * batch) +
         kOfParameter * static_cast<double>(graph.parameter_count());
}

// Shifts every normalised channel by twice its scale: two deviations away from the kink of a rectifier at 0,
// few values lie so near to it that roundings move them across.
void move_from_kinks(Trainer& trainer) {
  const auto& parameters = trainer.plan().parameters;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const PlannedParameter& scale = parameters[index];
    const auto shift = std::ranges::find_if(parameters, [&](const PlannedParameter& other) {
      return other.layer == scale.layer && other.slot == Slot::shift;
    });
    if (scale.slot == Slot::scale && shift != parameters.end() &&
        trainer.plan().graph[scale.layer].is("batch_norm")) {
      std::vector<float> moved = trainer.parameter(index);
      for (float& value : moved) {
        value *= 2;
      }
      trainer.set_parameter(static_cast<std::size_t>(shift - parameters.begin()), moved);
    }
  }
}

// With the reference implementations alone, and nothing that saves memory.
Trainer reference_trainer(const NetworkPoint& point, Dtype dtype, Device& device) {
  return {plan_training(point.graph,
                        {.batch = point.batch / point.training.accumulate,
                         .dtype = dtype,
                         .layouts = {},
                         .implementation = "reference"},
                        {.accumulate = point.training.accumulate, .in_place = false}, device),
          device, point.seed};
}

Verification compare_small(const NetworkPoint& point, Device& measured) {
  const SecondDevice device(measured);
  const auto host = open_reference_device();
  ProgramPlan plan = plan_training(point, *device);
  const std::int64_t needed = 3 * plan.memory().peak;
  if (const auto reason = no_room("the reference", needed,
                                  std::min(device.available_bytes(), host->info().available_bytes))) {
    return not_checked("the gradient's tensors: " + *reason);
  }
  Trainer trainer(std::move(plan), *device, point.seed);
  Trainer expected = reference_trainer(point, Dtype::fp32, *host);
  move_from_kinks(trainer);
  move_from_kinks(expected);
  GradientTolerance tolerance{.error = kTolerance};
  const bool is_fp32 = point.dtype == Dtype::fp32;
  std::optional<Verification> best;
  for (std::uint64_t round = 0; round < kTries; ++round) {
    stop_if_interrupted("the reference gradient was computed");
    set_seeded_batch(trainer, point.seed, round);
    set_seeded_batch(expected, point.seed, round);
    expected.run_gradients();
    if (!std::isfinite(expected.loss())) {
      return not_checked(std::string(kLossIsNotFinite));
    }
    trainer.settle_loss_scale();
    trainer.run_gradients();
    if (!is_fp32 && tolerance.noise.empty()) {
      // Of bf16, which is more than that of fp16 and tf32.
      Trainer rounded = reference_trainer(point, Dtype::bf16, *host);
      move_from_kinks(rounded);
      set_seeded_batch(rounded, point.seed, round);
      rounded.run_gradients();
      for (const TensorDifference& tensor : compare_gradients(rounded, expected).tensors) {
        tolerance.noise.push_back(tensor.error);
      }
    }
    Verification now = judge(compare_gradients(trainer, expected), tolerance);
    if (!best || now.error < best->error) {
      best = std::move(now);
    }
    if (!best->failed()) {
      break;
    }
  }
  return *best;
}

}  // namespace

std::int64_t least_normalised(const Graph& graph, std::int64_t batch) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Node& node : graph.nodes()) {
    if (node.is("batch_norm")) {
      least = std::min(least, batch * node.shape.height() * node.shape.width());
    }
  }
  return least;
}

std::optional<NetworkPoint> small_point(const NetworkPoint& point) {
  constexpr double kMost = 5e9;  // about as many nanoseconds on a core
  const std::int64_t wanted = point.dtype == Dtype::fp32 ? 4 : 16;
  const double own = cost(point.graph, point.batch) / 4;
  std::optional<NetworkPoint> best;
  double least = std::max(kMost, own);
  for (const Graph& graph : point.small_graphs ? point.small_graphs() : std::vector{point.graph}) {
    for (const std::int64_t batch : {2, 4, 8, 16}) {
      if (least_normalised(graph, batch) >= wanted && cost(graph, batch) < least) {
        const std::int64_t micro_batches = std::min<std::int64_t>(point.training.accumulate, 2);
        least = cost(graph, batch);
        best = point;
        best->graph = graph;
        best->batch = batch * micro_batches;
        best->launch = Launch::stream;
        best->training.optimizer = Optimizer::Kind::sgd;
        best->training.accumulate = micro_batches;
      }
    }
  }
  return best;
}

Verification judge(const GradientDifference& difference, const GradientTolerance& tolerance) {
  constexpr double kTooNoisy = 0.3;  // a tensor of zeros has an error of 1
  const TensorDifference* worst = nullptr;
  double worst_accepted = 0;
  std::size_t compared = 0;
  for (std::size_t index = 0; index < difference.tensors.size(); ++index) {
    const TensorDifference& tensor = difference.tensors[index];
    const double noise = tolerance.noise.empty() ? 0 : tolerance.noise.at(index);
    const double accepted = tolerance.error + 3 * noise;
    if (noise > kTooNoisy) {
      continue;
    }
    ++compared;
    if (worst == nullptr || !(tensor.error / accepted <= worst->error / worst_accepted)) {
      worst = &tensor;
      worst_accepted = accepted;
      if (!std::isfinite(tensor.error)) {
        break;
      }
    }
  }
  if (worst == nullptr ||
      4 * compared < difference.tensors.size()) {  // a shift's gradient is often all rounding
    return not_checked(
        fmt::format("the gradient's tensors: rounding to 16 bits changes {} of {} by more than {:.0f} %",
                    difference.tensors.size() - compared, difference.tensors.size(), 100 * kTooNoisy));
  }
  Verification verification;
  verification.error = std::isfinite(worst->error) ? worst->error : std::numeric_limits<double>::infinity();
  verification.tolerance = worst_accepted;
  verification.passed = verification.error <= worst_accepted;
  verification.detail = fmt::format(
      "{} of {} gradient tensors against the reference's at a small size; the {}: {}", compared,
      difference.tensors.size(), verification.passed ? "nearest to its bound" : "worst", worst->name);
  if (!verification.passed) {
    verification.detail += fmt::format(" has {:.4g} times the reference's norm", worst->norm_ratio);
  }
  return verification;
}

Verification GradientReference::compare(const NetworkPoint& point, Device& device) {
  const Question question{device.info().id, point.dtype, point.training.accumulate > 1,
                          point.training.recompute, point.training.in_place};
  const std::scoped_lock lock(mutex_);
  if (const auto known = known_.find(question); known != known_.end()) {
    return known->second;
  }
  const auto small = small_point(point);
  if (!small) {  // perhaps not too much for a larger point
    return not_checked(
        "the gradient's tensors: the reference takes longer than a quarter of a step's operations");
  }
  try {
    return known_[question] = compare_small(*small, device);
  } catch (const Unsupported& error) {
    return known_[question] = not_checked(fmt::format("the gradient's tensors: {}", error.what()));
  } catch (const OutOfMemory& error) {
    return not_checked(fmt::format("the gradient's tensors: {}", error.what()));
  }
}

}  // namespace bench::kernels
