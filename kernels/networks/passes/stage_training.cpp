#include "kernels/networks/passes/stage_training.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/passes/attention.h"
#include "kernels/operations/elementwise/elementwise.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// Bytes of a step of the whole network, by stretch.
struct StretchBytes {
  std::vector<double> weights;
  std::vector<double> fixed;  // weights, gradients and states
  std::vector<double> kept;   // by the forward pass for the backward pass
};

// `plan`: of a step of the whole network, recorded.
StretchBytes training_bytes(const ProgramPlan& plan, const std::vector<Value>& ends) {
  const auto stretch_of = [&](Value value) {
    const auto at = std::ranges::lower_bound(ends, value) - ends.begin();
    return std::min(static_cast<std::size_t>(at), ends.size() - 1);
  };
  const std::vector<double> none(ends.size());
  StretchBytes bytes{.weights = none, .fixed = none, .kept = none};
  const auto& blocks = plan.program.blocks();
  const auto& tensors = plan.program.tensors();
  std::multimap<Value, Value> sharers;  // by the layer whose weights they have
  for (Value value = 1; value < plan.graph.nodes().size(); ++value) {
    if (plan.graph[value].shares) {
      sharers.emplace(*plan.graph[value].shares, value);
    }
  }
  for (const PlannedParameter& parameter : plan.parameters) {
    const auto group =
        std::ranges::find(plan.groups, *tensors[parameter.value].block, &ParameterGroup::weights);
    std::int64_t of_group = blocks[group->weights].bytes + blocks[group->gradients].bytes;
    for (const BlockId state : group->states) {
      of_group += blocks[state].bytes;
    }
    const auto own = static_cast<double>(tensors[parameter.value].bytes);
    std::set<std::size_t> stretches{stretch_of(parameter.layer)};
    for (auto [at, end] = sharers.equal_range(parameter.layer); parameter.slot == Slot::weights && at != end;
         ++at) {
      stretches.insert(stretch_of(at->second));
    }
    for (const std::size_t stretch : stretches) {
      bytes.weights[stretch] += own;
      bytes.fixed[stretch] +=
          own * static_cast<double>(of_group) / static_cast<double>(blocks[group->weights].bytes);
    }
  }
  const auto& instructions = plan.program.instructions();
  const auto touches_loss = [&](const Instruction& instruction) {
    return std::ranges::any_of(instruction.tensors, [&](const auto& slot_and_id) {
      return slot_and_id.second == plan.training->losses.front();
    });
  };
  const auto loss =
      static_cast<std::size_t>(std::ranges::find_if(instructions, touches_loss) - instructions.begin());
  const std::vector<std::size_t> last_touched = plan.program.last_touched();
  std::vector<bool> seen(tensors.size(), false);
  for (std::size_t index = 0; index < loss; ++index) {
    for (const auto& [slot, id] : instructions[index].tensors) {
      if (!seen[id] && !tensors[id].block && last_touched[id] > loss && !instructions[index].layers.empty()) {
        bytes.kept[stretch_of(instructions[index].layers.front())] += static_cast<double>(tensors[id].bytes);
      }
      seen[id] = true;
    }
  }
  return bytes;
}

// As multiply-adds: a forward pass and twice as much backward, and what goes through the weights. Each
// micro-batch reads them twice and adds up their gradients, the update reads and writes both and a state.
double training_cost(double of_sample, double weight_bytes, std::int64_t batch, std::int64_t micro_batches) {
  constexpr double kPassesOfMicroBatch = 5;
  constexpr double kPassesOfUpdate = 5;
  const auto parts = static_cast<double>(micro_batches);
  return 3 * of_sample * static_cast<double>(batch) * parts +
         kMacsOfAByte * weight_bytes * (kPassesOfMicroBatch * parts + kPassesOfUpdate);
}

// Those of the network as it is trained; the last one ends with what the loss reads. Throws Unsupported where
// any of them cannot be trained.
std::vector<Stage> training_stages(const Graph& graph, const Graph& as_trained, const Target& target,
                                   TrainOptions options, const StagePlace& place, Device& device) {
  options.accumulate = 1;
  const ProgramPlan plan = record_training(graph, target, options, device);
  const Graph cut = first_layers(as_trained, logits_of(with_attention(graph)));
  std::vector<Value> ends = cut_places(cut);
  ends.push_back(as_trained.output());
  const StretchBytes bytes = training_bytes(plan, ends);
  std::vector<double> compute = compute_costs(cut);
  for (std::size_t stretch = 0; stretch < compute.size(); ++stretch) {
    compute[stretch] =
        training_cost(compute[stretch], bytes.weights[stretch], target.batch, place.micro_batches);
  }
  StretchCosts costs(static_cast<std::size_t>(place.stages), compute);
  for (int stage = 0; stage < place.stages && place.balance == Balance::memory; ++stage) {
    const auto in_flight = static_cast<double>(most_in_flight(stage, place.stages, place.micro_batches));
    std::ranges::transform(bytes.fixed, bytes.kept, costs[static_cast<std::size_t>(stage)].begin(),
                           [&](double fixed, double kept) { return fixed + in_flight * kept; });
  }
  std::vector<Stage> stages = cut_into_stages(cut, costs);
  stages.back().end = logits_of(as_trained);
  return stages;
}

