#include "bench/memory.h"

#include <numeric>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/units.h"

namespace bench {

std::string_view name_of(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::weights:
      return "weights";
    case MemoryCategory::gradients:
      return "gradients";
    case MemoryCategory::optimizer:
      return "optimizer";
    case MemoryCategory::activations:
      return "activations";
    case MemoryCategory::input:
      return "input";
    case MemoryCategory::workspace:
      return "workspace";
    case MemoryCategory::other:
      return "other";
  }
  return "?";
}

std::int64_t MemoryByCategory::total() const {
  return std::accumulate(bytes_.begin(), bytes_.end(), std::int64_t{0});
}

void MemoryTracker::set_cap(std::optional<std::int64_t> bytes) {
  cap_ = bytes;
}

void MemoryTracker::add(MemoryCategory category, std::int64_t bytes) {
  const std::int64_t live = live_.total();
  if (cap_ && bytes > *cap_ - live) {
    throw OutOfMemory(
        fmt::format("{} of {} asked for while {} are in use and the memory cap is {}", format_bytes(bytes),
                    name_of(category), format_bytes(live), format_bytes(*cap_)),
        bytes);
  }
  live_[category] += bytes;
  if (live + bytes > peak_) {
    peak_ = live + bytes;
    at_peak_ = live_;
  }
}

void MemoryTracker::remove(MemoryCategory category, std::int64_t bytes) noexcept {
  live_[category] -= bytes;
}

void MemoryTracker::reset_peak() {
  at_peak_ = live_;
  peak_ = live_.total();
}

}  // namespace bench
