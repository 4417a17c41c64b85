// Batch normalisation by kernels of our own. Training reads the data twice forward, for the statistics and
// for the result, and twice backward, for the sums and for the result.
#pragma once

#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/rectifier.cuh"
#include "kernels/backends/cuda/tiling.cuh"
#include "kernels/operations/batch_norm/batch_norm.h"

namespace bench::kernels::cuda {

// Mean and variance of each channel, without cancellation: differences from the channel's first value are
// summed, and the parts' means and squares are joined by Chan, Golub and LeVeque (1979). Each block does a
// chunk of rows, a second kernel joins the chunks.
struct Moments {
  float count;
  float mean;
  float squares;  // Σ (value − mean)²

  BENCH_DEVICE void join(const Moments& other) {
    if (other.count == 0.0F) {
      return;
    }
    const float all = count + other.count;
    const float distance = other.mean - mean;
    const float share = other.count / all;
    mean += distance * share;
    squares += other.squares + distance * distance * count * share;
    count = all;
  }
};

// partial[chunk][0][channel] = the chunk's mean, partial[chunk][1][channel] = its sum of squared distances.
template <class Element, int kCount>
struct ChunkMoments {
  static constexpr int kThreads = Tiling::kThreads;
  static constexpr int kResident = kCount > 4 ? 3 : 4;
  static constexpr const char* kName = "batch norm statistics";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  Tiling tiling;
  const Stored* src;
  float* partial;

  struct Shared {
    float mean[kThreads][kCount];
    float squares[kThreads][kCount];
    float count[kThreads];
  };

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const Tiling::Place place = tiling.place(thread);
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    float pivot[kCount] = {};
    float sum[kCount] = {};
    float squares[kCount] = {};
    float count = 0;
    if (place.inside && place.row < place.last) {
      load_values<Element>(src + place.row * channels + channel, pivot);
      const Stored* const in[] = {src};
      for_each_row<Element, kCount, Tiling::kUnroll>(tiling, place, in, [&](std::uint32_t, const auto& x) {
        for (int i = 0; i < kCount; ++i) {
          const float distance = x[0][i] - pivot[i];
          sum[i] += distance;
          squares[i] += distance * distance;
        }
        count += 1;
      });
    }
    const float share = count == 0.0F ? 0.0F : 1.0F / count;
    for (int i = 0; i < kCount; ++i) {
      shared.mean[thread.index()][i] = pivot[i] + sum[i] * share;
      shared.squares[thread.index()][i] = squares[i] - sum[i] * sum[i] * share;
    }
    shared.count[thread.index()] = count;
    thread.sync();
    for (int half = tiling.height() / 2; half > 0; half /= 2) {
      if (place.above < half) {
        const int me = thread.index();
        const int other = me + (half << tiling.log_width);
        float joined = 0;
        for (int i = 0; i < kCount; ++i) {
          Moments moments{shared.count[me], shared.mean[me][i], shared.squares[me][i]};
          moments.join({shared.count[other], shared.mean[other][i], shared.squares[other][i]});
          shared.mean[me][i] = moments.mean;
          shared.squares[me][i] = moments.squares;
          joined = moments.count;
        }
        shared.count[me] = joined;
      }
      thread.sync();
    }
    if (place.above == 0 && place.inside) {
      for (int i = 0; i < kCount; ++i) {
        sum[i] = shared.mean[thread.index()][i];
        squares[i] = shared.squares[thread.index()][i];
      }
      store_floats<Memory>(partial + std::int64_t{place.chunk} * 2 * channels + channel, sum);
      store_floats<Memory>(partial + (std::int64_t{place.chunk} * 2 + 1) * channels + channel, squares);
    }
  }
};

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

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const auto add = [&](Moments& all, std::uint32_t chunk, std::int64_t channel) {
      all.join({static_cast<float>(tiling.rows_of(chunk)),
                partial[std::int64_t{chunk} * 2 * channels + channel],
                partial[(std::int64_t{chunk} * 2 + 1) * channels + channel]});
    };
    const auto store = [&](std::int64_t channel, const Moments& all) {
      mean[channel] = all.mean;
      variance[channel] = all.squares / all.count;
    };
    ChunkJoin::run(thread, thread.template shared<Shared>().moments, tiling.chunks, channels, add, store);
  }
};

