// Group normalisation and its gradient by our own kernels, in three steps: sums of every channel of every
// sample; of them what a channel's values are multiplied with and what is added; then that.
#include <cmath>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/group_norm/group_norm.h"

namespace bench::kernels::cuda {

// A block does 32 channels of a sample: each of its warps every eighth pixel.
struct ChannelTiles {
  static constexpr int kThreads = 256;
  static constexpr int kHeight = kThreads / kWarp;

  std::int64_t samples;
  std::int64_t pixels;
  std::int64_t channels;

  struct Shared {
    float sums[kThreads];
  };
  std::int64_t tiles() const { return (channels + kWarp - 1) / kWarp; }

  struct Place {
    std::int64_t sample;
    std::int64_t channel;
    int above;  // which of the warps
    bool inside;
  };
  template <class Thread>
  BENCH_DEVICE Place place(const Thread& thread) const {
    const std::int64_t each = (channels + kWarp - 1) / kWarp;
    const std::int64_t sample = thread.block() / each;
    const std::int64_t channel = (thread.block() - sample * each) * kWarp + thread.index() % kWarp;
    return {sample, channel, thread.index() / kWarp, channel < channels};
  }

  // Σ value(place in memory) over the pixels of the thread's channel. Every thread of the block must come.
  template <class Thread, class Value>
  BENCH_DEVICE float sum(const Thread& thread, const Place& at, Shared& room, const Value& value) const {
    float sum = 0;
    for (std::int64_t pixel = at.above; at.inside && pixel < pixels; pixel += kHeight) {
      sum += value((at.sample * pixels + pixel) * channels + at.channel);
    }
    room.sums[thread.index()] = sum;
    thread.sync();
    sum = 0;
    for (int warp = 0; warp < kHeight; ++warp) {
      sum += room.sums[warp * kWarp + thread.index() % kWarp];
    }
    thread.sync();
    return sum;
  }
};

template <class Element>
BENCH_DEVICE float value_at(const typename Element::Stored* from, std::int64_t place) {
  float value[1];
  load_values<Element>(from + place, value);
  return value[0];
}

// Mean and sum of the squares of distances from it, of every channel of every sample.
template <class Element>
struct ChannelMoments {
  static constexpr int kThreads = ChannelTiles::kThreads;
  static constexpr const char* kName = "group norm moments";
  using Shared = ChannelTiles::Shared;

  ChannelTiles tiles;
  const typename Element::Stored* src;
  float* means;
  float* squares;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const ChannelTiles::Place at = tiles.place(thread);
    const float mean = tiles.sum(thread, at, room, [&](std::int64_t place) {
      return value_at<Element>(src, place);
    }) / static_cast<float>(tiles.pixels);
    const float square = tiles.sum(thread, at, room, [&](std::int64_t place) {
      const float distance = value_at<Element>(src, place) - mean;
      return distance * distance;
    });
    if (at.inside && at.above == 0) {
      means[at.sample * tiles.channels + at.channel] = mean;
      squares[at.sample * tiles.channels + at.channel] = square;
    }
  }
};

// Which groups a kernel's threads go through.
struct Groups {
  static constexpr int kThreads = 256;

  std::int64_t count;     // of all samples
  std::int64_t channels;  // of a sample
  std::int64_t width;     // channels of a group
  std::int64_t pixels;
  float epsilon;

  static std::int64_t blocks(std::int64_t threads) { return (threads + kThreads - 1) / kThreads; }
  template <class Thread>
  static BENCH_DEVICE std::int64_t index(const Thread& thread) {
    return std::int64_t{thread.block()} * kThreads + thread.index();
  }
};

// Of each channel's moments the factor and the summand of its values, in their places. A thread does a group.
struct JoinGroupMoments {
  static constexpr int kThreads = Groups::kThreads;
  static constexpr const char* kName = "group norm join";

  Groups groups;
  const float* scale;  // and shift: nullptr where there are none
  const float* shift;
  float* means;
  float* squares;
  float* mean;  // and variance: nullptr where they are not saved
  float* variance;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t group = Groups::index(thread);
    if (group >= groups.count) {
      return;
    }
    const std::int64_t begin = group * groups.width;
    const std::int64_t end = begin + groups.width;
    const std::int64_t sample = begin / groups.channels * groups.channels;
    float centre = 0;
    for (std::int64_t c = begin; c < end; ++c) {
      centre += means[c];
    }
    centre /= static_cast<float>(groups.width);
    float square = 0;
    for (std::int64_t c = begin; c < end; ++c) {
      const float distance = means[c] - centre;
      square += squares[c] + static_cast<float>(groups.pixels) * distance * distance;
    }
    const float spread = square / (static_cast<float>(groups.width) * static_cast<float>(groups.pixels));
    if (mean != nullptr) {
      mean[group] = centre;
      variance[group] = spread;
    }
    const float factor = 1.0F / sqrtf(spread + groups.epsilon);
    for (std::int64_t c = begin; c < end; ++c) {
      const float scaled = scale == nullptr ? factor : factor * scale[c - sample];
      means[c] = scaled;
      squares[c] = (shift == nullptr ? 0.0F : shift[c - sample]) - centre * scaled;
    }
  }
};

