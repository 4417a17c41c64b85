#include "kernels/workloads/copy/pattern.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "bench/stats/random.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kWord = sizeof(std::uint64_t);

// A multiplication spreads each word's number over its high bits, a shift brings them down: far cheaper than
// a good generator, and no two neighbours are alike.
std::uint64_t word_at(std::uint64_t key, std::int64_t index) {
  std::uint64_t word = (static_cast<std::uint64_t>(index) + key) * 0x9E3779B97F4A7C15U;
  word ^= word >> 29U;
  return word * 0xBF58476D1CE4E5B9U;
}

// Calls `use(position, bytes of the stream, count)` for each word, or part of one, of [offset, offset +
// size). The count of whole words is known to the compiler: a copy of so many bytes is then one instruction.
template <class Use>
void for_each_word(std::int64_t size, std::uint64_t seed, std::int64_t offset, Use use) {
  const std::uint64_t key = stream_seed(seed, 0);
  std::int64_t at = 0;
  const auto part = [&](std::int64_t within, std::int64_t count) {
    const std::uint64_t word = word_at(key, (offset + at) / kWord) >> (8 * static_cast<unsigned>(within));
    use(at, word, count);
    at += count;
  };
  if (const std::int64_t within = offset % kWord; within != 0) {
    part(within, std::min(kWord - within, size));
  }
  for (; at + kWord <= size; at += kWord) {
    use(at, word_at(key, (offset + at) / kWord), std::integral_constant<std::int64_t, kWord>{});
  }
  if (at < size) {
    part(0, size - at);
  }
}

}  // namespace

void write_pattern(std::span<std::byte> to, std::uint64_t seed, std::int64_t offset) {
  for_each_word(std::ssize(to), seed, offset, [&](std::int64_t at, std::uint64_t word, auto count) {
    std::memcpy(to.data() + at, &word, static_cast<std::size_t>(count));
  });
}

std::optional<Mismatch> find_mismatch(std::span<const std::byte> found, std::uint64_t seed,
                                      std::int64_t offset) {
  Mismatch mismatch;
  for_each_word(std::ssize(found), seed, offset, [&](std::int64_t at, std::uint64_t word, auto count) {
    if (std::memcmp(found.data() + at, &word, static_cast<std::size_t>(count)) == 0) {
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto expected = static_cast<std::byte>(word >> (8 * static_cast<unsigned>(i)));
      if (found[static_cast<std::size_t>(at + i)] != expected) {
        mismatch.first = mismatch.bytes == 0 ? offset + at + i : mismatch.first;
        ++mismatch.bytes;
      }
    }
  });
  return mismatch.bytes == 0 ? std::nullopt : std::optional(mismatch);
}

}  // namespace bench::kernels
