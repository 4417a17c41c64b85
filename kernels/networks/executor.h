// A planned network on a device: everything allocated, parameters packed and in place, pointers bound.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "kernels/networks/plan.h"
#include "kernels/operation.h"

namespace bench::kernels {

class Executor {
 public:
  // Allocates the plan's regions and fills the weights. Throws OutOfMemory.
  Executor(NetworkPlan plan, Device& device, std::uint64_t seed);

  const NetworkPlan& plan() const { return plan_; }

  // Sample i becomes samples[i mod samples.size()].
  void set_input(std::span<const Sample> samples);
  // Queues one pass over the input.
  void run();
  // Overwrites the output with bytes that read as NaN in every dtype.
  void poison_output();
  // The output as fp32, sample after sample in NCHW order; of a sequence, position after position.
  std::vector<float> output();

  // Where a region lies; for looking inside, and for tests that damage it.
  std::byte* region(Region region) const { return regions_[static_cast<std::size_t>(region)].data(); }

 private:
  void own_operations();
  void pack_parameters(std::uint64_t seed);
  void bind();
  std::byte* address(const Place& place) const { return region(place.region) + place.offset; }

  Device& device_;
  NetworkPlan plan_;
  std::array<Buffer, kRegions> regions_;
  std::vector<std::pair<Operation*, SlotPointers>> bound_;
};

}  // namespace bench::kernels