// Σ gradient and Σ gradient · x̂ of every channel of every sample.
template <class Element>
struct ChannelProducts {
  static constexpr int kThreads = ChannelTiles::kThreads;
  static constexpr const char* kName = "group norm products";
  using Shared = ChannelTiles::Shared;

  ChannelTiles tiles;
  std::int64_t groups;  // of a sample
  std::int64_t width;
  float epsilon;
  const typename Element::Stored* src;
  const typename Element::Stored* gradient;
  const float* mean;
  const float* variance;
  float* plain;
  float* normalized;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const ChannelTiles::Place at = tiles.place(thread);
    const std::int64_t group = at.sample * groups + at.channel / width;
    const float centre = at.inside ? mean[group] : 0.0F;
    const float factor = at.inside ? 1.0F / sqrtf(variance[group] + epsilon) : 0.0F;
    const float sum =
        tiles.sum(thread, at, room, [&](std::int64_t place) { return value_at<Element>(gradient, place); });
    const float product = tiles.sum(thread, at, room, [&](std::int64_t place) {
      return value_at<Element>(gradient, place) * ((value_at<Element>(src, place) - centre) * factor);
    });
    if (at.inside && at.above == 0) {
      plain[at.sample * tiles.channels + at.channel] = sum;
      normalized[at.sample * tiles.channels + at.channel] = product;
    }
  }
};

// The gradients of scale and shift. A thread does a channel.
struct ParameterSums {
  static constexpr int kThreads = Groups::kThreads;
  static constexpr const char* kName = "group norm parameters";

  std::int64_t samples;
  std::int64_t channels;
  const float* plain;
  const float* normalized;
  float* diff_scale;
  float* diff_shift;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t channel = Groups::index(thread);
    if (channel >= channels) {
      return;
    }
    float of_scale = 0;
    float of_shift = 0;
    for (std::int64_t n = 0; n < samples; ++n) {
      of_scale += normalized[n * channels + channel];
      of_shift += plain[n * channels + channel];
    }
    diff_scale[channel] = of_scale;
    diff_shift[channel] = of_shift;
  }
};

// Of each channel's products the factors of the gradient and of src and the summand, in their places. A
// thread does a group.
struct JoinGroupProducts {
  static constexpr int kThreads = Groups::kThreads;
  static constexpr const char* kName = "group norm join backward";

  Groups groups;
  const float* scale;
  const float* mean;
  const float* variance;
  float* plain;
  float* normalized;
  float* summand;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const std::int64_t group = Groups::index(thread);
    if (group >= groups.count) {
      return;
    }
    const std::int64_t begin = group * groups.width;
    const std::int64_t end = begin + groups.width;
    const std::int64_t sample = begin / groups.channels * groups.channels;
    float sum = 0;
    float product = 0;
    for (std::int64_t c = begin; c < end; ++c) {
      const float scaled = scale == nullptr ? 1.0F : scale[c - sample];
      sum += scaled * plain[c];
      product += scaled * normalized[c];
    }
    const float share = 1.0F / (static_cast<float>(groups.width) * static_cast<float>(groups.pixels));
    const float factor = 1.0F / sqrtf(variance[group] + groups.epsilon);
    const float of_src = -factor * factor * product * share;
    for (std::int64_t c = begin; c < end; ++c) {
      plain[c] = scale == nullptr ? factor : factor * scale[c - sample];
      normalized[c] = of_src;
      summand[c] = -factor * sum * share - mean[group] * of_src;
    }
  }
};

// out = factor · in + summand, and backward + other's factor · other, by the channel of each sample. out may
// be in: a thread writes what it alone has read.
template <class Element, int kCount, bool kTwo>
struct ScaleChannels {
  static constexpr const char* kName = "group norm apply";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  const Stored* in;
  const Stored* other;
  Stored* out;
  const float* factor;
  const float* other_factor;
  const float* summand;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const std::int64_t channel = (std::int64_t{unit.n} * unit.columns + unit.column) * kCount;
    float x[kCount];
    float factors[kCount];
    float summands[kCount];
    load_values<Element>(in + std::int64_t{unit.index} * kCount, x);
    load_floats<Memory>(factor + channel, factors);
    load_floats<Memory>(summand + channel, summands);
    for (int i = 0; i < kCount; ++i) {
      x[i] = factors[i] * x[i] + summands[i];
    }
    if constexpr (kTwo) {
      float y[kCount];
      load_values<Element>(other + std::int64_t{unit.index} * kCount, y);
      load_floats<Memory>(other_factor + channel, factors);
      for (int i = 0; i < kCount; ++i) {
        x[i] += factors[i] * y[i];
      }
    }
    store_values<Element>(out + std::int64_t{unit.index} * kCount, x);
  }
};

