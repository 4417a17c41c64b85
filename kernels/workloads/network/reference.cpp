#include "kernels/workloads/network/reference.h"

#include <algorithm>
#include <memory>

#include "bench/device.h"
#include "bench/host/interrupt.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {
namespace {

// One pass over the plain graph.
class Reference {
 public:
  Reference(const Graph& graph, std::int64_t batch, std::uint64_t seed)
      : device_(open_reference_device()),
        seed_(seed),
        plan_(graph, {.batch = batch,
                      .dtype = Dtype::fp32,
                      .layouts = {Layout::nchw, Layout::nchw},
                      .implementation = "reference"}) {
    OperationCache cache;
    record_forward(plan_, *device_, cache);
    memory_.resize(plan_.program.tensors().size());
  }

  std::vector<float> run(std::span<const Sample> samples) {
    upload(samples);
    const Program& program = plan_.program;
    const std::vector<std::size_t> last_touched = program.last_touched();
    for (std::size_t index = 0; index < program.instructions().size(); ++index) {
      stop_if_interrupted("the reference answer was computed");  // a large network takes seconds
      const Instruction& instruction = program.instructions()[index];
      compute(instruction);
      for (const auto& [slot, id] : instruction.tensors) {
        if (last_touched[id] == index && id != program.output()) {
          memory_[id].reset();
        }
      }
    }
    return plan_.load_output(memory_[program.output().value()].data());  // a CPU's memory is the host's
  }

 private:
  void upload(std::span<const Sample> samples) {
    Buffer& input = memory_[plan_.inputs.front()];
    input = device_->allocate(plan_.input.bytes(), MemoryCategory::activations);
    std::vector<std::byte> stored(static_cast<std::size_t>(plan_.input.sample_bytes()));
    std::int64_t index = 0;
    for (const Sample& sample : samples) {
      plan_.input.store_sample(sample, stored.data());
      plan_.input.upload_sample(index++, stored, *device_, input.data());
    }
    for (const FurtherInput& further : plan_.further_inputs) {
      Buffer& memory = memory_[further.tensor];
      memory = device_->allocate(plan_.program.tensors()[further.tensor].bytes, MemoryCategory::activations);
      plan_.fill(further, seed_, *device_, memory.data());
    }
  }

  // The layer's parameters and scratch live as long as it runs; one that two layers share is made twice.
  void compute(const Instruction& instruction) {
    instruction.operation->prepare();
    SlotPointers pointers;
    std::vector<Buffer> own;
    for (const auto& [slot, id] : instruction.tensors) {
      const SlotInfo& info = *instruction.operation->find(slot);
      Buffer* memory = &memory_[id];
      if (info.role == Role::parameter || info.role == Role::scratch) {
        own.push_back(device_->allocate(info.bytes, MemoryCategory::weights));
        memory = &own.back();
      } else if (memory->data() == nullptr) {
        *memory = device_->allocate(plan_.program.tensors()[id].bytes, MemoryCategory::activations);
      }
      if (info.role == Role::parameter) {
        const auto parameter = std::ranges::find(plan_.parameters, id, &PlannedParameter::value);
        const auto plain = plain_parameter(plan_.graph, parameter->layer, slot, seed_);
        instruction.operation->pack(slot, plain, memory->data());
      }
      pointers[slot] = memory->data();
    }
    instruction.operation->run(pointers);
    device_->synchronize();
  }

  std::unique_ptr<Device> device_;  // outlives the buffers
  std::uint64_t seed_;
  ProgramPlan plan_;
  std::vector<Buffer> memory_;  // by tensor
};

}  // namespace

std::vector<std::vector<float>> reference_outputs(const Graph& graph, std::span<const Sample> samples,
                                                  std::uint64_t seed) {
  const auto batch = static_cast<std::int64_t>(samples.size());
  const std::vector<float> answers = Reference(graph, batch, seed).run(samples);
  std::vector<std::vector<float>> rows;
  const std::int64_t columns = static_cast<std::int64_t>(answers.size()) / batch;
  for (std::int64_t row = 0; row < batch; ++row) {
    rows.emplace_back(answers.begin() + row * columns, answers.begin() + (row + 1) * columns);
  }
  return rows;
}

}  // namespace bench::kernels
