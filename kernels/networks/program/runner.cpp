#include "kernels/networks/program/runner.h"

#include <unordered_set>

#include "bench/host/interrupt.h"
#include "kernels/networks/graph/parameters.h"

namespace bench::kernels {
namespace {

constexpr std::byte kPoison{0xFF};  // all ones is a NaN in fp32, bf16 and fp16

}  // namespace

ProgramRunner::ProgramRunner(ProgramPlan plan, Device& device, std::uint64_t seed)
    : device_(device), plan_(std::move(plan)), seed_(seed), blocks_(plan_.program.blocks().size()) {
  allocate_blocks(true);
  {
    const MemoryReservation plain(device.memory(), MemoryCategory::workspace, plan_.largest_plain.bytes);
    init_parameters();
  }
  // After the parameters, whose plain copies are gone by now.
  allocate_blocks(false);
  arena_ = device.allocate(plan_.placement.arena_bytes, MemoryCategory::activations);
  scratch_ = device.allocate(plan_.placement.scratch_bytes, MemoryCategory::workspace);
  bind();
  for (const FurtherInput& further : plan_.further_inputs) {
    plan_.fill(further, seed_, device_, address(further.tensor));
  }
}

void ProgramRunner::allocate_blocks(bool first) {
  const auto& blocks = plan_.program.blocks();
  for (BlockId id = 0; id < blocks.size(); ++id) {
    if (plan_.allocated_first(blocks[id]) == first) {
      blocks_[id] = device_.allocate(blocks[id].bytes, blocks[id].category);
    }
  }
}

std::byte* ProgramRunner::address(TensorId id) const {
  const ProgramTensor& tensor = plan_.program.tensors()[id];
  if (tensor.block) {
    return blocks_[*tensor.block].data() + tensor.offset;
  }
  const bool apart = tensor.content == Content::scratch && !plan_.placement.scratch_in_arena;
  return (apart ? scratch_.data() : arena_.data()) + plan_.placement.offsets[id];
}

// One parameter at a time, and straight into its place where the device allows it: a copy of all of them on
// the host would count in the peak of what the system sees.
void ProgramRunner::init_parameters() {
  for (const ParameterGroup& group : plan_.groups) {
    // Gaps between parameters too: an optimizer goes through blocks as a whole.
    const std::int64_t bytes = plan_.program.blocks()[group.weights].bytes;
    if (plan_.training && bytes > 0) {
      device_.fill(block(group.weights), std::byte{0}, bytes);
    }
  }
  for (const auto* const parameters : {&plan_.parameters, &plan_.constants}) {
    for (const PlannedParameter& parameter : *parameters) {
      stop_if_interrupted("parameters were initialised");
      parameter.operation->prepare();
      init_parameter(plan_.graph, parameter.layer, parameter.slot, plan_.input_of(parameter),
                     plan_.target.dtype, seed_, *parameter.operation, device_, address(parameter.value));
    }
  }
}

// An operation remembers the addresses it ran on last: equal layers that shared one would make it bind again
// each time. Preparing one may compile for seconds.
void ProgramRunner::bind() {
  std::unordered_set<Operation*> taken;
  for (std::size_t index = 0; index < plan_.program.instructions().size(); ++index) {
    stop_if_interrupted("operations were prepared");
    Instruction& instruction = plan_.program.edit(index);
    if (!taken.insert(instruction.operation.get()).second) {
      instruction.operation = instruction.make_own();
    }
    instruction.operation->prepare();
    SlotPointers pointers;
    for (const auto& [slot, id] : instruction.tensors) {
      pointers[slot] = address(id);
    }
    bound_.emplace_back(instruction.operation.get(), pointers);
  }
}

void ProgramRunner::run(std::size_t begin, std::size_t end, bool updates) {
  for (std::size_t index = begin; index < end; ++index) {
    if (updates || !plan_.program.instructions()[index].updates) {
      bound_[index].first->run(bound_[index].second);
    }
  }
}

void ProgramRunner::set_input(std::span<const Sample> samples) {
  const auto batch = static_cast<std::size_t>(plan_.target.batch);
  std::vector<std::byte> stored(static_cast<std::size_t>(plan_.input.sample_bytes()));
  for (std::size_t distinct = 0; distinct < samples.size(); ++distinct) {
    plan_.input.store_sample(samples[distinct], stored.data());
    for (std::size_t sample = distinct; sample < batch * plan_.inputs.size(); sample += samples.size()) {
      plan_.input.upload_sample(static_cast<std::int64_t>(sample % batch), stored, device_,
                                address(plan_.inputs[sample / batch]));
    }
  }
}

void ProgramRunner::poison_output() {
  device_.fill(address(plan_.program.output().value()), kPoison, plan_.output().bytes());
}

std::vector<float> ProgramRunner::output() {
  device_.synchronize();
  const std::byte* const place = address(plan_.program.output().value());
  if (device_.host_accessible()) {  // the logits of every position of a batch are gigabytes
    return plan_.load_output(place);
  }
  std::vector<std::byte> stored(static_cast<std::size_t>(plan_.output().bytes()));
  device_.download(stored.data(), place, static_cast<std::int64_t>(stored.size()));
  return plan_.load_output(stored.data());
}

}  // namespace bench::kernels
