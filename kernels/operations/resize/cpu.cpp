// Resizing on the CPU: a row of pixels of one block of channels at a time, over OpenMP threads. The taps of
// each row and column are worked out once; a gradient is such a sum too, over the outputs of an input.
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/resize/taps.cuh"

namespace bench::kernels {
namespace {

// What each pixel along an axis is the weighted sum of.
struct Sums {
  struct Summand {
    std::int64_t at;
    float weight;
  };
  std::vector<Summand> all;
  std::vector<std::size_t> first{0};  // by pixel, and the end

  std::span<const Summand> of(std::int64_t pixel) const {
    const auto at = static_cast<std::size_t>(pixel);
    return {all.data() + first[at], first[at + 1] - first[at]};
  }
};

Sums sums_of(const Resize& spec, const ResizeAxis& axis) {
  Sums sums;
  const auto add = [&](std::int64_t at, float weight) {
    if (weight != 0.0F) {
      sums.all.push_back({at, weight});
    }
  };
  with_kind(spec.kind, [&]<Resize::Kind kKind>() {
    const TapAxis<kKind> all(spec, axis);
    for (std::int32_t pixel = 0; pixel < (spec.forward() ? all.out() : all.in()); ++pixel) {
      if (spec.forward()) {
        const auto taps = all.taps(all.place(pixel));
        for (int tap = 0; tap < all.kTaps; ++tap) {
          add(taps.pixels[tap], taps.weights[tap]);
        }
      } else {
        const auto outputs = all.outputs_of(pixel);
        for (std::int32_t o = outputs.first; o < outputs.last; ++o) {
          add(o, all.weight(all.place(o), all.pixels_of(pixel)));
        }
      }
      sums.first.push_back(sums.all.size());
    }
  });
  return sums;
}

class CpuResize final : public LoopsOf<Resize> {
 public:
  explicit CpuResize(const Resize& spec)
      : LoopsOf(spec), rows_(sums_of(spec, spec.rows)), columns_(sums_of(spec, spec.columns)) {}

  void run(const SlotPointers& pointers) override {
    with_element(spec_.src.dtype, [&]<class Element>() {
      using Stored = typename Element::Stored;
      const auto* const from =
          static_cast<const Stored*>(pointers[spec_.forward() ? Slot::src : Slot::diff_dst]);
      auto* const to = static_cast<Stored*>(pointers[spec_.forward() ? Slot::dst : Slot::diff_src]);
      if (channel_blocks(spec_.src).width == 1) {
        run_rows<Element, 1>(from, to);
      } else {
        run_rows<Element, kLanes>(from, to);
      }
    });
  }

 private:
  static constexpr std::int64_t kWorthThreads = 1 << 14;  // products
  static constexpr std::int64_t kLanes = 16;              // channels summed at a time, in registers

  template <class Element, std::int64_t kTogether>
  void run_rows(const typename Element::Stored* from, typename Element::Stored* to) const {
    const TensorDesc read = spec_.forward() ? spec_.src : spec_.dst();
    const TensorDesc written = spec_.forward() ? spec_.dst() : spec_.src;
    const ChannelBlocks blocks = channel_blocks(written);
    const std::int64_t planes = written.n * blocks.count;
    const bool worth =
        planes * blocks.width * static_cast<std::int64_t>(rows_.all.size() * columns_.all.size()) >
        kWorthThreads;
#pragma omp parallel for collapse(2) schedule(static) if (worth)
    for (std::int64_t plane = 0; plane < planes; ++plane) {
      for (std::int64_t y = 0; y < written.h; ++y) {
        const auto* const in = from + plane * read.h * read.w * blocks.width;
        auto* const out = to + (plane * written.h + y) * written.w * blocks.width;
        for (std::int64_t x = 0; x < written.w; ++x) {
          for (std::int64_t c = 0; c < blocks.width; c += kTogether) {
            sum<Element, kTogether>(in + c, out + x * blocks.width + c, std::min(kTogether, blocks.width - c),
                                    y, x, read.w, blocks.width);
          }
        }
      }
    }
  }

  template <class Element, std::int64_t kTogether>
  void sum(const typename Element::Stored* in, typename Element::Stored* out, std::int64_t count,
           std::int64_t y, std::int64_t x, std::int64_t width, std::int64_t step) const {
    std::array<float, kTogether> sums{};
    for (const Sums::Summand& row : rows_.of(y)) {
      for (const Sums::Summand& column : columns_.of(x)) {
        const float weight = row.weight * column.weight;
        const auto* const pixel = in + (row.at * width + column.at) * step;
        for (std::int64_t i = 0; i < count; ++i) {
          sums[i] += weight * Element::to(pixel[i]);
        }
      }
    }
    for (std::int64_t i = 0; i < count; ++i) {
      out[i] = Element::from(sums[i]);
    }
  }

  Sums rows_;
  Sums columns_;
};

const Registration<Implementation<Resize>> BENCH_REGISTERED{cpu_implementation<Resize, CpuResize>(
    "openmp", 5,
    [](const Resize& spec, const Device& device) { return device.unsupported(spec.src.dtype); })};

}  // namespace
}  // namespace bench::kernels
