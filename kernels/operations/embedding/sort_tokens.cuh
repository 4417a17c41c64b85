// Sorts the places of a batch by the tokens that name them: places of one token follow each other, in
// ascending order. A radix sort in passes of kDigitBits bits, the lowest first; a pass keeps the order of
// equal digits, so that the result does not depend on the card, and takes time in proportion to the places.
//
// A pass is three kernels: each tile of places counts its digits, one block turns the counts into addresses,
// each tile moves its places there. A token that names no row of the table comes after all others.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/backends/cuda/vector_access.cuh"

namespace bench::kernels::cuda {

struct alignas(8) TokenPlace {
  std::uint32_t token;
  std::uint32_t place;
};

struct TokenDigits {
  static constexpr int kBits = 6;
  static constexpr int kDigits = 1 << kBits;
  static constexpr int kThreads = 128;
  static constexpr int kEach = 16;  // places of a thread, one after the other
  static constexpr int kTile = kThreads * kEach;
  static_assert(kDigits <= kThreads);

  // How often each thread saw each digit. Rows are longer than they need be, so that columns lie in different
  // banks.
  struct Counts {
    std::uint16_t of[kDigits][kThreads + 2];
  };

  const std::int32_t* tokens;  // before the first pass; later nullptr
  const TokenPlace* from;      // what the pass before wrote
  std::int64_t rows;
  std::int32_t vocabulary;
  int shift;

  static std::int64_t tiles(std::int64_t rows) { return (rows + kTile - 1) / kTile; }

  BENCH_DEVICE TokenPlace at(std::int64_t index) const {
    if (tokens == nullptr) {
      return from[index];
    }
    const std::int32_t token = tokens[index];
    const bool known = token >= 0 && token < vocabulary;
    return {static_cast<std::uint32_t>(known ? token : vocabulary), static_cast<std::uint32_t>(index)};
  }
  BENCH_DEVICE int digit(const TokenPlace& key) const {
    return static_cast<int>(key.token >> shift) & (kDigits - 1);
  }

  // Calls visit with each of the thread's places.
  template <class Thread, class Visit>
  BENCH_DEVICE void each(const Thread& thread, const Visit& visit) const {
    const std::int64_t first = std::int64_t{thread.block()} * kTile + thread.index() * kEach;
    for (std::int64_t index = first; index < first + kEach && index < rows; ++index) {
      visit(at(index));
    }
  }

  // All threads of a block come; afterwards all counts are there.
  template <class Thread>
  BENCH_DEVICE void count(const Thread& thread, Counts& counts) const {
    const int me = thread.index();
    for (auto& of_digit : counts.of) {
      of_digit[me] = 0;
    }
    each(thread, [&](const TokenPlace& key) { ++counts.of[digit(key)][me]; });
    thread.sync();
  }
};

// totals[digit][tile]: how often the digit comes in the tile.
struct CountDigits {
  static constexpr int kThreads = TokenDigits::kThreads;
  static constexpr const char* kName = "sort tokens, count";
  using Shared = TokenDigits::Counts;

  TokenDigits digits;
  std::uint32_t* totals;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& counts = thread.template shared<Shared>();
    digits.count(thread, counts);
    if (const int mine = thread.index(); mine < TokenDigits::kDigits) {
      std::uint32_t total = 0;
      for (int of = 0; of < kThreads; ++of) {
        total += counts.of[mine][of];
      }
      totals[std::int64_t{mine} * thread.blocks() + thread.block()] = total;
    }
  }
};

// values[i] becomes the sum of all before it. One block.
struct SumBefore {
  static constexpr int kThreads = 512;
  static constexpr const char* kName = "sort tokens, add up";

  std::uint32_t* values;
  std::int64_t count;

