// What a network's plan takes: memory at its peak and over a step, and the work of one.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/arena.h"
#include "kernels/networks/plan.h"

namespace bench::kernels {

MemoryPlan NetworkPlan::memory() const {
  MemoryByCategory setup;
  setup[MemoryCategory::weights] = bytes(Region::weights);
  MemoryByCategory running = setup;
  setup[MemoryCategory::workspace] = largest_plain.bytes;
  running[MemoryCategory::activations] = bytes(Region::arena);
  running[MemoryCategory::input] = bytes(Region::input);
  running[MemoryCategory::workspace] = bytes(Region::workspace);

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
  const std::vector<MemoryMoment> moments = timeline();
  const auto most =
      std::ranges::max_element(moments, {}, [](const MemoryMoment& moment) { return moment.bytes.total(); });
  memory.peak_at = most == moments.end() ? "" : most->name;
  return memory;
}

std::vector<MemoryMoment> NetworkPlan::timeline() const {
  std::vector<MemoryMoment> moments;
  for (const PlannedStep& step : steps) {
    MemoryMoment moment{fmt::format("forward {}", graph[step.layer].name), {}};
    moment.bytes[MemoryCategory::weights] = bytes(Region::weights);
    moment.bytes[MemoryCategory::input] = bytes(Region::input);
    moment.bytes[MemoryCategory::activations] = step.live_activations;
    const SlotInfo* const scratch = step.operation->find(Slot::workspace);
    moment.bytes[MemoryCategory::workspace] = scratch == nullptr ? 0 : aligned(scratch->bytes);
    moments.push_back(std::move(moment));
  }
  return moments;
}

Work NetworkPlan::work() const {
  Work work;
  work.samples = static_cast<double>(target.batch);
  work.launches = static_cast<std::int64_t>(steps.size());
  for (const PlannedStep& step : steps) {
    work.flops += step.operation->flops();
    for (const SlotInfo& slot : step.operation->slots()) {
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

}  // namespace bench::kernels
