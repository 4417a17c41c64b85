#include "sweeps/workers/loader/collate.h"

#include <bit>
#include <cmath>

#include <immintrin.h>

#include "bench/stored.h"

namespace bench::loader {
namespace {

#define BENCH_WIDE __attribute__((target("avx2,fma,f16c")))

// Each stores eight values.
struct WideSingle {
  static constexpr std::size_t kBytes = 4;  // of one
  BENCH_WIDE static void put(void* to, __m256 values) { _mm256_storeu_ps(static_cast<float*>(to), values); }
};
struct WideHalf {
  static constexpr std::size_t kBytes = 2;
  BENCH_WIDE static void put(void* to, __m256 values) {
    _mm_storeu_si128(static_cast<__m128i*>(to), _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
};
struct WideBfloat {
  static constexpr std::size_t kBytes = 2;
  BENCH_WIDE static void put(void* to, __m256 values) {
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i upper =
        _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))), 16);
    _mm_storeu_si128(static_cast<__m128i*>(to),
                     _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1)));
  }
};

// The i-th eight of 24 values that go round the three channels, or, in planes, eight of one channel.
BENCH_WIDE inline __m256 eight_of(const std::array<float, 3>& of, std::size_t i, bool planes) {
  alignas(32) std::array<float, 8> values{};
  for (std::size_t k = 0; k < 8; ++k) {
    values[k] = of[planes ? i : (8 * i + k) % 3];
  }
  return _mm256_load_ps(values.data());
}

// value * scale + offset of each channel, rounded once. Returns how many of the pixels it stored: all but the
// last few.
template <class Wide, bool kPlanes>
BENCH_WIDE std::size_t store_wide(const std::array<float, 3>& scale, const std::array<float, 3>& offset,
                                  const std::uint8_t* pixels, std::size_t count, std::byte* sample) {
  constexpr std::size_t kAtOnce = 8;  // pixels: three registers of floats
  // Order of four pixels: r g b r g b …, or r r r r g g g g b b b b.
  const __m128i order = kPlanes ? _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, -1, -1, -1, -1)
                                : _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
  const __m256 scale0 = eight_of(scale, 0, kPlanes);
  const __m256 scale1 = eight_of(scale, 1, kPlanes);
  const __m256 scale2 = eight_of(scale, 2, kPlanes);
  const __m256 offset0 = eight_of(offset, 0, kPlanes);
  const __m256 offset1 = eight_of(offset, 1, kPlanes);
  const __m256 offset2 = eight_of(offset, 2, kPlanes);
  const std::size_t apart = Wide::kBytes * (kPlanes ? count : 8);
  const std::size_t onward = Wide::kBytes * (kPlanes ? 8 : 24);
  const std::size_t done = count / kAtOnce * kAtOnce;
  for (std::size_t i = 0; i < done; i += kAtOnce, pixels += 4 * kAtOnce, sample += onward) {
    const __m128i a = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels)), order);
    const __m128i b = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + 16)), order);
    const __m128i bytes0 = kPlanes ? _mm_unpacklo_epi32(a, b) : a;
    const __m128i bytes1 = kPlanes ? _mm_srli_si128(bytes0, 8) : _mm_unpacklo_epi32(_mm_srli_si128(a, 8), b);
    const __m128i bytes2 = kPlanes ? _mm_unpackhi_epi32(a, b) : _mm_srli_si128(b, 4);
    Wide::put(sample, _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes0)), scale0, offset0));
    Wide::put(sample + apart,
              _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes1)), scale1, offset1));
    Wide::put(sample + 2 * apart,
              _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes2)), scale2, offset2));
  }
  return done;
}

template <class Wide>
constexpr auto* store_wide_as(ImageLayout layout) {
  return layout == ImageLayout::nchw ? &store_wide<Wide, true> : &store_wide<Wide, false>;
}

}  // namespace

bool wide_floats_usable() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
}

Collator::Collator(const Transform& transform, bool wide)
    : pixels_(static_cast<std::size_t>(transform.image_size * transform.image_size)),
      element_(transform.element),
      layout_(transform.layout),
      wide_(wide) {
  for (std::size_t c = 0; c < 3; ++c) {
    const double deviation = transform.deviation[c];
    scale_[c] = static_cast<float>(1 / (255 * deviation));
    offset_[c] = static_cast<float>(-transform.mean[c] / deviation);
    for (std::uint32_t v = 0; v < 256; ++v) {
      const float value = std::fma(static_cast<float>(v), scale_[c], offset_[c]);
      bits_[c][v] = element_ == Element::uint8  ? v
                    : element_ == Element::fp32 ? std::bit_cast<std::uint32_t>(value)
                    : element_ == Element::fp16 ? Fp16::from(value)
                                                : Bf16::from(value);
    }
  }
}

template <class Value>
void Collator::look_up(const std::uint8_t* pixels, std::size_t first, std::byte* sample) const {
  auto* const out = reinterpret_cast<Value*>(sample);
  const std::size_t pixel = layout_ == ImageLayout::nhwc ? 3 : 1;
  const std::size_t channel = layout_ == ImageLayout::nhwc ? 1 : pixels_;
  for (std::size_t i = first; i < pixels_; ++i) {
    out[i * pixel] = static_cast<Value>(bits_[0][pixels[4 * i]]);
    out[i * pixel + channel] = static_cast<Value>(bits_[1][pixels[4 * i + 1]]);
    out[i * pixel + 2 * channel] = static_cast<Value>(bits_[2][pixels[4 * i + 2]]);
  }
}

void Collator::store(const std::uint8_t* pixels, std::byte* sample) const {
  if (element_ == Element::uint8) {
    return look_up<std::uint8_t>(pixels, 0, sample);
  }
  auto* const wide = element_ == Element::fp32   ? store_wide_as<WideSingle>(layout_)
                     : element_ == Element::fp16 ? store_wide_as<WideHalf>(layout_)
                                                 : store_wide_as<WideBfloat>(layout_);
  const std::size_t done = wide_ ? wide(scale_, offset_, pixels, pixels_, sample) : 0;
  if (element_ == Element::fp32) {
    look_up<std::uint32_t>(pixels, done, sample);
  } else {
    look_up<std::uint16_t>(pixels, done, sample);
  }
}

}  // namespace bench::loader
