#include "kernels/networks/plan.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "kernels/networks/arena.h"
#include "kernels/networks/budget.h"
#include "kernels/networks/draw.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

// The step at which each layer's output is read last; the network's output is read after all steps.
std::vector<std::int64_t> last_reads(const Graph& graph) {
  std::vector<std::int64_t> last(graph.layers().size(), 0);
  for (Value value = 0; value < graph.layers().size(); ++value) {
    for (const Value input : graph[value].inputs) {
      last[input] = static_cast<std::int64_t>(value);
    }
  }
  last[graph.output()] = static_cast<std::int64_t>(graph.layers().size());
  return last;
}

class Planner {
 public:
  Planner(Graph graph, const Target& target, Device& device)
      : device_(device), last_read_(last_reads(graph)), plan_(std::move(graph), target) {}

  NetworkPlan run() && {
    const std::size_t layers = plan_.graph.layers().size();
    lower_all(std::vector<ExtraBytes>(layers));
    find_tensors();
    const std::int64_t activation_bytes = pack_arena(lifetimes_).bytes;
    lower_all(share_extra_bytes(plan_.graph, plan_.target, activation_bytes, device_, cache_));
    find_tensors();  // whether a sum is made in place depends on the algorithm

    plan_.input = input_of(plan_.graph, plan_.target);
    plan_.output = output_of(plan_.graph, plan_.target);
    bytes(Region::input) = plan_.input.bytes();
    place_activations_and_scratch();
    build_steps();
    find_live_bytes();
    if (device_.host_accessible()) {
      find_largest_plain();
      plan_.library_bytes = compiled_code_bytes(plan_.steps.size()) +
                            (plan_.target.dtype == Dtype::bf16 ? kSixteenBitInferenceCode : 0);
    }
    return std::move(plan_);
  }

 private:
  std::int64_t& bytes(Region region) { return plan_.region_bytes[static_cast<std::size_t>(region)]; }

  void lower_all(const std::vector<ExtraBytes>& extra) {
    extra_ = extra;
    operations_.clear();
    for (Value value = 0; value < plan_.graph.layers().size(); ++value) {
      operations_.push_back(lower(plan_.graph, value, plan_.target, extra[value], device_, cache_));
    }
  }

  // The input whose memory the layer's output may take over; the layer itself where there is none.
  Value overwritten(Value value) const {
    const Layer& layer = plan_.graph[value];
    const auto dies_here = [&](Value input) {
      return tensor_[input] != kImage && lifetimes_[tensor_[input]].last <= static_cast<std::int64_t>(value);
    };
    switch (layer.kind) {
      case LayerKind::flatten:
        return layer.inputs[0];
      case LayerKind::activation:
      case LayerKind::position_embedding:
        return dies_here(layer.inputs[0]) ? layer.inputs[0] : value;
      case LayerKind::add:
        for (const Value input : layer.inputs) {
          if (dies_here(input)) {
            return input;
          }
        }
        return value;
      case LayerKind::conv2d:
        return layer.residual && operations_[value]->in_place_sum() && layer.inputs[0] != layer.inputs[1] &&
                       dies_here(layer.inputs[1])
                   ? layer.inputs[1]
                   : value;
      default:
        return value;
    }
  }

  // Gives each layer's output a tensor: its own, or that of the input it overwrites or renames.
  void find_tensors() {
    tensor_.assign(plan_.graph.layers().size(), kImage);
    lifetimes_.clear();
    for (Value value = 1; value < plan_.graph.layers().size(); ++value) {
      const Value source = overwritten(value);
      if (source == value) {
        tensor_[value] = lifetimes_.size();
        lifetimes_.push_back({tensor_of(plan_.graph, value, plan_.target).bytes(),
                              static_cast<std::int64_t>(value), last_read_[value]});
      } else {
        tensor_[value] = tensor_[source];
        if (tensor_[value] != kImage) {
          auto& lifetime = lifetimes_[tensor_[value]];
          lifetime.last = std::max(lifetime.last, last_read_[value]);
        }
      }
    }
  }

