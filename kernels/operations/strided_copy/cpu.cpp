// Strided copies on the CPU: rows where both sides are contiguous, else tiles, so that lines of the cache are
// read and written whole. Tiles over OpenMP threads.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kTile = 16;     // elements a side
constexpr std::int64_t kPiece = 4096;  // of a row that a thread copies at a time

// A nest as tasks: each is a plane of rows, or a part of one.
struct Plane {
  LoopNest::Loop row{};    // contiguous in what is written
  LoopNest::Loop above{};  // contiguous in what is read, if that is another loop
  std::vector<LoopNest::Loop> outer{};
  std::int64_t rows_each = 1;  // of a task
  std::int64_t row_each = 1;   // elements of a row
  std::int64_t row_parts = 1, plane_parts = 1, planes = 1;

  explicit Plane(const LoopNest& nest) : outer(nest.loops) {
    if (!outer.empty()) {
      row = outer.back();
      outer.pop_back();
    }
    const auto nearest = std::ranges::min_element(outer, {}, [](const LoopNest::Loop& loop) {
      return loop.steps[1] < 0 ? -loop.steps[1] : loop.steps[1];
    });
    if (nearest != outer.end()) {
      above = *nearest;
      outer.erase(nearest);
    }
    row_each = row.steps[1] == 1 ? std::min(row.extent, kPiece) : std::min(row.extent, kTile * kTile);
    rows_each = std::clamp<std::int64_t>(kPiece / row_each, 1, above.extent);
    row_parts = (row.extent + row_each - 1) / row_each;
    plane_parts = (above.extent + rows_each - 1) / rows_each;
    for (const LoopNest::Loop& loop : outer) {
      planes *= loop.extent;
    }
  }

  std::int64_t tasks() const { return planes * plane_parts * row_parts; }
};

// Calls visit(place written, place read, rows, elements of each) for every task.
template <class Visit>
void for_each_task(const LoopNest& nest, const Visit& visit) {
  constexpr std::int64_t kWorthThreads = 1 << 14;  // elements: some microseconds of copying
  const Plane plane(nest);
#pragma omp parallel for schedule(static) if (nest.elements() > kWorthThreads)
  for (std::int64_t task = 0; task < plane.tasks(); ++task) {
    const std::int64_t row_part = task % plane.row_parts * plane.row_each;
    const std::int64_t rows = task / plane.row_parts % plane.plane_parts * plane.rows_each;
    std::int64_t index = task / plane.row_parts / plane.plane_parts;
    std::array<std::int64_t, 2> at{nest.first[0], nest.first[1]};
    for (std::size_t side = 0; side < at.size(); ++side) {
      at[side] += row_part * plane.row.steps[side] + rows * plane.above.steps[side];
    }
    for (std::size_t loop = plane.outer.size(); loop-- > 0;) {
      const std::int64_t i = index % plane.outer[loop].extent;
      index /= plane.outer[loop].extent;
      at[0] += i * plane.outer[loop].steps[0];
      at[1] += i * plane.outer[loop].steps[1];
    }
    visit(plane, at, std::min(plane.rows_each, plane.above.extent - rows),
          std::min(plane.row_each, plane.row.extent - row_part));
  }
}

template <class Stored>
void copy_rows(const Plane& plane, Stored* to, const Stored* from, std::int64_t rows, std::int64_t count) {
  const std::int64_t to_row = plane.above.steps[0];
  const std::int64_t from_row = plane.above.steps[1];
  const std::int64_t to_step = plane.row.steps[0];
  const std::int64_t from_step = plane.row.steps[1];
  if (to_step == 1 && from_step == 1) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * to_row, from + row * from_row, static_cast<std::size_t>(count) * sizeof(Stored));
    }
    return;
  }
  for (std::int64_t top = 0; top < rows; top += kTile) {
    const std::int64_t bottom = std::min(top + kTile, rows);
    for (std::int64_t left = 0; left < count; left += kTile) {
      const std::int64_t right = std::min(left + kTile, count);
      for (std::int64_t row = top; row < bottom; ++row) {
        for (std::int64_t i = left; i < right; ++i) {
          to[row * to_row + i * to_step] = from[row * from_row + i * from_step];
        }
      }
    }
  }
}

class CpuStridedCopy final : public LoopsOf<StridedCopy> {
 public:
  explicit CpuStridedCopy(const StridedCopy& spec) : LoopsOf(spec), all_(steps_of(spec)) {}

  void run(const SlotPointers& pointers) override {
    with_element(spec_.dst.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto at = [&](Slot slot) { return static_cast<Stored*>(pointers[slot]); };
    auto* const to = at(spec_.forward() ? Slot::dst : Slot::diff_src);
    fill(all_.value, Element::from(spec_.forward() ? spec_.value : 0.0F), to);
    fill(all_.padding, Stored{}, to);
    for (const CopySteps::Step& step : all_.steps) {
      const Stored* const from = at(spec_.forward() ? kSources[step.part] : Slot::diff_dst);
      for_each_task(step.nest, [&](const Plane& plane, const std::array<std::int64_t, 2>& place,
                                   std::int64_t rows, std::int64_t count) {
        if (step.add) {
          add_rows<Element>(plane, to + place[0], from + place[1], rows, count);
        } else {
          copy_rows(plane, to + place[0], from + place[1], rows, count);
        }
      });
    }
  }

  template <class Stored>
  static void fill(const std::vector<LoopNest>& nests, Stored value, Stored* to) {
    for (const LoopNest& nest : nests) {
      for_each_task(nest, [&](const Plane& plane, const std::array<std::int64_t, 2>& place, std::int64_t rows,
                              std::int64_t count) {
        for (std::int64_t row = 0; row < rows; ++row) {
          Stored* const at = to + place[0] + row * plane.above.steps[0];
          if (plane.row.steps[0] == 1) {
            std::fill_n(at, count, value);
            continue;
          }
          for (std::int64_t i = 0; i < count; ++i) {
            at[i * plane.row.steps[0]] = value;
          }
        }
      });
    }
  }

  template <class Element>
  static void add_rows(const Plane& plane, typename Element::Stored* to, const typename Element::Stored* from,
                       std::int64_t rows, std::int64_t count) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t i = 0; i < count; ++i) {
        auto& sum = to[row * plane.above.steps[0] + i * plane.row.steps[0]];
        const auto added = from[row * plane.above.steps[1] + i * plane.row.steps[1]];
        sum = Element::from(Element::to(sum) + Element::to(added));
      }
    }
  }

  CopySteps all_;
};

const Registration<Implementation<StridedCopy>> BENCH_REGISTERED{
    cpu_implementation<StridedCopy, CpuStridedCopy>(
        "openmp", 5,
        [](const StridedCopy& spec, const Device& device) { return device.unsupported(spec.dst.dtype); })};

}  // namespace
}  // namespace bench::kernels
