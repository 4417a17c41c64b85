// Local response normalisation and its gradient by kernels of our own: a thread does a channel of a pixel.
#include <cmath>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/lrn/lrn.h"

namespace bench::kernels::cuda {

// A pixel's channels as the kernels read them.
template <class Element>
struct Neighbours {
  using Stored = typename Element::Stored;

  const Stored* src;
  int channels;
  int away;     // how far neighbours are
  float share;  // alpha / size
  float beta;
  float k;

  static BENCH_DEVICE float value(const Stored* from) {
    float value[1];
    load_values<Element>(from, value);
    return value[0];
  }
  BENCH_DEVICE int first(int c) const { return c < away ? 0 : c - away; }
  BENCH_DEVICE int last(int c) const { return c + away < channels ? c + away : channels - 1; }
  BENCH_DEVICE float divisor(std::int64_t pixel, int c) const {
    float squares = 0;
    for (int i = first(c); i <= last(c); ++i) {
      const float x = value(src + pixel + i);
      squares += x * x;
    }
    return k + share * squares;
  }
};

template <class Element>
struct LrnMaps {
  static constexpr const char* kName = "lrn";

  Neighbours<Element> around;
  typename Element::Stored* dst;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const int c = static_cast<int>(unit.column);
    const std::int64_t pixel = std::int64_t{unit.index} - c;
    const float made[1] = {around.value(around.src + unit.index) *
                           powf(around.divisor(pixel, c), -around.beta)};
    store_values<Element>(dst + unit.index, made);
  }
};

template <class Element>
struct LrnGradient {
  static constexpr const char* kName = "lrn backward";
  using Stored = typename Element::Stored;

  Neighbours<Element> around;
  const Stored* gradient;
  Stored* diff_src;

  BENCH_DEVICE void operator()(const Unit& unit) const {
    const int c = static_cast<int>(unit.column);
    const std::int64_t pixel = std::int64_t{unit.index} - c;
    float along = 0;
    for (int i = around.first(c); i <= around.last(c); ++i) {
      along += around.value(gradient + pixel + i) * around.value(around.src + pixel + i) *
               powf(around.divisor(pixel, i), -around.beta - 1.0F);
    }
    const float made[1] = {around.value(gradient + unit.index) *
                               powf(around.divisor(pixel, c), -around.beta) -
                           2.0F * around.share * around.beta * around.value(around.src + unit.index) * along};
    store_values<Element>(diff_src + unit.index, made);
  }
};

template <class Machine>
class LrnOperation final : public KernelOperation<Machine, Lrn> {
 public:
  static Dtype dtype_of(const Lrn& spec) { return spec.tensor.dtype; }
  static Batch batch_of(const Lrn& spec) { return {spec.tensor.n, elements_of_sample(spec.tensor)}; }
  static Lrn of_samples(Lrn spec, std::int64_t samples) {
    spec.tensor.n = samples;
    return spec;
  }
  static std::optional<std::string> unsupported(const Lrn& spec) { return not_nhwc(spec.tensor); }

  using KernelOperation<Machine, Lrn>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.tensor.dtype, [&]<class Element>() {
      const Neighbours<Element> around{.src = stored<Element>(pointers, Slot::src),
                                       .channels = static_cast<int>(spec_.tensor.c),
                                       .away = static_cast<int>((spec_.size - 1) / 2),
                                       .share = spec_.alpha / static_cast<float>(spec_.size),
                                       .beta = spec_.beta,
                                       .k = spec_.k};
      const Units units{spec_.tensor.n, spec_.tensor.h, spec_.tensor.w, spec_.tensor.c};
      if (spec_.forward()) {
        launch_units(this->queue(), units, LrnMaps<Element>{around, stored<Element>(pointers, Slot::dst)});
      } else {
        launch_units(this->queue(), units,
                     LrnGradient<Element>{around, stored<Element>(pointers, Slot::diff_dst),
                                          stored<Element>(pointers, Slot::diff_src)});
      }
    });
  }

 private:
  using KernelOperation<Machine, Lrn>::spec_;
};

template struct OnGpu<LrnOperation>;

}  // namespace bench::kernels::cuda
