// The conversion in 256-bit registers, where the processor has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sweeps/workers/loader/sample_maker.h"

namespace bench::loader {

bool wide_floats_usable();  // AVX2, FMA and F16C

// value * scale + offset, rounded once, of each channel, as the element. Returns how many of the pixels it
// did: all but the last few.
std::size_t store_wide(const std::array<float, 3>& scale, const std::array<float, 3>& offset, Element element,
                       Layout layout, const std::uint8_t* pixels, std::size_t count, std::byte* sample);

}  // namespace bench::loader
