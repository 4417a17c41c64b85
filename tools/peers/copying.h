// How the CPU device's copies compare with copies that do nothing else.
#pragma once

#include <cstdint>

namespace bench::peers {

struct CopyComparison {
  std::int64_t bytes;      // of one copy: beyond all caches
  double time_over_tuned;  // our median over the fastest other one's: 1 is level, less is faster
};
CopyComparison compare_copies();

}  // namespace bench::peers
