// Concatenation and its gradient as copies, one launch an input.
#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/operations/concat/concat.h"

namespace bench::kernels::cuda {

template <class Machine>
class ConcatOperation final : public KernelOperation<Machine, Concat> {
 public:
  static Dtype dtype_of(const Concat& spec) {
    return spec.inputs.empty() ? Dtype::fp32 : spec.inputs.front().dtype;
  }
  static Batch batch_of(const Concat& spec) { return {spec.dst().n, elements_of_sample(spec.dst())}; }
  static Concat of_samples(Concat spec, std::int64_t samples) {
    for (TensorDesc& input : spec.inputs) {
      input.n = samples;
    }
    return spec;
  }
  static std::optional<std::string> unsupported(const Concat& spec) { return not_nhwc(spec.dst()); }

  using KernelOperation<Machine, Concat>::KernelOperation;

  void run(const SlotPointers& pointers) override {
    const auto at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (!spec_.forward()) {
      return copy(spec_.index, at(Slot::diff_dst), at(Slot::diff_src));
    }
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      copy(i, at(Slot::dst), at(kSources[i]));
    }
  }

 private:
  // Between an input, or its gradient, and its part of the joined map.
  void copy(std::size_t index, std::byte* joined, std::byte* input) const {
    const TensorDesc& in = spec_.inputs[index];
    const TensorDesc out = spec_.dst();
    const std::int64_t bytes = in.c * bytes_of(in.dtype);
    const std::int64_t top = (out.h - in.h) / 2;
    const std::int64_t left = (out.w - in.w) / 2;
    const PixelMap map{.data = input, .pitch = bytes, .height = in.h, .width = in.w};
    const PixelMap part{.data = joined + spec_.first_channel(index) * bytes_of(in.dtype),
                        .pitch = out.c * bytes_of(out.dtype),
                        .height = out.h,
                        .width = out.w};
    if (spec_.forward()) {
      copy_pixels<Machine>(
          this->queue(),
          {.from = map, .to = part, .samples = in.n, .bytes = bytes, .top = -top, .left = -left});
    } else {
      copy_pixels<Machine>(
          this->queue(),
          {.from = part, .to = map, .samples = in.n, .bytes = bytes, .top = top, .left = left});
    }
  }

  using KernelOperation<Machine, Concat>::spec_;
};

template struct OnGpu<ConcatOperation>;

}  // namespace bench::kernels::cuda
