// The slow and obvious way from encoded bytes to a sample, which the fast one is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sweeps/workers/loader/cancel_token.h"
#include "sweeps/workers/loader/transform.h"

namespace bench::loader {

// By how much the pixels of `sample` differ from the reference's, on average, in parts of 255; normalisation,
// conversion and layout are undone. The reference: the whole image decoded in its full size, then each output
// pixel as the weighted mean of what a triangle as wide as the reduction covers (a filter of Pillow and
// torchvision), in double precision. Throws BadImage and Cancelled.
double difference_from_reference(const std::byte* sample, std::span<const std::byte> encoded,
                                 std::uint64_t seed, const Transform& transform, const CancelToken& cancel);

}  // namespace bench::loader
