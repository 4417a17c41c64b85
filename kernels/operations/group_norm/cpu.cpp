// Group normalisation and its gradient on the CPU, in three steps: sums of every channel of every sample; of
// them what a channel's values are multiplied with and what is added; then that. Channels that lie together
// are done together, up to 16, whatever the layout.
#include <array>
#include <cmath>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/group_norm/group_norm.h"

namespace bench::kernels {
namespace {

// Some channels of a sample, side by side in memory.
struct Lanes {
  std::int64_t sample;
  std::int64_t channel;  // the first
  std::int64_t count;    // those that the tensor has; padding lies after them
  std::int64_t stored;   // with padding
  std::int64_t at;       // where the first pixel lies
  std::int64_t step;     // elements from pixel to pixel
};

class CpuGroupNorm final : public LoopsOf<GroupNorm> {
 public:
  // The scratch holds up to three numbers for every channel of every sample.
  explicit CpuGroupNorm(const GroupNorm& spec) : LoopsOf(spec) {
    add_opaque(Slot::workspace, Role::scratch,
               3 * spec.tensor.n * spec.tensor.c * static_cast<std::int64_t>(sizeof(float)));
  }

  void run(const SlotPointers& pointers) override {
    with_element(spec_.tensor.dtype, [&]<class Element>() {
      if (channel_blocks(spec_.tensor).width == 1) {
        this->template run<Element, 1>(pointers);
      } else {
        this->template run<Element, kLanes>(pointers);
      }
    });
  }

 private:
  static constexpr std::int64_t kLanes = 16;
  static constexpr std::int64_t kWorthThreads = 1 << 15;  // elements

  std::int64_t area() const { return spec_.tensor.h * spec_.tensor.w; }
  std::int64_t channels() const { return spec_.tensor.n * spec_.tensor.c; }  // of all samples

  template <std::int64_t kTogether, class Visit>
  void for_each_lanes(const Visit& visit) const {
    const TensorDesc& tensor = spec_.tensor;
    const ChannelBlocks blocks = channel_blocks(tensor);
    const std::int64_t parts = (blocks.width + kTogether - 1) / kTogether;
#pragma omp parallel for collapse(3) schedule(static) if (tensor.elements() > kWorthThreads)
    for (std::int64_t n = 0; n < tensor.n; ++n) {
      for (std::int64_t block = 0; block < blocks.count; ++block) {
        for (std::int64_t part = 0; part < parts; ++part) {
          const std::int64_t first = part * kTogether;
          const std::int64_t channel = block * blocks.width + first;
          const std::int64_t stored = std::min(kTogether, blocks.width - first);
          visit(Lanes{.sample = n,
                      .channel = channel,
                      .count = std::min(stored, tensor.c - channel),
                      .stored = stored,
                      .at = (n * blocks.count + block) * area() * blocks.width + first,
                      .step = blocks.width});
        }
      }
    }
  }

  template <class Element, std::int64_t kTogether>
  void run(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto* const src = static_cast<const Stored*>(pointers[Slot::src]);
    const auto* const diff = static_cast<const Stored*>(pointers[Slot::diff_dst]);
    auto* const first = static_cast<float*>(pointers[Slot::workspace]);
    auto* const second = first + channels();
    auto* const third = second + channels();
    if (spec_.forward()) {
      for_each_lanes<kTogether>(
          [&](const Lanes& lanes) { moments<Element, kTogether>(lanes, src, first, second); });
      join_moments(pointers, first, second);
      auto* const dst = static_cast<Stored*>(pointers[Slot::dst]);
      for_each_lanes<kTogether>([&](const Lanes& lanes) {
        apply<Element, kTogether>(lanes, [&](std::int64_t at, std::int64_t c) {
          dst[at] = Element::from(c < 0 ? 0.0F : first[c] * Element::to(src[at]) + second[c]);
        });
      });
      return;
    }
    for_each_lanes<kTogether>(
        [&](const Lanes& lanes) { products<Element, kTogether>(lanes, pointers, src, diff, first, second); });
    join_products(pointers, first, second, third);
    auto* const diff_src = static_cast<Stored*>(pointers[Slot::diff_src]);
    for_each_lanes<kTogether>([&](const Lanes& lanes) {
      apply<Element, kTogether>(lanes, [&](std::int64_t at, std::int64_t c) {
        const float value =
            c < 0 ? 0.0F : first[c] * Element::to(diff[at]) + second[c] * Element::to(src[at]) + third[c];
        diff_src[at] = Element::from(value);
      });
    });
  }

