// Nests (array.h) on the CPU: cut into tasks over OpenMP threads, and their elements as rows of fp32.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/array.h"
#include "kernels/operations/element.h"

namespace bench::kernels {

using Places = std::array<std::int64_t, LoopNest::kMostArrays>;

inline void move(Places& at, const LoopNest::Loop& loop, std::int64_t by) {
  for (std::size_t array = 0; array < at.size(); ++array) {
    at[array] += by * loop.steps[array];
  }
}

// A few rows of a nest: elements along `row`, rows along `above`.
struct NestPiece {
  LoopNest::Loop row{};
  LoopNest::Loop above{};
  Places at{};  // of the first element
  std::int64_t rows = 1, count = 1;
};

// Loops as pieces of about `most` elements each, numbered from the first on.
class NestPieces {
 public:
  // `row` and `above`, cut into pieces, and all loops around them.
  NestPieces(const LoopNest::Loop& row, const LoopNest::Loop& above, std::vector<LoopNest::Loop> outer,
             std::int64_t most_in_row, std::int64_t most)
      : row_(row),
        above_(above),
        outer_(std::move(outer)),
        count_(std::min(row.extent, most_in_row)),
        rows_(std::clamp<std::int64_t>(most / count_, 1, above.extent)),
        parts_((row.extent + count_ - 1) / count_),
        bands_((above.extent + rows_ - 1) / rows_) {
    for (const LoopNest::Loop& loop : outer_) {
      planes_ *= loop.extent;
    }
  }

  std::int64_t size() const { return planes_ * bands_ * parts_; }

  NestPiece piece(std::int64_t index, const Places& first) const {
    const std::int64_t from = index % parts_ * count_;
    const std::int64_t top = index / parts_ % bands_ * rows_;
    NestPiece piece{.row = row_,
                    .above = above_,
                    .at = first,
                    .rows = std::min(rows_, above_.extent - top),
                    .count = std::min(count_, row_.extent - from)};
    move(piece.at, row_, from);
    move(piece.at, above_, top);
    std::int64_t plane = index / parts_ / bands_;
    for (std::size_t loop = outer_.size(); loop-- > 0; plane /= outer_[loop].extent) {
      move(piece.at, outer_[loop], plane % outer_[loop].extent);
    }
    return piece;
  }

