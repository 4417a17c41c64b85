// Softmax of rows by our own kernel: the largest value, the sum of exponentials, the quotients. Rows are read
// three times, twice out of a cache.
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/operations/softmax/softmax.h"

namespace bench::kernels::cuda {

template <class Element, int kCount, int kGroup>
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
        sum += expf(x[i] - largest);
      }
    }
    sum = join_group<kGroup>(thread, sum, Sum{}, room);
    const float share = 1.0F / sum;
    for (std::int64_t c = first; inside && c < channels; c += kStep) {
      float x[kCount];
      load_values<Element>(from + c, x);
      for (int i = 0; i < kCount; ++i) {
        x[i] = expf(x[i] - largest) * share;
      }
      store_values<Element>(dst + row * channels + c, x);
    }
  }
};

template <class Machine>
class SoftmaxOperation final : public KernelOperation<Machine, Softmax> {
 public:
  static Dtype dtype_of(const Softmax& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const Softmax& spec) {
    return spec.tensor.h == 1 && spec.tensor.w == 1
               ? not_nhwc(spec.tensor)
               : std::optional<std::string>("softmax takes rows of channels, not images");
  }

  using KernelOperation<Machine, Softmax>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      const auto* const src = stored<Element>(pointers, Slot::src);
      auto* const dst = stored<Element>(pointers, Slot::dst);
      const std::int64_t channels = spec_.tensor.c;
      with_row_access<Element>(
          channels,
          [&]<int kCount, int kGroup>() {
            this->launch(SoftmaxRows<Element, kCount, kGroup>{src, dst, spec_.tensor.n, channels},
                         RowGroup<kGroup>::blocks(spec_.tensor.n));
          },
          src, dst);
    });
  }

 private:
  using KernelOperation<Machine, Softmax>::spec_;
};

template struct OnGpu<SoftmaxOperation>;

}  // namespace bench::kernels::cuda
