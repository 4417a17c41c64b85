// Ctrl-C, from where it is made to the end of its scope.
#pragma once

#include "bench/host/interrupt.h"

namespace bench::testing {

class Interruption {
 public:
  Interruption() { pretend_interrupted(true); }
  ~Interruption() { pretend_interrupted(false); }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
};

}  // namespace bench::testing
