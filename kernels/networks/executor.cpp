#include "kernels/networks/executor.h"

#include <unordered_set>

#include "kernels/networks/draw.h"

namespace bench::kernels {
namespace {

constexpr std::byte kPoison{0xFF};  // all ones is a NaN in fp32, bf16 and fp16

MemoryCategory category_of(Region region) {
  switch (region) {
    case Region::weights:
      return MemoryCategory::weights;
    case Region::arena:
      return MemoryCategory::activations;
    case Region::input:
      return MemoryCategory::input;
    case Region::workspace:
      return MemoryCategory::workspace;
  }
  return MemoryCategory::other;
}

}  // namespace

Executor::Executor(NetworkPlan plan, Device& device, std::uint64_t seed)
    : device_(device), plan_(std::move(plan)) {
  const auto allocate = [this](Region region) {
    regions_[static_cast<std::size_t>(region)] = device_.allocate(plan_.bytes(region), category_of(region));
  };
  allocate(Region::weights);
  own_operations();
  {
    const MemoryReservation plain(device.memory(), MemoryCategory::workspace, plan_.largest_plain.bytes);
    pack_parameters(seed);
  }
  // After the parameters, whose plain copies are gone by now.
  allocate(Region::arena);
  allocate(Region::input);
  allocate(Region::workspace);
  bind();
}

// An operation remembers the addresses it ran on last: equal layers that shared one would make it bind anew
// each time.
void Executor::own_operations() {
  std::unordered_set<Operation*> taken;
  for (PlannedStep& step : plan_.steps) {
    if (!taken.insert(step.operation.get()).second) {
      OperationCache none;
      step.operation = lower(plan_.graph, step.layer, plan_.target, step.extra, device_, none);
    }
    step.operation->prepare();
  }
}

void Executor::pack_parameters(std::uint64_t seed) {
  // One layer at a time, and straight into its place where the device allows it: a copy of the parameters on
  // the host would count in the peak of what the system sees.
  for (const PlannedStep& step : plan_.steps) {
    std::size_t index = 0;
    for (const SlotInfo& slot : step.operation->slots()) {
      const Place& place = step.places[index++].second;
      if (slot.role != Role::parameter || plan_.graph.owner_of(step.layer, slot.slot) != step.layer) {
        continue;
      }
      draw_parameter(plan_.graph, step.layer, slot.slot, plan_.target, seed, *step.operation, device_,
                     address(place));
    }
  }
}

void Executor::bind() {
  for (const PlannedStep& step : plan_.steps) {
    SlotPointers pointers;
    for (const auto& [slot, place] : step.places) {
      pointers[slot] = address(place);
    }
    bound_.emplace_back(step.operation.get(), pointers);
  }
}

void Executor::set_input(std::span<const Sample> samples) {
  const std::int64_t bytes = plan_.input.sample_bytes();
  std::vector<std::byte> stored(static_cast<std::size_t>(bytes));
  for (std::size_t distinct = 0; distinct < samples.size(); ++distinct) {
    plan_.input.store_sample(samples[distinct], stored.data());
    for (auto sample = static_cast<std::int64_t>(distinct); sample < plan_.target.batch;
         sample += static_cast<std::int64_t>(samples.size())) {
      device_.upload(region(Region::input) + sample * bytes, stored.data(), bytes);
    }
  }
}

void Executor::run() {
  for (const auto& [operation, pointers] : bound_) {
    operation->run(pointers);
  }
}

void Executor::poison_output() {
  device_.fill(address(plan_.output_place), kPoison, plan_.output.bytes());
}

std::vector<float> Executor::output() {
  device_.synchronize();
  std::vector<float> values(static_cast<std::size_t>(plan_.output.elements()));
  if (device_.host_accessible()) {  // the logits of every position of a batch are gigabytes
    load(plan_.output, address(plan_.output_place), values);
    return values;
  }
  std::vector<std::byte> stored(static_cast<std::size_t>(plan_.output.bytes()));
  device_.download(stored.data(), address(plan_.output_place), plan_.output.bytes());
  load(plan_.output, stored.data(), values);
  return values;
}

}  // namespace bench::kernels
