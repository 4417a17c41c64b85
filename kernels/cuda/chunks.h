// Into how many blocks a kernel over channels is cut, and what memory its partial sums need.
#pragma once

#include "kernels/cuda/tiling.cuh"

namespace bench::kernels::cuda {

// Chunks that meet in a sum: enough to fill the device once, few enough to be joined quickly.
inline std::int64_t reducing_blocks(int multiprocessors) {
  return std::int64_t{multiprocessors} * 4;
}
// Blocks that only read and write: several for each place on the device, that none ends long before the rest.
inline std::int64_t mapping_blocks(int multiprocessors) {
  return std::int64_t{multiprocessors} * 32;
}

// Bytes of two fp32 sums a channel and chunk, by whichever access.
inline std::int64_t partial_bytes(std::int64_t rows, std::int64_t channels, int lanes, int multiprocessors) {
  const std::int64_t target = reducing_blocks(multiprocessors);
  std::int64_t chunks = Tiling::of(rows, channels, target).chunks;
  if (channels % lanes == 0) {
    chunks = std::max<std::int64_t>(chunks, Tiling::of(rows, channels / lanes, target).chunks);
  }
  return chunks * 2 * channels * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace bench::kernels::cuda
