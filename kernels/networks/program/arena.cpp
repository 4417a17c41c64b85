#include "kernels/networks/program/arena.h"

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
// begins, that live at the same time; behind them all when there is none.
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

}  // namespace bench::kernels
