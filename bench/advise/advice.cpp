#include "bench/advise/advice.h"

#include <array>
#include <cstddef>

namespace bench {

std::string name_of(Bottleneck bottleneck) {
  // In the enumeration's order.
  static constexpr std::array kNames{"none",        "undecided", "compute", "launch",     "VRAM",
                                     "bus",         "link",      "loader",  "loader CPU", "storage",
                                     "host memory", "swap",      "host",    "stages"};
  static_assert(kNames.size() == static_cast<std::size_t>(Bottleneck::stages) + 1);
  return kNames.at(static_cast<std::size_t>(bottleneck));
}

}  // namespace bench
