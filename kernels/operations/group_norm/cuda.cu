// Group normalisation and its gradient by our own kernels, in three steps: sums of every channel over chunks
// of a sample's pixels; of a group's, what a channel's values are multiplied with and what is added; then
// that.
#include "kernels/backends/cuda/chunk_moments.cuh"
#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/group_norm/group_norm.h"

namespace bench::kernels::cuda {

// x̂ by the mean and variance of the channel's group.
template <class Memory, int kCount>
struct GroupNormalizer {
  static constexpr bool kNormalizes = true;
  const float* mean;
  const float* variance;
  float epsilon;
  Divider width;  // of a group
  float means[kCount];
  float factors[kCount];

  BENCH_DEVICE void begin(std::int64_t channel) {
    for (int i = 0; i < kCount; ++i) {
      const std::uint32_t group = width.quotient(static_cast<std::uint32_t>(channel) + i);
      means[i] = mean[group];
      factors[i] = inverse_root(variance[group] + epsilon);
    }
  }
  BENCH_DEVICE void at_row(std::int64_t /*row*/) {}
  BENCH_DEVICE float operator()(float x, int i) const { return (x - means[i]) * factors[i]; }
  BENCH_DEVICE float gradient(float /*x*/, float gradient, int /*i*/) const { return gradient; }
};

// What joins a group's two sums of each chunk and channel, kGroup threads a group.
template <int kGroup>
struct Groups {
  SectionTiling tiling;  // a section a sample
  std::uint32_t count;   // of all samples
  std::uint32_t channels;
  Divider width;  // channels of a group
  float epsilon;
  const float* partial;

  BENCH_DEVICE float pixels() const {
    return static_cast<float>(width.divisor()) * static_cast<float>(tiling.rows);
  }

  // A group's place among the channels of a sample, and of all samples.
  struct Place {
    std::uint32_t group;
    std::uint32_t sample;
    std::uint32_t channel;
    std::uint32_t of_all;
    int lane;
    bool inside;
  };
  template <class Thread>
  BENCH_DEVICE Place place(const Thread& thread) const {
    Place place;
    place.group = static_cast<std::uint32_t>(RowGroup<kGroup>::row(thread));
    place.of_all = place.group * width.divisor();
    place.sample = place.of_all / channels;
    place.channel = place.of_all - place.sample * channels;
    place.lane = RowGroup<kGroup>::lane(thread);
    place.inside = place.group < count;
    return place;
  }

  // Calls visit(chunk of the sample, channel, first sum, second sum) for those of a thread.
  template <class Visit>
  BENCH_DEVICE void each(const Place& place, const Visit& visit) const {
    const std::uint32_t all = width.divisor() * tiling.chunks_each;
    for (auto i = static_cast<std::uint32_t>(place.lane); place.inside && i < all; i += kGroup) {
      std::uint32_t chunk = i;
      const std::uint32_t channel = place.channel + width.take(chunk);
      const float* const sums =
          partial + (std::int64_t{place.sample} * tiling.chunks_each + chunk) * 2 * channels + channel;
      visit(chunk, channel, sums[0], sums[channels]);
    }
  }
  // Calls visit(channel, channel of all samples) for those of a thread.
  template <class Visit>
  BENCH_DEVICE void each_channel(const Place& place, const Visit& visit) const {
    for (auto i = static_cast<std::uint32_t>(place.lane); place.inside && i < width.divisor(); i += kGroup) {
      visit(place.channel + i, place.of_all + i);
    }
  }
};

// Of the chunks' means and squares, the factor and the summand of each channel's values.
template <int kGroup>
struct JoinGroupMoments {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "group norm join";
  using Shared = WarpValues<float>;

