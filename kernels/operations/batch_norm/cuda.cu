// Batch normalisation by kernels of our own. Training reads the data twice forward, for the statistics and
// for the result, and twice backward, for the sums and for the result.
#include <type_traits>

#include "kernels/backends/cuda/chunk_moments.cuh"
#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/rectifier.cuh"
#include "kernels/backends/cuda/tiling.cuh"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels::cuda {

// mean and biased variance over all chunks.
struct JoinMoments {
  static constexpr int kThreads = ChunkJoin::kThreads;
  static constexpr const char* kName = "batch norm statistics, chunks";

  Tiling tiling;
  const float* partial;
  std::int64_t channels;
  float* mean;
  float* variance;

  struct Shared {
    Moments moments[kThreads];
  };
  struct Part {
    float mean;
    float squares;
  };
  // Chunks of one thread, by the distances of their means from the first one's: no division a chunk.
  struct Chunks {
    const Tiling& tiling;
    float count = 0;
    float pivot = 0;
    float distances = 0;  // Σ rows · (mean − pivot)
    float squares = 0;    // Σ own squares + rows · (mean − pivot)²

    BENCH_DEVICE void add(const Part& part, std::uint32_t chunk) {
      const auto rows = static_cast<float>(tiling.rows_of(chunk));
      pivot = count == 0.0F ? part.mean : pivot;
      const float distance = part.mean - pivot;
      count += rows;
      distances += rows * distance;
      squares += part.squares + rows * distance * distance;
    }
    BENCH_DEVICE Moments value() const {
      const float mean = count == 0.0F ? 0.0F : distances / count;
      return {count, pivot + mean, squares - distances * mean};
    }
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const auto load = [&](std::uint32_t chunk, std::int64_t channel) {
      return Part{partial[std::int64_t{chunk} * 2 * channels + channel],
                  partial[(std::int64_t{chunk} * 2 + 1) * channels + channel]};
    };
    const auto store = [&](std::int64_t channel, const Moments& all) {
      mean[channel] = all.mean;
      variance[channel] = all.squares / all.count;
    };
    ChunkJoin::run(thread, thread.template shared<Shared>().moments, tiling.chunks, channels,
                   Chunks{.tiling = tiling}, load, store);
  }
};

// dst = act(scale · x̂ + shift)
template <class Element, int kCount, class Activate>
struct Normalize {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "batch norm";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  Stored* dst;
  const float* scale;
  const float* shift;
  const float* mean;
  const float* variance;
  float epsilon;
  Activate activate;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place<kCount>(thread);
    if (!place.inside) {
      return;
    }
    float means[kCount];
    float factors[kCount];
    float shifts[kCount];
    float scales[kCount];
    load_floats<Memory>(mean + place.channel, means);
    load_floats<Memory>(variance + place.channel, factors);
    load_floats<Memory>(shift + place.channel, shifts);
    load_floats<Memory>(scale + place.channel, scales);
    for (int i = 0; i < kCount; ++i) {
      factors[i] = scales[i] * inverse_root(factors[i] + epsilon);
    }
    const Stored* const in[] = {src};
    for_each_row<Element, kCount, Tiling::kUnroll>(tiling, place, in, [&](std::uint32_t row, auto& x) {
      for (int i = 0; i < kCount; ++i) {
        x[0][i] = activate((x[0][i] - means[i]) * factors[i] + shifts[i]);
      }
      store_values<Element>(dst + row * place.channels + place.channel, x[0]);
    });
  }
};

// diff_src = scale / √(variance + epsilon) · (gradient − diff_shift / rows − x̂ · diff_scale / rows), with an
// activation's slope in the gradient. diff_src may be the gradient itself.
template <class Element, int kCount, template <class, int> class Normalizer>
struct NormalizeGradient {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr const char* kName = "batch norm backward";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  const Stored* gradient;
  Stored* diff_src;
  const float* scale;
  const float* diff_scale;
  const float* diff_shift;
  Normalizer<Memory, kCount> normalizer;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place<kCount>(thread);
    if (!place.inside) {
      return;
    }
    Normalizer<Memory, kCount> normalized = normalizer;
    normalized.begin(place.channel);
    const float share = 1.0F / static_cast<float>(tiling.rows);
    // factor · (gradient − plain − x̂ · product) = factor · gradient + by_x · (x − mean) + constant
    float factors[kCount];
    float by_x[kCount];
    float constants[kCount];
    load_floats<Memory>(scale + place.channel, factors);
    load_floats<Memory>(diff_scale + place.channel, by_x);
    load_floats<Memory>(diff_shift + place.channel, constants);
    for (int i = 0; i < kCount; ++i) {
      factors[i] *= normalized.factors[i];
      by_x[i] *= -share * factors[i] * normalized.factors[i];
      constants[i] *= -share * factors[i];
    }
    const Stored* const in[] = {src, gradient};
    constexpr int kUnroll = Tiling::kUnroll / 2;  // two inputs each
    for_each_row<Element, kCount, kUnroll>(tiling, place, in, [&](std::uint32_t row, auto& values) {
      float(&x)[kCount] = values[0];
      float(&g)[kCount] = values[1];
      for (int i = 0; i < kCount; ++i) {
        g[i] = factors[i] * normalized.gradient(x[i], g[i], i) +
               (by_x[i] * (x[i] - normalized.means[i]) + constants[i]);
      }
      store_values<Element>(diff_src + row * place.channels + place.channel, g);
    });
  }
};