// dst = act(scale · x̂ + shift)
template <class Element, int kCount>
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
  Rectifier activate;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    const Tiling::Place place = tiling.place(thread);
    if (!place.inside) {
      return;
    }
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    float means[kCount];
    float factors[kCount];
    float shifts[kCount];
    float scales[kCount];
    load_floats<Memory>(mean + channel, means);
    load_floats<Memory>(variance + channel, factors);
    load_floats<Memory>(shift + channel, shifts);
    load_floats<Memory>(scale + channel, scales);
    for (int i = 0; i < kCount; ++i) {
      factors[i] = scales[i] / sqrtf(factors[i] + epsilon);
    }
    const Stored* const in[] = {src};
    for_each_row<Element, kCount, Tiling::kUnroll>(tiling, place, in, [&](std::uint32_t row, auto& x) {
      for (int i = 0; i < kCount; ++i) {
        x[0][i] = activate((x[0][i] - means[i]) * factors[i] + shifts[i]);
      }
      store_values<Element>(dst + row * channels + channel, x[0]);
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
    const Tiling::Place place = tiling.place(thread);
    if (!place.inside) {
      return;
    }
    const std::int64_t channels = std::int64_t{tiling.columns} * kCount;
    const std::int64_t channel = std::int64_t{place.column} * kCount;
    Normalizer<Memory, kCount> normalized = normalizer;
    normalized.begin(channel);
    const float share = 1.0F / static_cast<float>(tiling.rows);
    float factors[kCount];
    float products[kCount];
    float plain[kCount];
    load_floats<Memory>(scale + channel, factors);
    load_floats<Memory>(diff_scale + channel, products);
    load_floats<Memory>(diff_shift + channel, plain);
    for (int i = 0; i < kCount; ++i) {
      factors[i] *= normalized.factors[i];
      products[i] *= share;
      plain[i] *= share;
    }
    const Stored* const in[] = {src, gradient};
    constexpr int kUnroll = Tiling::kUnroll / 2;  // two inputs each
    for_each_row<Element, kCount, kUnroll>(tiling, place, in, [&](std::uint32_t row, auto& values) {
      float(&x)[kCount] = values[0];
      float(&g)[kCount] = values[1];
      for (int i = 0; i < kCount; ++i) {
        g[i] =
            factors[i] * (normalized.gradient(x[i], g[i], i) - plain[i] - normalized(x[i], i) * products[i]);
      }
      store_values<Element>(diff_src + row * channels + channel, g);
    });
  }
};

template <class Machine>
class BatchNormOperation final : public KernelOperation<Machine> {
 public:
  using Spec = BatchNorm;
  static Dtype dtype_of(const BatchNorm& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const BatchNorm& spec) {
    if (const auto reason = spec.invalid()) {
      return reason;
    }
    const auto reason = not_nhwc(spec.tensor);
    return reason ? reason : Tiling::too_many_rows(rows_of(spec));
  }

