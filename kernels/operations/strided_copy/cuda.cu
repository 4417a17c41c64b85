// Strided copies as kernels over their nests, or of whole pixels, one launch a part.
#include <algorithm>
#include <span>

#include "kernels/backends/cuda/copy_nest.cuh"
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/nest.cuh"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels::cuda {

// Sums in place: each element of a nest is another.
template <class Element>
struct AddNest {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "add strided copy";
  using Stored = typename Element::Stored;

  NestLoops loops;
  Stored* to;
  const Stored* from;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[2]; loops.place(thread, at)) {
      float sum[1];
      float added[1];
      load_values<Element>(to + at[0], sum);
      load_values<Element>(from + at[1], added);
      sum[0] += added[0];
      store_values<Element>(to + at[0], sum);
    }
  }
};

template <class Element>
struct FillNest {
  static constexpr int kThreads = NestLoops::kThreads;
  static constexpr const char* kName = "fill";
  using Stored = typename Element::Stored;

  NestLoops loops;
  Stored* to;
  float value;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    if (std::int64_t at[1]; loops.place(thread, at)) {
      const float values[1] = {value};
      store_values<Element>(to + at[0], values);
    }
  }
};

template <class Machine>
class StridedCopyOperation final : public KernelOperation<Machine, StridedCopy> {
 public:
  static Dtype dtype_of(const StridedCopy& spec) { return spec.dst.dtype; }

  StridedCopyOperation(const StridedCopy& spec, Device& device)
      : KernelOperation<Machine, StridedCopy>(spec, device),
        all_(steps_of(spec)),
        is_of_pixels_(spec.is_of_whole_pixels()) {
    for (const StridedCopy::Part& part : spec.parts) {  // whose kernel does not count further
      is_of_pixels_ = is_of_pixels_ &&
                      std::max(part.src.dims.elements(), spec.dst.dims.elements()) <= Machine::kMostCounted;
    }
  }

  void run(const SlotPointers& pointers) override {
    const auto at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (is_of_pixels_ && !spec_.forward()) {
      return copy_part(spec_.index, at(Slot::diff_dst), at(Slot::diff_src));
    }
    if (is_of_pixels_) {
      for (std::size_t index = 0; index < spec_.parts.size(); ++index) {
        copy_part(index, at(Slot::dst), at(kSources[index]));
      }
      return;
    }
    with_element<Machine>(spec_.dst.dtype, [&]<class Element>() { run_as<Element>(pointers); });
  }

 private:
  // Between a part, or its gradient, and its channels of the joined map.
  void copy_part(std::size_t index, std::byte* joined, std::byte* own) const {
    const StridedCopy::Part& part = spec_.parts[index];
    const TensorDesc in = part.src.tensor();
    const TensorDesc out = spec_.dst.tensor();
    const std::int64_t size = bytes_of(in.dtype);
    const PixelMap map{.data = own, .pitch = in.c * size, .height = in.h, .width = in.w};
    const PixelMap channels{
        .data = joined - part.axes[1].start * size, .pitch = out.c * size, .height = out.h, .width = out.w};
    const bool forward = spec_.forward();
    copy_pixels<Machine>(this->queue(), {.from = forward ? map : channels,
                                         .to = forward ? channels : map,
                                         .samples = in.n,
                                         .bytes = in.c * size,
                                         .top = forward ? part.axes[2].start : -part.axes[2].start,
                                         .left = forward ? part.axes[3].start : -part.axes[3].start});
  }

  template <class Element>
  void run_as(const SlotPointers& pointers) const {
    auto* const to = stored<Element>(pointers, spec_.forward() ? Slot::dst : Slot::diff_src);
    if (!all_.value.empty()) {  // everywhere: one launch for all gaps
      const Walk walk = Walk::over(spec_.written());
      fill<Element>(nests(spec_.written().dims, std::span(&walk, 1)), spec_.forward() ? spec_.value : 0.0F,
                    to);
    }
    fill<Element>(all_.padding, 0, to);
    for (const CopySteps::Step& step : all_.steps) {
      const auto* const from =
          stored<Element>(pointers, spec_.forward() ? kSources[step.part] : Slot::diff_dst);
      if (step.add) {
        launch_nest<Machine>(this->queue(), step.nest, [&](const NestLoops& loops) {
          return AddNest<Element>{loops, to, from};
        });
      } else {
        copy_nest<Machine>(this->queue(), step.nest, bytes_of(spec_.dst.dtype),
                           reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from));
      }
    }
  }

  template <class Element>
  void fill(const std::vector<LoopNest>& nests, float value, typename Element::Stored* to) const {
    for (const LoopNest& nest : nests) {
      launch_nest<Machine>(this->queue(), nest, [&](const NestLoops& loops) {
        return FillNest<Element>{loops, to, value};
      });
    }
  }

  using KernelOperation<Machine, StridedCopy>::spec_;
  CopySteps all_;
  bool is_of_pixels_;
};

template struct OnGpu<StridedCopyOperation>;

}  // namespace bench::kernels::cuda
