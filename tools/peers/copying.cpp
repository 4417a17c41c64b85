#include "copying.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "bench/registry.h"
#include "bench/stats/statistics.h"
#include "bench/transfers.h"

namespace bench::peers {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Two independent functions that copy as fast as a core can: the C library's, and a loop of 32-byte stores
// that go past the caches where the processor has them.
#ifdef __x86_64__
[[gnu::target("avx")]] void stream_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  for (std::int64_t at = 0; at + 128 <= bytes; at += 128) {
    _mm_prefetch(from + at + 512, _MM_HINT_NTA);
    const auto* const source = reinterpret_cast<const __m256i*>(from + at);
    auto* const target = reinterpret_cast<__m256i*>(to + at);
    _mm_prefetch(from + at + 576, _MM_HINT_NTA);
    const __m256i a = _mm256_loadu_si256(source);
    const __m256i b = _mm256_loadu_si256(source + 1);
    const __m256i c = _mm256_loadu_si256(source + 2);
    const __m256i d = _mm256_loadu_si256(source + 3);
    _mm256_stream_si256(target, a);
    _mm256_stream_si256(target + 1, b);
    _mm256_stream_si256(target + 2, c);
    _mm256_stream_si256(target + 3, d);
  }
  _mm_sfence();
}
bool has_stream_copy() {
  return __builtin_cpu_supports("avx") != 0;
}
#else
void stream_copy(std::byte*, const std::byte*, std::int64_t) {}
bool has_stream_copy() {
  return false;
}
#endif

void library_copy(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

// The CPU device's copy of ordinary memory compared with the faster of the two: medians of turns that take
// place one after the other in the same run. Source and target together hold twice what the last-level cache
// does: within it, stores that go past the caches would lose.
CopyComparison compare_copies() {
  constexpr std::int64_t kLeast = std::int64_t{256} << 20;
  const std::int64_t bytes = std::max<std::int64_t>(kLeast, sysconf(_SC_LEVEL3_CACHE_SIZE));
  constexpr std::size_t kTurns = 18;
  const auto device = registry<DeviceKind>().find("cpu")->open("cpu");
  Transfers& transfers = *transfers_of(*device);
  const Buffer buffer = device->allocate(bytes, MemoryCategory::input);
  const auto host = transfers.host_memory({.kind = HostKind::pageable, .bytes = bytes});
  const std::vector<Copy> copy{{.to = buffer.data(), .from = host->data(), .bytes = bytes}};
  std::vector<double> ours;
  std::vector<double> library;
  std::vector<double> stream;
  const auto timed = [](std::vector<double>& times, const auto& action) {
    const auto start = Clock::now();
    action();
    times.push_back(seconds_since(start));
  };
  const std::array<std::function<void()>, 3> contestants{
      [&] { timed(ours, [&] { transfers.copy(copy); }); },
      [&] { timed(library, [&] { library_copy(buffer.data(), host->data(), bytes); }); },
      [&] {
        if (has_stream_copy()) {
          timed(stream, [&] { stream_copy(buffer.data(), host->data(), bytes); });
        }
      }};
  for (std::size_t turn = 0; turn < kTurns; ++turn) {  // each follows each of the others as often
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      contestants[(turn % 2 == 0 ? turn + i : turn + contestants.size() - i) % contestants.size()]();
    }
  }
  const double best = stream.empty() ? median(library) : std::min(median(library), median(stream));
  return {.bytes = bytes, .time_over_tuned = median(ours) / best};
}

}  // namespace bench::peers
