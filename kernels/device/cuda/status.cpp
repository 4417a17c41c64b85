#include "kernels/device/cuda/status.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::cuda {

std::string text_of(Place place) {
  const std::string_view file = place.file_name();
  const std::size_t at = file.rfind("/kernels/");
  return fmt::format("{}:{}", at == std::string_view::npos ? file : file.substr(at + 1), place.line());
}

bool is_sticky(int error) {
  constexpr std::array kSticky{
      214,                      // ECC memory error that could not be corrected
      220,                      // NVLink error that could not be corrected
      226,                      // contained memory error: only this process is hit, and must end
      status::kIllegalAddress,  //
      702,                      // launch timed out
      709,                      // context is destroyed
      710,                      // assertion in a kernel
      714,                      // hardware stack error
      715,                      // illegal instruction
      716,                      // misaligned address
      717,                      // invalid address space
      718,                      // invalid program counter
      status::kLaunchFailure,   //
      721,                      // tensor memory was not given back
      810,                      // the MPS server ended this client
      999,                      // unknown: the driver itself is at a loss
  };
  return std::ranges::count(kSticky, error) > 0;
}

void raise(const Failure& failure, std::string_view call, Place place) {
  const std::string what = fmt::format("{} failed: {} ({}: {}) at {}", call, failure.error, failure.name,
                                       failure.text, text_of(place));
  if (failure.error == status::kMemoryAllocation) {
    throw OutOfMemory(what, 0);
  }
  if (is_sticky(failure.error) || failure.stays_set) {
    throw DeviceLost(what);
  }
  throw std::runtime_error(what);
}

}  // namespace bench::kernels::cuda
