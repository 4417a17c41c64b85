// Layer normalisation and its gradient by our own kernels; kernels/backends/cuda/column_sums.cuh does the
// gradients of scale and shift.
#include "kernels/backends/cuda/column_sums.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/backends/cuda/tiling.cuh"
#include "kernels/operations/layer_norm/layer_norm.h"

namespace bench::kernels::cuda {

// Values c, c + 1, … of an array that may be missing.
template <class Memory, int kCount>
BENCH_DEVICE void load_floats_or(const float* array, std::int64_t c, float otherwise,
                                 float (&values)[kCount]) {
  if (array != nullptr) {
    load_floats<Memory>(array + c, values);
  } else {
    for (int i = 0; i < kCount; ++i) {
      values[i] = otherwise;
    }
  }
}

// Rows are read three times, twice out of a cache: the variance is that of distances from the mean.
template <class Element, int kCount, int kGroup>
struct LayerNormRows {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "layer norm";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  const Stored* src;
  Stored* dst;
  const float* scale;  // nullptr for 1
  const float* shift;  // nullptr for 0
  float* mean;         // and variance: nullptr where they are not saved
  float* variance;
  std::int64_t rows;
  std::int64_t width;
  float epsilon;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const bool inside = row < rows;  // the others still come to the barriers
    const Stored* const from = src + row * width;
    const int lane = RowGroup<kGroup>::lane(thread);
    const std::int64_t first = std::int64_t{lane} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;
    const float share = 1.0F / static_cast<float>(width);

    float sum = 0;
    for (std::int64_t c = first; inside && c < width; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        sum += x[i];
      }
    }
    const float centre = join_group<kGroup>(thread, sum, Sum{}, room) * share;
    float squares = 0;
    for (std::int64_t c = first; inside && c < width; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        squares += (x[i] - centre) * (x[i] - centre);
      }
    }
    const float spread = join_group<kGroup>(thread, squares, Sum{}, room) * share;
    const float factor = 1.0F / sqrtf(spread + epsilon);
    for (std::int64_t c = first; inside && c < width; c += kStep) {
      float x[kCount];
      float scales[kCount];
      float shifts[kCount];
      load_values<Element>(from + c, x);
      load_floats_or<Memory>(scale, c, 1.0F, scales);
      load_floats_or<Memory>(shift, c, 0.0F, shifts);
      for (int i = 0; i < kCount; ++i) {
        x[i] = scales[i] * ((x[i] - centre) * factor) + shifts[i];
      }
      store_values<Element>(dst + row * width + c, x);
    }
    if (inside && lane == 0 && mean != nullptr) {
      mean[row] = centre;
      variance[row] = spread;
    }
  }
};

// diff_src = 1/√(variance + epsilon) · (g − mean of g − x̂ · mean of g·x̂), g = scale · gradient. diff_src may
// be the gradient itself: each thread writes what it alone has read.
template <class Element, int kCount, int kGroup>
struct LayerNormGradient {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "layer norm backward";
  using Memory = typename Element::Memory;
  using Stored = typename Element::Stored;

  const Stored* src;
  const Stored* gradient;
  Stored* diff_src;
  const float* scale;  // nullptr for 1
  const float* mean;
  const float* variance;
  std::int64_t rows;
  std::int64_t width;
  float epsilon;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const bool inside = row < rows;
    const std::int64_t start = row * width;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;
    const float share = 1.0F / static_cast<float>(width);
    const float centre = inside ? mean[row] : 0.0F;
    const float factor = inside ? 1.0F / sqrtf(variance[row] + epsilon) : 0.0F;

    float plain = 0;
    float products = 0;
    for (std::int64_t c = first; inside && c < width; c += kStep) {
      float x[kCount];
      float g[kCount];
      scaled(start, c, x, g);
      for (int i = 0; i < kCount; ++i) {
        plain += g[i];
        products += g[i] * ((x[i] - centre) * factor);
      }
    }
    plain = join_group<kGroup>(thread, plain, Sum{}, room) * share;
    products = join_group<kGroup>(thread, products, Sum{}, room) * share;
    for (std::int64_t c = first; inside && c < width; c += kStep) {
      float x[kCount];
      float g[kCount];
      scaled(start, c, x, g);
      for (int i = 0; i < kCount; ++i) {
        g[i] = factor * (g[i] - plain - (x[i] - centre) * factor * products);
      }
      store_values<Element>(diff_src + start + c, g);
    }
  }

 private:
  BENCH_DEVICE void scaled(std::int64_t start, std::int64_t c, float (&x)[kCount], float (&g)[kCount]) const {
    float scales[kCount];
    load_values<Element>(src + start + c, x);
    load_values<Element>(gradient + start + c, g);
    load_floats_or<Memory>(scale, c, 1.0F, scales);
    for (int i = 0; i < kCount; ++i) {
      g[i] *= scales[i];
    }
  }
};

