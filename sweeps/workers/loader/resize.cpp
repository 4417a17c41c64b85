#include "sweeps/workers/loader/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <immintrin.h>

namespace bench::loader {
namespace {

int round_up(int value, int step) {
  return (value + step - 1) / step * step;
}

// No weight is negative and they add up to one: a rounded sum cannot leave the range of a byte.
constexpr int kHalf = Filter::kOne / 2;

// One row, from its output `begin` on: pixels of four bytes into `to`.
void resize_across(const Filter& across, std::size_t begin, const std::uint8_t* from, std::uint8_t* to) {
  for (std::size_t i = begin; i < across.first.size(); ++i) {
    std::array<std::int32_t, 4> sum{kHalf, kHalf, kHalf, kHalf};
    const std::int16_t* const weights = &across.weights[i * static_cast<std::size_t>(across.taps)];
    const std::uint8_t* pixel = from + std::ptrdiff_t{4} * across.first[i];
    for (int k = 0; k < across.taps; ++k, pixel += 4) {
      for (std::size_t c = 0; c < 4; ++c) {
        sum[c] += weights[k] * pixel[c];
      }
    }
    for (std::size_t c = 0; c < 4; ++c) {
      to[4 * i + c] = static_cast<std::uint8_t>(sum[c] >> Filter::kShift);
    }
  }
}

// Weighs `taps` rows, the first at `from`, each `stride` bytes after the one before; of each the bytes from
// `begin` to `end`.
void resize_down(const std::int16_t* weights, int taps, const std::uint8_t* from, std::size_t stride,
                 int begin, int end, std::uint8_t* to) {
  constexpr int kBlock = 64;
  for (; begin < end; begin += kBlock) {
    const int count = std::min(end - begin, kBlock);
    std::array<std::int32_t, kBlock> sum{};
    sum.fill(kHalf);
    for (int k = 0; k < taps; ++k) {
      const std::uint8_t* const row = from + static_cast<std::size_t>(k) * stride + begin;
      for (int i = 0; i < count; ++i) {
        sum[i] += weights[k] * row[i];
      }
    }
    for (int i = 0; i < count; ++i) {
      to[begin + i] = static_cast<std::uint8_t>(sum[i] >> Filter::kShift);
    }
  }
}

// The same sums in 256-bit registers: pmaddwd weighs two pixels' (or two rows') bytes at once and adds them.
#define BENCH_AVX2 __attribute__((target("avx2")))

BENCH_AVX2 inline __m256i load_256(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

// Adds four pixels to the sum, weighed. In 16 bits: r0 r1 r2 r3 g0 g1 g2 g3 | b0 b1 b2 b3 x0 x1 x2 x3 (-1
// gives zero), times w0 w1 w2 w3 everywhere. The sums of both halves of a channel lie next to each other.
BENCH_AVX2 inline __m256i plus_weighed(__m256i sum, const std::uint8_t* pixels, const std::int16_t* weights) {
  const __m256i order = _mm256_setr_epi8(0, -1, 4, -1, 8, -1, 12, -1, 1, -1, 5, -1, 9, -1, 13, -1,  //
                                         2, -1, 6, -1, 10, -1, 14, -1, 3, -1, 7, -1, 11, -1, 15, -1);
  const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels));
  const __m256i ordered = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(four), order);
  const __m128i all = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(ordered, _mm256_broadcastq_epi64(all)));
}

// Adds the halves of two outputs' channels and rounds: ra ga rb gb | ba xa bb xb.
BENCH_AVX2 inline __m256i both_totals(__m256i a, __m256i b) {
  const __m256i total = _mm256_hadd_epi32(a, b);
  return _mm256_srli_epi32(_mm256_add_epi32(total, _mm256_set1_epi32(kHalf)), Filter::kShift);
}

BENCH_AVX2 void resize_across_avx2(const Filter& across, std::size_t begin, const std::uint8_t* from,
                                   std::uint8_t* to) {
  const std::size_t outputs = across.first.size();
  const auto taps = static_cast<std::size_t>(across.taps);
  std::size_t i = begin;
  for (; i + 4 <= outputs; i += 4) {
    const int* const first = &across.first[i];
    const std::int16_t* const weights = &across.weights[i * taps];
    const std::uint8_t* const from_a = from + std::ptrdiff_t{4} * first[0];
    const std::uint8_t* const from_b = from + std::ptrdiff_t{4} * first[1];
    const std::uint8_t* const from_c = from + std::ptrdiff_t{4} * first[2];
    const std::uint8_t* const from_d = from + std::ptrdiff_t{4} * first[3];
    __m256i a = _mm256_setzero_si256();
    __m256i b = a;
    __m256i c = a;
    __m256i d = a;
    for (std::size_t k = 0; k < taps; k += 4) {
      a = plus_weighed(a, from_a + 4 * k, weights + k);
      b = plus_weighed(b, from_b + 4 * k, weights + taps + k);
      c = plus_weighed(c, from_c + 4 * k, weights + 2 * taps + k);
      d = plus_weighed(d, from_d + 4 * k, weights + 3 * taps + k);
    }
    const __m256i words = _mm256_packs_epi32(both_totals(a, b), both_totals(c, d));
    const __m256i bytes = _mm256_packus_epi16(words, words);  // ra ga rb gb rc … | ba xa bb xb bc …
    const __m128i ordered =
        _mm_unpacklo_epi16(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 4 * i), ordered);
  }
  resize_across(across, i, from, to);
}

