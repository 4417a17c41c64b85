// The optimizer's part of a training step.
//
// On a device whose memory is the host's, parameters are updated in slices within the last micro-batch's
// backward pass, each as soon as nothing reads its weights or adds to its gradients any more: both are still
// in the caches then. With loss scaling all gradients have to be seen first, and on other devices a launch
// costs more than it saves: there one update of everything follows the backward pass. The arithmetic is the
// same, element by element, and so is the memory.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/networks/passes/training.h"
#include "kernels/operations/loss_scale/loss_scale.h"

namespace bench::kernels {
namespace {

class UpdateRecorder {
 public:
  UpdateRecorder(ProgramPlan& plan, Recorder& recorder, const TrainOptions& options)
      : plan_(plan), recorder_(recorder), options_(options) {}

  void all_at_once() {
    if (plan_.training->loss_scale) {
      record_overflow_checks();
    }
    for (ParameterGroup& group : plan_.groups) {
      if (bytes_of_weights(group) > 0) {
        add_states(group);
        record(group, fmt::format("optimizer {}", name_of(group.dtype)), 0, bytes_of_weights(group), true);
      }
    }
    if (plan_.training->loss_scale) {
      recorder_.run("loss scale", UpdateLossScale{}, {{Slot::loss_scale, *plan_.training->loss_scale}});
    }
  }

  void in_slices() {
    const std::size_t first = program().instructions().size();
    std::vector<std::pair<UpdateSlice, std::size_t>> slices;  // and the group
    for (std::size_t index = 0; index < plan_.groups.size(); ++index) {
      if (bytes_of_weights(plan_.groups[index]) > 0) {
        add_states(plan_.groups[index]);
        for (const UpdateSlice& slice : update_slices(plan_, plan_.groups[index], options_.update_slice)) {
          slices.emplace_back(slice, index);
        }
      }
    }
    std::ranges::stable_sort(slices, {}, [](const auto& slice) { return slice.first.behind; });
    std::vector<bool> counted(plan_.groups.size(), false);
    std::vector<std::size_t> behind;
    for (const auto& [slice, index] : slices) {
      record(plan_.groups[index], "optimizer " + plan_.graph[slice.layer].name, slice.offset, slice.bytes,
             !counted[index]);
      counted[index] = true;
      behind.push_back(slice.behind);
    }
    program().interleave(first, behind);
  }

 private:
  Program& program() { return plan_.program; }
  std::int64_t bytes_of_weights(const ParameterGroup& group) {
    return program().blocks()[group.weights].bytes;
  }

  // All of them before the first optimizer: one overflow stops every group.
  void record_overflow_checks() {
    for (const ParameterGroup& group : plan_.groups) {
      const std::int64_t bytes = program().blocks()[group.gradients].bytes;
      if (bytes > 0) {
        recorder_.run(fmt::format("overflow in {}", name_of(group.dtype)),
                      FindOverflow{.count = bytes / bytes_of(group.dtype), .dtype = group.dtype},
                      {{Slot::diff_weights, program().whole(group.gradients)},
                       {Slot::loss_scale, *plan_.training->loss_scale}});
        ++plan_.training->overflow_checks;
      }
    }
  }

  Optimizer optimizer_of(const ParameterGroup& group, std::int64_t bytes) const {
    Optimizer optimizer;
    optimizer.kind = options_.optimizer;
    optimizer.count = bytes / bytes_of(group.dtype);
    optimizer.dtype = group.dtype;
    optimizer.scaled = options_.loss_scaling;
    optimizer.rate = optimizer.kind == Optimizer::Kind::adam ? 1e-3F : 1e-2F;
    return optimizer;
  }

  void add_states(ParameterGroup& group) {
    const Optimizer optimizer = optimizer_of(group, bytes_of_weights(group));
    const auto add = [&](const std::string& name, std::int64_t bytes) {
      const BlockId block =
          program().block(fmt::format("{} {}", name, name_of(group.dtype)), MemoryCategory::optimizer);
      program().keep(block, name, bytes);
      return block;
    };
    if (optimizer.has_master()) {
      group.master = add("master weights", 4 * optimizer.count);
    }
    for (int state = 0; state < optimizer.states(); ++state) {
      group.states.push_back(add(fmt::format("state {}", state + 1), 4 * optimizer.count));
    }
    if (optimizer.kind == Optimizer::Kind::adam) {
      group.states.push_back(add("steps", sizeof(std::int64_t)));
    }
  }

  void record(const ParameterGroup& group, const std::string& name, std::int64_t offset, std::int64_t bytes,
              bool counts) {
    Optimizer optimizer = optimizer_of(group, bytes);
    optimizer.counts = counts || optimizer.kind != Optimizer::Kind::adam;
    const std::int64_t first = offset / bytes_of(group.dtype);
    Arguments tensors{{Slot::weights, program().part(group.weights, offset, bytes)},
                      {Slot::diff_weights, program().part(group.gradients, offset, bytes)}};
    const auto add_wide = [&](Slot slot, BlockId block) {
      tensors.emplace_back(slot, program().part(block, 4 * first, 4 * optimizer.count));
    };
    if (group.master) {
      add_wide(Slot::master, *group.master);
    }
    if (optimizer.states() > 0) {
      add_wide(Slot::state1, group.states[0]);
    }
    if (optimizer.states() > 1) {
      add_wide(Slot::state2, group.states[1]);
      tensors.emplace_back(Slot::steps, program().whole(group.states[2]));
    }
    if (optimizer.scaled) {
      tensors.emplace_back(Slot::loss_scale, *plan_.training->loss_scale);
    }
    recorder_.run(name, optimizer, tensors);
    program().edit(program().instructions().size() - 1).updates = true;
  }

  ProgramPlan& plan_;
  Recorder& recorder_;
  const TrainOptions& options_;
};

}  // namespace

std::vector<UpdateSlice> update_slices(const ProgramPlan& plan, const ParameterGroup& group,
                                       std::int64_t least) {
  const std::vector<std::size_t> last_touched = plan.program.last_touched();
  // From the block's end: the backward pass is done with the last layers first.
  std::vector<UpdateSlice> slices;
  UpdateSlice slice{.offset = plan.program.blocks()[group.weights].bytes};
  for (auto at = plan.parameters.rbegin(); at != plan.parameters.rend(); ++at) {
    const ProgramTensor& value = plan.program.tensors()[at->value];
    if (value.block != group.weights) {
      continue;
    }
    slice.behind = std::max({slice.behind, last_touched[at->value], last_touched[at->gradient]});
    slice.bytes += slice.offset - value.offset;
    slice.offset = value.offset;
    slice.layer = at->layer;
    if (slice.bytes >= least || slice.offset == 0) {
      slices.push_back(slice);
      slice = {.offset = slice.offset};
    }
  }
  std::ranges::stable_sort(slices, {}, &UpdateSlice::behind);
  return slices;
}

void record_updates(ProgramPlan& plan, Recorder& recorder, const TrainOptions& options,
                    const Device& device) {
  UpdateRecorder updates(plan, recorder, options);
  if (device.host_accessible() && options.update_slice > 0 && !options.loss_scaling) {
    updates.in_slices();
    plan.training->optimizer_begin = plan.program.instructions().size();
  } else {
    plan.training->optimizer_begin = plan.program.instructions().size();
    updates.all_at_once();
  }
}

}  // namespace bench::kernels
