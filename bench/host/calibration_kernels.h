// Two small fixed pieces of work on one of the host's cores, whose times tell how fast the machine is now.
// They are the same in every build, and pass through no library and no driver but the C library's memcpy.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/clock.h"
#include "bench/result/calibration.h"

namespace bench {

// They do not show other cores and caches.
class HostCalibrationKernels {
 public:
  // Touches its 10 MiB of memory.
  HostCalibrationKernels();

  // Medians of five runs each; about 1.5 ms in all.
  //  - arithmetic: eight chains of dependent 64-bit products, which keep a core's multiplier busy: its clock,
  //    and what a hyperthread of the same core leaves of it;
  //  - copy: 1 MiB from memory to memory, each time another place.
  Calibration run(const Clock& clock);

 private:
  std::vector<std::byte> memory_;
};

}  // namespace bench
