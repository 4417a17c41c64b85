// Ctrl-C, from where it is made to the end of its scope.
#pragma once

#include "bench/host/interrupt.h"

namespace bench::testing {

class Interruption {
 public:
  Interruption() { set_interrupted(true); }
  ~Interruption() { set_interrupted(false); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
};

}  // namespace bench::testing
