// Preprocessing by our own kernels, one for each order of the result.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/preprocess/preprocess.h"

namespace bench::kernels::cuda {

// Bytes to normalised numbers: as many at a time as make 16 bytes of the result.

// Factors of four channels, chosen by comparisons: an array with an index not known at compile time would be
// put into memory.
struct ChannelFactors {
  float factor[4];  // 1 / (255 · deviation)
  float offset[4];  // −mean / deviation

  BENCH_DEVICE float operator()(std::uint32_t byte, std::uint32_t channel) const {
    const float a = channel == 0   ? factor[0]
                    : channel == 1 ? factor[1]
                    : channel == 2 ? factor[2]
                                   : factor[3];
    const float b = channel == 0   ? offset[0]
                    : channel == 1 ? offset[1]
                    : channel == 2 ? offset[2]
                                   : offset[3];
    return static_cast<float>(byte) * a + b;
  }
};

// To NHWC, the order that the bytes are in: element e of the result is byte e.
template <class Element, int kCount>
struct NormalizeBytes {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "preprocess to nhwc";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  const std::uint8_t* src;
  Stored* dst;
  std::uint32_t groups;  // of kCount elements
  std::uint32_t count;   // elements
  Divider channels;
  ChannelFactors factors;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t at =
        static_cast<std::uint32_t>(thread.block()) * kThreads + static_cast<std::uint32_t>(thread.index());
    if (at < groups) {
      normalize<kCount>(at * kCount);
    } else if (at - groups < count - groups * kCount) {
      normalize<1>(groups * kCount + (at - groups));  // behind the last whole group
    }
  }

 private:
  template <int kWidth>
  BENCH_DEVICE void normalize(std::uint32_t first) const {
    const auto bytes = Memory::template load<kWidth>(src + first);
    std::uint32_t pixel = first;
    std::uint32_t channel = channels.take(pixel);
    float values[kWidth];
    for (int i = 0; i < kWidth; ++i) {
      values[i] = factors(element<std::uint8_t>(bytes, i), channel);
      channel = channel + 1 == channels.divisor() ? 0 : channel + 1;
    }
    store_values<Element>(dst + first, values);
  }
};

// To NCHW: kCount pixels of one channel, whose bytes lie a pixel apart. A unit's row is its channel.
template <class Element, int kCount>
struct NormalizePlanes {
  static constexpr const char* kName = "preprocess to nchw";
  using Stored = typename Element::Stored;

  const std::uint8_t* src;
  Stored* dst;
  std::uint32_t channels;
  ChannelFactors factors;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const std::int64_t pixel =
        (std::int64_t{unit.n} * unit.columns + unit.column) * kCount;  // of all samples'
    const std::uint8_t* const from = src + pixel * channels + unit.y;
    float values[kCount];
    for (int i = 0; i < kCount; ++i) {
      values[i] = factors(from[i * channels], unit.y);
    }
    store_values<Element>(dst + std::int64_t{unit.index} * kCount, values);
  }
};

template <class Machine>
class PreprocessOperation final : public KernelOperation<Machine, Preprocess> {
 public:
  static Dtype dtype_of(const Preprocess& spec) { return spec.dst.dtype; }
  static Batch batch_of(const Preprocess& spec) { return {spec.dst.n, elements_of_sample(spec.dst)}; }
  static Preprocess of_samples(Preprocess spec, std::int64_t samples) {
    spec.dst.n = samples;
    return spec;
  }

  PreprocessOperation(const Preprocess& spec, Device& device)
      : KernelOperation<Machine, Preprocess>(spec, device) {
    for (std::size_t c = 0; c < Preprocess::kMostChannels; ++c) {
      const double deviation = spec.deviation[c];
      factors_.factor[c] = static_cast<float>(1 / (255 * deviation));
      factors_.offset[c] = static_cast<float>(-double{spec.mean[c]} / deviation);
    }
  }

  void run(const SlotPointers& pointers) override {
    const auto* const src = static_cast<const std::uint8_t*>(pointers[Slot::src]);
    with_element<Machine>(spec_.dst.dtype, [&]<class Element>() {
      auto* const dst = stored<Element>(pointers, Slot::dst);
      const bool whole = aligned(kAccess, 0, src, dst);
      if (spec_.dst.layout == Layout::nchw) {
        if (whole && spec_.dst.h * spec_.dst.w % kLanes<Element> == 0) {
          planes<Element, kLanes<Element>>(src, dst);
        } else {
          planes<Element, 1>(src, dst);
        }
      } else if (whole) {
        bytes<Element, kLanes<Element>>(src, dst);
      } else {
        bytes<Element, 1>(src, dst);
      }
    });
  }

 private:
  template <class Element, int kCount, class Stored>
  void bytes(const std::uint8_t* src, Stored* dst) const {
    using Kernel = NormalizeBytes<Element, kCount>;
    const std::int64_t count = spec_.dst.elements();
    const std::int64_t groups = count / kCount;
    this->launch(Kernel{src, dst, static_cast<std::uint32_t>(groups), static_cast<std::uint32_t>(count),
                        Divider(spec_.dst.c), factors_},
                 blocks_for(groups + count % kCount, Kernel::kThreads));
  }

  template <class Element, int kCount, class Stored>
  void planes(const std::uint8_t* src, Stored* dst) const {
    launch_units(
        this->queue(), {spec_.dst.n, spec_.dst.c, 1, spec_.dst.h * spec_.dst.w / kCount},
        NormalizePlanes<Element, kCount>{src, dst, static_cast<std::uint32_t>(spec_.dst.c), factors_});
  }

  using KernelOperation<Machine, Preprocess>::spec_;
  ChannelFactors factors_{};
};

template struct OnGpu<PreprocessOperation>;

}  // namespace bench::kernels::cuda
