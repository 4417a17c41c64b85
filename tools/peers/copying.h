// How the CPU device's copies compare with copies that do nothing else.
#pragma once

namespace bench::peers {

// Time of a plain copy beyond all caches over the fastest other one's: 1 is level, less is faster.
double copy_time_over_tuned();

}  // namespace bench::peers