BENCH_AVX2 void resize_down_avx2(const std::int16_t* weights, int taps, const std::uint8_t* from,
                                 std::size_t stride, int begin, int end, std::uint8_t* to) {
  const __m256i half = _mm256_set1_epi32(kHalf);
  const __m256i zero = _mm256_setzero_si256();
  // Unpacking and packing both stay within halves of a register, so that the order comes out right.
  for (; begin + 32 <= end; begin += 32) {
    __m256i sum0 = half;
    __m256i sum1 = half;
    __m256i sum2 = half;
    __m256i sum3 = half;
    const std::uint8_t* row = from + begin;
    for (int k = 0; k < taps; k += 2, row += 2 * stride) {
      std::int32_t two = 0;
      std::memcpy(&two, weights + k, sizeof two);
      const __m256i both = _mm256_set1_epi32(two);
      const __m256i a = load_256(row);
      const __m256i b = load_256(row + stride);
      const __m256i low = _mm256_unpacklo_epi8(a, b);
      const __m256i high = _mm256_unpackhi_epi8(a, b);
      sum0 = _mm256_add_epi32(sum0, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), both));
      sum1 = _mm256_add_epi32(sum1, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), both));
      sum2 = _mm256_add_epi32(sum2, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), both));
      sum3 = _mm256_add_epi32(sum3, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), both));
    }
    const __m256i low =
        _mm256_packs_epi32(_mm256_srli_epi32(sum0, Filter::kShift), _mm256_srli_epi32(sum1, Filter::kShift));
    const __m256i high =
        _mm256_packs_epi32(_mm256_srli_epi32(sum2, Filter::kShift), _mm256_srli_epi32(sum3, Filter::kShift));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + begin), _mm256_packus_epi16(low, high));
  }
  resize_down(weights, taps, from, stride, begin, end, to);
}

}  // namespace

void Filter::set(int size, double from, double to, int outputs, bool reversed, int group) {
  const double scale = (to - from) / outputs;
  const double support = std::max(scale, 1.0);  // the triangle's half width; enlarging only interpolates
  // More inputs than this never lie under the triangle: at its very ends it is 0.
  const int most = static_cast<int>(std::ceil(2 * support));
  taps = round_up(most, group);
  first.assign(static_cast<std::size_t>(outputs), 0);
  weights.assign(static_cast<std::size_t>(outputs) * static_cast<std::size_t>(taps), 0);
  std::vector<double> exact(static_cast<std::size_t>(most));
  const int lowest = static_cast<int>(std::floor(from));
  const int highest = std::min(size, static_cast<int>(std::ceil(to)));
  for (int i = 0; i < outputs; ++i) {
    const double centre = from + (i + 0.5) * scale;
    const int begin = std::clamp(static_cast<int>(std::floor(centre - support + 0.5)), lowest, highest - 1);
    const int end = std::min(highest, static_cast<int>(std::floor(centre + support + 0.5)));
    const int count = std::clamp(end - begin, 1, most);
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      exact[k] = std::max(0.0, 1 - std::abs((k + begin - centre + 0.5) / support));
      sum += exact[k];
    }
    const std::size_t place = reversed ? outputs - 1 - i : i;
    // All taps within the part where it is wide enough, so that no more than a row is read past its end.
    first[place] = std::max(lowest, std::min(begin, highest - taps));
    std::int16_t* const out = &weights[place * static_cast<std::size_t>(taps)] + (begin - first[place]);
    int rest = kOne;
    for (int k = 0; k < count; ++k) {
      out[k] = static_cast<std::int16_t>(std::lround(exact[k] / sum * kOne));
      rest -= out[k];
    }
    // A flat area must stay as it is: the weights add up to one exactly.
    std::int16_t* const largest = std::max_element(out, out + count);
    *largest = static_cast<std::int16_t>(*largest + rest);
  }
}

Instructions best_instructions() {
  return __builtin_cpu_supports("avx2") != 0 ? Instructions::avx2 : Instructions::portable;
}

void Resizer::resize(const Pixels& from, const Part& part, int size, bool flip, std::uint8_t* to) {
  across_.set(from.width, part.left, part.right, size, flip, Filter::kAcross);
  down_.set(from.height, part.top, part.bottom, size, false, Filter::kDown);

  const bool avx2 = instructions_ == Instructions::avx2;
  const auto across = avx2 ? resize_across_avx2 : resize_across;
  const auto down = avx2 ? resize_down_avx2 : resize_down;
  const int bytes = 4 * size;
  const auto stride = static_cast<std::size_t>(round_up(bytes, 32));
  const int top = static_cast<int>(part.top);
  const int bottom = std::min(from.height, static_cast<int>(std::ceil(part.bottom)));
  // Taps of weight 0 reach past the last row: those rows exist and are ignored.
  rows_.resize(std::max(rows_.size(), static_cast<std::size_t>(bottom - top + down_.taps) * stride));
  for (int y = top; y < bottom; ++y) {
    across(across_, 0, from.data + static_cast<std::size_t>(y) * from.stride,
           rows_.data() + static_cast<std::size_t>(y - top) * stride);
  }
  for (int y = 0; y < size; ++y) {
    down(&down_.weights[static_cast<std::size_t>(y) * static_cast<std::size_t>(down_.taps)], down_.taps,
         rows_.data() + static_cast<std::size_t>(down_.first[y] - top) * stride, stride, 0, bytes,
         to + static_cast<std::size_t>(y) * static_cast<std::size_t>(bytes));
  }
}

std::int64_t Resizer::scratch_bytes() const {
  return static_cast<std::int64_t>(
      rows_.capacity() + (across_.weights.capacity() + down_.weights.capacity()) * sizeof(std::int16_t) +
      (across_.first.capacity() + down_.first.capacity()) * sizeof(int));
}

}  // namespace bench::loader
