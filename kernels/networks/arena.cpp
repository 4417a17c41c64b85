#include "kernels/networks/arena.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace bench::kernels {
namespace {

struct Placed {
  std::int64_t begin, end;
};

bool together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

// An aligned place in the tightest gap between `taken` that has `bytes` from there on; behind them all when
// there is none.
std::int64_t best_gap(std::vector<Placed>& taken, std::int64_t bytes, std::int64_t alignment) {
  std::ranges::sort(taken, {}, &Placed::begin);
  std::int64_t best = -1;
  std::int64_t best_size = std::numeric_limits<std::int64_t>::max();
  std::int64_t reached = 0;
  for (const Placed& placed : taken) {
    const std::int64_t start = aligned(reached, alignment);
    const std::int64_t gap = placed.begin - reached;
    if (placed.begin - start >= bytes && gap < best_size) {
      best = start;
      best_size = gap;
    }
    reached = std::max(reached, placed.end);
  }
  return best >= 0 ? best : aligned(reached, alignment);
}

Packing pack_in_order(std::span<const Lifetime> lifetimes, const std::vector<std::size_t>& order) {
  Packing packing;
  packing.offsets.assign(lifetimes.size(), 0);
  std::vector<std::size_t> done;
  std::vector<Placed> taken;
  for (const std::size_t i : order) {
    const std::int64_t bytes = aligned(lifetimes[i].bytes);
    taken.clear();
    for (const std::size_t other : done) {
      if (together(lifetimes[i], lifetimes[other])) {
        taken.push_back({packing.offsets[other], packing.offsets[other] + aligned(lifetimes[other].bytes)});
      }
    }
    packing.offsets[i] = best_gap(taken, bytes, lifetimes[i].alignment);
    packing.bytes = std::max(packing.bytes, packing.offsets[i] + bytes);
    done.push_back(i);
  }
  return packing;
}

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

std::int64_t arena_lower_bound(std::span<const Lifetime> lifetimes) {
  std::int64_t most = 0;
  for (const Lifetime& at : lifetimes) {
    std::int64_t live = 0;
    for (const Lifetime& other : lifetimes) {
      live += other.first <= at.first && at.first <= other.last ? aligned(other.bytes) : 0;
    }
    most = std::max(most, live);
  }
  return most;
}

}  // namespace bench::kernels