 private:
  LoopNest::Loop row_, above_;
  std::vector<LoopNest::Loop> outer_;
  std::int64_t count_, rows_, parts_, bands_;
  std::int64_t planes_ = 1;
};

// The last of some loops, taken off them; a loop of one element where there is none.
inline LoopNest::Loop take_last(std::vector<LoopNest::Loop>& loops) {
  if (loops.empty()) {
    return {};
  }
  const LoopNest::Loop last = loops.back();
  loops.pop_back();
  return last;
}

inline constexpr std::int64_t kPieceElements = 1024;  // a few such rows of fp32 fit the first cache

// The elements of one array of a piece, one after the other: in place where they lie so, else in `room`.
template <class Element>
const float* gathered(const NestPiece& piece, std::size_t array, const typename Element::Stored* stored,
                      float* room) {
  const std::int64_t step = piece.row.steps[array];
  const std::int64_t next = piece.above.steps[array];
  const auto* const from = stored + piece.at[array];
  if constexpr (sizeof(typename Element::Stored) == sizeof(float)) {
    if (step == 1 && (piece.rows == 1 || next == piece.count)) {
      return from;
    }
  }
  float* to = room;
  const std::int64_t rows = next == 0 ? 1 : piece.rows;
  for (std::int64_t row = 0; row < rows; ++row, to += piece.count) {
    const auto* const at = from + row * next;
    if (step == 1) {
      for_each_in_row(
          piece.count, [=](std::int64_t i) __attribute__((always_inline)) { to[i] = Element::to(at[i]); });
    } else if (step == 0) {
      std::fill_n(to, piece.count, Element::to(*at));
    } else {
      for (std::int64_t i = 0; i < piece.count; ++i) {
        to[i] = Element::to(at[i * step]);
      }
    }
  }
  // The same row again, twice as many each time.
  for (std::int64_t done = rows; done < piece.rows; done *= 2) {
    std::copy_n(room, std::min(done, piece.rows - done) * piece.count, room + done * piece.count);
  }
  return room;
}

// Where the elements of array 0 of a piece are to be put, one after the other: in place where they lie so.
template <class Element>
float* result_room(const NestPiece& piece, typename Element::Stored* stored, float* room) {
  if constexpr (sizeof(typename Element::Stored) == sizeof(float)) {
    if (piece.row.steps[0] == 1 && (piece.rows == 1 || piece.above.steps[0] == piece.count)) {
      return stored + piece.at[0];
    }
  }
  return room;
}

template <class Element>
void scatter(const NestPiece& piece, const float* values, typename Element::Stored* stored) {
  auto* const to = stored + piece.at[0];
  if (static_cast<const void*>(to) == static_cast<const void*>(values)) {
    return;
  }
  for (std::int64_t row = 0; row < piece.rows; ++row, values += piece.count) {
    auto* const at = to + row * piece.above.steps[0];
    const std::int64_t step = piece.row.steps[0];
    if (step == 1) {
      for_each_in_row(
          piece.count, [=](std::int64_t i)
                           __attribute__((always_inline)) { at[i] = Element::from(values[i]); });
    } else {
      for (std::int64_t i = 0; i < piece.count; ++i) {
        at[i * step] = Element::from(values[i]);
      }
    }
  }
}

template <class Element>
void clear(const LoopNest& nest, typename Element::Stored* stored) {
  std::vector<LoopNest::Loop> outer = nest.loops;
  const LoopNest::Loop row = take_last(outer);
  const LoopNest::Loop above = take_last(outer);
  const NestPieces pieces(row, above, outer, kPieceElements, kPieceElements);
  const std::array<float, kPieceElements> zeros{};
  for (std::int64_t index = 0; index < pieces.size(); ++index) {
    scatter<Element>(pieces.piece(index, nest.first), zeros.data(), stored);
  }
}

// An operation that walks nests, and writes zeros into the channels' padding of what it writes.
template <class Spec>
class NestOperation : public LoopsOf<Spec> {
 public:
  explicit NestOperation(const Spec& spec)
      : LoopsOf<Spec>(spec), nests_(spec.nests()), padding_(padding_of(spec.written())) {}

 protected:
  template <class Element>
  void clear_padding(typename Element::Stored* written) const {
    if (padding_) {
      clear<Element>(*padding_, written);
    }
  }

  std::vector<LoopNest> nests_;  // NOLINT

