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
  Lifetime lifetime;
};

// Neighbours of an arena, in the order of their begins, with what lets a search pass them by as a whole.
class Neighbours {
 public:
  static constexpr std::size_t kMost = 512;

  explicit Neighbours(std::vector<Placed> placed) : placed_(std::move(placed)) { summarise(); }

  const std::vector<Placed>& placed() const { return placed_; }
  std::int64_t begin() const { return placed_.front().begin; }
  std::int64_t end() const { return end_; }
  bool none_together(const Lifetime& wanted) const {
    return wanted.last < earliest_first_ || latest_last_ < wanted.first;
  }
  bool all_together(const Lifetime& wanted) const {
    return latest_first_ <= wanted.last && wanted.first <= earliest_last_;
  }
  std::int64_t largest_gap() const { return largest_gap_; }  // between two of them

  void insert(const Placed& added) {
    placed_.insert(std::ranges::upper_bound(placed_, added.begin, {}, &Placed::begin), added);
    summarise();
  }
  // Keeps the first half.
  Neighbours split() {
    const auto middle = placed_.begin() + static_cast<std::ptrdiff_t>(placed_.size() / 2);
    Neighbours rest(std::vector<Placed>(middle, placed_.end()));
    placed_.erase(middle, placed_.end());
    summarise();
    return rest;
  }

 private:
  void summarise() {
    const Lifetime& lifetime = placed_.front().lifetime;
    earliest_first_ = latest_first_ = lifetime.first;
    earliest_last_ = latest_last_ = lifetime.last;
    end_ = placed_.front().end;
    largest_gap_ = 0;
    for (const Placed& each : placed_) {
      earliest_first_ = std::min(earliest_first_, each.lifetime.first);
      latest_first_ = std::max(latest_first_, each.lifetime.first);
      earliest_last_ = std::min(earliest_last_, each.lifetime.last);
      latest_last_ = std::max(latest_last_, each.lifetime.last);
      largest_gap_ = std::max(largest_gap_, each.begin - end_);
      end_ = std::max(end_, each.end);
    }
  }

  std::vector<Placed> placed_;  // never empty
  std::int64_t earliest_first_ = 0, latest_first_ = 0, earliest_last_ = 0, latest_last_ = 0;
  std::int64_t end_ = 0, largest_gap_ = 0;
};

// Searches the gaps between those that live at the same time as a buffer, in the order of their begins.
class GapSearch {
 public:
  explicit GapSearch(const Lifetime& wanted) : wanted_(wanted), bytes_(aligned(wanted.bytes)) {}

  void pass(const Neighbours& neighbours) {
    if (neighbours.none_together(wanted_)) {
      return;
    }
    if (neighbours.all_together(wanted_) && neighbours.largest_gap() < bytes_) {
      return pass(neighbours.begin(), neighbours.end());
    }
    for (const Placed& each : neighbours.placed()) {
      if (together(wanted_, each.lifetime)) {
        pass(each.begin, each.end);
      }
    }
  }
  bool is_tight() const { return best_size_ == bytes_; }
  // An aligned place in the tightest gap with room for it; after them all when there is none.
  std::int64_t found() const { return best_ >= 0 ? best_ : aligned(reached_, wanted_.alignment); }

 private:
  void pass(std::int64_t begin, std::int64_t end) {
    const std::int64_t gap = begin - reached_;
    if (gap >= bytes_ && gap < best_size_) {
      const std::int64_t start = aligned(reached_, wanted_.alignment);
      if (begin - start >= bytes_) {
        best_ = start;
        best_size_ = gap;
      }
    }
    reached_ = std::max(reached_, end);
  }

  const Lifetime& wanted_;
  std::int64_t bytes_;
  std::int64_t reached_ = 0;
  std::int64_t best_ = -1;
  std::int64_t best_size_ = std::numeric_limits<std::int64_t>::max();
};

// Buffers at their places.
class Arena {
 public:
  std::int64_t place(const Lifetime& wanted) {
    GapSearch search(wanted);
    for (const Neighbours& neighbours : all_) {
      if (search.is_tight()) {
        break;
      }
      search.pass(neighbours);
    }
    const std::int64_t begin = search.found();
    insert({begin, begin + aligned(wanted.bytes), wanted});
    return begin;
  }

 private:
  void insert(const Placed& added) {
    if (all_.empty()) {
      all_.emplace_back(std::vector<Placed>{added});
      return;
    }
    auto at = std::ranges::upper_bound(all_, added.begin, {}, &Neighbours::begin);
    at -= at == all_.begin() ? 0 : 1;
    at->insert(added);
    if (at->placed().size() > Neighbours::kMost) {
      Neighbours rest = at->split();
      all_.insert(at + 1, std::move(rest));
    }
  }

  std::vector<Neighbours> all_;
};

Packing pack_in_order(std::span<const Lifetime> lifetimes, const std::vector<std::size_t>& order) {
  Packing packing;
  packing.offsets.assign(lifetimes.size(), 0);
  Arena arena;
  for (const std::size_t i : order) {
    packing.offsets[i] = arena.place(lifetimes[i]);
    packing.bytes = std::max(packing.bytes, packing.offsets[i] + aligned(lifetimes[i].bytes));
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
    const auto touch = [&](TensorId id, std::int64_t step) {
      Lifetime& lifetime = lifetimes_[id];
      lifetime.first = seen[id] ? std::min(lifetime.first, step) : step;
      lifetime.last = std::max(lifetime.last, step);
      seen[id] = true;
    };
    std::int64_t step = 0;
    for (const Instruction& instruction : program_.instructions()) {
      for (const auto& [slot, id] : instruction.tensors) {
        touch(id, step);
      }
      ++step;
    }
    for (const auto& [id, index] : program_.holds()) {
      touch(id, static_cast<std::int64_t>(index));
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
