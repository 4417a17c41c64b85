#include "kernels/workloads/network/point.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kMostMicroBatches = 64;  // the plan has all tensors of each

// Made when first asked for: networks register themselves, with these options, before this file's own globals
// are there.
struct StepOptions {
  WordOption<Launch> launch{
      .name = "launch",
      .default_value = "stream",
      .words = {{"stream", Launch::stream}, {"graph", Launch::graph}},
      .help =
          "how a step is started: stream queues its operations one by one, graph records them once and "
          "starts them as one"};
  WordOption<Optimizer::Kind> optimizer{.name = "optimizer",
                                        .default_value = "sgd",
                                        .words = {{"sgd", Optimizer::Kind::sgd},
                                                  {"momentum", Optimizer::Kind::momentum},
                                                  {"adam", Optimizer::Kind::adam}},
                                        .help = "the rule that updates the weights",
                                        .mode = "train"};
  WholeOption accumulate{"accumulate",
                         1,
                         1,
                         kMostMicroBatches,
                         "micro-batches a step, whose gradients are summed; a divisor of the batch",
                         "train"};
  WordOption<bool> in_place =
      yes_or_no("in-place", "yes", "no: results are never written over their inputs", "train");
  WordOption<bool> recompute = yes_or_no(
      "recompute", "no",
      "yes: keep only the values between blocks; compute the others again in the backward pass", "train");
};

const StepOptions& step_options() {
  static const StepOptions options;
  return options;
}

std::vector<CommandOption> training_options() {
  const StepOptions& options = step_options();
  return declare(options.optimizer, options.accumulate, options.in_place, options.recompute);
}

void refuse_training_options(const WorkloadSpec& spec) {
  for (const CommandOption& option : training_options()) {
    const std::string given = option_text(spec, option.name, option.default_value);
    if (given != option.default_value) {
      throw UsageError(fmt::format("--{}: {} was given, but belongs to training; give --mode train with it",
                                   option.name, quote(given)));
    }
  }
}

}  // namespace

std::vector<CommandOption> network_options(const NetworkType& network) {
  std::vector<CommandOption> all = size_options(network);
  all.push_back(step_options().launch.declared());
  for (CommandOption& option : training_options()) {
    all.push_back(std::move(option));
  }
  return all;
}

TrainOptions train_options(const WorkloadSpec& spec) {
  TrainOptions options;
  options.optimizer = step_options().optimizer.read(spec);
  options.accumulate = step_options().accumulate.read(spec);
  if (spec.batch % options.accumulate != 0) {
    throw UsageError(fmt::format(
        "--accumulate: '{}' was given; accepted: divisors of every batch, and {} is not one of {}; give "
        "batches with --batch, as in {}:{}:x2",
        options.accumulate, options.accumulate, spec.batch, options.accumulate, 16 * options.accumulate));
  }
  options.recompute = step_options().recompute.read(spec);
  options.in_place = step_options().in_place.read(spec);
  options.loss_scaling = spec.dtype == Dtype::fp16;
  return options;
}

NetworkPoint read_point(const NetworkType& network, const WorkloadSpec& spec) {
  NetworkPoint point{.graph = build_network(network, spec),
                     .dtype = spec.dtype,
                     .batch = spec.batch,
                     .seed = spec.seed,
                     .launch = step_options().launch.read(spec)};
  if (spec.mode == "train") {
    point.training = train_options(spec);
  } else {
    refuse_training_options(spec);
  }
  return point;
}

}  // namespace bench::kernels
