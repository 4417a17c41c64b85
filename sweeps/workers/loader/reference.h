// The slow and obvious way from encoded bytes to a sample, which the fast one is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

// The whole image decoded in its full size, then each output pixel as the weighted mean of what a triangle as
// wide as the reduction covers (a filter of Pillow and torchvision), in double precision. Values from 0 to
// 255, not normalised, [y][x][channel]. Throws BadImage and Cancelled.
std::vector<double> reference_sample(std::span<const std::byte> encoded, std::uint64_t seed,
                                     const Transform& transform, const CancelToken& cancel = never);

// A stored sample in the same form: normalisation, conversion and layout undone.
std::vector<double> unstored(const std::byte* sample, const Transform& transform);

}  // namespace bench::loader
