#include "kernels/devices/cpu/transfers.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "kernels/devices/host/pages.h"

namespace bench::kernels {
namespace {

void copy_one(const Copy& copy) {
  copy_past_caches(copy.to, copy.from, copy.bytes);
}

// The host copies at once, so there is nothing to wait for. Only another thread's copy overlaps with the
// device's work.
class ImmediateQueue final : public CopyQueue {
 public:
  void start(const Copy& copy) override { copy_one(copy); }
  void wait() override {}
};

}  // namespace

std::vector<int> CpuTransfers::nodes() const {
  return nodes_from(current_node(), online_nodes());
}

std::int64_t CpuTransfers::host_bytes_used() const {
  return process_bytes();
}

std::optional<std::string> CpuTransfers::cannot_hold(const HostMemoryRequest& request) const {
  if (request.node) {
    if (auto reason = no_such_node(*request.node, online_nodes())) {
      return reason;
    }
  }
  return request.kind == HostKind::pinned ? refused_by(lock_limit(), request.bytes) : std::nullopt;
}

std::unique_ptr<HostMemory> CpuTransfers::host_memory(const HostMemoryRequest& request) {
  return host_pages(request);
}

void CpuTransfers::copy(std::span<const Copy> copies) {
  // Waking another core takes longer than copying less than that.
  constexpr std::int64_t kWorthSharing = std::int64_t{1} << 20;
  std::int64_t bytes = 0;
  for (const Copy& copy : copies) {
    bytes += copy.bytes;
  }
  // Entering a parallel region costs half a microsecond even where one thread does it all.
  if (copies.size() == 1 || bytes < kWorthSharing) {
    for (const Copy& copy : copies) {
      copy_one(copy);
    }
    return;
  }
  const auto count = static_cast<std::int64_t>(copies.size());
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t i = 0; i < count; ++i) {
    copy_one(copies[static_cast<std::size_t>(i)]);
  }
}

std::unique_ptr<CopyQueue> CpuTransfers::copy_queue() {
  return std::make_unique<ImmediateQueue>();
}

// Data larger than all caches evicts its own beginning.
void CpuTransfers::evict(const std::byte* data, std::int64_t bytes) {
  constexpr std::int64_t kBeyondAll = std::int64_t{64} << 20;
  if (bytes <= kBeyondAll) {
    evict_lines(data, bytes);
  }
}

bool CpuTransfers::renew(std::byte* data, std::int64_t bytes) {
  return renew_pages(data, bytes);
}

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
