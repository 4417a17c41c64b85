// How close to a memory cap is too close.
#pragma once

#include <cstdint>
#include <string_view>

namespace bench {

// Below 90 % used: safe; to 95 %: tight; above: danger, for fragmentation, other processes and a library's
// own buffers take what is left.
enum class Headroom { safe, tight, danger };

inline constexpr double kSafeShare = 0.90;
inline constexpr double kTightShare = 0.95;

constexpr Headroom headroom(double used_share) {
  return used_share < kSafeShare     ? Headroom::safe
         : used_share <= kTightShare ? Headroom::tight
                                     : Headroom::danger;
}

constexpr std::string_view name_of(Headroom headroom) {
  switch (headroom) {
    case Headroom::safe:
      return "safe";
    case Headroom::tight:
      return "tight";
    case Headroom::danger:
      return "danger";
  }
  return "?";
}

}  // namespace bench
