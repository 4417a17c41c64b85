#include "kernels/workloads/network/stage.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/passes/stage_training.h"
#include "kernels/networks/passes/stages.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kMostPipelined = 65'536;
constexpr std::int64_t kMostTrained = 64;  // the plan has all tensors of each

}  // namespace

StepRanks ranks_of_stages(const NetworkPoint& point, RankGroup& ranks, Device& device) {
  if (!point.stage || point.stage->stages != ranks.size() || point.stage->stage != ranks.rank()) {
    throw std::logic_error("a rank was given another one's stage");
  }
  if (ranks.carries_host_memory() != device.host_accessible()) {
    throw std::logic_error("the ranks exchange other memory than the device's");
  }
  return {point, ranks, device};
}

std::optional<StagePlace> stage_place(const std::string& network, const Graph& graph,
                                      const WorkloadSpec& spec) {
  const auto stage = whole_number(option_text(spec, "stage", ""));
  if (!stage) {
    return std::nullopt;
  }
  const bool trains = spec.mode == "train";
  const WholeOption micro_batches{"micro-batches", 1, 1, trains ? kMostTrained : kMostPipelined, ""};
  const WordOption<Balance> balance{.name = "balance",
                                    .default_value = "compute",
                                    .words = {{"compute", Balance::compute}, {"memory", Balance::memory}},
                                    .help = ""};
  const StagePlace place{.stage = static_cast<int>(*stage),
                         .stages = spec.ranks,
                         .micro_batches = micro_batches.read(spec),
                         .balance = balance.read(spec)};
  if (spec.batch % place.micro_batches != 0) {
    throw UsageError(fmt::format(
        "--micro-batches: '{0}' was given; accepted: divisors of every batch, and {0} is not one of {1}",
        place.micro_batches, spec.batch));
  }
  if (const std::string given = option_text(spec, "accumulate", "1"); trains && given != "1") {
    throw UsageError(fmt::format(
        "--accumulate: '{}' was given with --split layers, which accumulates over --micro-batches", given));
  }
  const std::vector<Graph::Value> places =
      trains ? training_cut_places(graph) : cut_places(fuse_for_inference(graph));
  if (const std::size_t most = places.size() + 1; static_cast<std::size_t>(place.stages) > most) {
    throw UsageError(fmt::format(
        "--split: layers over {} ranks was given; {} can be cut into at most {} {}: give --cards {}",
        place.stages, network, most, most == 1 ? "stage" : "stages", most));
  }
  return place;
}

// Each stage's input is stored as the stage before stores its result.
ProgramPlan plan_stage(const NetworkPoint& point, Device& device) {
  const StagePlace& place = point.stage.value();
  const Graph whole = fuse_for_inference(point.graph);
  const StretchCosts costs(static_cast<std::size_t>(place.stages),
                           inference_costs(whole, point.batch / place.micro_batches));
  const Stage stage = cut_into_stages(whole, costs).at(static_cast<std::size_t>(place.stage));
  Target target{.batch = point.batch / place.micro_batches,
                .dtype = point.dtype,
                .layouts = layouts_for(device, point.dtype),
                .implementation = {}};
  const std::vector<StoredValue> stored = ProgramPlan(whole, target).stored;
  if (place.stage > 0) {
    target.layouts.image = stored[stage.begin].tensor.layout;
  }
  ProgramPlan plan = plan_inference(stage_graph(whole, stage), target, device);
  if (plan.stored.front().tensor != stored[stage.begin].tensor ||
      plan.stored[plan.graph.output()].tensor != stored[stage.end].tensor) {
    throw std::logic_error("a stage's values are stored in another way than the network's");
  }
  return plan;
}

StageWorkload::StageWorkload(const NetworkPoint& point, std::shared_ptr<ReferenceAnswers> expected,
                             RankGroup& ranks, Device& device)
    : StageWorkload(point, std::move(expected), ranks_of_stages(point, ranks, device), device) {}

StageWorkload::StageWorkload(const NetworkPoint& point, std::shared_ptr<ReferenceAnswers> expected,
                             const StepRanks& ranks, Device& device)
    : RankStep(plan_stage(point, device), point.seed, ranks, device),
      expected_(std::move(expected)),
      micro_batches_(point.stage->micro_batches),
      samples_(seeded_samples(point.graph, point.seed, 0, distinct_samples(point.graph))) {
  if (ranks_.is_first()) {
    runner_.set_input(samples_);
  }
}

// A result is sent while the next micro-batch is received: the neighbours do both too.
void StageWorkload::run_batch(const OfMicroBatch& before, const OfMicroBatch& after) {
  const ProgramPlan& plan = runner_.plan();
  std::byte* const input = runner_.address(plan.inputs.front());
  std::byte* const output = runner_.address(plan.program.output().value());
  const Collective receive{
      .kind = CollectiveKind::receive, .to = input, .bytes = plan.input.bytes(), .peer = ranks_.rank() - 1};
  const Collective send{.kind = CollectiveKind::send,
                        .from = output,
                        .bytes = plan.output().bytes(),
                        .peer = ranks_.rank() + 1};
  std::vector<Collective> messages;
  ranks_.restart_waiting();
  for (std::int64_t part = 0; part < micro_batches_; ++part) {
    if (!ranks_.is_first()) {
      messages.push_back(receive);
    }
    ranks_.exchange(messages);
    messages.clear();
    if (before) {
      before(part);
    }
    runner_.run();
    if (after) {
      after(part);
    }
    if (!ranks_.is_last()) {
      messages.push_back(send);
    }
  }
  ranks_.exchange(messages);
  ranks_.group().finish();
}

// Sample i of the batch is distinct sample i mod their number, as in a step of one rank, so that a
// micro-batch that is mixed up with another, or a sample, is found.
Verification StageWorkload::verify() {
  const std::int64_t own_batch = runner_.plan().target.batch;
  const auto distinct = static_cast<std::int64_t>(samples_.size());
  Verification worst{.passed = true,
                     .error = 0,
                     .tolerance = logits_tolerance(runner_.plan().target.dtype),
                     .detail = fmt::format("stage {} of {}", ranks_.rank() + 1, ranks_.size())};
  const auto turned = [&]<class Item>(std::vector<Item> all, std::int64_t part) {
    std::ranges::rotate(all, all.begin() + part * own_batch % distinct);
    return all;
  };
  const auto before = [&](std::int64_t part) {
    if (ranks_.is_first()) {
      runner_.set_input(turned(samples_, part));
    }
    runner_.poison_output();
  };
  const auto after = [&](std::int64_t part) {
    if (!ranks_.is_last()) {
      return;
    }
    Verification found =
        compare_rows(runner_.output(), turned(expected_->to_first(distinct), part),
                     logits_tolerance(runner_.plan().target.dtype), "the logits of a sample");
    if (part == 0 || !(found.error <= worst.error) || found.passed < worst.passed) {
      worst = std::move(found);
    }
  };
  run_batch(before, after);
  if (ranks_.is_first()) {
    runner_.set_input(samples_);
  }
  return worst;
}

Work StageWorkload::work() const {
  const auto parts = static_cast<double>(micro_batches_);
  Work work = NetworkStep::work();
  work.samples *= parts;
  work.flops *= parts;
  work.fixed_bytes *= parts;
  work.sample_bytes *= parts;
  work.launches *= micro_batches_;
  return work;
}

}  // namespace bench::kernels
