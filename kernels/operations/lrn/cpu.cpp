// The gradient of local response normalisation on the CPU where a pixel's channels lie together, a pixel at a
// time. oneDNN's is wrong there with AVX-512 (Faults in primitives.h), and without it not vectorised.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/element.h"
#include "kernels/operations/lrn/lrn.h"

namespace bench::kernels {
namespace {

class CpuLrn final : public LoopsOf<Lrn> {
 public:
  using LoopsOf::LoopsOf;

  void run(const SlotPointers& pointers) override {
    with_element(spec_.tensor.dtype, [&]<class Element>() { this->template run_with<Element>(pointers); });
  }

 private:
  static constexpr std::int64_t kWorthThreads = 1 << 13;  // elements

  // A pixel's channels: what they hold, the divisors' powers, and what each passes on to its neighbours.
  struct Pixel {
    explicit Pixel(std::int64_t channels)
        : x(static_cast<std::size_t>(channels)),
          diff(static_cast<std::size_t>(channels)),
          power(static_cast<std::size_t>(channels)),
          passed(static_cast<std::size_t>(channels)) {}
    std::vector<float> x, diff, power, passed;
  };

  template <class Element>
  void run_with(const SlotPointers& pointers) const {
    using Stored = typename Element::Stored;
    const auto* const src = static_cast<const Stored*>(pointers[Slot::src]);
    const auto* const diff = static_cast<const Stored*>(pointers[Slot::diff_dst]);
    auto* const made = static_cast<Stored*>(pointers[Slot::diff_src]);
    const std::int64_t channels = spec_.tensor.c;
    const std::int64_t pixels = spec_.tensor.n * spec_.tensor.h * spec_.tensor.w;
#pragma omp parallel if (spec_.tensor.elements() > kWorthThreads)
    {
      Pixel pixel(channels);
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < pixels; ++i) {
        const std::int64_t at = i * channels;
        for (std::int64_t c = 0; c < channels; ++c) {
          pixel.x[c] = Element::to(src[at + c]);
          pixel.diff[c] = Element::to(diff[at + c]);
        }
        differentiate(pixel);
        for (std::int64_t c = 0; c < channels; ++c) {
          made[at + c] = Element::from(pixel.diff[c]);
        }
      }
    }
  }

  // The gradient takes the place of pixel.diff.
  void differentiate(Pixel& pixel) const {
    const float share = spec_.alpha / static_cast<float>(spec_.size);
    const std::int64_t channels = spec_.tensor.c;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float divisor =
          spec_.k + share * around(c, [&](std::int64_t i) { return pixel.x[i] * pixel.x[i]; });
      pixel.power[c] = std::pow(divisor, -spec_.beta);
      pixel.passed[c] = pixel.diff[c] * pixel.x[c] * pixel.power[c] / divisor;
    }
    const float factor = 2 * share * spec_.beta;
    for (std::int64_t c = 0; c < channels; ++c) {
      pixel.diff[c] = pixel.diff[c] * pixel.power[c] -
                      factor * pixel.x[c] * around(c, [&](std::int64_t i) { return pixel.passed[i]; });
    }
  }

  template <class Value>
  float around(std::int64_t c, const Value& value) const {
    const std::int64_t away = (spec_.size - 1) / 2;
    const std::int64_t last = std::min(spec_.tensor.c - 1, c + away);
    float sum = 0;
    for (std::int64_t i = std::max<std::int64_t>(0, c - away); i <= last; ++i) {
      sum += value(i);
    }
    return sum;
  }
};

const Registration<Implementation<Lrn>> BENCH_REGISTERED{cpu_implementation<Lrn, CpuLrn>(
    "openmp", 20, [](const Lrn& spec, const Device& device) -> std::optional<std::string> {
      if (spec.forward() || spec.tensor.layout != Layout::nhwc) {
        return "lrn: these loops compute the gradient in nhwc alone";
      }
      return device.unsupported(spec.tensor.dtype);
    })};

}  // namespace
}  // namespace bench::kernels
