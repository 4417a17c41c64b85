#include "kernels/operations/conv2d/packed_tiles.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace bench::kernels::packed {
namespace {

// At any address.
using Floats = float __attribute__((vector_size(32), aligned(4), may_alias));
template <std::int64_t kVectors>
using Row = Floats[kVectors];  // NOLINT(modernize-avoid-c-arrays): it becomes registers

constexpr std::array<float, kMostVectors * kVector> kNoBias{};

// Vectors are passed by reference: by value they would need a processor that has them.
[[gnu::always_inline]] inline void load(const float* from, std::int64_t count, Floats& to) {
  if (count == kVector) {
    to = *reinterpret_cast<const Floats*>(from);
  } else {
    std::array<float, kVector> some{};
    std::memcpy(some.data(), from, static_cast<std::size_t>(count) * sizeof(float));
    to = *reinterpret_cast<const Floats*>(some.data());
  }
}

[[gnu::always_inline]] inline void store(const Floats& from, std::int64_t count, float* to) {
  if (count == kVector) {
    *reinterpret_cast<Floats*>(to) = from;
  } else {
    std::array<float, kVector> some;
    *reinterpret_cast<Floats*>(some.data()) = from;
    std::memcpy(to, some.data(), static_cast<std::size_t>(count) * sizeof(float));
  }
}

// NOLINTBEGIN(modernize-avoid-c-arrays): these become registers
// Adds kSteps channels, the first of which is `channel`: sums[p][v] += inputs[p][c] · weights[c][v].
template <std::int64_t kSteps, std::int64_t kPixels, std::int64_t kVectors>
[[gnu::always_inline]] inline void add(const float* const (&inputs)[kPixels], std::int64_t channel,
                                       const float* weights, Row<kVectors> (&sums)[kPixels]) {
#pragma GCC unroll 8
  for (std::int64_t step = 0; step < kSteps; ++step) {
    Row<kVectors> w;
#pragma GCC unroll 2
    for (std::int64_t v = 0; v < kVectors; ++v) {
      w[v] = *reinterpret_cast<const Floats*>(weights + (step * kVectors + v) * kVector);
    }
#pragma GCC unroll 6
    for (std::int64_t p = 0; p < kPixels; ++p) {
#pragma GCC unroll 2
      for (std::int64_t v = 0; v < kVectors; ++v) {
        sums[p][v] += w[v] * inputs[p][channel + step];
      }
    }
  }
}

// Six pixels by two vectors are twelve sums: with two vectors of weights and an input they fill fifteen of
// the sixteen registers, and each channel loads eight vectors for twelve multiply-adds. Eight channels at a
// time: few enough branches that the processor foresees each tap's last.
template <std::int64_t kPixels, std::int64_t kVectors, bool kWhole>
[[gnu::target("avx2,fma")]] void compute(const Tiles& all) {
  constexpr std::int64_t kSteps = 8;
  const Floats least = Floats{} + all.least;
  const Floats most = Floats{} + all.most;
  const auto lanes = [last = all.last](std::int64_t v) {
    return kWhole || v + 1 < kVectors ? kVector : last;
  };
  Row<kVectors> start;
#pragma GCC unroll 2
  for (std::int64_t v = 0; v < kVectors; ++v) {
    load(all.bias == nullptr ? kNoBias.data() : all.bias + v * kVector, lanes(v), start[v]);
  }
  for (std::int64_t tile = 0; tile < all.count; ++tile) {
    Row<kVectors> sums[kPixels];
#pragma GCC unroll 6
    for (std::int64_t p = 0; p < kPixels; ++p) {
#pragma GCC unroll 2
      for (std::int64_t v = 0; v < kVectors; ++v) {
        sums[p][v] = start[v];
      }
    }
    for (std::int64_t tap = 0; tap < all.taps; ++tap) {
      const float* inputs[kPixels];
      bool reads = false;
#pragma GCC unroll 6
      for (std::int64_t p = 0; p < kPixels; ++p) {
        const float* const input = all.inputs[tap * all.tap_step + tile * kPixels + p];
        reads = reads || input != all.padding;
        inputs[p] = input + all.first_channel;
      }
      if (!reads) {
        continue;
      }
      const float* weights = all.weights + tap * all.channels * kVectors * kVector;
      std::int64_t channel = 0;
      for (; channel + kSteps <= all.channels; channel += kSteps, weights += kSteps * kVectors * kVector) {
        add<kSteps, kPixels, kVectors>(inputs, channel, weights, sums);
      }
      for (; channel < all.channels; ++channel, weights += kVectors * kVector) {
        add<1, kPixels, kVectors>(inputs, channel, weights, sums);
      }
    }
#pragma GCC unroll 6
    for (std::int64_t p = 0; p < kPixels; ++p) {
      const std::int64_t place = all.places[tile * kPixels + p];
#pragma GCC unroll 2
      for (std::int64_t v = 0; v < kVectors; ++v) {
        const std::int64_t at = place + v * kVector;
        Floats sum = sums[p][v];
        if (all.summand != nullptr) {
          Floats more;
          load(all.summand + at, lanes(v), more);
          sum += more;
        }
        sum = least > sum ? least : sum;  // NaN stays
        sum = most < sum ? most : sum;
        store(sum, lanes(v), all.dst + at);
      }
    }
  }
}

// NOLINTEND(modernize-avoid-c-arrays)

template <std::int64_t kVectors, bool kWhole>
constexpr std::array kOfPixels{compute<1, kVectors, kWhole>, compute<2, kVectors, kWhole>,
                               compute<3, kVectors, kWhole>, compute<4, kVectors, kWhole>,
                               compute<5, kVectors, kWhole>, compute<6, kVectors, kWhole>};

}  // namespace

void compute_tiles(std::int64_t pixels, std::int64_t vectors, const Tiles& tiles) {
  const auto index = static_cast<std::size_t>(pixels - 1);
  if (tiles.last == kVector) {
    return vectors == 1 ? kOfPixels<1, true>.at(index)(tiles) : kOfPixels<2, true>.at(index)(tiles);
  }
  return vectors == 1 ? kOfPixels<1, false>.at(index)(tiles) : kOfPixels<2, false>.at(index)(tiles);
}

}  // namespace bench::kernels::packed
