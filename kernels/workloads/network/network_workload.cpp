#include "kernels/workloads/network/network_workload.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "kernels/devices/cuda/tf32_override.h"
#include "kernels/networks/eager/terms.h"
#include "kernels/workloads/network/composition.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/parallel_train.h"
#include "kernels/workloads/network/stage.h"
#include "kernels/workloads/network/stage_train.h"
#include "kernels/workloads/network/train.h"
#include "kernels/workloads/options.h"
#include "kernels/workloads/reference_answers.h"

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

// The source's own, --launch, --optimizer, --accumulate, --in-place and --recompute.
std::vector<CommandOption> network_options(const NetworkSource& source) {
  std::vector<CommandOption> all = source.options;
  all.push_back(step_options().launch.declared());
  for (CommandOption& option : training_options()) {
    all.push_back(std::move(option));
  }
  return all;
}

// Bytes of all layers' results for the whole batch. Throws OutOfMemory where a step's bytes could not be
// counted.
std::int64_t countable_feature_maps(const NetworkPoint& point) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // 1 PiB: a step's sums stay far below 2^63
  std::int64_t per_sample = 0;
  for (const Node& node : point.graph.nodes()) {
    const bool computed = node.layer != nullptr && node.layer->computes();
    per_sample += computed ? node.shape.elements() * bytes_of(point.dtype) : 0;
  }
  if (point.batch > kMost / std::max<std::int64_t>(per_sample, 1)) {
    throw OutOfMemory(
        fmt::format("batch {} would need more than 1 PiB for its activations alone ({} a sample)",
                    point.batch, format_bytes(per_sample)),
        std::numeric_limits<std::int64_t>::max());
  }
  return point.batch * per_sample;
}

// Common to both modes.
class ConfiguredNetwork : public ConfiguredWorkload, public ConfiguredNetworkPoint {
 public:
  explicit ConfiguredNetwork(NetworkPoint point) : point_(std::move(point)) {}

  std::optional<std::string> unsupported(Device& device) const final {
    if (auto reason = device.unsupported(point_.dtype)) {
      return reason;
    }
    // Every network has layers that cuDNN or cuBLASLt compute.
    if (auto reason = cuda::libraries_compute_otherwise(device, point_.dtype)) {
      return reason;
    }
    if (const auto reason = device.cannot_record(); reason && point_.launch == Launch::graph) {
      return fmt::format("--launch graph: {}", *reason);
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> image_size() const final {
    constexpr std::int64_t kColours = 3;
    const Shape& read = point_.graph.nodes().front().shape;
    const bool images = read.is_maps() && read.channels() == kColours && read.height() == read.width();
    return images ? std::optional(read.height()) : std::nullopt;
  }
  std::optional<Composition> composition(Device& device) const final {
    try {
      return composition_of(point_.graph, program(device));
    } catch (const Unsupported&) {
      return composition_of(point_.graph);
    } catch (const OutOfMemory&) {
      return composition_of(point_.graph);
    }
  }
  std::vector<MemoryMoment> timeline(Device& device) const final { return program(device).timeline(); }
  MemoryPlan plan(Device& device) const final {
    const std::int64_t feature_maps = countable_feature_maps(point_);
    MemoryPlan plan = program(device).memory();
    plan.feature_maps = feature_maps;
    return plan;
  }
  std::optional<NetworkTerms> eager_terms(const EagerForm& form) const final {
    return point_.is_file ? eager_terms_of_file(point_.graph, eager_setting(form))
                          : kernels::eager_terms(point_.graph, eager_setting(form));
  }

  const NetworkPoint& point() const final { return point_; }
  EagerSetting eager_setting(const EagerForm& form) const final {
    return {.dtype = point_.dtype,
            .cast_whole = form.cast_whole,
            .train = trains(),
            .optimizer = point_.training.optimizer,
            .micro_batches = static_cast<double>(point_.training.accumulate),
            .recompute = point_.training.recompute,
            .attention = form.attention};
  }

 protected:
  virtual bool trains() const = 0;
  virtual ProgramPlan program(Device& device) const = 0;

 private:
  NetworkPoint point_;
};

class ConfiguredInference final : public ConfiguredNetwork {
 public:
  ConfiguredInference(NetworkPoint point, std::shared_ptr<ReferenceAnswers> expected)
      : ConfiguredNetwork(std::move(point)), expected_(std::move(expected)) {}

  std::unique_ptr<Workload> make(Device& device) const override {
    return std::make_unique<InferWorkload>(point(), expected_, device);
  }
  std::unique_ptr<RankWorkload> make_part(Device& device, RankGroup& ranks) const override {
    return std::make_unique<StageWorkload>(point(), expected_, ranks, device);
  }

 private:
  bool trains() const override { return false; }
  ProgramPlan program(Device& device) const override {
    return point().stage ? plan_stage(point(), device) : plan_inference(point(), device);
  }

  std::shared_ptr<ReferenceAnswers> expected_;
};

class ConfiguredTraining final : public ConfiguredNetwork {
 public:
  ConfiguredTraining(NetworkPoint point, std::int64_t bucket, std::shared_ptr<GradientReference> reference)
      : ConfiguredNetwork(std::move(point)), bucket_(bucket), reference_(std::move(reference)) {}

  std::unique_ptr<Workload> make(Device& device) const override {
    return std::make_unique<TrainWorkload>(point(), reference_, device);
  }
  std::unique_ptr<RankWorkload> make_part(Device& device, RankGroup& ranks) const override {
    if (point().stage) {
      return std::make_unique<StageTrainWorkload>(point(), ranks, device);
    }
    return std::make_unique<ParallelTrainWorkload>(point(), bucket_, ranks, device);
  }

 private:
  bool trains() const override { return true; }
  ProgramPlan program(Device& device) const override {
    return point().stage ? plan_stage_training(point(), device).plan : plan_training(point(), device);
  }

  std::int64_t bucket_;
  std::shared_ptr<GradientReference> reference_;
};

// The question that the reference answers: of the options, only those that decide the network change it.
WorkloadSpec question_of(const NetworkSource& source, const WorkloadSpec& spec) {
  WorkloadSpec question;
  question.seed = spec.seed;
  for (const CommandOption& option : source.options) {
    question.options[option.name] = option_text(spec, option.name, option.default_value);
  }
  return question;
}

}  // namespace

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
  options.ranks = spec.ranks;
  if (spec.ranks > 1) {
    options.update_slice = 0;  // gradients are added up first
    options.shared_slice = spec.shard_optimizer ? std::max<std::int64_t>(1, spec.bucket) : 0;
  }
  return options;
}

