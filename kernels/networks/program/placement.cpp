#include "kernels/networks/program/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bench::kernels {
namespace {

bool together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

struct Placed {
  std::int64_t begin, end;
  std::size_t index;
};

// An aligned place in the tightest gap with room for it between those of `placed`, in the order of their
// begins, that live at the same time; after them all when there is none.
std::int64_t best_gap(const std::vector<Placed>& placed, std::span<const Lifetime> lifetimes,
                      const Lifetime& wanted) {
  const std::int64_t bytes = aligned(wanted.bytes);
  std::int64_t best = -1;
  std::int64_t best_size = std::numeric_limits<std::int64_t>::max();
  std::int64_t reached = 0;
  for (const Placed& other : placed) {
    if (!together(wanted, lifetimes[other.index])) {
      continue;
    }
    const std::int64_t start = aligned(reached, wanted.alignment);
    const std::int64_t gap = other.begin - reached;
    if (other.begin - start >= bytes && gap < best_size) {
      best = start;
      best_size = gap;
    }
    reached = std::max(reached, other.end);
  }
  return best >= 0 ? best : aligned(reached, wanted.alignment);
}

Packing pack_in_order(std::span<const Lifetime> lifetimes, const std::vector<std::size_t>& order) {
  Packing packing;
  packing.offsets.assign(lifetimes.size(), 0);
  std::vector<Placed> placed;
  placed.reserve(lifetimes.size());
  for (const std::size_t i : order) {
    const std::int64_t begin = best_gap(placed, lifetimes, lifetimes[i]);
    const std::int64_t end = begin + aligned(lifetimes[i].bytes);
    packing.offsets[i] = begin;
    packing.bytes = std::max(packing.bytes, end);
    placed.insert(std::ranges::upper_bound(placed, begin, {}, &Placed::begin), {begin, end, i});
  }
  return packing;
}

class Placer {
 public:
  explicit Placer(const Program& program)
      : program_(program), home_(program.tensors().size()), lifetimes_(program.tensors().size()) {}

  Placement run(ScratchPlace scratch) && {
    find_lifetimes();
    share_memory();
    pack(scratch);
    find_live_bytes();
    return std::move(placement_);
  }

 private:
  bool is_scratch(TensorId id) const { return program_.tensors()[id].content == Content::scratch; }
  bool in_arena(TensorId id) const { return !program_.tensors()[id].block && !is_scratch(id); }

  void find_lifetimes() {
    std::vector<bool> seen(home_.size(), false);
    for (TensorId id = 0; id < home_.size(); ++id) {
      home_[id] = id;
      lifetimes_[id].bytes = program_.tensors()[id].bytes;
      lifetimes_[id].alignment = program_.tensors()[id].alignment;
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
    if (program_.output()) {
      lifetimes_[*program_.output()].last = step;
    }
  }

  void share_memory() {
    std::int64_t step = 0;
    for (const Instruction& instruction : program_.instructions()) {
      const TensorId result = instruction.in_place.result;
      for (const TensorId input : instruction.in_place.over) {
        if (may_overwrite(result, input, step)) {
          home_[result] = home_[input];
          lifetimes_[home_[input]].last = lifetimes_[result].last;
          break;
        }
      }
      ++step;
    }
  }

  bool may_overwrite(TensorId result, TensorId input, std::int64_t step) const {
    const Lifetime& memory = lifetimes_[home_[input]];
    return in_arena(result) && in_arena(input) && memory.last == step && lifetimes_[result].first == step &&
           program_.tensors()[result].bytes <= memory.bytes;
  }

  void pack(ScratchPlace scratch) {
    std::vector<TensorId> placed;
    for (TensorId id = 0; id < home_.size(); ++id) {
      if (home_[id] == id && in_arena(id)) {
        placed.push_back(id);
      }
    }
    Packing packing = packed(placed);
    for (TensorId id = 0; id < home_.size(); ++id) {
      if (is_scratch(id) && program_.tensors()[id].bytes > 0) {
        placed.push_back(id);
        placement_.scratch_bytes = std::max(placement_.scratch_bytes, aligned(program_.tensors()[id].bytes));
      }
    }
    if (scratch == ScratchPlace::where_smaller) {
      Packing shared = packed(placed);
      if (shared.bytes <= packing.bytes + placement_.scratch_bytes) {
        packing = std::move(shared);
        placement_.scratch_bytes = 0;
        placement_.scratch_in_arena = true;
      }
    }
    placement_.arena_bytes = packing.bytes;
    placement_.offsets.assign(home_.size(), 0);
    for (std::size_t i = 0; i < packing.offsets.size(); ++i) {
      placement_.offsets[placed[i]] = packing.offsets[i];
    }
    for (TensorId id = 0; id < home_.size(); ++id) {
      placement_.offsets[id] = placement_.offsets[home_[id]];
    }
  }

  Packing packed(const std::vector<TensorId>& placed) const {
    std::vector<Lifetime> lifetimes;
    lifetimes.reserve(placed.size());
    for (const TensorId id : placed) {
      lifetimes.push_back(lifetimes_[id]);
    }
    return pack_arena(lifetimes);
  }

  // A tensor that took over another's memory counts as that one until it is written.
  void find_live_bytes() {
    const std::size_t steps = program_.instructions().size();
    std::vector<LiveBytes> change(steps + 2);
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
    for (std::size_t step = 0; step < steps; ++step) {
      live.activations += change[step].activations;
      live.parameter_gradients += change[step].parameter_gradients;
      live.scratch = 0;
      for (const auto& [slot, id] : program_.instructions()[step].tensors) {
        live.scratch += is_scratch(id) ? aligned(program_.tensors()[id].bytes) : 0;
      }
      placement_.live.push_back(live);
    }
  }

  const Program& program_;
  std::vector<TensorId> home_;  // the tensor whose memory this one uses: itself, or one it overwrites
  std::vector<Lifetime> lifetimes_;
  Placement placement_;
};

}  // namespace

Packing pack_arena(std::span<const Lifetime> lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lifetimes[i].first; });
  Packing earliest_first = pack_in_order(lifetimes, order);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return lifetimes[i].bytes; });
  Packing largest_first = pack_in_order(lifetimes, order);
  return largest_first.bytes <= earliest_first.bytes ? std::move(largest_first) : std::move(earliest_first);
}

Placement place(const Program& program, ScratchPlace scratch) {
  return Placer(program).run(scratch);
}

}  // namespace bench::kernels
