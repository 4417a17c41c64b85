// Tensor cores as a kernel body sees them: a warp multiplies tiles of 16 × 16 values in 16 bits and adds the
// products to sums in fp32. All lanes of the warp must come to every call.
//
// TilesOf<Machine>::Of<Element> brings, for the machine's Fp16 and Bf16,
//   Left, Right   load(values, stride): a row-major tile from shared memory, a row `stride` elements after
//                 the one before; from an address aligned to 32 bytes, stride a multiple of 8
//   Sums          clear(thread), add(left, right), store(floats, stride): as above, stride a multiple of 4
#pragma once

namespace bench::kernels::cuda {

inline constexpr int kTile = 16;  // rows and columns

template <class Machine>
struct TilesOf;

}  // namespace bench::kernels::cuda