template <class Machine>
class GroupNormOperation final : public KernelOperation<Machine, GroupNorm> {
 public:
  static Dtype dtype_of(const GroupNorm& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const GroupNorm& spec) {
    if (spec.tensor.elements() > Machine::kMostCounted) {
      return "the CUDA kernels count to " + std::to_string(Machine::kMostCounted) +
             " elements in a group norm";
    }
    return not_nhwc(spec.tensor);
  }

  GroupNormOperation(const GroupNorm& spec, Device& device)
      : KernelOperation<Machine, GroupNorm>(spec, device) {
    this->add_opaque(Slot::workspace, Role::scratch, 3 * part() * static_cast<std::int64_t>(sizeof(float)));
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      if (spec_.forward()) {
        this->template forward<Element>(pointers);
      } else {
        this->template backward<Element>(pointers);
      }
    });
  }

 private:
  // Floats of a part of the scratch: a number for each channel of each sample, and what aligns the next part.
  std::int64_t part() const { return (spec_.tensor.n * spec_.tensor.c + 15) / 16 * 16; }
  std::int64_t pixels() const { return spec_.tensor.h * spec_.tensor.w; }
  ChannelTiles tiles() const { return {spec_.tensor.n, pixels(), spec_.tensor.c}; }
  std::int64_t tile_blocks() const { return spec_.tensor.n * tiles().tiles(); }
  Groups groups() const {
    return {spec_.tensor.n * spec_.groups, spec_.tensor.c, spec_.group_channels(), pixels(), spec_.epsilon};
  }

  template <class Element>
  void forward(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    auto* const dst = stored<Element>(pointers, Slot::dst);
    float* const factors = floats(pointers, Slot::workspace);
    float* const summands = factors + part();
    this->launch(ChannelMoments<Element>{tiles(), src, factors, summands}, tile_blocks());
    this->launch(
        JoinGroupMoments{groups(), floats(pointers, Slot::scale), floats(pointers, Slot::shift), factors,
                         summands, floats(pointers, Slot::mean), floats(pointers, Slot::variance)},
        Groups::blocks(groups().count));
    with_access<Element>(
        spec_.tensor.c,
        [&]<int kCount>() {
          launch_units(this->queue(), units(kCount),
                       ScaleChannels<Element, kCount, false>{src, nullptr, dst, factors, nullptr, summands});
        },
        src, dst, factors);
  }

  template <class Element>
  void backward(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    const auto* const gradient = stored<Element>(pointers, Slot::diff_dst);
    auto* const diff_src = stored<Element>(pointers, Slot::diff_src);
    const float* const mean = floats(pointers, Slot::mean);
    const float* const variance = floats(pointers, Slot::variance);
    float* const plain = floats(pointers, Slot::workspace);
    float* const normalized = plain + part();
    float* const summands = normalized + part();
    this->launch(ChannelProducts<Element>{tiles(), spec_.groups, spec_.group_channels(), spec_.epsilon, src,
                                          gradient, mean, variance, plain, normalized},
                 tile_blocks());
    if (spec_.affine) {
      this->launch(ParameterSums{spec_.tensor.n, spec_.tensor.c, plain, normalized,
                                 floats(pointers, Slot::diff_scale), floats(pointers, Slot::diff_shift)},
                   Groups::blocks(spec_.tensor.c));
    }
    this->launch(JoinGroupProducts{groups(), floats(pointers, Slot::scale), mean, variance, plain, normalized,
                                   summands},
                 Groups::blocks(groups().count));
    with_access<Element>(
        spec_.tensor.c,
        [&]<int kCount>() {
          launch_units(
              this->queue(), units(kCount),
              ScaleChannels<Element, kCount, true>{gradient, src, diff_src, plain, normalized, summands});
        },
        src, gradient, diff_src, plain);
  }

  Units units(int count) const {
    return {spec_.tensor.n, spec_.tensor.h, spec_.tensor.w, spec_.tensor.c / count};
  }

  using KernelOperation<Machine, GroupNorm>::spec_;
};

template struct OnGpu<GroupNormOperation>;

}  // namespace bench::kernels::cuda
