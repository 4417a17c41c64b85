// How blocks of threads lie over a matrix of rows of pixels and columns of channels, one access a column: a
// thread's rows, and the join of what several blocks found for a channel.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/error.h"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/backends/cuda/vector_access.cuh"

namespace bench::kernels::cuda {

// A block is `width` threads wide, a power of two, and height() high. It covers `width` columns and the rows
// of one chunk, height() at a time, so that a thread stays with its channels.
struct Tiling {
  static constexpr int kThreads = 256;
  static constexpr int kWidest = 32;  // a warp reads 512 bytes side by side
  static constexpr int kUnroll = 4;   // rows a thread reads before it needs the first

  int log_width = 0;
  std::uint32_t columns = 1;
  std::uint32_t column_tiles = 1;
  std::uint32_t rows = 1;
  std::uint32_t rows_per_chunk = 1;
  std::uint32_t chunks = 1;

  // Why a matrix has more rows than a tiling counts; nullopt where it has not.
  static std::optional<std::string> too_many_rows(std::int64_t rows) {
    return rows <= kMostUnits ? std::nullopt
                              : std::optional("the CUDA kernels count to " + std::to_string(kMostUnits) +
                                              " rows, there are " + std::to_string(rows));
  }

  // About `target` blocks, but none with less than kUnroll rows a thread unless there are no more. Throws
  // Unsupported for too_many_rows().
  static Tiling of(std::int64_t rows, std::int64_t columns, std::int64_t target) {
    const Tiling tiling = over(rows, columns);
    const std::int64_t most_chunks = std::max<std::int64_t>(1, target / tiling.column_tiles);
    return tiling.cut((rows + most_chunks - 1) / most_chunks);
  }

  // For kernels that only read and write: 16 rows a thread, which pay for the parameters that it reads first;
  // of small matrices fewer, that each multiprocessor has four blocks.
  static Tiling mapping(std::int64_t rows, std::int64_t columns, int multiprocessors) {
    constexpr std::int64_t kMostRows = 16;
    const Tiling tiling = over(rows, columns);
    const std::int64_t least = std::int64_t{multiprocessors} * 4;
    const std::int64_t height = kThreads >> tiling.log_width;
    std::int64_t each = kMostRows;
    while (each > kUnroll && rows / (each * height) * tiling.column_tiles < least) {
      each /= 2;
    }
    return tiling.cut(each * height);
  }

  std::int64_t blocks() const { return std::int64_t{column_tiles} * chunks; }

  BENCH_DEVICE int width() const { return 1 << log_width; }
  BENCH_DEVICE int height() const { return kThreads >> log_width; }

  BENCH_DEVICE std::uint32_t rows_of(std::uint32_t chunk) const {
    const std::uint32_t before = chunk * rows_per_chunk;
    return rows - before < rows_per_chunk ? rows - before : rows_per_chunk;
  }

  // A thread's place.
  struct Place {
    std::int64_t channels;  // of a row
    std::int64_t channel;   // the first of its column
    std::int64_t of_all;    // the same among the channels of all sections
    std::uint32_t chunk;
    std::uint32_t column;
    std::uint32_t row;   // its first
    std::uint32_t last;  // after the chunk's last
    int above;           // its place among the block's threads of that column
    bool inside;         // whether there is such a column
  };
  // kCount: channels of a column.
  template <int kCount, class Thread>
  BENCH_DEVICE Place place(const Thread& thread) const {
    const std::uint32_t chunk = chunk_of(thread);
    return place_in<kCount>(thread, chunk, chunk, 0);
  }

  // Joins what a block's threads of each column left in shared memory: join(me, other) adds one thread's to
  // another's, until the threads with `above` 0 have it all. Every thread must come.
  template <class Thread, class Join>
  BENCH_DEVICE void join(const Thread& thread, const Place& place, const Join& join) const {
    thread.sync();
    for (int half = height() / 2; half > 0; half /= 2) {
      if (place.above < half) {
        join(thread.index(), thread.index() + (half << log_width));
      }
      thread.sync();
    }
  }

 protected:
  template <class Thread>
  BENCH_DEVICE std::uint32_t chunk_of(const Thread& thread) const {
    return static_cast<std::uint32_t>(thread.block()) / column_tiles;
  }