NetworkPoint read_point(const NetworkType& network, const WorkloadSpec& spec) {
  NetworkPoint point = read_point(build_network(network, spec), spec);
  point.small_graphs = [network, spec] { return small_networks(network, spec); };
  return point;
}

NetworkPoint read_point(Graph graph, const WorkloadSpec& spec) {
  NetworkPoint point{.graph = std::move(graph),
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

WorkloadType network_workload(const NetworkSource& source) {
  WorkloadType type;
  type.name = source.name;
  type.kind = "network";
  type.description = source.description;
  type.modes = {"infer", "train"};
  type.options = network_options(source);
  type.configure = [source, answers = std::make_shared<SharedAnswers>(),
                    gradients = std::make_shared<SharedByQuestion<GradientReference>>()](
                       const WorkloadSpec& spec) -> std::shared_ptr<const ConfiguredWorkload> {
    NetworkPoint point = read_point(source.build(spec), spec);
    point.is_file = source.is_file;
    if (source.build_small) {
      point.small_graphs = [source, spec] { return source.build_small(spec); };
    }
    point.stage = stage_place(source.name, point.graph, spec);
    if (spec.mode == "train") {
      if (point.stage) {
        point.training = staged(point.training, *point.stage);
      }
      auto reference =
          gradients->of(question_of(source, spec), [] { return std::make_shared<GradientReference>(); });
      return std::make_shared<ConfiguredTraining>(std::move(point), spec.bucket, std::move(reference));
    }
    auto expected = answers->of(question_of(source, spec), expected_logits(point));
    return std::make_shared<ConfiguredInference>(std::move(point), std::move(expected));
  };
  return type;
}

WorkloadType network_workload(const NetworkType& network) {
  return network_workload(NetworkSource{
      .name = network.name,
      .description = network.description,
      .options = size_options(network),
      .build = [network](const WorkloadSpec& spec) { return build_network(network, spec); },
      .build_small = [network](const WorkloadSpec& spec) { return small_networks(network, spec); }});
}

}  // namespace bench::kernels
