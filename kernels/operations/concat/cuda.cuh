// Concatenation and its gradient as copies, one launch an input.
#pragma once

#include "kernels/backends/cuda/copy_pixels.cuh"
#include "kernels/operations/concat/concat.h"

namespace bench::kernels::cuda {

template <class Machine>
class ConcatOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Concat;
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
  static std::optional<std::string> unsupported(const Concat& spec) {
    const auto reason = spec.invalid();
    return reason ? reason : not_nhwc(spec.dst());
  }

  ConcatOperation(const Concat& spec, Device& device)
      : KernelOperation<Machine>(device, plain_slots(spec)), spec_(spec) {}

  void run(const SlotPointers& pointers) override {
    const auto at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (!spec_.forward()) {
      return copy(spec_.index, at(Slot::diff_dst), at(Slot::diff_src));
    }
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      copy(i, at(Slot::dst), at(kSources[i]));
    }
  }

  double flops() const override { return 0; }

 private:
  // Between an input, or its gradient, and its part of the joined map.
  void copy(std::size_t index, std::byte* joined, std::byte* input) const {
    const TensorDesc& in = spec_.inputs[index];
    const TensorDesc out = spec_.dst();
    const std::int64_t bytes = in.c * bytes_of(in.dtype);
    const std::int64_t pitch = out.c * bytes_of(out.dtype);
    const std::int64_t top = (out.h - in.h) / 2;
    const std::int64_t left = (out.w - in.w) / 2;
    std::byte* const part = joined + spec_.first_channel(index) * bytes_of(in.dtype);
    if (spec_.forward()) {
      copy_pixels<Machine>(this->queue(), {.src = input,
                                           .dst = part,
                                           .n = in.n,
                                           .src_height = in.h,
                                           .src_width = in.w,
                                           .dst_height = out.h,
                                           .dst_width = out.w,
                                           .src_pitch = bytes,
                                           .dst_pitch = pitch,
                                           .bytes = bytes,
                                           .top = -top,
                                           .left = -left});
    } else {
      copy_pixels<Machine>(this->queue(), {.src = part,
                                           .dst = input,
                                           .n = in.n,
                                           .src_height = out.h,
                                           .src_width = out.w,
                                           .dst_height = in.h,
                                           .dst_width = in.w,
                                           .src_pitch = pitch,
                                           .dst_pitch = bytes,
                                           .bytes = bytes,
                                           .top = top,
                                           .left = left});
    }
  }

  Concat spec_;
};

}  // namespace bench::kernels::cuda