  // Calls put(place, channel of all samples, or below 0 for padding) for every value.
  template <class Element, std::int64_t kTogether, class Put>
  void apply(const Lanes& lanes, const Put& put) const {
    const std::int64_t base = lanes.sample * spec_.tensor.c + lanes.channel;
    for (std::int64_t pixel = 0; pixel < area(); ++pixel) {
      const std::int64_t at = lanes.at + pixel * lanes.step;
      for (std::int64_t i = 0; i < lanes.count; ++i) {
        put(at + i, base + i);
      }
      for (std::int64_t i = lanes.count; i < lanes.stored; ++i) {
        put(at + i, -1);
      }
    }
  }

  // Mean, and sum of the squares of distances from it.
  template <class Element, std::int64_t kTogether>
  void moments(const Lanes& lanes, const typename Element::Stored* src, float* means, float* squares) const {
    std::array<double, kTogether> mean{};
    std::array<double, kTogether> square{};
    for (std::int64_t pixel = 0; pixel < area(); ++pixel) {
      for (std::int64_t i = 0; i < lanes.count; ++i) {
        mean[i] += Element::to(src[lanes.at + pixel * lanes.step + i]);
      }
    }
    for (double& sum : mean) {
      sum /= static_cast<double>(area());
    }
    for (std::int64_t pixel = 0; pixel < area(); ++pixel) {
      for (std::int64_t i = 0; i < lanes.count; ++i) {
        const double distance = Element::to(src[lanes.at + pixel * lanes.step + i]) - mean[i];
        square[i] += distance * distance;
      }
    }
    for (std::int64_t i = 0; i < lanes.count; ++i) {
      const std::int64_t c = lanes.sample * spec_.tensor.c + lanes.channel + i;
      means[c] = static_cast<float>(mean[i]);
      squares[c] = static_cast<float>(square[i]);
    }
  }

  // Of each channel's moments the factor and the summand of its values, in their places.
  void join_moments(const SlotPointers& pointers, float* means, float* squares) const {
    const auto* const scale = static_cast<const float*>(pointers[Slot::scale]);
    const auto* const shift = static_cast<const float*>(pointers[Slot::shift]);
    const std::int64_t width = spec_.group_channels();
    for (std::int64_t group = 0; group < spec_.tensor.n * spec_.groups; ++group) {
      const std::int64_t begin = group * width;
      double mean = 0;
      for (std::int64_t c = begin; c < begin + width; ++c) {
        mean += means[c];
      }
      mean /= static_cast<double>(width);
      double square = 0;
      for (std::int64_t c = begin; c < begin + width; ++c) {
        square += squares[c] + static_cast<double>(area()) * (means[c] - mean) * (means[c] - mean);
      }
      const double variance = square / static_cast<double>(width * area());
      if (spec_.saves()) {
        static_cast<float*>(pointers[Slot::mean])[group] = static_cast<float>(mean);
        static_cast<float*>(pointers[Slot::variance])[group] = static_cast<float>(variance);
      }
      const double factor = 1 / std::sqrt(variance + double{spec_.epsilon});
      for (std::int64_t c = begin; c < begin + width; ++c) {
        const std::int64_t channel = c % spec_.tensor.c;
        const double scaled = spec_.affine ? factor * scale[channel] : factor;
        means[c] = static_cast<float>(scaled);
        squares[c] = static_cast<float>((spec_.affine ? shift[channel] : 0.0F) - mean * scaled);
      }
    }
  }

