// Softmax, its logarithm and their gradients by our own kernels. Channels that lie together are rows, done by
// a thread, a warp or a block; else a thread does the channels of a pixel, and its neighbours those of the
// pixels next to it. Values are read three times, twice out of a cache.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/operations/softmax/softmax.h"

namespace bench::kernels::cuda {

template <class Element, int kCount, int kGroup, bool kLog>
struct SoftmaxRows {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "softmax";
  using Stored = typename Element::Stored;

  const Stored* src;
  Stored* dst;
  std::int64_t rows;
  std::int64_t channels;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const bool inside = row < rows;  // the others still come to the barriers
    const Stored* const from = src + row * channels;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float largest = kBelowAll;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        largest = x[i] > largest ? x[i] : largest;
      }
    }
    largest = join_group<kGroup>(thread, largest, Largest{}, room);
    float sum = 0;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        sum += exponential(x[i] - largest);
      }
    }
    sum = join_group<kGroup>(thread, sum, Sum{}, room);
    const float share = kLog ? logf(sum) : 1.0F / sum;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        x[i] = kLog ? x[i] - largest - share : exponential(x[i] - largest) * share;
      }
      store_values<Element>(dst + row * channels + c, x);
    }
  }
};

// The gradient's part of a channel in the sum over all, and the gradient itself.
template <bool kLog>
BENCH_DEVICE float softmax_product(float value, float diff) {
  return kLog ? diff : diff * value;
}
template <bool kLog>
BENCH_DEVICE float softmax_gradient(float value, float diff, float along) {
  return kLog ? diff - exponential(value) * along : value * (diff - along);
}

// diff_src may be the gradient itself: each thread writes what it alone has read.
template <class Element, int kCount, int kGroup, bool kLog>
struct SoftmaxRowsGradient {
  static constexpr int kThreads = RowGroup<kGroup>::kThreads;
  static constexpr const char* kName = "softmax backward";
  using Stored = typename Element::Stored;

  const Stored* dst;
  const Stored* gradient;
  Stored* diff_src;
  std::int64_t rows;
  std::int64_t channels;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kGroup>::row(thread);
    const bool inside = row < rows;
    const std::int64_t start = row * channels;
    const std::int64_t first = std::int64_t{RowGroup<kGroup>::lane(thread)} * kCount;
    constexpr std::int64_t kStep = std::int64_t{kGroup} * kCount;

    float along = 0;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float y[kCount];
      float g[kCount];
      load_values<Element>(dst + start + c, y);
      load_values<Element>(gradient + start + c, g);
      for (int i = 0; i < kCount; ++i) {
        along += softmax_product<kLog>(y[i], g[i]);
      }
    }
    along = join_group<kGroup>(thread, along, Sum{}, room);
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float y[kCount];
      float g[kCount];
      load_values<Element>(dst + start + c, y);
      load_values<Element>(gradient + start + c, g);
      for (int i = 0; i < kCount; ++i) {
        g[i] = softmax_gradient<kLog>(y[i], g[i], along);
      }
      store_values<Element>(diff_src + start + c, g);
    }
  }
};

// Pixels whose channels lie `step` elements apart.
struct PixelColumns {
  static constexpr int kThreads = 256;

  std::int64_t pixels;
  std::int64_t channels;
  std::int64_t step;

  std::int64_t blocks() const { return (pixels + kThreads - 1) / kThreads; }

  // Calls visit(where the channels of the thread's pixel begin).
  template <class Thread, class Visit>
  BENCH_DEVICE void visit(const Thread& thread, const Visit& visit) const {
    const std::int64_t pixel = std::int64_t{thread.block()} * kThreads + thread.index();
    if (pixel < pixels) {
      const std::int64_t sample = pixel / step;
      visit(sample * channels * step + (pixel - sample * step));
    }
  }
};

template <class Element>
BENCH_DEVICE float load_one(const typename Element::Stored* from) {
  float value[1];
  load_values<Element>(from, value);
  return value[0];
}
template <class Element>
BENCH_DEVICE void store_one(typename Element::Stored* to, float value) {
  const float values[1] = {value};
  store_values<Element>(to, values);
}

