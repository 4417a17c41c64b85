// In which order images are taken, pass after pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "bench/measure/random.h"

namespace bench::loader {

// Each pass through the data is the same permutation begun at another place: every image once, no two passes
// in the same batches.
class ImageOrder {
 public:
  ImageOrder(std::int64_t images, std::uint64_t seed)
      : seed_(seed), permutation_(static_cast<std::size_t>(images)) {
    std::iota(permutation_.begin(), permutation_.end(), 0);
    std::mt19937_64 engine(stream_seed(seed, 0));
    for (std::size_t i = permutation_.size(); i > 1; --i) {
      std::swap(permutation_[i - 1], permutation_[bounded_draw(engine, i)]);
    }
  }

  std::int64_t image_for(std::int64_t sample) const {
    const auto size = std::ssize(permutation_);
    const std::int64_t pass = sample / size;
    const auto shift = static_cast<std::int64_t>(stream_seed(seed_, static_cast<std::uint64_t>(pass)) %
                                                 static_cast<std::uint64_t>(size));
    return permutation_[static_cast<std::size_t>((sample % size + (pass == 0 ? 0 : shift)) % size)];
  }

 private:
  std::uint64_t seed_;
  std::vector<std::int64_t> permutation_;
};

}  // namespace bench::loader