template <class Machine>
class BatchNormOperation final : public KernelOperation<Machine, BatchNorm> {
 public:
  static Dtype dtype_of(const BatchNorm& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const BatchNorm& spec) {
    const auto reason = not_nhwc(spec.tensor);
    return reason ? reason : Tiling::too_many_rows(rows_of(spec));
  }

  BatchNormOperation(const BatchNorm& spec, Device& device)
      : KernelOperation<Machine, BatchNorm>(spec, device) {
    if (spec.training || !spec.forward()) {
      with_element<Machine>(spec.tensor.dtype, [&]<class Element>() {
        this->add_opaque(
            Slot::workspace, Role::scratch,
            partial_bytes<Element>(spec.tensor.c, [&]<int kCount>() { return sums<Element, kCount>(); }));
      });
    }
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      const auto values = [&](Slot slot) { return stored<Element>(pointers, slot); };
      const auto wide = [&](Slot slot) { return floats(pointers, slot); };
      with_access<Element>(
          spec_.tensor.c,
          [&]<int kCount>() {
            using Plain = ChannelNormalizer<typename Element::Memory, kCount>;
            const Plain plain{.mean = wide(Slot::mean),
                              .variance = wide(Slot::variance),
                              .epsilon = spec_.epsilon,
                              .means = {},
                              .factors = {}};
            if (spec_.forward()) {
              forward<Element, kCount>(pointers);
              return;
            }
            with_rectifier(spec_.activation, [&]<class Activate>(const Activate& activate) {
              if constexpr (std::is_same_v<Activate, Identity>) {
                backward<Element, kCount, ChannelNormalizer>(pointers, plain);
              } else {
                backward<Element, kCount, Before<Activate>::template Normalizer>(
                    pointers, {plain, wide(Slot::scale), wide(Slot::shift), activate, {}, {}});
              }
            });
          },
          // Those of the other pass are null, which is aligned to everything.
          values(Slot::src), values(Slot::dst), values(Slot::diff_dst), values(Slot::diff_src),
          wide(Slot::scale), wide(Slot::shift), wide(Slot::mean), wide(Slot::variance),
          wide(Slot::diff_scale), wide(Slot::diff_shift), wide(Slot::workspace));
    });
  }

 private:
  static std::int64_t rows_of(const BatchNorm& spec) { return spec.tensor.n * spec.tensor.h * spec.tensor.w; }

  // The tiling of the sums that this pass makes over each channel.
  template <class Element, int kCount>
  Tiling sums() const {
    using Forward = ChunkMoments<Element, kCount>;
    using Backward = ColumnSums<Element, kCount, ChannelNormalizer>;
    const std::int64_t columns = spec_.tensor.c / kCount;
    return spec_.forward() ? reducing_tiling<Forward>(this->queue(), rows_of(spec_), columns)
                           : reducing_tiling<Backward>(this->queue(), rows_of(spec_), columns);
  }
  // The tiling of the work on each element.
  template <int kCount>
  Tiling mapping() const {
    return Tiling::mapping(rows_of(spec_), spec_.tensor.c / kCount, this->queue().multiprocessors());
  }

  template <class Element, int kCount>
  void forward(const SlotPointers& pointers) const {
    const std::int64_t channels = spec_.tensor.c;
    const auto* const src = stored<Element>(pointers, Slot::src);
    float* const mean = floats(pointers, Slot::mean);
    float* const variance = floats(pointers, Slot::variance);
    if (spec_.training) {
      const Tiling tiling = sums<Element, kCount>();
      float* const partial = floats(pointers, Slot::workspace);
      this->launch(ChunkMoments<Element, kCount>{tiling, src, partial}, tiling.blocks());
      this->launch(JoinMoments{tiling, partial, channels, mean, variance}, ChunkJoin::blocks(channels));
    }
    const Tiling tiling = mapping<kCount>();
    with_rectifier(spec_.activation, [&]<class Activate>(const Activate& activate) {
      this->launch(Normalize<Element, kCount, Activate>{.tiling = tiling,
                                                        .src = src,
                                                        .dst = stored<Element>(pointers, Slot::dst),
                                                        .scale = floats(pointers, Slot::scale),
                                                        .shift = floats(pointers, Slot::shift),
                                                        .mean = mean,
                                                        .variance = variance,
                                                        .epsilon = spec_.epsilon,
                                                        .activate = activate},
                   tiling.blocks());
    });
  }

  template <class Element, int kCount, template <class, int> class Normalizer>
  void backward(const SlotPointers& pointers,
                const Normalizer<typename Element::Memory, kCount>& normalizer) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    const auto* const diff_dst = stored<Element>(pointers, Slot::diff_dst);
    float* const diff_scale = floats(pointers, Slot::diff_scale);
    float* const diff_shift = floats(pointers, Slot::diff_shift);
    launch_gradient_sums<Element, kCount>(this->queue(), sums<Element, kCount>(), src, diff_dst, normalizer,
                                          floats(pointers, Slot::workspace), diff_scale, diff_shift);
    const Tiling tiling = mapping<kCount>();
    this->launch(
        NormalizeGradient<Element, kCount, Normalizer>{.tiling = tiling,
                                                       .src = src,
                                                       .gradient = diff_dst,
                                                       .diff_src = stored<Element>(pointers, Slot::diff_src),
                                                       .scale = floats(pointers, Slot::scale),
                                                       .diff_scale = diff_scale,
                                                       .diff_shift = diff_shift,
                                                       .normalizer = normalizer},
        tiling.blocks());
  }

  using KernelOperation<Machine, BatchNorm>::spec_;
};

template struct OnGpu<BatchNormOperation>;

}  // namespace bench::kernels::cuda