std::vector<ParameterOwner> trained_owners(const Graph& graph, const Stage& stage) {
  std::vector<ParameterOwner> owners;
  for (const Value value : stage_layers(graph, stage)) {
    for (const LayerParameter& parameter : graph[value].layer->parameters(graph.place(value))) {
      const ParameterOwner owner{graph.owner_of(value, parameter.slot), parameter.slot};
      if (parameter.trained && std::ranges::find(owners, owner) == owners.end()) {
        owners.push_back(owner);
      }
    }
  }
  return owners;
}

class StageRecorder {
 public:
  StageRecorder(const Graph& graph, const Target& target, const TrainOptions& options,
                const StagePlace& place, Device& device)
      : options_(options),
        place_(place),
        device_(device),
        whole_(trained(graph, target)),
        stages_(training_stages(graph, whole_.graph, target, options, place, device)),
        made_{.plan = own_plan(target)},
        recorder_(plan(), device, cache_) {}

  StageTraining record() && {
    if (place_.stage > 0 && plan().stored.front().tensor != whole_.stored[own().begin].tensor) {
      throw std::logic_error("a stage's input is stored in another way than the network's");
    }
    if (plan().stored[output()].tensor != whole_.stored[own().end].tensor) {
      throw std::logic_error("a stage's result is stored in another way than the network's");
    }
    plan().program.set_in_place(options_.in_place);
    // As the whole network has, so that its layers compute alike.
    recorder_.set_extra({plan().graph.nodes().size(), convolution_scratch(whole_, options_)});
    if (hands_gradient_on()) {
      recorder_.want_input_gradient();
    }
    const BlockId inputs = program().block("input", MemoryCategory::input);
    std::vector<Recorder::MicroBatch> micro_batches(static_cast<std::size_t>(place_.micro_batches));
    for (const PipelinePass& pass : pipeline_passes(place_.stage, place_.stages, place_.micro_batches)) {
      StagePass recorded{pass, program().instructions().size()};
      Recorder::MicroBatch& state = micro_batches[static_cast<std::size_t>(pass.micro_batch)];
      recorder_.swap(state);
      pass.kind == PassKind::forward ? record_forward(recorded, inputs) : record_backward(recorded);
      recorder_.swap(state);
      recorded.end = program().instructions().size();
      if (recorded.received) {
        program().hold(*recorded.received, recorded.begin);
      }
      if (recorded.sent) {
        program().hold(*recorded.sent, recorded.end);
      }
      made_.passes.push_back(recorded);
    }
    find_owners();
    record_shared_gradients();
    record_updates(plan(), recorder_, options_, device_);
    return std::move(made_);
  }

 private:
  ProgramPlan own_plan(Target target) const {
    if (place_.stage > 0) {  // as the stage before stores its result
      target.layouts.image = whole_.stored[own().begin].tensor.layout;
    }
    ProgramPlan plan(stage_graph(whole_.graph, own()), target);
    plan.training.emplace();
    return plan;
  }
  const Stage& own() const { return stages_.at(static_cast<std::size_t>(place_.stage)); }
  bool is_first() const { return place_.stage == 0; }
  bool is_last() const { return place_.stage + 1 == place_.stages; }
  ProgramPlan& plan() { return made_.plan; }
  Program& program() { return made_.plan.program; }
  Value output() const { return made_.plan.graph.output(); }
  // Whether a stage before this one has parameters to train.
  bool hands_gradient_on() const {
    const auto is_before = [&](const Stage& stage) {
      return stage.end <= own().begin && !trained_owners(whole_.graph, stage).empty();
    };
    return std::ranges::any_of(stages_, is_before);
  }
  // Whether this stage or one before has.
  bool awaits_gradient() const { return hands_gradient_on() || !trained_owners(whole_.graph, own()).empty(); }