  Groups<kGroup> groups;
  const float* scale;  // and shift: nullptr where there are none
  const float* shift;
  float* factors;
  float* summands;
  float* mean;  // and variance: nullptr where they are not saved
  float* variance;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const auto at = groups.place(thread);
    float sum = 0;
    groups.each(at, [&](std::uint32_t chunk, std::uint32_t, float own, float) {
      sum += static_cast<float>(groups.tiling.rows_of(chunk)) * own;
    });
    const float centre = join_group<kGroup>(thread, sum, Sum{}, room) / groups.pixels();
    float squares = 0;
    groups.each(at, [&](std::uint32_t chunk, std::uint32_t, float own, float square) {
      const float distance = own - centre;
      squares += square + static_cast<float>(groups.tiling.rows_of(chunk)) * distance * distance;
    });
    const float spread = join_group<kGroup>(thread, squares, Sum{}, room) / groups.pixels();
    if (at.inside && at.lane == 0 && mean != nullptr) {
      mean[at.group] = centre;
      variance[at.group] = spread;
    }
    const float factor = inverse_root(spread + groups.epsilon);
    groups.each_channel(at, [&](std::uint32_t channel, std::uint32_t of_all) {
      const float scaled = scale == nullptr ? factor : factor * scale[channel];
      factors[of_all] = scaled;
      summands[of_all] = (shift == nullptr ? 0.0F : shift[channel]) - centre * scaled;
    });
  }
};

// Of the chunks' Σ x̂ · gradient and Σ gradient, the factors of each channel's gradient and src and the
// summand.
template <int kGroup>
struct JoinGroupProducts {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "group norm join backward";
  using Shared = WarpValues<float>;

