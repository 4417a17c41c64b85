#include "kernels/devices/host/copy.h"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace bench::kernels {

#ifdef __x86_64__

namespace {

constexpr std::int64_t kLine = 64;
// Far enough ahead that a line is there when it is read; within a page, which the processor's own prefetcher
// does not leave either.
constexpr std::int64_t kAhead = 512;

void stream_line(std::byte* to, const std::byte* from) {
  const auto* const source = reinterpret_cast<const __m128i*>(from);
  auto* const target = reinterpret_cast<__m128i*>(to);
  const __m128i a = _mm_loadu_si128(source);
  const __m128i b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2);
  const __m128i d = _mm_loadu_si128(source + 3);
  _mm_stream_si128(target, a);
  _mm_stream_si128(target + 1, b);
  _mm_stream_si128(target + 2, c);
  _mm_stream_si128(target + 3, d);
}

}  // namespace

void copy_past_caches(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const std::int64_t head = std::min(
      bytes, (kLine - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % kLine)) % kLine);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  std::int64_t at = head;
  for (; at + kLine <= bytes; at += kLine) {
    _mm_prefetch(from + at + kAhead, _MM_HINT_NTA);  // past the end it is a hint without effect
    stream_line(to + at, from + at);
  }
  std::memcpy(to + at, from + at, static_cast<std::size_t>(bytes - at));
  _mm_sfence();  // such stores are seen by others in no order until then
}

bool evict_lines(const std::byte* data, std::int64_t bytes) {
  for (std::int64_t at = 0; at < bytes; at += kLine) {
    _mm_clflush(data + at);
  }
  if (bytes > 0) {
    _mm_clflush(data + bytes - 1);
  }
  _mm_mfence();
  return true;
}

#else

void copy_past_caches(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool evict_lines(const std::byte* /*data*/, std::int64_t /*bytes*/) {
  return false;
}

#endif

}  // namespace bench::kernels