  // Σ diff_dst and Σ diff_dst · x̂.
  template <class Element, std::int64_t kTogether>
  void products(const Lanes& lanes, const SlotPointers& pointers, const typename Element::Stored* src,
                const typename Element::Stored* diff, float* plain, float* normalized) const {
    std::array<double, kTogether> sum{};
    std::array<double, kTogether> product{};
    std::array<float, kTogether> mean{};
    std::array<float, kTogether> factor{};
    for (std::int64_t i = 0; i < lanes.count; ++i) {
      const std::int64_t group = lanes.sample * spec_.groups + (lanes.channel + i) / spec_.group_channels();
      mean[i] = static_cast<const float*>(pointers[Slot::mean])[group];
      factor[i] = 1 / std::sqrt(static_cast<const float*>(pointers[Slot::variance])[group] + spec_.epsilon);
    }
    for (std::int64_t pixel = 0; pixel < area(); ++pixel) {
      const std::int64_t at = lanes.at + pixel * lanes.step;
      for (std::int64_t i = 0; i < lanes.count; ++i) {
        const float gradient = Element::to(diff[at + i]);
        sum[i] += gradient;
        product[i] += gradient * ((Element::to(src[at + i]) - mean[i]) * factor[i]);
      }
    }
    for (std::int64_t i = 0; i < lanes.count; ++i) {
      const std::int64_t c = lanes.sample * spec_.tensor.c + lanes.channel + i;
      plain[c] = static_cast<float>(sum[i]);
      normalized[c] = static_cast<float>(product[i]);
    }
  }

  // The gradients of scale and shift, and of each channel's products the factors of diff_dst and src and the
  // summand, in their places.
  void join_products(const SlotPointers& pointers, float* plain, float* normalized, float* summand) const {
    const std::int64_t width = spec_.group_channels();
    const auto* const scale = static_cast<const float*>(pointers[Slot::scale]);
    for (std::int64_t channel = 0; spec_.affine && channel < spec_.tensor.c; ++channel) {
      double of_scale = 0;
      double of_shift = 0;
      for (std::int64_t n = 0; n < spec_.tensor.n; ++n) {
        of_scale += normalized[n * spec_.tensor.c + channel];
        of_shift += plain[n * spec_.tensor.c + channel];
      }
      static_cast<float*>(pointers[Slot::diff_scale])[channel] = static_cast<float>(of_scale);
      static_cast<float*>(pointers[Slot::diff_shift])[channel] = static_cast<float>(of_shift);
    }
    for (std::int64_t group = 0; group < spec_.tensor.n * spec_.groups; ++group) {
      const std::int64_t begin = group * width;
      const auto scaled = [&](std::int64_t c) { return spec_.affine ? scale[c % spec_.tensor.c] : 1.0F; };
      double sum = 0;
      double product = 0;
      for (std::int64_t c = begin; c < begin + width; ++c) {
        sum += static_cast<double>(scaled(c)) * plain[c];
        product += static_cast<double>(scaled(c)) * normalized[c];
      }
      const auto count = static_cast<double>(width * area());
      const double mean = static_cast<const float*>(pointers[Slot::mean])[group];
      const double factor =
          1 / std::sqrt(static_cast<const float*>(pointers[Slot::variance])[group] + double{spec_.epsilon});
      const double of_src = -factor * factor * product / count;
      for (std::int64_t c = begin; c < begin + width; ++c) {
        plain[c] = static_cast<float>(factor * scaled(c));
        normalized[c] = static_cast<float>(of_src);
        summand[c] = static_cast<float>(-factor * sum / count - mean * of_src);
      }
    }
  }
};

const Registration<Implementation<GroupNorm>> BENCH_REGISTERED{cpu_implementation<GroupNorm, CpuGroupNorm>(
    "openmp", 10,
    [](const GroupNorm& spec, const Device& device) { return device.unsupported(spec.tensor.dtype); })};

}  // namespace
}  // namespace bench::kernels
