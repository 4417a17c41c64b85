// Algorithms that a device's libraries chose by timing them, kept on disk for later processes. Optional: a
// device that keeps them derives from AutotunedDevice too. Implemented in kernels/devices/.
#pragma once

#include <filesystem>

namespace bench {

class AutotunedDevice {
 public:
  virtual ~AutotunedDevice() = default;
  // From now on takes choices from the file, and adds those it makes. A file that is missing or cannot be
  // read counts as empty; one that cannot be written is left as it is.
  virtual void keep_choices(const std::filesystem::path& file) = 0;
};

}  // namespace bench
