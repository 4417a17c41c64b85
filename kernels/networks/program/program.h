// A step of a network as a list of operations on named tensors, before anything is allocated.
//
// A tensor that lives within the step is written by one instruction and then only read. So the last reader,
// wherever in the forward or backward pass it is, says how long its memory is needed, and whether an
// instruction may write its result over an input. Tensors that outlive the step (parameters, their gradients,
// the optimizer's state, the batch) lie in blocks, one after the other, so that an optimizer goes through a
// block in a single pass.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/memory.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

constexpr std::int64_t aligned(std::int64_t bytes, std::int64_t alignment = kSlotAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

using TensorId = std::size_t;
using BlockId = std::size_t;

// Contents of a tensor of the step, for reports on memory.
enum class Content { activation, activation_gradient, parameter_gradient, statistic, scratch, kept };

struct ProgramTensor {
  std::string name;        // "layer1.0.conv1", "gradient of layer1.0.conv1"
  std::int64_t bytes = 0;  // at least 1, or 0 where no instruction touches it any more
  Content content = Content::activation;
  std::optional<BlockId> block{};  // of a tensor that outlives the step
  std::int64_t offset = 0;         // bytes, in its block
  std::int64_t alignment = kSlotAlignment;
};

struct ProgramBlock {
  std::string name;
  MemoryCategory category = MemoryCategory::other;
  std::int64_t bytes = 0;
};

// A result that may take the memory of an input where nothing reads that input later: of the first such one.
struct InPlace {
  TensorId result = 0;
  std::vector<TensorId> over{};
};

using Arguments = std::vector<std::pair<Slot, TensorId>>;

struct Instruction {
  std::string name;  // "forward layer1.0.conv1"
  std::shared_ptr<Operation> operation;
  // Makes the same again: an operation that several instructions shared would bind its addresses at every
  // run.
  std::function<std::shared_ptr<Operation>()> make_own{};
  Arguments tensors;  // one for each slot of the operation
  InPlace in_place{};
  bool updates = false;               // parameters; left out where only their gradients are wanted
  std::vector<std::size_t> layers{};  // the nodes of the graph that it is part of
};

class Program {
 public:
  BlockId block(std::string name, MemoryCategory category);
  // At the end of a block; 64-byte aligned.
  TensorId keep(BlockId block, std::string name, std::int64_t bytes);
  // All of a block as it is now.
  TensorId whole(BlockId block);
  // Some bytes of it.
  TensorId part(BlockId block, std::int64_t offset, std::int64_t bytes);
  TensorId tensor(std::string name, std::int64_t bytes, Content content);
  // A tensor that is read after the step: no other takes its memory.
  void set_output(TensorId output) { output_ = output; }
  // A tensor that is written or read between instructions, before number `index`: no other takes its memory
  // there, nor while that one runs.
  void hold(TensorId tensor, std::size_t index) { holds_.emplace_back(tensor, index); }

  // The instruction names a tensor for every slot of its operation but scratch, which is added here. Throws
  // std::logic_error where a slot is missing or a tensor is too small for it.
  void run(Instruction instruction);

  // Puts an instruction in the place of `count` of them, from `first` on, that compute the same. Tensors that
  // only those touched disappear.
  void replace(std::size_t first, std::size_t count, Instruction instruction);

  // Moves the instructions from `first` on forward, number i to behind instruction behind[i]. One index for
  // each of them, ascending, below `first`.
  void interleave(std::size_t first, const std::vector<std::size_t>& behind);

  // Whether instructions recorded from now on may write a result over an input; they may at first.
  void set_in_place(bool in_place) { in_place_ = in_place; }

  const std::vector<ProgramTensor>& tensors() const { return tensors_; }
  const std::vector<ProgramBlock>& blocks() const { return blocks_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  Instruction& edit(std::size_t index) { return instructions_.at(index); }
  const std::optional<TensorId>& output() const { return output_; }
  const std::vector<std::pair<TensorId, std::size_t>>& holds() const { return holds_; }
  // The index of the last instruction that touches each tensor, by id; 0 where none does.
  std::vector<std::size_t> last_touched() const;

 private:
  // Adds scratch; checks what is given.
  void complete(Instruction& instruction);

  bool in_place_ = true;
  std::vector<ProgramTensor> tensors_;
  std::vector<ProgramBlock> blocks_;
  std::vector<Instruction> instructions_;
  std::optional<TensorId> output_;
  std::vector<std::pair<TensorId, std::size_t>> holds_;  // and the index
};

}  // namespace bench::kernels
