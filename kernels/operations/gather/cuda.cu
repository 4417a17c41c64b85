// Gathering by kernels of our own. A launch carries a piece of the list among its arguments, so that the list
// takes no memory of the device.
#include <algorithm>
#include <vector>

#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels::cuda {

inline constexpr int kPiece = 256;  // of the list; arguments have 4 KiB at most

// Units are rows of accesses of kBytes: y is the place in the piece.
template <class Memory, int kBytes>
struct GatherPiece {
  static constexpr const char* kName = "gather";

  std::int64_t extent;
  std::int64_t count;  // of the whole list
  std::int64_t first;  // place of the piece in it
  const std::byte* src;
  std::byte* dst;
  std::int32_t indices[kPiece];

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const std::int64_t from = (unit.n * extent + indices[unit.y]) * unit.columns + unit.column;
    const std::int64_t to = (unit.n * count + first + unit.y) * unit.columns + unit.column;
    Memory::store(dst + to * kBytes, Memory::template load<kBytes>(src + from * kBytes));
  }
};

// Adds the gradients of a piece of the sorted places. The first place of an element's goes on through the
// others, which have nothing to do: nothing is added to by two threads.
template <class Element, int kCount>
struct GatherGradient {
  static constexpr const char* kName = "gather backward";
  using Stored = typename Element::Stored;

  std::int64_t extent;
  std::int64_t count;
  std::uint32_t places;  // in the piece
  const Stored* diff_dst;
  Stored* diff_src;
  GatheredPlace sorted[kPiece];

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const std::int32_t index = sorted[unit.y].index;
    if (unit.y > 0 && sorted[unit.y - 1].index == index) {
      return;
    }
    Stored* const out = diff_src + ((unit.n * extent + index) * unit.columns + unit.column) * kCount;
    float sum[kCount];
    load_values<Element>(out, sum);
    for (std::uint32_t at = unit.y; at < places && sorted[at].index == index; ++at) {
      float gradient[kCount];
      load_values<Element>(
          diff_dst + ((unit.n * count + sorted[at].place) * unit.columns + unit.column) * kCount, gradient);
      for (int i = 0; i < kCount; ++i) {
        sum[i] += gradient[i];
      }
    }
    store_values<Element>(out, sum);
  }
};

template <class Machine>
class GatherOperation final : public KernelOperation<Machine, Gather> {
 public:
  static Batch batch_of(const Gather& spec) {
    return {spec.outer, std::min<std::int64_t>(spec.count(), kPiece) * spec.inner};
  }
  static Gather of_samples(Gather spec, std::int64_t samples) {
    spec.outer = samples;
    return spec;
  }

  GatherOperation(const Gather& spec, Device& device)
      : KernelOperation<Machine, Gather>(spec, device),
        device_(device),
        places_(spec.forward() ? std::vector<GatheredPlace>() : sorted_places(spec)) {}

  void run(const SlotPointers& pointers) override {
    if (spec_.forward()) {
      copy(static_cast<const std::byte*>(pointers[Slot::src]), static_cast<std::byte*>(pointers[Slot::dst]));
      return;
    }
    device_.fill(pointers[Slot::diff_src], std::byte{0}, spec_.src().bytes());
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const diff_dst = stored<Element>(pointers, Slot::diff_dst);
      auto* const diff_src = stored<Element>(pointers, Slot::diff_src);
      with_access<Element>(
          spec_.inner, [&]<int kCount>() { this->template add_up<Element, kCount>(diff_dst, diff_src); },
          diff_dst, diff_src);
    });
  }

 private:
  void copy(const std::byte* src, std::byte* dst) const {
    const std::int64_t bytes = spec_.inner * bytes_of(spec_.dtype);
    for (std::int64_t first = 0; first < spec_.count(); first += kPiece) {
      const std::int64_t here = std::min<std::int64_t>(kPiece, spec_.count() - first);
      with_bytes(
          bytes,
          [&]<int kBytes>() {
            GatherPiece<typename Machine::Memory, kBytes> body{.extent = spec_.extent,
                                                               .count = spec_.count(),
                                                               .first = first,
                                                               .src = src,
                                                               .dst = dst,
                                                               .indices = {}};
            std::copy_n(spec_.indices.begin() + first, here, body.indices);
            launch_units(this->queue(), {spec_.outer, here, 1, bytes / kBytes}, body);
          },
          src, dst);
    }
  }

  template <class Element, int kCount>
  void add_up(const typename Element::Stored* diff_dst, typename Element::Stored* diff_src) const {
    for (std::int64_t first = 0; first < spec_.count(); first += kPiece) {
      const std::int64_t here = std::min<std::int64_t>(kPiece, spec_.count() - first);
      GatherGradient<Element, kCount> body{.extent = spec_.extent,
                                           .count = spec_.count(),
                                           .places = static_cast<std::uint32_t>(here),
                                           .diff_dst = diff_dst,
                                           .diff_src = diff_src,
                                           .sorted = {}};
      std::copy_n(places_.begin() + first, here, body.sorted);
      launch_units(this->queue(), {spec_.outer, here, 1, spec_.inner / kCount}, body);
    }
  }

  using KernelOperation<Machine, Gather>::spec_;
  Device& device_;
  std::vector<GatheredPlace> places_;
};

template struct OnGpu<GatherOperation>;

}  // namespace bench::kernels::cuda