  // In a chunk of all, which is `chunk` of its section.
  template <int kCount, class Thread>
  BENCH_DEVICE Place place_in(const Thread& thread, std::uint32_t of_all, std::uint32_t chunk,
                              std::uint32_t section) const {
    const std::uint32_t tile = static_cast<std::uint32_t>(thread.block()) - of_all * column_tiles;
    const std::uint32_t first = section * rows + chunk * rows_per_chunk;
    Place place;
    place.chunk = of_all;
    place.column = tile * static_cast<std::uint32_t>(width()) +
                   static_cast<std::uint32_t>(thread.index() & (width() - 1));
    place.channels = std::int64_t{columns} * kCount;
    place.channel = std::int64_t{place.column} * kCount;
    place.of_all = section * place.channels + place.channel;
    place.above = thread.index() >> log_width;
    place.row = first + static_cast<std::uint32_t>(place.above);
    place.last = first + rows_of(chunk);
    place.inside = place.column < columns;
    return place;
  }

 private:
  // Not cut yet.
  static Tiling over(std::int64_t rows, std::int64_t columns) {
    if (const auto reason = too_many_rows(std::max(rows, columns))) {
      throw Unsupported(*reason);
    }
    Tiling tiling;
    tiling.rows = static_cast<std::uint32_t>(rows);
    tiling.columns = static_cast<std::uint32_t>(columns);
    const auto width = std::bit_ceil(static_cast<std::uint32_t>(std::min<std::int64_t>(columns, kWidest)));
    tiling.log_width = std::countr_zero(width);
    tiling.column_tiles = (tiling.columns + width - 1) / width;
    return tiling;
  }

  // Into chunks of about so many rows: whole rounds of all threads.
  Tiling cut(std::int64_t rows_each) const {
    Tiling tiling = *this;
    const std::uint32_t round = static_cast<std::uint32_t>(kThreads >> log_width) * kUnroll;
    tiling.rows_per_chunk =
        (static_cast<std::uint32_t>(std::max<std::int64_t>(rows_each, 1)) + round - 1) / round * round;
    tiling.chunks = (rows + tiling.rows_per_chunk - 1) / tiling.rows_per_chunk;
    return tiling;
  }
};

// One after the other, matrices of as many rows each: the pixels of samples that are taken by themselves.
// `rows` are those of a section, and no chunk has rows of two.
struct SectionTiling : Tiling {
  std::uint32_t chunks_each = 1;  // of a section

  // Throws Unsupported as Tiling::of does.
  static SectionTiling of(std::int64_t sections, std::int64_t rows, std::int64_t columns,
                          std::int64_t target) {
    SectionTiling tiling{Tiling::of(rows, columns, target / sections)};
    tiling.chunks_each = tiling.chunks;
    tiling.chunks *= static_cast<std::uint32_t>(sections);
    return tiling;
  }

  template <int kCount, class Thread>
  BENCH_DEVICE Place place(const Thread& thread) const {
    const std::uint32_t chunk = chunk_of(thread);
    const std::uint32_t section = chunk / chunks_each;
    return place_in<kCount>(thread, chunk, chunk - section * chunks_each, section);
  }
};

// Reads kUnroll rows of each input, `step` apart from `row` on, before it visits the first. kAll: there are
// so many before `last`; else as many as there are.
template <class Element, int kCount, int kUnroll, bool kAll, int kInputs, class Visit>
BENCH_DEVICE void visit_rows(const Tiling::Place& place, std::uint32_t row, std::uint32_t step,
                             const typename Element::Stored* const (&in)[kInputs], const Visit& visit) {
  Vector<kBytesOf<Element, kCount>> words[kUnroll][kInputs];
  BENCH_UNROLL
  for (int u = 0; u < kUnroll; ++u) {
    if (const std::uint32_t at = row + step * u; kAll || at < place.last) {
      for (int k = 0; k < kInputs; ++k) {
        words[u][k] = load_vector<Element, kCount>(in[k] + at * place.channels + place.channel);
      }
    }
  }
  BENCH_UNROLL
  for (int u = 0; u < kUnroll; ++u) {
    if (const std::uint32_t at = row + step * u; kAll || at < place.last) {
      float values[kInputs][kCount];
      for (int k = 0; k < kInputs; ++k) {
        unpack<Element>(words[u][k], values[k]);
      }
      visit(at, values);
    }
  }
}

// Calls visit(row, values) with each of a thread's rows, where values[k] are kCount elements of in[k]. A
// thread reads kUnroll rows of each input before it needs the first; only its last round looks where the
// chunk ends.
template <class Element, int kCount, int kUnroll, int kInputs, class Visit>
BENCH_DEVICE void for_each_row(const Tiling& tiling, const Tiling::Place& place,
                               const typename Element::Stored* const (&in)[kInputs], const Visit& visit) {
  const auto step = static_cast<std::uint32_t>(tiling.height());
  std::uint32_t row = place.row;
  for (; row + step * (kUnroll - 1) < place.last; row += step * kUnroll) {
    visit_rows<Element, kCount, kUnroll, true>(place, row, step, in, visit);
  }
  if (row < place.last) {
    visit_rows<Element, kCount, kUnroll, false>(place, row, step, in, visit);
  }
}

// Joins what each channel has in the chunks, always in the same order: two runs give the same bits. A block
// does kChannels channels; its threads share their chunks, of which each reads kUnroll before it needs the
// first: the kernel lasts as long as its reads one after another.
struct ChunkJoin {
  static constexpr int kThreads = 256;
  static constexpr int kChannels = 8;
  static constexpr int kHeight = kThreads / kChannels;
  static constexpr int kUnroll = 8;

