#pragma once

#include "tests/sweeps/plain_device.h"

namespace bench::sweeps {

// Its memory is the host's, as ranks of a CPU have it.
class RanksDevice final : public testing::PlainDevice {
 public:
  bool host_accessible() const override { return true; }
};

}  // namespace bench::sweeps
