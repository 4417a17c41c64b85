#include "kernels/networks/oracle.h"

#include <memory>
#include <stdexcept>

#include "bench/device.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/run/interrupt.h"
#include "kernels/networks/lower.h"
#include "kernels/networks/parameters.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// A device of its own, so that the oracle's memory is not counted as the measured network's.
std::unique_ptr<Device> open_cpu() {
  const DeviceKind* cpu = registry<DeviceKind>().find("cpu");
  if (cpu == nullptr) {
    throw Unsupported("answers are checked on the CPU device, which this program was built without");
  }
  return cpu->open("cpu");
}

class Oracle {
 public:
  Oracle(const Graph& graph, std::int64_t batch, std::uint64_t seed)
      : device_(open_cpu()),
        graph_(graph),
        seed_(seed),
        target_{.batch = batch,
                .dtype = Dtype::fp32,
                .layouts = {Layout::nchw, Layout::nchw},
                .implementation = "reference"},
        readers_(graph.reader_counts()),
        activations_(graph.layers().size()) {}

  std::vector<float> run(std::span<const Sample> samples) {
    const InputBatch input = input_of(graph_, target_);
    activations_[0] = device_->allocate(input.bytes(), MemoryCategory::activations);
    std::vector<std::byte> stored_sample(static_cast<std::size_t>(input.sample_bytes()));
    std::int64_t at = 0;
    for (const Sample& sample : samples) {
      input.store_sample(sample, stored_sample.data());
      device_->upload(activations_[0].data() + at, stored_sample.data(), input.sample_bytes());
      at += input.sample_bytes();
    }
    for (Value value = 1; value < graph_.layers().size(); ++value) {
      if (interrupted()) {  // a large network takes seconds
        throw std::runtime_error("interrupted while the reference answer was computed");
      }
      compute(value);
    }
    const TensorDesc output = output_of(graph_, target_);
    std::vector<float> values(static_cast<std::size_t>(output.elements()));
    std::vector<std::byte> stored(static_cast<std::size_t>(output.bytes()));
    device_->download(stored.data(), activations_[graph_.output()].data(), output.bytes());
    load(output, stored.data(), values);
    return values;
  }

 private:
  void compute(Value value) {
    OperationCache cache;
    const auto operation = lower(graph_, value, target_, {}, *device_, cache);
    const Layer& layer = graph_[value];
    if (operation == nullptr) {  // flatten: the same values in the same order
      activations_[value] = std::move(activations_[layer.inputs[0]]);
      return;
    }
    operation->prepare();
    SlotPointers pointers;
    std::vector<Buffer> parameters;
    for (const SlotInfo& slot : operation->slots()) {
      if (slot.role == Role::parameter) {
        const auto plain = plain_parameter(graph_, value, slot.slot, seed_);
        parameters.push_back(device_->allocate(slot.bytes, MemoryCategory::weights));
        operation->pack(slot.slot, plain, parameters.back().data());  // a CPU's memory is the host's
        pointers[slot.slot] = parameters.back().data();
      } else if (slot.role == Role::scratch) {
        parameters.push_back(device_->allocate(slot.bytes, MemoryCategory::workspace));
        pointers[slot.slot] = parameters.back().data();
      }
    }
    activations_[value] =
        device_->allocate(tensor_of(graph_, value, target_).bytes(), MemoryCategory::activations);
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      pointers[kSources.at(i)] = activations_[layer.inputs[i]].data();
    }
    pointers[Slot::dst] = activations_[value].data();
    operation->run(pointers);
    device_->synchronize();
    for (const Value input : layer.inputs) {
      if (--readers_[input] == 0) {
        activations_[input].reset();
      }
    }
  }

  std::unique_ptr<Device> device_;  // outlives the buffers
  const Graph& graph_;
  std::uint64_t seed_;
  Target target_;
  std::vector<int> readers_;
  std::vector<Buffer> activations_;
};

}  // namespace

std::vector<std::vector<float>> reference_outputs(const Graph& graph, std::span<const Sample> samples,
                                                  std::uint64_t seed) {
  const auto batch = static_cast<std::int64_t>(samples.size());
  const std::vector<float> answers = Oracle(graph, batch, seed).run(samples);
  std::vector<std::vector<float>> rows;
  const std::int64_t columns = static_cast<std::int64_t>(answers.size()) / batch;
  for (std::int64_t row = 0; row < batch; ++row) {
    rows.emplace_back(answers.begin() + row * columns, answers.begin() + (row + 1) * columns);
  }
  return rows;
}

}  // namespace bench::kernels