  static std::int64_t blocks(std::int64_t channels) { return (channels + kChannels - 1) / kChannels; }

  // load(chunk, channel) reads a chunk's part, of which `own`, a thread's share, takes all of the thread:
  // own.add(part, chunk). own.value() is joined with that of other threads, Value::join; store(channel,
  // value) takes the result.
  template <class Value, class Thread, class Own, class Load, class Store>
  static BENCH_DEVICE void run(const Thread& thread, Value (&room)[kThreads], std::uint32_t chunks,
                               std::int64_t channels, Own own, const Load& load, const Store& store) {
    const int me = thread.index();
    const std::int64_t channel = std::int64_t{thread.block()} * kChannels + me % kChannels;
    if (channel < channels) {
      auto chunk = static_cast<std::uint32_t>(me / kChannels);
      for (; chunk + kHeight * (kUnroll - 1) < chunks; chunk += kHeight * kUnroll) {
        add<true>(own, chunk, chunks, channel, load);
      }
      add<false>(own, chunk, chunks, channel, load);
    }
    room[me] = own.value();
    thread.sync();
    for (int half = kHeight / 2; half > 0; half /= 2) {
      if (me / kChannels < half) {
        room[me].join(room[me + half * kChannels]);
      }
      thread.sync();
    }
    if (me < kChannels && channel < channels) {
      store(channel, room[me]);
    }
  }

 private:
  template <bool kAll, class Own, class Load>
  static BENCH_DEVICE void add(Own& own, std::uint32_t first, std::uint32_t chunks, std::int64_t channel,
                               const Load& load) {
    decltype(load(first, channel)) parts[kUnroll];
    BENCH_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      if (const std::uint32_t chunk = first + kHeight * u; kAll || chunk < chunks) {
        parts[u] = load(chunk, channel);
      }
    }
    BENCH_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      if (const std::uint32_t chunk = first + kHeight * u; kAll || chunk < chunks) {
        own.add(parts[u], chunk);
      }
    }
  }
};

// How chunks that meet in a sum are cut: as many blocks of Kernel as the device holds at once, which fills it
// and leaves few to be joined.
template <class Kernel, class Queue>
Tiling reducing_tiling(const Queue& queue, std::int64_t rows, std::int64_t columns) {
  return Tiling::of(rows, columns, queue.template resident<Kernel>());
}

// Scratch for two fp32 sums for each channel and chunk, in bytes, enough for every vector width.
// tiling.operator()<kCount>() gives the tiling for accesses of kCount elements.
template <class Element, class MakeTiling>
std::int64_t partial_bytes(std::int64_t channels, const MakeTiling& tiling) {
  std::int64_t chunks = tiling.template operator()<1>().chunks;
  if (channels % kLanes<Element> == 0) {
    chunks = std::max<std::int64_t>(chunks, tiling.template operator()<kLanes<Element>>().chunks);
  }
  return chunks * 2 * channels * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace bench::kernels::cuda
