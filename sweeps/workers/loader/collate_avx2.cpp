#include "sweeps/workers/loader/collate.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace bench::loader {
namespace {

#define BENCH_WIDE __attribute__((target("avx2,fma,f16c")))

constexpr std::size_t kAtOnce = 8;  // pixels: three registers of floats

BENCH_WIDE inline void put_single(void* to, __m256 values) {
  _mm256_storeu_ps(static_cast<float*>(to), values);
}

BENCH_WIDE inline void put_half(void* to, __m256 values) {
  _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
}

BENCH_WIDE inline void put_bfloat(void* to, __m256 values) {
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i upper =
      _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))), 16);
  _mm_storeu_si128(static_cast<__m128i*>(to),
                   _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)));
}

// The i-th eight of 24 values that go round the three channels, or, in planes, eight of one channel.
BENCH_WIDE inline __m256 eight_of(const std::array<float, 3>& of, std::size_t i, bool planes) {
  alignas(32) std::array<float, 8> values{};
  for (std::size_t k = 0; k < 8; ++k) {
    values[k] = of[planes ? i : (8 * i + k) % 3];
  }
  return _mm256_load_ps(values.data());
}

template <bool kPlanes, std::size_t kBytes, void (*kPut)(void*, __m256)>
BENCH_WIDE std::size_t store_all(const std::array<float, 3>& scale, const std::array<float, 3>& offset,
                                 const std::uint8_t* pixels, std::size_t count, std::byte* sample) {
  // Order of four pixels: r g b r g b …, or r r r r g g g g b b b b.
  const __m128i order = kPlanes ? _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, -1, -1, -1, -1)
                                : _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const __m256 scale0 = eight_of(scale, 0, kPlanes);
  const __m256 scale1 = eight_of(scale, 1, kPlanes);
  const __m256 scale2 = eight_of(scale, 2, kPlanes);
  const __m256 offset0 = eight_of(offset, 0, kPlanes);
  const __m256 offset1 = eight_of(offset, 1, kPlanes);
  const __m256 offset2 = eight_of(offset, 2, kPlanes);
  const std::size_t apart = kBytes * (kPlanes ? count : 8);
  const std::size_t onward = kBytes * (kPlanes ? 8 : 24);
  const std::size_t done = count / kAtOnce * kAtOnce;
  for (std::size_t i = 0; i < done; i += kAtOnce, pixels += 4 * kAtOnce, sample += onward) {
    const __m128i a = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels)), order);
    const __m128i b = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + 16)), order);
    const __m128i bytes0 = kPlanes ? _mm_unpacklo_epi32(a, b) : a;
    const __m128i bytes1 = kPlanes ? _mm_srli_si128(bytes0, 8) : _mm_unpacklo_epi32(_mm_srli_si128(a, 8), b);
    const __m128i bytes2 = kPlanes ? _mm_unpackhi_epi32(a, b) : _mm_srli_si128(b, 4);
    kPut(sample, _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes0)), scale0, offset0));
    kPut(sample + apart, _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes1)), scale1, offset1));
    kPut(sample + 2 * apart,
         _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes2)), scale2, offset2));
  }
  return done;
}

}  // namespace

bool wide_floats_usable() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
}

std::size_t store_wide(const std::array<float, 3>& scale, const std::array<float, 3>& offset, Element element,
                       ImageLayout layout, const std::uint8_t* pixels, std::size_t count, std::byte* sample) {
  const bool planes = layout == ImageLayout::nchw;
  switch (element) {
    case Element::fp32:
      return planes ? store_all<true, 4, put_single>(scale, offset, pixels, count, sample)
                    : store_all<false, 4, put_single>(scale, offset, pixels, count, sample);
    case Element::fp16:
      return planes ? store_all<true, 2, put_half>(scale, offset, pixels, count, sample)
                    : store_all<false, 2, put_half>(scale, offset, pixels, count, sample);
    case Element::bf16:
      return planes ? store_all<true, 2, put_bfloat>(scale, offset, pixels, count, sample)
                    : store_all<false, 2, put_bfloat>(scale, offset, pixels, count, sample);
    case Element::uint8:
      break;
  }
  return 0;
}

}  // namespace bench::loader

#else

namespace bench::loader {

bool wide_floats_usable() {
  return false;
}

std::size_t store_wide(const std::array<float, 3>& /*scale*/, const std::array<float, 3>& /*offset*/,
                       Element /*element*/, ImageLayout /*layout*/, const std::uint8_t* /*pixels*/,
                       std::size_t /*count*/, std::byte* /*sample*/) {
  return 0;
}

}  // namespace bench::loader

#endif
