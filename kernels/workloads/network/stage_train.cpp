#include "kernels/workloads/network/stage_train.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/drawn_once.h"
#include "kernels/networks/program/input.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/second_device.h"
#include "kernels/workloads/network/stage.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

constexpr double kStageTolerance = 1e-5;
constexpr std::uint64_t kDistinctSamples = 9;  // no divisor of usual micro-batches, which so differ

StepRanks accepted_ranks(const NetworkPoint& point, RankGroup& ranks, Device& device) {
  StepRanks accepted = ranks_of_stages(point, ranks, device);
  if (point.dtype != Dtype::fp32) {
    throw Unsupported(fmt::format("stages are trained in fp32, not in {}", name_of(point.dtype)));
  }
  return accepted;
}

std::vector<Sample> distinct_batch(const NetworkPoint& point) {
  return seeded_samples(point.graph, point.seed, 0, kDistinctSamples);
}

std::vector<std::int32_t> distinct_labels(const NetworkPoint& point, const Trainer& trainer) {
  return seeded_labels(point.graph, *trainer.plan().training, point.seed, 0, kDistinctSamples);
}

// The whole network's step with the same micro-batches, on a device of its own: no part of the memory that is
// measured.
class WholeNetwork {
 public:
  WholeNetwork(NetworkPoint point, const Device& measured) : device_(measured, SecondDevice::Takes::fastest) {
    point.stage.reset();
    ProgramPlan plan = plan_training(point, *device_);
    if (auto reason =
            no_room("the whole network on one rank", plan.memory().peak, device_.available_bytes())) {
      not_computed_ = std::move(*reason);
      return;
    }
    try {
      trainer_.emplace(std::move(plan), *device_, point.seed);
    } catch (const OutOfMemory& error) {
      not_computed_ = error.what();
      return;
    }
    trainer_->set_batch(distinct_batch(point), distinct_labels(point, *trainer_));
    trainer_->run_gradients();
  }

  const std::string& not_computed() const { return not_computed_; }
  double norm() {
    double squares = 0;
    for (std::size_t index = 0; index < trainer_->plan().parameters.size(); ++index) {
      squares += std::pow(trainer_->gradient_norm(index), 2);
    }
    return std::sqrt(squares);
  }
  std::vector<float> gradient(const ParameterOwner& owner) {
    const auto& parameters = trainer_->plan().parameters;
    const auto at = std::ranges::find_if(parameters, [&](const PlannedParameter& parameter) {
      return parameter.layer == owner.layer && parameter.slot == owner.slot;
    });
    return trainer_->gradient(static_cast<std::size_t>(at - parameters.begin()));
  }

 private:
  SecondDevice device_;
  std::optional<Trainer> trainer_;
  std::string not_computed_;
};

}  // namespace

TrainOptions staged(TrainOptions options, const StagePlace& place) {
  options.accumulate = place.micro_batches;
  options.ranks = 1;  // that add up gradients
  options.update_slice = 0;
  options.shared_slice = 0;
  return options;
}

StageTraining plan_stage_training(const NetworkPoint& point, Device& device) {
  const Target target{.batch = point.batch / point.training.accumulate,
                      .dtype = point.dtype,
                      .layouts = layouts_for(device, Dtype::fp32),
                      .implementation = {}};
  return plan_stage_training(point.graph, target, point.training, point.stage.value(), device);
}

StageTrainWorkload::StageTrainWorkload(const NetworkPoint& point, RankGroup& ranks, Device& device)
    : StageTrainWorkload(point, accepted_ranks(point, ranks, device), device) {}

StageTrainWorkload::StageTrainWorkload(const NetworkPoint& point, const StepRanks& ranks, Device& device)
    : StageTrainWorkload(point, plan_stage_training(point, device), ranks, device) {}

StageTrainWorkload::StageTrainWorkload(const NetworkPoint& point, StageTraining training,
                                       const StepRanks& ranks, Device& device)
    : RankStep(std::move(training.plan), point.seed, ranks, device),
      point_(point),
      passes_(std::move(training.passes)),
      shared_(std::move(training.shared)),
      owners_(std::move(training.owners)) {
  if (ranks_.is_first()) {
    runner_.set_input(distinct_batch(point_));
  }
  if (ranks_.is_last()) {
    runner_.set_labels(distinct_labels(point_, runner_));
  }
}

Collective StageTrainWorkload::message(CollectiveKind kind, TensorId tensor, int peer) const {
  std::byte* const data = runner_.address(tensor);
  return {.kind = kind,
          .from = data,
          .to = data,
          .bytes = runner_.plan().program.tensors()[tensor].bytes,
          .peer = peer};
}

// What a pass sends goes on while the next pass's data is received: the neighbours do both too.
void StageTrainWorkload::run_gradients() {
  ranks_.restart_waiting();
  std::vector<Collective> messages;
  for (const StagePass& pass : passes_) {
    const int forward = pass.kind == PassKind::forward ? 1 : -1;
    if (pass.received) {
      messages.push_back(message(CollectiveKind::receive, *pass.received, ranks_.rank() - forward));
    }
    ranks_.exchange(messages);
    messages.clear();
    runner_.run_part(pass.begin, pass.end);
    if (pass.sent) {
      messages.push_back(message(CollectiveKind::send, *pass.sent, ranks_.rank() + forward));
    }
  }
  ranks_.exchange(messages);
  for (const SharedGradient& shared : shared_) {
    add_up(shared);
  }
}

