// The machine's speed at a moment, as small fixed kernels tell it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace bench {

// Times of the two calibration kernels: always the same work, whatever is measured.
struct Calibration {
  double arithmetic_ns = 0;
  double copy_ns = 0;
  bool operator==(const Calibration&) const = default;
};

// Which processor ran the kernels, and through which software: "host" does not pass through a card's driver.
inline constexpr std::string_view kHostCalibration = "host";
inline constexpr std::string_view kDeviceCalibration = "device";
using Calibrations = std::map<std::string, Calibration>;  // by these names

}  // namespace bench
