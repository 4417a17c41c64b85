// The optimizer's part of a training step.
//
// On a device whose memory is the host's, parameters are updated in slices within the last micro-batch's
// backward pass, each as soon as nothing reads its weights or adds to its gradients any more: both are still
// in the caches then. With loss scaling all gradients have to be seen first, and on other devices a launch
// costs more than it saves: there one update of everything follows the backward pass. The arithmetic is the
// same, element by element, and so is the memory.
//
// Ranks that share the optimizer (ZeRO's stage 1, Rajbhandari et al. 2020) each have the states of their own
// shares. The sums of a share's gradients lie at the start of its slice: that is where a reduction in place
// leaves them.
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
      if (const std::int64_t bytes = bytes_of_weights(group); bytes > 0) {
        add_states(group, bytes);
        record(group, fmt::format("optimizer {}", name_of(group.dtype)), {.bytes = bytes}, true);
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
        add_states(plan_.groups[index], bytes_of_weights(plan_.groups[index]));
        for (const UpdateSlice& slice : update_slices(plan_, plan_.groups[index], options_.update_slice)) {
          slices.emplace_back(slice, index);
        }
      }
    }
    std::ranges::stable_sort(slices, {}, [](const auto& slice) { return slice.first.behind; });
    std::vector<bool> counted(plan_.groups.size(), false);
    std::vector<std::size_t> behind;
    for (const auto& [slice, index] : slices) {
      record(
          plan_.groups[index], "optimizer " + plan_.graph[slice.layer].name,
          {.weights = slice.offset, .gradients = slice.offset, .states = slice.offset, .bytes = slice.bytes},
          !counted[index]);
      counted[index] = true;
      behind.push_back(slice.behind);
    }
    program().interleave(first, behind);
  }

  void of_one_rank() {
    for (ParameterGroup& group : plan_.groups) {
      if (bytes_of_weights(group) == 0) {
        continue;
      }
      std::vector<std::pair<Graph::Value, Part>> parts;
      std::int64_t own = 0;  // bytes so far
      const auto add = [&](const UpdateSlice& slice, std::int64_t weights, std::int64_t gradients,
                           std::int64_t bytes) {
        if (bytes > 0) {
          parts.emplace_back(slice.layer,
                             Part{.weights = weights, .gradients = gradients, .states = own, .bytes = bytes});
          own += bytes;
        }
      };
      for (const UpdateSlice& slice : update_slices(plan_, group, options_.shared_slice)) {
        const auto [each, rest] = shares_of(slice.bytes, options_.ranks);
        add(slice, slice.offset + options_.rank * each, slice.offset, each);
        const std::int64_t behind = slice.offset + options_.ranks * each;
        add(slice, behind, behind, rest);
      }
      add_states(group, own);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        record(group, "optimizer " + plan_.graph[parts[i].first].name, parts[i].second, i == 0);
      }
    }
  }

 private:
  // Bytes from the start of each block.
  struct Part {
    std::int64_t weights = 0;
    std::int64_t gradients = 0;
    std::int64_t states = 0;  // were they as wide as the weights
    std::int64_t bytes = 0;
  };

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

  // Of so many bytes of its weights.
  void add_states(ParameterGroup& group, std::int64_t bytes_of_parameters) {
    const Optimizer optimizer = optimizer_of(group, bytes_of_parameters);
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

  void record(const ParameterGroup& group, const std::string& name, const Part& part, bool counts) {
    Optimizer optimizer = optimizer_of(group, part.bytes);
    optimizer.counts = counts || optimizer.kind != Optimizer::Kind::adam;
    const std::int64_t first = part.states / bytes_of(group.dtype);
    Arguments tensors{{Slot::weights, program().part(group.weights, part.weights, part.bytes)},
                      {Slot::diff_weights, program().part(group.gradients, part.gradients, part.bytes)}};
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

RankShares shares_of(std::int64_t bytes, int ranks) {
  constexpr std::int64_t kAligned = 64;
  const std::int64_t each = bytes / (ranks * kAligned) * kAligned;
  return {.each = each, .rest = bytes - ranks * each};
}

void record_updates(ProgramPlan& plan, Recorder& recorder, const TrainOptions& options,
                    const Device& device) {
  UpdateRecorder updates(plan, recorder, options);
  if (device.host_accessible() && options.update_slice > 0 && !options.loss_scaling) {
    updates.in_slices();
    plan.training->optimizer_begin = plan.program.instructions().size();
  } else {
    plan.training->optimizer_begin = plan.program.instructions().size();
    options.shared_slice > 0 ? updates.of_one_rank() : updates.all_at_once();
  }
}

}  // namespace bench::kernels