  struct Shared {
    std::uint32_t sums[2][kThreads];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const int me = thread.index();
    const std::int64_t each = (count + kThreads - 1) / kThreads;
    const std::int64_t first = me * each;
    const std::int64_t end = first + each < count ? first + each : count;
    std::uint32_t sum = 0;
    for (std::int64_t i = first; i < end; ++i) {
      sum += values[i];
    }
    shared.sums[0][me] = sum;
    thread.sync();
    int now = 0;
    for (int step = 1; step < kThreads; step *= 2) {
      shared.sums[1 - now][me] = shared.sums[now][me] + (me >= step ? shared.sums[now][me - step] : 0);
      now = 1 - now;
      thread.sync();
    }
    std::uint32_t before = shared.sums[now][me] - sum;
    for (std::int64_t i = first; i < end; ++i) {
      const std::uint32_t value = values[i];
      values[i] = before;
      before += value;
    }
  }
};

// firsts[digit][tile]: where the tile's places of that digit go.
struct MovePlaces {
  static constexpr int kThreads = TokenDigits::kThreads;
  static constexpr const char* kName = "sort tokens, move";
  using Shared = TokenDigits::Counts;

  TokenDigits digits;
  const std::uint32_t* firsts;
  TokenPlace* to;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& counts = thread.template shared<Shared>();
    digits.count(thread, counts);
    const int me = thread.index();
    if (me < TokenDigits::kDigits) {
      std::uint16_t before = 0;
      for (std::uint16_t& count : counts.of[me]) {
        const std::uint16_t value = count;
        count = before;
        before = static_cast<std::uint16_t>(before + value);
      }
    }
    thread.sync();
    digits.each(thread, [&](const TokenPlace& key) {
      const int digit = digits.digit(key);
      to[firsts[std::int64_t{digit} * thread.blocks() + thread.block()] + counts.of[digit][me]++] = key;
    });
  }
};

// The scratch of a sort, and its launches.
class TokenSort {
 public:
  TokenSort(std::int64_t rows, std::int64_t vocabulary)
      : rows_(rows),
        vocabulary_(static_cast<std::int32_t>(vocabulary)),
        passes_(blocks_for(std::bit_width(static_cast<std::uint64_t>(vocabulary)), TokenDigits::kBits)) {}

  std::int64_t scratch_bytes() const { return counts_at() + counts() * bytes_of_count(); }

  // The sorted places, in the scratch.
  template <class Queue>
  const TokenPlace* run(const Queue& queue, const std::int32_t* tokens, void* scratch) const {
    auto* const bytes = static_cast<std::byte*>(scratch);
    auto* const totals = reinterpret_cast<std::uint32_t*>(bytes + counts_at());
    const TokenPlace* from = nullptr;
    for (std::int64_t pass = 0; pass < passes_; ++pass) {
      auto* const to = reinterpret_cast<TokenPlace*>(bytes + pass % 2 * places_bytes());
      const TokenDigits digits{pass == 0 ? tokens : nullptr, from, rows_, vocabulary_,
                               static_cast<int>(pass) * TokenDigits::kBits};
      queue.launch(CountDigits{digits, totals}, TokenDigits::tiles(rows_));
      queue.launch(SumBefore{totals, counts()}, 1);
      queue.launch(MovePlaces{digits, totals, to}, TokenDigits::tiles(rows_));
      from = to;
    }
    return from;
  }

 private:
  static constexpr std::int64_t bytes_of_count() { return static_cast<std::int64_t>(sizeof(std::uint32_t)); }
  std::int64_t counts() const { return TokenDigits::kDigits * TokenDigits::tiles(rows_); }
  std::int64_t places_bytes() const {
    return before_library_scratch(rows_ * static_cast<std::int64_t>(sizeof(TokenPlace)));
  }
  // Passes write to two places in turn.
  std::int64_t counts_at() const { return (passes_ > 1 ? 2 : 1) * places_bytes(); }

  std::int64_t rows_;
  std::int32_t vocabulary_;
  std::int64_t passes_;
};

}  // namespace bench::kernels::cuda
