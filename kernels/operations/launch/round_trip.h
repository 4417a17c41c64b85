// The time from the host's starting a kernel until it knows that the kernel has ended: what a step costs that
// computes nothing.
//
//   dst = 1, one kernel an element, one after the other; then the host waits for the device
//
// A kernel without any effect could be left out unnoticed: it stores its one number.
// Slots: dst, launches × 1 in fp32.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct RoundTrip {
  static constexpr std::string_view kName = "launch";
  std::int64_t launches = 1;

  TensorDesc dst() const { return {launches, 1, 1, 1, Layout::nhwc, Dtype::fp32}; }
  static double flops() { return 0; }
  bool operator==(const RoundTrip&) const = default;
};

PlainSlots plain_slots(const RoundTrip& spec);

}  // namespace bench::kernels
