// Rows of a table, and the table's gradient, on the CPU: rows over OpenMP threads, features in vectors.
//
// The gradient's rows are summed one table row at a time: the tokens are sorted together with their places,
// so that the places of one token follow each other, in ascending order. No two threads write the same row,
// and a sum's order is that of the batch whatever the number of threads.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/embedding/embedding.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kZeroed = 1 << 16;  // bytes a thread zeroes at a time

using Key = std::uint64_t;  // a token in the upper half, its place in the lower

std::int64_t token_of(Key key) {
  return static_cast<std::int64_t>(key >> 32);
}
std::int64_t place_of(Key key) {
  return static_cast<std::int64_t>(key & 0xffffffffU);
}

class CpuEmbedding final : public LoopsOf<Embedding> {
 public:
  explicit CpuEmbedding(const Embedding& spec) : LoopsOf(spec) {
    if (!spec.forward() && spec.kind == Embedding::Kind::tokens) {
      add_opaque(Slot::workspace, Role::scratch, spec.rows * static_cast<std::int64_t>(sizeof(Key)));
    }
  }

  void run(const SlotPointers& pointers) override {
    with_element(spec_.dtype, [&]<class Element>() {
      if (spec_.kind == Embedding::Kind::positions) {
        return run_positions<Element>(pointers);
      }
      const auto* const tokens = static_cast<const std::int32_t*>(pointers[Slot::src]);
      if (spec_.forward()) {
        return look_up(tokens, static_cast<const std::byte*>(pointers[Slot::weights]),
                       static_cast<std::byte*>(pointers[Slot::dst]));
      }
      if (!spec_.add) {
        zero(static_cast<std::byte*>(pointers[Slot::diff_weights]));
      }
      sum_rows<Element>(sorted(tokens, static_cast<Key*>(pointers[Slot::workspace])), pointers);
    });
  }

 private:
  static constexpr std::int64_t kBlock = 64;              // features summed at a time, in registers
  static constexpr std::int64_t kWorthThreads = 1 << 15;  // elements: ten microseconds of copying

  bool known(std::int32_t token) const { return token >= 0 && token < spec_.vocabulary; }

  void look_up(const std::int32_t* tokens, const std::byte* table, std::byte* dst) const {
    const std::int64_t bytes = spec_.width * bytes_of(spec_.dtype);
#pragma omp parallel for schedule(static) if (spec_.rows * spec_.width >= kWorthThreads)
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      if (known(tokens[row])) {
        std::memcpy(dst + row * bytes, table + tokens[row] * bytes, static_cast<std::size_t>(bytes));
      } else {
        std::memset(dst + row * bytes, 0, static_cast<std::size_t>(bytes));
      }
    }
  }

  void zero(std::byte* table) const {
    const std::int64_t bytes = spec_.weight_count() * bytes_of(spec_.dtype);
#pragma omp parallel for schedule(static) if (bytes > kZeroed)
    for (std::int64_t first = 0; first < bytes; first += kZeroed) {
      std::memset(table + first, 0, static_cast<std::size_t>(std::min(kZeroed, bytes - first)));
    }
  }

  std::span<const Key> sorted(const std::int32_t* tokens, Key* keys) const {
    std::size_t count = 0;
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      if (known(tokens[row])) {
        keys[count++] = static_cast<Key>(tokens[row]) << 32 | static_cast<Key>(row);
      }
    }
    std::sort(keys, keys + count);
    return {keys, count};
  }

  template <class Element>
  void sum_rows(std::span<const Key> keys, const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto* const diff_dst = static_cast<const Stored*>(pointers[Slot::diff_dst]);
    auto* const table = static_cast<Stored*>(pointers[Slot::diff_weights]);
    const auto count = static_cast<std::int64_t>(keys.size());
#pragma omp parallel for collapse(2) schedule(static) if (count * spec_.width >= kWorthThreads)
    for (std::int64_t first = 0; first < count; ++first) {
      for (std::int64_t feature = 0; feature < spec_.width; feature += kBlock) {
        if (first > 0 && token_of(keys[first]) == token_of(keys[first - 1])) {
          continue;  // belongs to the run of places that began before
        }
        const std::int64_t features = std::min(kBlock, spec_.width - feature);
        Stored* const out = table + token_of(keys[first]) * spec_.width + feature;
        std::array<float, kBlock> sums{};
        for (std::int64_t i = 0; i < features; ++i) {
          sums[i] = Element::to(out[i]);  // zero, or what is to be added to
        }
        for (std::int64_t at = first; at < count && token_of(keys[at]) == token_of(keys[first]); ++at) {
          const Stored* const in = diff_dst + place_of(keys[at]) * spec_.width + feature;
          for (std::int64_t i = 0; i < features; ++i) {
            sums[i] += Element::to(in[i]);
          }
        }
        for (std::int64_t i = 0; i < features; ++i) {
          out[i] = Element::from(sums[i]);
        }
      }
    }
  }

  template <class Element>
  void run_positions(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    if (spec_.forward()) {
      add_positions<Element>(static_cast<const Stored*>(pointers[Slot::src]),
                             static_cast<const Stored*>(pointers[Slot::weights]),
                             static_cast<Stored*>(pointers[Slot::dst]));
    } else {
      sum_positions<Element>(static_cast<const Stored*>(pointers[Slot::diff_dst]),
                             static_cast<Stored*>(pointers[Slot::diff_weights]));
    }
  }

  template <class Element>
  void add_positions(const typename Element::Stored* src, const typename Element::Stored* table,
                     typename Element::Stored* dst) const {
#pragma omp parallel for schedule(static) if (spec_.rows * spec_.width >= kWorthThreads)
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      const auto* const x = src + row * spec_.width;
      const auto* const vector = table + row % spec_.sequence * spec_.width;
      auto* const out = dst + row * spec_.width;
#pragma omp simd
      for (std::int64_t i = 0; i < spec_.width; ++i) {
        out[i] = Element::from(Element::to(x[i]) + Element::to(vector[i]));
      }
    }
  }

  template <class Element>
  void sum_positions(const typename Element::Stored* diff_dst, typename Element::Stored* table) const {
    const std::int64_t samples = spec_.rows / spec_.sequence;
#pragma omp parallel for collapse(2) schedule(static) if (spec_.rows * spec_.width >= kWorthThreads)
    for (std::int64_t position = 0; position < spec_.vocabulary; ++position) {
      for (std::int64_t feature = 0; feature < spec_.width; feature += kBlock) {
        const std::int64_t features = std::min(kBlock, spec_.width - feature);
        std::array<float, kBlock> sums{};
        for (std::int64_t n = 0; n < samples && position < spec_.sequence; ++n) {
          const auto* const in = diff_dst + (n * spec_.sequence + position) * spec_.width + feature;
          for (std::int64_t i = 0; i < features; ++i) {
            sums[i] += Element::to(in[i]);
          }
        }
        auto* const out = table + position * spec_.width + feature;
        for (std::int64_t i = 0; i < features; ++i) {
          out[i] = Element::from(sums[i]);
        }
      }
    }
  }
};

const Registration<Implementation<Embedding>> BENCH_REGISTERED{cpu_implementation<Embedding, CpuEmbedding>(
    "openmp", 10,
    [](const Embedding& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