template <class Element, bool kLog>
struct SoftmaxColumns {
  static constexpr int kThreads = PixelColumns::kThreads;
  static constexpr const char* kName = "softmax of maps";
  using Stored = typename Element::Stored;

  PixelColumns columns;
  const Stored* src;
  Stored* dst;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    columns.visit(thread, [&](std::int64_t first) {
      const Stored* const from = src + first;
      float largest = kBelowAll;
      for (std::int64_t c = 0; c < columns.channels; ++c) {
        const float x = load_one<Element>(from + c * columns.step);
        largest = x > largest ? x : largest;
      }
      float sum = 0;
      for (std::int64_t c = 0; c < columns.channels; ++c) {
        sum += exponential(load_one<Element>(from + c * columns.step) - largest);
      }
      const float share = kLog ? logf(sum) : 1.0F / sum;
      for (std::int64_t c = 0; c < columns.channels; ++c) {
        const float above = load_one<Element>(from + c * columns.step) - largest;
        store_one<Element>(dst + first + c * columns.step, kLog ? above - share : exponential(above) * share);
      }
    });
  }
};

template <class Element, bool kLog>
struct SoftmaxColumnsGradient {
  static constexpr int kThreads = PixelColumns::kThreads;
  static constexpr const char* kName = "softmax of maps backward";
  using Stored = typename Element::Stored;

  PixelColumns columns;
  const Stored* dst;
  const Stored* gradient;
  Stored* diff_src;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    columns.visit(thread, [&](std::int64_t first) {
      float along = 0;
      for (std::int64_t c = 0; c < columns.channels; ++c) {
        const std::int64_t at = first + c * columns.step;
        along += softmax_product<kLog>(load_one<Element>(dst + at), load_one<Element>(gradient + at));
      }
      for (std::int64_t c = 0; c < columns.channels; ++c) {
        const std::int64_t at = first + c * columns.step;
        store_one<Element>(diff_src + at, softmax_gradient<kLog>(load_one<Element>(dst + at),
                                                                 load_one<Element>(gradient + at), along));
      }
    });
  }
};

template <class Machine>
class SoftmaxOperation final : public KernelOperation<Machine, Softmax> {
 public:
  static Dtype dtype_of(const Softmax& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Softmax& spec) {
    return spec.tensor.layout == Layout::nchw16c ? not_nhwc(spec.tensor) : std::nullopt;
  }

  using KernelOperation<Machine, Softmax>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      if (spec_.log) {
        this->template run<Element, true>(pointers);
      } else {
        this->template run<Element, false>(pointers);
      }
    });
  }

 private:
  template <class Element, bool kLog>
  void run(const SlotPointers& pointers) const {
    const auto* const src = stored<Element>(pointers, spec_.forward() ? Slot::src : Slot::dst);
    const auto* const gradient = stored<Element>(pointers, Slot::diff_dst);
    auto* const made = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_src);
    const std::int64_t area = spec_.tensor.h * spec_.tensor.w;
    const std::int64_t pixels = spec_.tensor.n * area;
    const std::int64_t channels = spec_.tensor.c;
    if (spec_.tensor.layout != Layout::nhwc && area > 1) {
      const PixelColumns columns{pixels, channels, area};
      if (spec_.forward()) {
        this->launch(SoftmaxColumns<Element, kLog>{columns, src, made}, columns.blocks());
      } else {
        this->launch(SoftmaxColumnsGradient<Element, kLog>{columns, src, gradient, made}, columns.blocks());
      }
      return;
    }
    with_row_access<Element>(
        channels,
        [&]<int kCount, int kGroup>() {
          const std::int64_t blocks = RowGroup<kGroup>::blocks(pixels);
          if (spec_.forward()) {
            this->launch(SoftmaxRows<Element, kCount, kGroup, kLog>{src, made, pixels, channels}, blocks);
          } else {
            this->launch(
                SoftmaxRowsGradient<Element, kCount, kGroup, kLog>{src, gradient, made, pixels, channels},
                blocks);
          }
        },
        src, gradient, made);
  }

  using KernelOperation<Machine, Softmax>::spec_;
};

template struct OnGpu<SoftmaxOperation>;

}  // namespace bench::kernels::cuda
