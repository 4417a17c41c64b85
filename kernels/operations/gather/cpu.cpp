// Gathering on the CPU: rows of what lies after the dimension, over OpenMP threads. In the gradient a thread
// adds up all places that name an element, in their order.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels {
namespace {

class CpuGather final : public LoopsOf<Gather> {
 public:
  explicit CpuGather(const Gather& spec) : LoopsOf(spec) {
    if (spec.forward()) {
      return;
    }
    places_ = sorted_places(spec);
    first_.resize(static_cast<std::size_t>(spec.extent) + 1);
    for (const GatheredPlace& place : places_) {
      ++first_[static_cast<std::size_t>(place.index) + 1];
    }
    for (std::size_t i = 1; i < first_.size(); ++i) {
      first_[i] += first_[i - 1];
    }
  }

  void run(const SlotPointers& pointers) override {
    if (spec_.forward()) {
      return copy(static_cast<const std::byte*>(pointers[Slot::src]),
                  static_cast<std::byte*>(pointers[Slot::dst]));
    }
    with_element(spec_.dtype, [&]<class Element>() {
      using Stored = typename Element::Stored;
      add_up<Element>(static_cast<const Stored*>(pointers[Slot::diff_dst]),
                      static_cast<Stored*>(pointers[Slot::diff_src]));
    });
  }

 private:
  static constexpr std::int64_t kWorthThreads = 1 << 15;  // elements
  static constexpr std::int64_t kBlock = 64;              // elements summed at a time, in registers

  void copy(const std::byte* src, std::byte* dst) const {
    const std::int64_t bytes = spec_.inner * bytes_of(spec_.dtype);
    const std::int64_t rows = spec_.outer * spec_.count();
#pragma omp parallel for schedule(static) if (rows * spec_.inner > kWorthThreads)
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t from = row / spec_.count() * spec_.extent + spec_.indices[row % spec_.count()];
      std::memcpy(dst + row * bytes, src + from * bytes, static_cast<std::size_t>(bytes));
    }
  }

  template <class Element>
  void add_up(const typename Element::Stored* diff_dst, typename Element::Stored* diff_src) const {
    const std::int64_t rows = spec_.outer * spec_.extent;
#pragma omp parallel for schedule(static) if (rows * spec_.inner > kWorthThreads)
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t sample = row / spec_.extent * spec_.count();
      const auto element = static_cast<std::size_t>(row % spec_.extent);
      for (std::int64_t start = 0; start < spec_.inner; start += kBlock) {
        const std::int64_t count = std::min(kBlock, spec_.inner - start);
        std::array<float, kBlock> sums{};
        for (std::int64_t i = first_[element]; i < first_[element + 1]; ++i) {
          const auto* const in = diff_dst + (sample + places_[i].place) * spec_.inner + start;
          for (std::int64_t k = 0; k < count; ++k) {
            sums[k] += Element::to(in[k]);
          }
        }
        for (std::int64_t k = 0; k < count; ++k) {
          diff_src[row * spec_.inner + start + k] = Element::from(sums[k]);
        }
      }
    }
  }

  std::vector<GatheredPlace> places_;
  std::vector<std::int64_t> first_;  // of each element's places, and the end
};

const Registration<Implementation<Gather>> BENCH_REGISTERED{cpu_implementation<Gather, CpuGather>(
    "openmp", 10, [](const Gather& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