 private:
  std::optional<LoopNest> padding_;
};

// Up to three arrays besides the first, as fp32 rows.
struct Operands {
  std::array<const float*, LoopNest::kMostArrays - 1> rows{};
  float factor = 1;  // of the function, where it has one
};
// values[i] = f(rows[0][i], …)
using RowFunction = void (*)(const Operands& operands, float* values, std::int64_t count);

// Array 0 of a nest from the `arrays` − 1 others.
template <class Element>
void map_nest(const LoopNest& nest, std::size_t arrays,
              const std::array<typename Element::Stored*, LoopNest::kMostArrays>& stored,
              RowFunction function, float factor = 1) {
  std::vector<LoopNest::Loop> outer = nest.loops;
  const LoopNest::Loop row = take_last(outer);
  const LoopNest::Loop above = take_last(outer);
  const NestPieces pieces(row, above, outer, kPieceElements, kPieceElements);
  const std::int64_t count = pieces.size();
#pragma omp parallel for schedule(static) if (nest.elements() > 8 * kPieceElements)
  for (std::int64_t index = 0; index < count; ++index) {
    alignas(64) std::array<std::array<float, kPieceElements>, LoopNest::kMostArrays> rooms;
    const NestPiece piece = pieces.piece(index, nest.first);
    Operands operands{.rows = {}, .factor = factor};
    for (std::size_t array = 1; array < arrays; ++array) {
      operands.rows[array - 1] = gathered<Element>(piece, array, stored[array], rooms[array].data());
    }
    float* const values = result_room<Element>(piece, stored[0], rooms[0].data());
    function(operands, values, piece.rows * piece.count);
    scatter<Element>(piece, values, stored[0]);
  }
}

// How values are joined, in double.
enum class Join { sum, product, largest, smallest };

template <Join kJoin>
[[gnu::always_inline]] inline double joined(double a, double b) {
  return kJoin == Join::sum       ? a + b
         : kJoin == Join::product ? a * b
         : kJoin == Join::largest ? (a < b ? b : a)
                                  : (b < a ? b : a);
}
template <Join kJoin>
constexpr double of_none() {
  return kJoin == Join::sum       ? 0
         : kJoin == Join::product ? 1
         : kJoin == Join::largest ? -std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::infinity();
}

// Array 0 of a nest, which stays where it is in some loops, from what the others give in these:
// finish(join of f(…)). One nest writes all of an element: see is_whole_sum().
template <Join kJoin, class Element, class Finish>
void reduce_nest(const LoopNest& nest, std::size_t arrays,
                 const std::array<typename Element::Stored*, LoopNest::kMostArrays>& stored,
                 RowFunction function, const Finish& finish) {
  std::vector<LoopNest::Loop> kept;
  std::vector<LoopNest::Loop> gone;
  for (const LoopNest::Loop& loop : nest.loops) {
    (loop.steps[0] == 0 ? gone : kept).push_back(loop);
  }
  constexpr std::int64_t kColumns = 128;  // of a task
  // Along the row of memory either all elements are joined, or each is another result.
  const bool along = !nest.loops.empty() && nest.loops.back().steps[0] == 0;
  const LoopNest::Loop row = along ? take_last(gone) : take_last(kept);
  const LoopNest::Loop above = take_last(gone);
  const NestPieces results(along ? LoopNest::Loop{} : row, {}, kept, kColumns, kColumns);
  const std::int64_t count = results.size();
#pragma omp parallel for schedule(static) if (nest.elements() > 8 * kPieceElements)
  for (std::int64_t index = 0; index < count; ++index) {
    alignas(64) std::array<std::array<float, kPieceElements>, LoopNest::kMostArrays> rooms;
    alignas(64) std::array<double, kColumns> sums;
    const NestPiece result = results.piece(index, nest.first);
    std::fill_n(sums.begin(), result.count, of_none<kJoin>());
    LoopNest::Loop part = row;
    part.extent = along ? row.extent : result.count;
    const NestPieces pieces(part, above, gone, kPieceElements, kPieceElements);
    for (std::int64_t at = 0; at < pieces.size(); ++at) {
      const NestPiece piece = pieces.piece(at, result.at);
      Operands operands{};
      for (std::size_t array = 1; array < arrays; ++array) {
        operands.rows[array - 1] = gathered<Element>(piece, array, stored[array], rooms[array].data());
      }
      const float* values = operands.rows[0];
      if (function != nullptr) {
        function(operands, rooms[0].data(), piece.rows * piece.count);
        values = rooms[0].data();
      }
      if (along) {
        double sum = sums[0];
        constexpr std::int64_t kLanes = 16;
        std::array<double, kLanes> lanes;
        lanes.fill(of_none<kJoin>());
        const std::int64_t all = piece.rows * piece.count;
        std::int64_t i = 0;
        for (; i + kLanes <= all; i += kLanes) {
          for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            lanes[lane] = joined<kJoin>(lanes[lane], static_cast<double>(values[i + lane]));
          }
        }
        for (; i < all; ++i) {
          sum = joined<kJoin>(sum, static_cast<double>(values[i]));
        }
        for (const double lane : lanes) {
          sum = joined<kJoin>(sum, lane);
        }
        sums[0] = sum;
      } else {
        for (std::int64_t r = 0; r < piece.rows; ++r, values += piece.count) {
#pragma omp simd
          for (std::int64_t i = 0; i < piece.count; ++i) {
            sums[i] = joined<kJoin>(sums[i], static_cast<double>(values[i]));
          }
        }
      }
    }
    for (std::int64_t i = 0; i < result.count; ++i) {
      stored[0][result.at[0] + i * result.row.steps[0]] = Element::from(static_cast<float>(finish(sums[i])));
    }
  }
}

inline constexpr const char* kSumOverPartialBlocks =
    "a sum over channels in blocks that are not full needs the order of the dimensions";

// Whether no two nests write the same element, with array 0 of so many elements.
inline bool is_whole_sum(const std::vector<LoopNest>& nests, std::int64_t elements) {
  std::int64_t written = 0;
  for (const LoopNest& nest : nests) {
    std::int64_t kept = 1;
    for (const LoopNest::Loop& loop : nest.loops) {
      kept *= loop.steps[0] == 0 ? 1 : loop.extent;
    }
    written += kept;
  }
  return written == elements;
}

}  // namespace bench::kernels
