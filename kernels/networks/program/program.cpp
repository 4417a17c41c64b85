#include "kernels/networks/program/program.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace bench::kernels {

BlockId Program::block(std::string name, MemoryCategory category) {
  blocks_.push_back({.name = std::move(name), .category = category});
  return blocks_.size() - 1;
}

TensorId Program::keep(BlockId block, std::string name, std::int64_t bytes) {
  ProgramBlock& home = blocks_.at(block);
  tensors_.push_back({.name = std::move(name),
                      .bytes = bytes,
                      .content = Content::kept,
                      .block = block,
                      .offset = home.bytes});
  home.bytes += aligned(bytes);
  return tensors_.size() - 1;
}

TensorId Program::whole(BlockId block) {
  return part(block, 0, blocks_.at(block).bytes);
}

TensorId Program::part(BlockId block, std::int64_t offset, std::int64_t bytes) {
  tensors_.push_back({.name = blocks_.at(block).name,
                      .bytes = bytes,
                      .content = Content::kept,
                      .block = block,
                      .offset = offset});
  return tensors_.size() - 1;
}

TensorId Program::tensor(std::string name, std::int64_t bytes, Content content) {
  tensors_.push_back({.name = std::move(name), .bytes = bytes, .content = content});
  return tensors_.size() - 1;
}

void Program::run(Instruction instruction) {
  complete(instruction);
  instructions_.push_back(std::move(instruction));
}

void Program::replace(std::size_t first, std::size_t count, Instruction instruction) {
  complete(instruction);
  const auto begin = instructions_.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<Instruction> replaced(std::make_move_iterator(begin),
                                    std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(count)));
  *begin = std::move(instruction);
  instructions_.erase(begin + 1, begin + static_cast<std::ptrdiff_t>(count));
  std::vector<bool> touched(tensors_.size(), false);
  for (const Instruction& each : instructions_) {
    for (const auto& [slot, id] : each.tensors) {
      touched[id] = true;
    }
  }
  for (const Instruction& each : replaced) {
    for (const auto& [slot, id] : each.tensors) {
      tensors_[id].bytes = touched[id] || tensors_[id].block ? tensors_[id].bytes : 0;
    }
  }
}

void Program::complete(Instruction& instruction) {
  const std::string& name = instruction.name;
  auto& tensors = instruction.tensors;
  for (const SlotInfo& slot : instruction.operation->slots()) {
    if (slot.role == Role::scratch) {
      tensors.emplace_back(slot.slot, tensor("scratch of " + name, slot.bytes, Content::scratch));
      tensors_.back().alignment = std::max(slot.alignment, kSlotAlignment);
      continue;
    }
    const auto given =
        std::ranges::find(tensors, slot.slot, [](const auto& slot_and_id) { return slot_and_id.first; });
    if (given == tensors.end()) {
      throw std::logic_error(fmt::format("{}: nothing was given for {}", name, name_of(slot.slot)));
    }
    if (tensors_.at(given->second).bytes < slot.bytes) {
      throw std::logic_error(fmt::format("{}: {} takes {} B, {} has {} B", name, name_of(slot.slot),
                                         slot.bytes, tensors_[given->second].name,
                                         tensors_[given->second].bytes));
    }
  }
  if (!in_place_) {
    instruction.in_place.over.clear();
  }
}

void Program::interleave(std::size_t first, const std::vector<std::size_t>& behind) {
  if (instructions_.size() != first + behind.size() || !std::ranges::is_sorted(behind) ||
      (!behind.empty() && behind.back() >= first)) {
    throw std::logic_error("instructions to be moved forward need one earlier place each, in order");
  }
  std::vector<Instruction> instructions;
  instructions.reserve(instructions_.size());
  std::size_t moved = 0;
  for (std::size_t index = 0; index < first; ++index) {
    instructions.push_back(std::move(instructions_[index]));
    for (; moved < behind.size() && behind[moved] == index; ++moved) {
      instructions.push_back(std::move(instructions_[first + moved]));
    }
  }
  instructions_ = std::move(instructions);
}

std::vector<std::size_t> Program::last_touched() const {
  std::vector<std::size_t> last(tensors_.size(), 0);
  for (std::size_t index = 0; index < instructions_.size(); ++index) {
    for (const auto& [slot, id] : instructions_[index].tensors) {
      last[id] = index;
    }
  }
  return last;
}

}  // namespace bench::kernels
