#include "sweeps/workers/loader/resize_rows.h"

#include <array>

namespace bench::loader {
namespace {

constexpr int kHalf = Filter::kOne / 2;

// No weight is negative and they add up to one: a sum cannot leave the range of a byte.
std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(sum / Filter::kOne);
}

}  // namespace

void resize_across(const Filter& across, const std::uint8_t* from, std::uint8_t* to) {
  const std::int16_t* weight = across.weights.data();
  for (const int first : across.first) {
    std::array<std::int32_t, 4> sum{kHalf, kHalf, kHalf, kHalf};
    const std::uint8_t* pixel = from + 4 * static_cast<std::ptrdiff_t>(first);
    for (int k = 0; k < across.taps; ++k, pixel += 4) {
      for (std::size_t c = 0; c < 4; ++c) {
        sum[c] += weight[k] * pixel[c];
      }
    }
    for (std::size_t c = 0; c < 4; ++c) {
      to[c] = rounded(sum[c]);
    }
    weight += across.taps;
    to += 4;
  }
}

void resize_down(const std::int16_t* weights, int taps, const std::uint8_t* from, std::size_t stride,
                 int bytes, std::uint8_t* to) {
  constexpr int kBlock = 64;
  for (int begin = 0; begin < bytes; begin += kBlock) {
    const int count = bytes - begin < kBlock ? bytes - begin : kBlock;
    std::array<std::int32_t, kBlock> sum{};
    sum.fill(kHalf);
    for (int k = 0; k < taps; ++k) {
      const std::uint8_t* const row = from + static_cast<std::size_t>(k) * stride + begin;
      for (int i = 0; i < count; ++i) {
        sum[i] += weights[k] * row[i];
      }
    }
    for (int i = 0; i < count; ++i) {
      to[begin + i] = rounded(sum[i]);
    }
  }
}

}  // namespace bench::loader
