// The same sums in 256-bit registers: pmaddwd weighs two pixels' (or two rows') bytes at once and adds them.
#include "sweeps/workers/loader/resize.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

namespace bench::loader {
namespace {

constexpr int kShift = 14;
static_assert(Filter::kOne == 1 << kShift);

__attribute__((target("avx2"))) __m256i load_256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

__attribute__((target("avx2"))) __m128i load_128(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

// Two weights, in every pair of 16-bit lanes.
__attribute__((target("avx2"))) __m256i two_weights(const std::int16_t* weights) {
  std::int32_t both = 0;
  std::memcpy(&both, weights, sizeof both);
  return _mm256_set1_epi32(both);
}

// Four pixels at a time: the first two go to the lower half, the last two to the upper, each as r0 r1 g0 g1
// b0 b1 x0 x1 in 16 bits; -1 gives zero.
__attribute__((target("avx2"))) inline __m256i weighed(const std::uint8_t* pixels,
                                                       const std::int16_t* weights, int taps) {
  const __m256i order = _mm256_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1, 8, -1, 12,
                                         -1, 9, -1, 13, -1, 10, -1, 14, -1, 11, -1, 15, -1);
  __m256i sum = _mm256_setzero_si256();
  for (int k = 0; k < taps; k += 4, pixels += 16, weights += 16) {
    const __m256i ordered = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(load_128(pixels)), order);
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(ordered, load_256(weights)));
  }
  return sum;
}

// Adds the halves of two sums and rounds.
__attribute__((target("avx2"))) inline __m256i both_totals(__m256i a, __m256i b) {
  const __m256i total =
      _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
  return _mm256_srli_epi32(_mm256_add_epi32(total, _mm256_set1_epi32(Filter::kOne / 2)), kShift);
}

}  // namespace

bool avx2_usable() {
  return __builtin_cpu_supports("avx2") != 0;
}

__attribute__((target("avx2"))) void resize_across_avx2(const Filter& across, const std::uint8_t* from,
                                                        std::uint8_t* to) {
  const int* first = across.first.data();
  const std::int16_t* weights = across.spread.data();
  const std::size_t outputs = across.first.size();
  const std::ptrdiff_t spread = std::ptrdiff_t{4} * across.taps;
  std::size_t i = 0;
  for (; i + 4 <= outputs; i += 4, first += 4, weights += 4 * spread, to += 16) {
    const __m256i a = weighed(from + std::ptrdiff_t{4} * first[0], weights, across.taps);
    const __m256i b = weighed(from + std::ptrdiff_t{4} * first[1], weights + spread, across.taps);
    const __m256i c = weighed(from + std::ptrdiff_t{4} * first[2], weights + 2 * spread, across.taps);
    const __m256i d = weighed(from + std::ptrdiff_t{4} * first[3], weights + 3 * spread, across.taps);
    const __m256i words = _mm256_packs_epi32(both_totals(a, b), both_totals(c, d));  // a c | b d
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const __m128i ordered =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), ordered);
  }
  for (; i < outputs; ++i, ++first, weights += spread, to += 4) {
    const __m256i a = weighed(from + std::ptrdiff_t{4} * first[0], weights, across.taps);
    const __m256i words = _mm256_packs_epi32(both_totals(a, a), _mm256_setzero_si256());
    const std::int32_t bytes = _mm_cvtsi128_si32(_mm256_castsi256_si128(_mm256_packus_epi16(words, words)));
    std::memcpy(to, &bytes, sizeof bytes);
  }
}

__attribute__((target("avx2"))) void resize_down_avx2(const std::int16_t* weights, int taps,
                                                      const std::uint8_t* from, std::size_t stride, int bytes,
                                                      std::uint8_t* to) {
  const __m256i half = _mm256_set1_epi32(Filter::kOne / 2);
  const __m256i zero = _mm256_setzero_si256();
  int i = 0;
  // Unpacking and packing both stay within halves of a register, so that the order comes out right.
  for (; i + 32 <= bytes; i += 32) {
    __m256i sum0 = half;
    __m256i sum1 = half;
    __m256i sum2 = half;
    __m256i sum3 = half;
    const std::uint8_t* row = from + i;
    for (int k = 0; k < taps; k += 2, row += 2 * stride) {
      const __m256i both = two_weights(weights + k);
      const __m256i a = load_256(row);
      const __m256i b = load_256(row + stride);
      const __m256i low = _mm256_unpacklo_epi8(a, b);
      const __m256i high = _mm256_unpackhi_epi8(a, b);
      sum0 = _mm256_add_epi32(sum0, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), both));
      sum1 = _mm256_add_epi32(sum1, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), both));
      sum2 = _mm256_add_epi32(sum2, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), both));
      sum3 = _mm256_add_epi32(sum3, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), both));
    }
    const __m256i low = _mm256_packs_epi32(_mm256_srli_epi32(sum0, kShift), _mm256_srli_epi32(sum1, kShift));
    const __m256i high = _mm256_packs_epi32(_mm256_srli_epi32(sum2, kShift), _mm256_srli_epi32(sum3, kShift));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_packus_epi16(low, high));
  }
  if (i < bytes) {
    resize_down(weights, taps, from + i, stride, bytes - i, to + i);
  }
}

}  // namespace bench::loader

#else

namespace bench::loader {

bool avx2_usable() {
  return false;
}

void resize_across_avx2(const Filter& across, const std::uint8_t* from, std::uint8_t* to) {
  resize_across(across, from, to);
}

void resize_down_avx2(const std::int16_t* weights, int taps, const std::uint8_t* from, std::size_t stride,
                      int bytes, std::uint8_t* to) {
  resize_down(weights, taps, from, stride, bytes, to);
}

}  // namespace bench::loader

#endif