  // Scratch lies among the activations, or in a region as large as the largest: whichever takes less in
  // total.
  void place_activations_and_scratch() {
    std::vector<Lifetime> with_scratch = lifetimes_;
    std::map<Value, std::size_t> scratch_index;
    std::int64_t largest = 0;
    for (Value value = 0; value < operations_.size(); ++value) {
      const SlotInfo* slot = operations_[value] ? operations_[value]->find(Slot::workspace) : nullptr;
      if (slot != nullptr && slot->bytes > 0) {
        scratch_index[value] = with_scratch.size();
        const auto step = static_cast<std::int64_t>(value);
        with_scratch.push_back({slot->bytes, step, step, std::max(slot->alignment, kArenaAlignment)});
        largest = std::max(largest, aligned(slot->bytes));
      }
    }
    Packing apart = pack_arena(lifetimes_);
    Packing shared = pack_arena(with_scratch);
    const bool share = shared.bytes <= apart.bytes + largest;
    for (const auto& [value, index] : scratch_index) {
      scratch_[value] = share ? Place{Region::arena, shared.offsets[index]} : Place{Region::workspace, 0};
    }
    bytes(Region::arena) = share ? shared.bytes : apart.bytes;
    bytes(Region::workspace) = share ? 0 : largest;
    offsets_ = share ? std::move(shared.offsets) : std::move(apart.offsets);
  }

  Place place_of(Value value) const {
    return tensor_[value] == kImage ? Place{Region::input, 0}
                                    : Place{Region::arena, offsets_[tensor_[value]]};
  }

  Place next_parameter(std::int64_t size) {
    const Place place{Region::weights, bytes(Region::weights)};
    bytes(Region::weights) += aligned(size);
    return place;
  }

  Place place_of_slot(Value value, const SlotInfo& slot) {
    if (slot.role == Role::parameter) {
      const Value owner = plan_.graph.owner_of(value, slot.slot);
      if (owner == value) {
        return parameters_[{value, slot.slot}] = next_parameter(slot.bytes);
      }
      return parameters_.at({owner, slot.slot});
    }
    const Layer& layer = plan_.graph[value];
    switch (slot.slot) {
      case Slot::src:
        return place_of(layer.inputs.at(0));
      case Slot::src1:
        return place_of(layer.inputs.at(1));
      case Slot::src2:
        return place_of(layer.inputs.at(2));
      case Slot::src3:
        return place_of(layer.inputs.at(3));
      case Slot::dst:
        return place_of(value);
      case Slot::workspace: {
        const auto at = scratch_.find(value);
        return at == scratch_.end() ? Place{} : at->second;
      }
      default:
        throw std::logic_error(layer.name + ": inference has no use for slot " +
                               std::string(name_of(slot.slot)));
    }
  }

  void build_steps() {
    for (Value value = 0; value < operations_.size(); ++value) {
      if (operations_[value] == nullptr) {
        continue;
      }
      PlannedStep step{value, operations_[value], extra_[value], {}, 0};
      for (const SlotInfo& slot : operations_[value]->slots()) {
        step.places.emplace_back(slot.slot, place_of_slot(value, slot));
      }
      plan_.steps.push_back(std::move(step));
    }
    plan_.output_place = place_of(plan_.graph.output());
  }

  void find_live_bytes() {
    std::vector<std::int64_t> change(plan_.graph.layers().size() + 2, 0);
    for (const Lifetime& lifetime : lifetimes_) {
      change[static_cast<std::size_t>(lifetime.first)] += aligned(lifetime.bytes);
      change[static_cast<std::size_t>(lifetime.last) + 1] -= aligned(lifetime.bytes);
    }
    std::int64_t live = 0;
    auto step = plan_.steps.begin();
    for (Value value = 0; value < plan_.graph.layers().size(); ++value) {
      live += change[value];
      if (step != plan_.steps.end() && step->layer == value) {
        (step++)->live_activations = live;
      }
    }
  }

  void find_largest_plain() {
    for (const PlannedStep& step : plan_.steps) {
      for (const SlotInfo& slot : step.operation->slots()) {
        const Value owner = plan_.graph.owner_of(step.layer, slot.slot);
        const std::int64_t plain = plain_bytes_while_drawn(plan_.graph, owner, slot);
        if (slot.role == Role::parameter && owner == step.layer && plain > plan_.largest_plain.bytes) {
          plan_.largest_plain = {fmt::format("{} {}", plan_.graph[step.layer].name, name_of(slot.slot)),
                                 plain};
        }
      }
    }
  }

  static constexpr std::size_t kImage = static_cast<std::size_t>(-1);

  Device& device_;
  std::vector<std::int64_t> last_read_;
  NetworkPlan plan_;
  OperationCache cache_;
  std::vector<ExtraBytes> extra_;
  std::vector<std::shared_ptr<Operation>> operations_;  // one for each layer
  std::vector<std::size_t> tensor_;                     // layer → index into lifetimes_, or kImage
  std::vector<Lifetime> lifetimes_;
  std::vector<std::int64_t> offsets_;  // of lifetimes_, in the arena
  std::map<Value, Place> scratch_;
  std::map<std::pair<Value, Slot>, Place> parameters_;
};

}  // namespace

NetworkPlan plan_network(Graph graph, const Target& target, Device& device) {
  return Planner(std::move(graph), target, device).run();
}

}  // namespace bench::kernels
