#include "planned_record.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

std::string text_of(const MemoryByCategory& bytes) {
  std::string text;
  for (const MemoryCategory category : kMemoryCategories) {
    if (bytes[category] > 0) {
      text += fmt::format(" {} {}", name_of(category), bytes[category]);
    }
  }
  return text;
}

TensorId tensor_of(const Instruction& instruction, Slot slot) {
  const auto at =
      std::ranges::find(instruction.tensors, slot, [](const auto& slot_and_id) { return slot_and_id.first; });
  return at->second;
}

class Writer {
 public:
  void start(const std::string& name, const Operation& operation) {
    record_.operations += fmt::format("\n{} | {}", name, operation.algorithm());
    record_.offsets += fmt::format("\n{}", name);
    ++record_.instructions;
  }
  void slot(const SlotInfo& slot, const std::string& block, std::int64_t offset) {
    if (slot.bytes == 0) {
      return;
    }
    const TensorDesc& t = slot.tensor;
    record_.operations += fmt::format(" | {} {} B {}x{}x{}x{} {} {}", name_of(slot.slot), slot.bytes, t.n,
                                      t.c, t.h, t.w, name_of(t.layout), name_of(t.dtype));
    record_.offsets += fmt::format(" | {} {}+{}", name_of(slot.slot), block, offset);
  }
  PlannedRecord finish(const MemoryPlan& memory, const std::vector<MemoryMoment>& moments) && {
    record_.memory = fmt::format("peak {} at {}:{} | setup {} | step {}:{} | library {}", memory.peak,
                                 memory.peak_at, text_of(memory.at_peak), memory.setup_peak,
                                 memory.in_step.total(), text_of(memory.in_step), memory.library);
    for (const MemoryMoment& moment : moments) {
      record_.moments += fmt::format("\n{}:{}", moment.name, text_of(moment.bytes));
    }
    return std::move(record_);
  }

 private:
  PlannedRecord record_;
};

PlannedRecord record_of(const ProgramPlan& plan) {
  const Program& program = plan.program;
  std::vector<std::string> blocks;
  std::map<MemoryCategory, int> seen;
  for (const ProgramBlock& block : program.blocks()) {
    blocks.push_back(fmt::format("{}{}", name_of(block.category), seen[block.category]++));
  }
  Writer writer;
  for (const Instruction& instruction : program.instructions()) {
    writer.start(instruction.name, *instruction.operation);
    // By slot: the order in which an implementation names them says nothing of the plan.
    std::vector<SlotInfo> slots(instruction.operation->slots().begin(), instruction.operation->slots().end());
    std::ranges::sort(slots, {}, &SlotInfo::slot);
    for (const SlotInfo& slot : slots) {
      const TensorId id = tensor_of(instruction, slot.slot);
      const ProgramTensor& tensor = program.tensors()[id];
      const bool apart = tensor.content == Content::scratch && !plan.placement.scratch_in_arena;
      writer.slot(slot,
                  tensor.block ? blocks[*tensor.block]
                  : apart      ? "scratch"
                               : "arena",
                  tensor.block ? tensor.offset : plan.placement.offsets[id]);
    }
  }
  return std::move(writer).finish(plan.memory(), plan.timeline());
}

}  // namespace

PlannedRecord planned_record(const NetworkType& network, const WorkloadSpec& spec, Device& device) {
  return record_of(spec.mode == "train" ? plan_training(network, spec, device)
                                        : plan_inference(network, spec, device));
}

}  // namespace bench::kernels
