#include "kernels/networks/program/plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace bench::kernels {
namespace {

std::vector<StoredValue> stored_values(const Graph& graph, const Target& target) {
  std::vector<StoredValue> stored;
  stored.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    if (node.layer == nullptr) {
      StoredValue input{.tensor = stored_as(node.shape, target, target.layouts.image), .as_input = true};
      if (graph.tokens()) {  // ids take the four bytes of an fp32 each
        input.tensor.dtype = Dtype::fp32;
      }
      stored.push_back(input);
      continue;
    }
    std::vector<StoredValue> inputs;
    for (const Graph::Value input : node.inputs) {
      inputs.push_back(as_read(*node.layer, inputs.size(), graph[input].shape, stored[input], target));
    }
    stored.push_back(node.layer->stored(node.shape, inputs, target));
  }
  return stored;
}

Work work_of_inference(const ProgramPlan& plan) {
  Work work;
  for (const Instruction& instruction : plan.program.instructions()) {
    for (const SlotInfo& slot : instruction.operation->slots()) {
      if (slot.role == Role::input || slot.role == Role::output) {
        work.sample_bytes += static_cast<double>(slot.bytes);
      } else if (slot.role == Role::parameter && slot.looked_up > 0) {
        work.sample_bytes += static_cast<double>(slot.looked_up);
      } else if (slot.role == Role::parameter) {
        work.fixed_bytes += static_cast<double>(slot.bytes);
      }
    }
  }
  return work;
}

// Weights, gradients and states are each gone through once.
Work work_of_training(const ProgramPlan& plan) {
  Work work;
  work.fixed_bytes = static_cast<double>(plan.block_bytes().fixed_part());
  for (const Instruction& instruction : plan.program.instructions()) {
    for (const auto& [slot, id] : instruction.tensors) {
      const ProgramTensor& tensor = plan.program.tensors()[id];
      const bool of_samples =
          tensor.content == Content::activation || tensor.content == Content::activation_gradient;
      work.sample_bytes += of_samples ? static_cast<double>(tensor.bytes) : 0;
    }
  }
  return work;
}

}  // namespace

ProgramPlan::ProgramPlan(Graph network, Target wanted)
    : graph(std::move(network)),
      target(std::move(wanted)),
      stored(stored_values(graph, target)),
      input(graph, graph.image(), stored.front().tensor, target.batch) {}

void ProgramPlan::fill(const FurtherInput& further, std::uint64_t seed, Device& device,
                       std::byte* place) const {
  const InputBatch batch(graph, further.layer, stored[further.layer].tensor, target.batch);
  Sample sample(static_cast<std::size_t>(graph[further.layer].shape.elements()));
  fill_random(sample, seed, stream_of(graph[further.layer].name, "input"));
  std::vector<std::byte> bytes(static_cast<std::size_t>(batch.sample_bytes()));
  batch.store_sample(sample, bytes.data());
  for (std::int64_t index = 0; index < target.batch; ++index) {
    batch.upload_sample(index, bytes, device, place);
  }
}

TensorDesc ProgramPlan::output() const {
  const TensorDesc& last = stored.at(graph.output()).tensor;
  const bool rows = graph[graph.output()].shape.rank() < 4;
  return rows ? TensorDesc{last.n * last.h, last.c, 1, 1, Layout::nhwc, last.dtype} : last;
}

std::vector<float> ProgramPlan::load_output(const std::byte* bytes) const {
  const TensorDesc result = output();
  std::vector<float> values(static_cast<std::size_t>(result.elements()));
  load(result, bytes, values);
  const std::int64_t pieces = graph[graph.output()].shape.pieces_of_sample();
  if (pieces == 1) {
    return values;
  }
  const std::int64_t piece = result.elements() / target.batch / pieces;
  std::vector<float> samples;
  samples.reserve(values.size());
  for (std::int64_t sample = 0; sample < target.batch; ++sample) {
    for (std::int64_t part = 0; part < pieces; ++part) {
      const auto from = values.begin() + (part * target.batch + sample) * piece;
      samples.insert(samples.end(), from, from + piece);
    }
  }
  return samples;
}

MemoryByCategory ProgramPlan::block_bytes(bool allocated_first_only) const {
  MemoryByCategory bytes;
  for (const ProgramBlock& block : program.blocks()) {
    bytes[block.category] += allocated_first(block) || !allocated_first_only ? block.bytes : 0;
  }
  return bytes;
}

MemoryPlan ProgramPlan::memory() const {
  MemoryByCategory setup = block_bytes(true);
  setup[MemoryCategory::workspace] += largest_plain.bytes;
  MemoryByCategory running = block_bytes();
  running[MemoryCategory::activations] += placement.arena_bytes;
  running[MemoryCategory::workspace] += placement.scratch_bytes;

  MemoryPlan memory;
  memory.library = library_bytes;
  memory.setup_peak = setup.total();
  memory.in_step = running;
  memory.peak = std::max(memory.setup_peak, running.total());
  if (running.total() <= memory.setup_peak) {
    memory.at_peak = setup;
    memory.peak_at = fmt::format("packing {}", largest_plain.name);
    return memory;
  }
  memory.at_peak = running;
  const auto most = std::ranges::max_element(placement.live, {}, &LiveBytes::total);
  if (most != placement.live.end()) {
    memory.peak_at = program.instructions().at(static_cast<std::size_t>(most - placement.live.begin())).name;
  }
  return memory;
}

std::vector<MemoryMoment> ProgramPlan::timeline() const {
  const MemoryByCategory blocks = block_bytes();
  std::vector<MemoryMoment> moments;
  for (std::size_t index = 0; index < program.instructions().size(); ++index) {
    const LiveBytes& live = placement.live[index];
    MemoryMoment moment{program.instructions()[index].name, blocks};
    moment.bytes[MemoryCategory::activations] += live.activations;
    moment.bytes[MemoryCategory::gradients] += live.parameter_gradients;
    moment.bytes[MemoryCategory::workspace] += live.scratch;
    moments.push_back(std::move(moment));
  }
  return moments;
}

Work ProgramPlan::work() const {
  Work work = training ? work_of_training(*this) : work_of_inference(*this);
  work.samples = static_cast<double>(target.batch) * static_cast<double>(inputs.size());
  work.launches = static_cast<std::int64_t>(program.instructions().size());
  for (const Instruction& instruction : program.instructions()) {
    work.flops += instruction.operation->flops();
  }
  return work;
}

Algorithms ProgramPlan::algorithms() const {
  Algorithms algorithms;
  for (const Instruction& instruction : program.instructions()) {
    ++algorithms[instruction.operation->algorithm()];
  }
  return algorithms;
}

void finish_plan(ProgramPlan& plan, const Device& device, ScratchPlace scratch) {
  plan.placement = place(plan.program, scratch);
  if (!device.host_accessible()) {
    return;
  }
  plan.library_bytes = compiled_code_bytes(plan.program.instructions().size());
  for (const auto* const parameters : {&plan.parameters, &plan.constants}) {
    for (const PlannedParameter& parameter : *parameters) {
      PlainParameter plain =
          plain_while_initialised(plan.graph, parameter.layer, *parameter.operation->find(parameter.slot));
      if (plain.bytes > plan.largest_plain.bytes) {
        plan.largest_plain = std::move(plain);
      }
    }
  }
}

}  // namespace bench::kernels