  void record_forward(StagePass& pass, BlockId inputs) {
    const std::string suffix = fmt::format(" of micro-batch {}", pass.micro_batch);
    const std::int64_t bytes = plan().input.bytes();
    if (is_first()) {
      plan().inputs.push_back(program().keep(inputs, "samples" + suffix, bytes));
    } else {
      pass.received = program().tensor("input" + suffix, bytes, Content::activation);
      plan().inputs.push_back(*pass.received);
    }
    recorder_.start_micro_batch(plan().inputs.back(), suffix);
    for (Value value = 1; value <= output(); ++value) {
      recorder_.forward(value);
    }
    if (is_last()) {
      record_loss(plan(), recorder_, {output(), inputs, pass.micro_batch, suffix}, options_);
    } else {
      pass.sent = recorder_.value(output());
    }
  }

  void record_backward(StagePass& pass) {
    if (!is_last() && awaits_gradient()) {
      pass.received =
          program().tensor(fmt::format("gradient of the result of micro-batch {}", pass.micro_batch),
                           plan().stored[output()].tensor.bytes(), Content::activation_gradient);
      recorder_.contribute(output(), *pass.received);
    }
    if (options_.recompute) {
      record_backward_by_segments(recorder_, plan().graph, output());
    } else {
      for (Value value = output(); value >= 1; --value) {
        recorder_.backward(value);
      }
    }
    if (hands_gradient_on()) {
      pass.sent = recorder_.total_input_gradient();
    }
  }

  void find_owners() {
    const std::vector<Value> layers = stage_layers(whole_.graph, own());
    for (const PlannedParameter& parameter : plan().parameters) {
      made_.owners.push_back(
          {whole_.graph.owner_of(layers.at(parameter.layer - 1), parameter.slot), parameter.slot});
    }
  }

  void record_shared_gradients() {
    std::map<ParameterOwner, std::vector<int>> holders;
    for (int stage = 0; stage < place_.stages; ++stage) {
      for (const ParameterOwner& owner :
           trained_owners(whole_.graph, stages_[static_cast<std::size_t>(stage)])) {
        holders[owner].push_back(stage);
      }
    }
    for (const auto& [owner, stages] : holders) {
      if (stages.size() > 1 && std::ranges::find(stages, place_.stage) != stages.end()) {
        record_shared_gradient(owner, stages);
      }
    }
  }

  void record_shared_gradient(const ParameterOwner& owner, const std::vector<int>& stages) {
    const auto at = std::ranges::find(made_.owners, owner);
    const std::string name = fmt::format("{} {}", whole_.graph[owner.layer].name, name_of(owner.slot));
    if (at == made_.owners.end()) {
      throw Unsupported(name + " is shared by several stages, one of which has no operation that reads it");
    }
    const PlannedParameter& parameter =
        plan().parameters[static_cast<std::size_t>(at - made_.owners.begin())];
    const SlotInfo& slot = *parameter.operation->find(parameter.slot);
    if (slot.bytes != 4 * slot.plain_count) {
      throw Unsupported(name + " is shared by several stages, which store it in different ways");
    }
    SharedGradient shared{.gradient = parameter.gradient, .stages = stages};
    if (place_.stage == stages.front()) {
      shared.received =
          program().tensor("another stage's gradient of " + name, slot.bytes, Content::parameter_gradient);
      const TensorDesc row{1, slot.plain_count, 1, 1, Layout::nhwc, Dtype::fp32};
      for (std::size_t other = 1; other < stages.size(); ++other) {
        shared.sums.push_back(program().instructions().size());
        recorder_.run(
            "gradient sum of stages " + name, Elementwise{.tensor = row, .summands = 2},
            {{Slot::src, shared.received}, {Slot::src1, shared.gradient}, {Slot::dst, shared.gradient}});
      }
    }
    made_.shared.push_back(std::move(shared));
  }

  const TrainOptions& options_;
  const StagePlace& place_;
  Device& device_;
  OperationCache cache_;
  ProgramPlan whole_;
  std::vector<Stage> stages_;
  StageTraining made_;
  Recorder recorder_;
};

}  // namespace

std::vector<Value> training_cut_places(const Graph& graph) {
  const Graph whole = with_attention(graph);
  return cut_places(first_layers(whole, logits_of(whole)));
}

StageTraining plan_stage_training(const Graph& graph, const Target& target, const TrainOptions& options,
                                  const StagePlace& place, Device& device) {
  StageTraining made = StageRecorder(graph, target, options, place, device).record();
  finish_plan(made.plan, device, ScratchPlace::apart);
  return made;
}

}  // namespace bench::kernels
