#include "kernels/networks/train/program.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/networks/arena.h"

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

void Program::run(Instruction instruction, std::optional<std::pair<TensorId, TensorId>> result_over) {
  const std::string& name = instruction.name;
  auto& tensors = instruction.tensors;
  for (const SlotInfo& slot : instruction.operation->slots()) {
    if (slot.role == Role::scratch) {
      tensors.emplace_back(slot.slot, tensor("scratch of " + name, slot.bytes, Content::scratch));
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
  instructions_.push_back(std::move(instruction));
  overwrites_.push_back(in_place_ ? result_over : std::nullopt);
}

void Program::interleave(std::size_t first, const std::vector<std::size_t>& behind) {
  if (instructions_.size() != first + behind.size() || !std::ranges::is_sorted(behind) ||
      (!behind.empty() && behind.back() >= first)) {
    throw std::logic_error("instructions to be moved forward need one earlier place each, in order");
  }
  std::vector<Instruction> instructions;
  decltype(overwrites_) overwrites;
  instructions.reserve(instructions_.size());
  overwrites.reserve(overwrites_.size());
  const auto take = [&](std::size_t index) {
    instructions.push_back(std::move(instructions_[index]));
    overwrites.push_back(overwrites_[index]);
  };
  std::size_t moved = 0;
  for (std::size_t index = 0; index < first; ++index) {
    take(index);
    for (; moved < behind.size() && behind[moved] == index; ++moved) {
      take(first + moved);
    }
  }
  instructions_ = std::move(instructions);
  overwrites_ = std::move(overwrites);
}

namespace {

constexpr std::array kTransient{Content::activation, Content::activation_gradient,
                                Content::parameter_gradient, Content::statistic};

class Placer {
 public:
  explicit Placer(const Program& program)
      : program_(program), home_(program.tensors().size()), lifetimes_(program.tensors().size()) {}

  Placement run() && {
    find_lifetimes();
    share_memory();
    pack();
    find_peak();
    return std::move(placement_);
  }

 private:
  bool in_arena(TensorId id) const {
    const ProgramTensor& tensor = program_.tensors()[id];
    return !tensor.block && tensor.content != Content::scratch;
  }

  void find_lifetimes() {
    std::vector<bool> seen(home_.size(), false);
    for (TensorId id = 0; id < home_.size(); ++id) {
      home_[id] = id;
      lifetimes_[id].bytes = program_.tensors()[id].bytes;
    }
    std::int64_t step = 0;
    for (const Instruction& instruction : program_.instructions()) {
      for (const auto& [slot, id] : instruction.tensors) {
        if (!seen[id]) {
          lifetimes_[id].first = step;
          seen[id] = true;
        }
        lifetimes_[id].last = step;
      }
      ++step;
    }
  }

  void share_memory() {
    std::int64_t step = 0;
    for (const auto& pair : program_.overwrites()) {
      if (pair && in_arena(pair->first) && in_arena(pair->second)) {
        const TensorId result = pair->first;
        const TensorId input = home_[pair->second];
        const bool dies = lifetimes_[input].last == step;
        if (dies && lifetimes_[result].first == step &&
            program_.tensors()[result].bytes <= lifetimes_[input].bytes) {
          home_[result] = input;
          lifetimes_[input].last = lifetimes_[result].last;
        }
      }
      ++step;
    }
  }

  void pack() {
    std::vector<TensorId> placed;
    std::vector<Lifetime> lifetimes;
    for (TensorId id = 0; id < home_.size(); ++id) {
      if (home_[id] == id && in_arena(id)) {
        placed.push_back(id);
        lifetimes.push_back(lifetimes_[id]);
      }
      if (program_.tensors()[id].content == Content::scratch) {
        placement_.scratch_bytes = std::max(placement_.scratch_bytes, aligned(program_.tensors()[id].bytes));
      }
    }
    const Packing packing = pack_arena(lifetimes);
    placement_.arena_bytes = packing.bytes;
    placement_.offsets.assign(home_.size(), 0);
    for (std::size_t i = 0; i < placed.size(); ++i) {
      placement_.offsets[placed[i]] = packing.offsets[i];
    }
    for (TensorId id = 0; id < home_.size(); ++id) {
      placement_.offsets[id] = placement_.offsets[home_[id]];
    }
  }

  // A tensor that took over another's memory counts as that one until it is written.
  void find_peak() {
    const std::size_t steps = program_.instructions().size();
    std::vector<LiveBytes> change(steps + 1);
    for (TensorId id = 0; id < home_.size(); ++id) {
      if (home_[id] == id && in_arena(id)) {
        const std::int64_t bytes = aligned(lifetimes_[id].bytes);
        const bool gradient = program_.tensors()[id].content == Content::parameter_gradient;
        const auto of = gradient ? &LiveBytes::parameter_gradients : &LiveBytes::activations;
        change[static_cast<std::size_t>(lifetimes_[id].first)].*of += bytes;
        change[static_cast<std::size_t>(lifetimes_[id].last) + 1].*of -= bytes;
      }
    }
    LiveBytes live;
    std::int64_t most = -1;
    for (std::size_t step = 0; step < steps; ++step) {
      live.activations += change[step].activations;
      live.parameter_gradients += change[step].parameter_gradients;
      live.scratch = scratch_of(step);
      placement_.live.push_back(live);
      if (live.activations + live.parameter_gradients > most) {
        most = live.activations + live.parameter_gradients;
        placement_.peak_instruction = step;
      }
    }
    for (const Content content : kTransient) {
      placement_.at_peak.emplace_back(content, live_bytes(content));
    }
  }

  std::int64_t scratch_of(std::size_t step) const {
    std::int64_t bytes = 0;
    for (const auto& [slot, id] : program_.instructions()[step].tensors) {
      const ProgramTensor& tensor = program_.tensors()[id];
      bytes += tensor.content == Content::scratch ? aligned(tensor.bytes) : 0;
    }
    return bytes;
  }

  std::int64_t live_bytes(Content content) const {
    const auto now = static_cast<std::int64_t>(placement_.peak_instruction);
    std::int64_t bytes = 0;
    for (TensorId id = 0; id < home_.size(); ++id) {
      if (home_[id] == id && in_arena(id) && program_.tensors()[id].content == content &&
          lifetimes_[id].first <= now && now <= lifetimes_[id].last) {
        bytes += aligned(lifetimes_[id].bytes);
      }
    }
    return bytes;
  }

  const Program& program_;
  std::vector<TensorId> home_;  // the tensor whose memory this one uses: itself, or one it overwrites
  std::vector<Lifetime> lifetimes_;
  Placement placement_;
};

}  // namespace

Placement place(const Program& program) {
  return Placer(program).run();
}

}  // namespace bench::kernels