template <class Machine>
class LayerNormOperation final : public KernelOperation<Machine, LayerNorm> {
 public:
  LayerNormOperation(const LayerNorm& spec, Device& device)
      : KernelOperation<Machine, LayerNorm>(spec, device) {
    if (!spec.forward() && spec.scale) {
      with_element<Machine>(spec.dtype, [&]<class Element>() {
        sums_bytes_ =
            partial_bytes<Element>(spec.width, [&]<int kCount>() { return sums<Element, kCount>(); });
      });
      // Behind the sums, a gradient of the shift that no one asked for.
      const std::int64_t unwanted = spec.shift ? 0 : spec.width * static_cast<std::int64_t>(sizeof(float));
      this->add_opaque(Slot::workspace, Role::scratch, sums_bytes_ + unwanted);
    }
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      with_access<Element>(
          spec_.width,
          [&]<int kCount>() {
            if (spec_.forward()) {
              this->template forward<Element, kCount>(pointers);
            } else {
              this->template backward<Element, kCount>(pointers);
            }
          },
          stored<Element>(pointers, Slot::src), stored<Element>(pointers, Slot::dst),
          stored<Element>(pointers, Slot::diff_dst), stored<Element>(pointers, Slot::diff_src),
          floats(pointers, Slot::scale), floats(pointers, Slot::shift), floats(pointers, Slot::workspace));
    });
  }

 private:
  // The tiling of the backward pass's sums over each column.
  template <class Element, int kCount>
  Tiling sums() const {
    using Sums = ColumnSums<Element, kCount, RowNormalizer>;
    return reducing_tiling<Sums>(this->queue(), spec_.rows, spec_.width / kCount);
  }

  template <class Element, int kCount>
  void forward(const SlotPointers& pointers) const {
    with_group(spec_.width, [&]<int kGroup>() {
      this->launch(LayerNormRows<Element, kCount, kGroup>{.src = stored<Element>(pointers, Slot::src),
                                                          .dst = stored<Element>(pointers, Slot::dst),
                                                          .scale = floats(pointers, Slot::scale),
                                                          .shift = floats(pointers, Slot::shift),
                                                          .mean = floats(pointers, Slot::mean),
                                                          .variance = floats(pointers, Slot::variance),
                                                          .rows = spec_.rows,
                                                          .width = spec_.width,
                                                          .epsilon = spec_.epsilon},
                   RowGroup<kGroup>::blocks(spec_.rows));
    });
  }

  // The sums first: diff_src may take diff_dst's place.
  template <class Element, int kCount>
  void backward(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, Slot::src);
    const auto* const diff_dst = stored<Element>(pointers, Slot::diff_dst);
    const float* const mean = floats(pointers, Slot::mean);
    const float* const variance = floats(pointers, Slot::variance);
    const RowNormalizer<typename Element::Memory, kCount> normalizer{
        .mean = mean, .variance = variance, .epsilon = spec_.epsilon, .row_mean = 0, .factor = 0};
    if (spec_.scale) {
      float* const workspace = floats(pointers, Slot::workspace);
      float* const unwanted = workspace + sums_bytes_ / static_cast<std::int64_t>(sizeof(float));
      launch_gradient_sums<Element, kCount>(this->queue(), sums<Element, kCount>(), src, diff_dst, normalizer,
                                            workspace, floats(pointers, Slot::diff_scale),
                                            spec_.shift ? floats(pointers, Slot::diff_shift) : unwanted);
    }
    with_group(spec_.width, [&]<int kGroup>() {
      this->launch(
          LayerNormGradient<Element, kCount, kGroup>{.src = src,
                                                     .gradient = diff_dst,
                                                     .diff_src = stored<Element>(pointers, Slot::diff_src),
                                                     .scale = floats(pointers, Slot::scale),
                                                     .mean = mean,
                                                     .variance = variance,
                                                     .rows = spec_.rows,
                                                     .width = spec_.width,
                                                     .epsilon = spec_.epsilon},
          RowGroup<kGroup>::blocks(spec_.rows));
    });
  }

  using KernelOperation<Machine, LayerNorm>::spec_;
  std::int64_t sums_bytes_ = 0;
};

template struct OnGpu<LayerNormOperation>;

}  // namespace bench::kernels::cuda