void StageTrainWorkload::add_up(const SharedGradient& shared) {
  const auto exchange_one = [this](const Collective& message) { ranks_.exchange(std::span(&message, 1)); };
  const int first = shared.stages.front();
  if (ranks_.rank() != first) {
    exchange_one(message(CollectiveKind::send, shared.gradient, first));
    exchange_one(message(CollectiveKind::receive, shared.gradient, first));
    return;
  }
  for (std::size_t other = 1; other < shared.stages.size(); ++other) {
    exchange_one(message(CollectiveKind::receive, shared.received, shared.stages[other]));
    runner_.run_part(shared.sums[other - 1], shared.sums[other - 1] + 1);
  }
  for (std::size_t other = 1; other < shared.stages.size(); ++other) {
    exchange_one(message(CollectiveKind::send, shared.gradient, shared.stages[other]));
  }
}

void StageTrainWorkload::step() {
  run_gradients();
  runner_.run_optimizer();
  ranks_.group().finish();
}

void StageTrainWorkload::hand_over(std::vector<float>& values, int to) {
  if (ranks_.is_first()) {
    ranks_.run(CollectiveKind::send, values, to);
  } else {
    ranks_.run(CollectiveKind::receive, values, 0);
  }
}

StageTrainWorkload::Expected StageTrainWorkload::expected_gradients() {
  std::string own(sizeof(ParameterOwner) * owners_.size(), '\0');
  std::memcpy(own.data(), owners_.data(), own.size());
  const std::vector<std::string> wanted = texts_of(ranks_.group(), own);
  std::optional<WholeNetwork> whole;
  if (ranks_.is_first()) {
    whole.emplace(point_, device_);
  }
  Expected expected{.not_computed = texts_of(ranks_.group(), whole ? whole->not_computed() : "").front()};
  if (!expected.not_computed.empty()) {
    return expected;
  }
  std::vector<float> norm{whole ? static_cast<float>(whole->norm()) : 0};
  if (!ranks_.is_first()) {
    hand_over(norm, ranks_.rank());
    expected.norm = norm.front();
    expected.gradients = runner_.all_gradients();  // of these sizes
    for (std::vector<float>& gradient : expected.gradients) {
      hand_over(gradient, ranks_.rank());
    }
    return expected;
  }
  expected.norm = norm.front();
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    if (rank > 0) {
      hand_over(norm, rank);
    }
    const std::string& text = wanted[static_cast<std::size_t>(rank)];
    std::vector<ParameterOwner> owners(text.size() / sizeof(ParameterOwner));
    std::memcpy(owners.data(), text.data(), text.size());
    for (const ParameterOwner& owner : owners) {
      std::vector<float> gradient = whole->gradient(owner);
      if (rank > 0) {
        hand_over(gradient, rank);
      } else {
        expected.gradients.push_back(std::move(gradient));
      }
    }
  }
  return expected;
}

bool StageTrainWorkload::copies_are_alike() {
  std::string own;  // a line for each
  for (const SharedGradient& shared : shared_) {
    const auto at =
        std::ranges::find(runner_.plan().parameters, shared.gradient, &PlannedParameter::gradient);
    const auto index = static_cast<std::size_t>(at - runner_.plan().parameters.begin());
    own += fmt::format("{} {} {}\n", owners_[index].layer, name_of(owners_[index].slot),
                       fingerprint_of(runner_.parameter(index)));
  }
  std::map<std::string, std::string> known;
  bool alike = true;
  for (const std::string& text : texts_of(ranks_.group(), own)) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      const std::size_t name = line.rfind(' ');
      const auto [at, added] = known.emplace(line.substr(0, name), line.substr(name));
      alike = alike && (added || at->second == line.substr(name));
      begin = end + 1;
    }
  }
  return alike;
}

Verification StageTrainWorkload::verify() {
  const DrawnOnce draws(most_draws_kept(device_));
  runner_.restart();
  run_gradients();
  ranks_.group().finish();
  const std::vector<std::vector<float>> found = runner_.all_gradients();
  const Expected expected = expected_gradients();
  run_gradients();
  ranks_.group().finish();
  const bool repeats = runner_.all_gradients() == found;
  step();
  const bool alike = copies_are_alike();
  runner_.restart();

  Verification verification;
  verification.tolerance = kStageTolerance;
  verification.detail = fmt::format("stage {} of {}: ", ranks_.rank() + 1, ranks_.size());
  TensorDifference worst;
  for (std::size_t index = 0; index < expected.gradients.size(); ++index) {
    const PlannedParameter& parameter = runner_.plan().parameters[index];
    TensorDifference found_one = compare_tensor(
        fmt::format("{} {}", runner_.plan().graph[parameter.layer].name, name_of(parameter.slot)),
        found[index], expected.gradients[index], kLeastShare * expected.norm);
    if (index == 0 || !(found_one.error <= worst.error)) {
      worst = std::move(found_one);
    }
  }
  verification.error = worst.error;
  if (!expected.gradients.empty()) {
    verification.detail += "its gradients against the whole network's; the worst: " + worst.name;
  }
  if (!repeats) {
    verification.detail += "; a repeat has other bits";
  }
  if (!alike) {
    verification.detail += "; stages that share a parameter have different values";
  }
  const bool right = verification.error <= kStageTolerance && repeats && alike;
  verification.passed = right && expected.not_computed.empty();
  if (right) {
    verification.not_checked = expected.not_computed;
  }
  return verification;
}

}  // namespace bench::kernels