  BatchNormOperation(const BatchNorm& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    const auto add = [&](Slot slot, Role role) { this->add_values(slot, role, spec.tensor.c); };
    this->add_activation(Slot::src, Role::input, spec.tensor);
    if (spec.forward()) {
      const Role statistic = spec.training ? Role::output : Role::parameter;
      add(Slot::scale, Role::parameter);
      add(Slot::shift, Role::parameter);
      add(Slot::mean, statistic);
      add(Slot::variance, statistic);
      this->add_activation(Slot::dst, Role::output, spec.tensor);
    } else {
      add(Slot::mean, Role::input);
      add(Slot::variance, Role::input);
      add(Slot::scale, Role::parameter);
      if (spec.activation != Activation::none) {
        add(Slot::shift, Role::parameter);
      }
      this->add_activation(Slot::diff_dst, Role::input, spec.tensor);
      this->add_activation(Slot::diff_src, Role::output, spec.tensor);
      add(Slot::diff_scale, Role::output);
      add(Slot::diff_shift, Role::output);
    }
    if (spec.training || !spec.forward()) {
      this->with_element(spec.tensor.dtype, [&]<class Element>() {
        this->add_opaque(
            Slot::workspace, Role::scratch,
            partial_bytes<Element>(spec.tensor.c, [&]<int kCount>() { return sums<Element, kCount>(); }));
      });
    }
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      const auto values = [&](Slot slot) { return this->template stored<Element>(pointers, slot); };
      const auto floats = [&](Slot slot) { return this->floats(pointers, slot); };
      with_access<Element>(
          spec_.tensor.c,
          [&]<int kCount>() {
            if (spec_.forward()) {
              forward<Element, kCount>(pointers);
            } else if (spec_.activation == Activation::none) {
              backward<Element, kCount, ChannelNormalizer>(pointers, normalizer<Element, kCount>(pointers));
            } else {
              backward<Element, kCount, RectifiedNormalizer>(pointers, {normalizer<Element, kCount>(pointers),
                                                                        this->floats(pointers, Slot::scale),
                                                                        this->floats(pointers, Slot::shift),
                                                                        Rectifier::of(spec_.activation),
                                                                        {},
                                                                        {}});
            }
          },
          // Those of the other pass are null, which is aligned to everything.
          values(Slot::src), values(Slot::dst), values(Slot::diff_dst), values(Slot::diff_src),
          floats(Slot::scale), floats(Slot::shift), floats(Slot::mean), floats(Slot::variance),
          floats(Slot::diff_scale), floats(Slot::diff_shift), floats(Slot::workspace));
    });
  }

  double flops() const override { return spec_.flops(); }

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
    return Tiling::of(rows_of(spec_), spec_.tensor.c / kCount,
                      mapping_blocks(this->queue().multiprocessors()));
  }

  template <class Element, int kCount>
  void forward(const SlotPointers& pointers) const {
    const auto& queue = this->queue();
    const TensorDesc& tensor = spec_.tensor;
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    if (spec_.training) {
      const Tiling tiling = sums<Element, kCount>();
      float* const partial = this->floats(pointers, Slot::workspace);
      queue.launch(ChunkMoments<Element, kCount>{tiling, src, partial}, tiling.blocks());
      queue.launch(JoinMoments{tiling, partial, tensor.c, this->floats(pointers, Slot::mean),
                               this->floats(pointers, Slot::variance)},
                   ChunkJoin::blocks(tensor.c));
    }
    const Tiling tiling = mapping<kCount>();
    queue.launch(Normalize<Element, kCount>{.tiling = tiling,
                                            .src = src,
                                            .dst = this->template stored<Element>(pointers, Slot::dst),
                                            .scale = this->floats(pointers, Slot::scale),
                                            .shift = this->floats(pointers, Slot::shift),
                                            .mean = this->floats(pointers, Slot::mean),
                                            .variance = this->floats(pointers, Slot::variance),
                                            .epsilon = spec_.epsilon,
                                            .activate = Rectifier::of(spec_.activation)},
                 tiling.blocks());
  }

  template <class Element, int kCount>
  ChannelNormalizer<typename Element::Memory, kCount> normalizer(const SlotPointers& pointers) const {
    return {.mean = this->floats(pointers, Slot::mean),
            .variance = this->floats(pointers, Slot::variance),
            .epsilon = spec_.epsilon,
            .means = {},
            .factors = {}};
  }

  template <class Element, int kCount, template <class, int> class Normalizer>
  void backward(const SlotPointers& pointers,
                const Normalizer<typename Element::Memory, kCount>& normalizer) const {
    const auto& queue = this->queue();
    const TensorDesc& tensor = spec_.tensor;
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
    float* const partial = this->floats(pointers, Slot::workspace);
    float* const diff_scale = this->floats(pointers, Slot::diff_scale);
    float* const diff_shift = this->floats(pointers, Slot::diff_shift);
    const Tiling chunks = sums<Element, kCount>();
    queue.launch(ColumnSums<Element, kCount, Normalizer>{chunks, src, diff_dst, normalizer, partial},
                 chunks.blocks());
    queue.launch(FinishColumnSums{partial, tensor.c, chunks.chunks, {diff_scale, diff_shift}},
                 FinishColumnSums::blocks(tensor.c));
    const Tiling tiling = mapping<kCount>();
    queue.launch(NormalizeGradient<Element, kCount, Normalizer>{.tiling = tiling,
                                                                .src = src,
                                                                .gradient = diff_dst,
                                                                .diff_src = this->template stored<Element>(
                                                                    pointers, Slot::diff_src),
                                                                .scale = this->floats(pointers, Slot::scale),
                                                                .diff_scale = diff_scale,
                                                                .diff_shift = diff_shift,
                                                                .normalizer = normalizer},
                 tiling.blocks());
  }

  BatchNorm spec_;
};

}  // namespace bench::kernels::cuda
