// Chooses how many threads do a row together.
#pragma once

#include "kernels/cuda/row_group.cuh"

namespace bench::kernels::cuda {

// One thread where a warp's lanes would have less than one element each, a block where a warp would take
// long. Depends on nothing but the row's elements: what a kernel writes a block is planned with it.
inline int group_of(std::int64_t elements) {
  return elements <= 16 ? 1 : elements <= 4096 ? kWarp : RowGroup<1>::kThreads;
}

template <class Visit>
void with_group(std::int64_t elements, Visit visit) {
  switch (group_of(elements)) {
    case 1:
      return visit.template operator()<1>();
    case kWarp:
      return visit.template operator()<kWarp>();
    default:
      return visit.template operator()<RowGroup<1>::kThreads>();
  }
}

// Blocks that so many rows take.
inline std::int64_t blocks_of_rows(std::int64_t rows, std::int64_t elements) {
  std::int64_t blocks = 0;
  with_group(elements, [&]<int kGroup>() { blocks = RowGroup<kGroup>::blocks(rows); });
  return blocks;
}

}  // namespace bench::kernels::cuda