  Groups<kGroup> groups;
  const float* scale;
  const float* mean;
  const float* variance;
  float* factors;
  float* src_factors;
  float* summands;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const auto at = groups.place(thread);
    float product = 0;
    float sum = 0;
    groups.each(at, [&](std::uint32_t, std::uint32_t channel, float normalized, float plain) {
      const float scaled = scale == nullptr ? 1.0F : scale[channel];
      product += scaled * normalized;
      sum += scaled * plain;
    });
    product = join_group<kGroup>(thread, product, Sum{}, room);
    sum = join_group<kGroup>(thread, sum, Sum{}, room);
    if (!at.inside) {
      return;
    }
    const float share = 1.0F / groups.pixels();
    const float factor = inverse_root(variance[at.group] + groups.epsilon);
    const float of_src = -factor * factor * product * share;
    const float summand = -factor * sum * share - mean[at.group] * of_src;
    groups.each_channel(at, [&](std::uint32_t channel, std::uint32_t of_all) {
      factors[of_all] = scale == nullptr ? factor : factor * scale[channel];
      src_factors[of_all] = of_src;
      summands[of_all] = summand;
    });
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
    with_element<Machine>(spec.tensor.dtype, [&]<class Element>() {
      const std::int64_t partial =
          partial_bytes<Element>(spec.tensor.c, [&]<int kCount>() { return sums<Element, kCount>(); });
      this->add_opaque(Slot::workspace, Role::scratch,
                       3 * part() * static_cast<std::int64_t>(sizeof(float)) + partial);
    });
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      with_access<Element>(
          spec_.tensor.c,
          [&]<int kCount>() {
            if (spec_.forward()) {
              forward<Element, kCount>(pointers);
            } else {
              backward<Element, kCount>(pointers);
            }
          },
          // Those of the other pass are null, which is aligned to everything.
          stored<Element>(pointers, Slot::src), stored<Element>(pointers, Slot::dst),
          stored<Element>(pointers, Slot::diff_dst), stored<Element>(pointers, Slot::diff_src),
          floats(pointers, Slot::workspace));
    });
  }

 private:
  // Floats of a part of the scratch: a number for each channel of each sample, and what aligns the next part.
  std::int64_t part() const { return (spec_.tensor.n * spec_.tensor.c + 15) / 16 * 16; }

  template <class Element, int kCount>
  using Moments = ChunkMoments<Element, kCount, SectionTiling>;
  template <class Element, int kCount>
  using Products = ColumnSums<Element, kCount, GroupNormalizer, SectionTiling>;

  // The tiling of the sums that this pass makes over each channel of each sample.
  template <class Element, int kCount>
  SectionTiling sums() const {
    const std::int64_t blocks = spec_.forward()
                                    ? this->queue().template resident<Moments<Element, kCount>>()
                                    : this->queue().template resident<Products<Element, kCount>>();
    return SectionTiling::of(spec_.tensor.n, spec_.tensor.h * spec_.tensor.w, spec_.tensor.c / kCount,
                             blocks);
  }

  // Launches make(groups), which joins the sums in `partial`.
  template <class Make>
  void join(const SectionTiling& tiling, const float* partial, const Make& make) const {
    const std::int64_t count = spec_.tensor.n * spec_.groups;
    with_group(spec_.group_channels() * tiling.chunks_each, [&]<int kGroup>() {
      this->launch(make(Groups<kGroup>{.tiling = tiling,
                                       .count = static_cast<std::uint32_t>(count),
                                       .channels = static_cast<std::uint32_t>(spec_.tensor.c),
                                       .width = Divider(spec_.group_channels()),
                                       .epsilon = spec_.epsilon,
                                       .partial = partial}),
                   RowGroup<kGroup>::blocks(count));
    });
  }

  template <class Element, int kCount>
  void forward(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    float* const factors = floats(pointers, Slot::workspace);
    float* const summands = factors + part();
    float* const partial = factors + 3 * part();
    const SectionTiling tiling = sums<Element, kCount>();
    this->launch(Moments<Element, kCount>{tiling, src, partial}, tiling.blocks());
    join(tiling, partial, [&]<int kGroup>(const Groups<kGroup>& groups) {
      return JoinGroupMoments<kGroup>{
          groups,   floats(pointers, Slot::scale), floats(pointers, Slot::shift),   factors,
          summands, floats(pointers, Slot::mean),  floats(pointers, Slot::variance)};
    });
    launch_units(this->queue(), units(kCount),
                 ScaleChannels<Element, kCount, false>{src, nullptr, stored<Element>(pointers, Slot::dst),
                                                       factors, nullptr, summands});
  }

  template <class Element, int kCount>
  void backward(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    const auto* const gradient = stored<Element>(pointers, Slot::diff_dst);
    const float* const mean = floats(pointers, Slot::mean);
    const float* const variance = floats(pointers, Slot::variance);
    float* const factors = floats(pointers, Slot::workspace);
    float* const src_factors = factors + part();
    float* const summands = src_factors + part();
    float* const partial = summands + part();
    const SectionTiling tiling = sums<Element, kCount>();
    this->launch(
        Products<Element, kCount>{tiling,
                                  src,
                                  gradient,
                                  {mean, variance, spec_.epsilon, Divider(spec_.group_channels()), {}, {}},
                                  partial},
        tiling.blocks());
    if (spec_.affine) {
      this->launch(FinishSums<2>{partial,
                                 spec_.tensor.c,
                                 tiling.chunks,
                                 {floats(pointers, Slot::diff_scale), floats(pointers, Slot::diff_shift)}},
                   FinishSums<2>::blocks(spec_.tensor.c));
    }
    join(tiling, partial, [&]<int kGroup>(const Groups<kGroup>& groups) {
      return JoinGroupProducts<kGroup>{
          groups, floats(pointers, Slot::scale), mean, variance, factors, src_factors, summands};
    });
    launch_units(
        this->queue(), units(kCount),
        ScaleChannels<Element, kCount, true>{gradient, src, stored<Element>(pointers, Slot::diff_src),
                                             factors, src_factors, summands});
  }

  Units units(int count) const {
    return {spec_.tensor.n, spec_.tensor.h, spec_.tensor.w, spec_.tensor.c / count};
  }

  using KernelOperation<Machine, GroupNorm>::spec_;
};

template struct OnGpu<GroupNormOperation>;

}  // namespace bench::kernels::cuda
