// Bytes to normalised numbers: as many at a time as make 16 bytes of the result.
#pragma once

#include "kernels/cuda/divider.cuh"

namespace bench::kernels::cuda {

// Of four channels. Chosen by comparisons: an array with an index not known at compile time would be put into
// memory.
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

// To NCHW: kCount pixels of one channel, whose bytes lie a pixel apart.
template <class Element, int kCount>
struct NormalizePlanes {
  static constexpr int kThreads = 256;
  static constexpr const char* kName = "preprocess to nchw";
  using Stored = typename Element::Stored;

  const std::uint8_t* src;
  Stored* dst;
  std::uint32_t groups;  // of kCount pixels, in all planes
  Divider groups_of_plane;
  Divider channels;
  ChannelFactors factors;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::uint32_t at =
        static_cast<std::uint32_t>(thread.block()) * kThreads + static_cast<std::uint32_t>(thread.index());
    if (at >= groups) {
      return;
    }
    std::uint32_t sample = at;
    const std::uint32_t group = groups_of_plane.take(sample);
    const std::uint32_t channel = channels.take(sample);
    const std::int64_t pixel =
        (std::int64_t{sample} * groups_of_plane.divisor() + group) * kCount;  // of all samples'
    const std::uint8_t* const from = src + pixel * channels.divisor() + channel;
    float values[kCount];
    for (int i = 0; i < kCount; ++i) {
      values[i] = factors(from[i * channels.divisor()], channel);
    }
    store_values<Element>(dst + std::int64_t{at} * kCount, values);
  }
};

}  // namespace bench::kernels::cuda
