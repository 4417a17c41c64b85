// Concatenation and its gradient as copies, one launch an input.
#pragma once

#include "kernels/concat/concat.h"
#include "kernels/concat/concat_backward.h"
#include "kernels/cuda/copy_launch.h"

namespace bench::kernels::cuda {

inline std::int64_t bytes_before(const Concat& spec, std::size_t index) {
  return spec.first_channel(index) * bytes_of(spec.inputs[index].dtype);
}

template <class Machine>
class ConcatOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Concat;
  static Dtype dtype_of(const Concat& spec) {
    return spec.inputs.empty() ? Dtype::fp32 : spec.inputs.front().dtype;
  }
  static std::optional<std::string> unsupported(const Concat& spec) {
    const auto reason = spec.invalid();
    return reason ? reason : not_nhwc(spec.dst());
  }

  ConcatOperation(const Concat& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
      this->add_activation(kSources[i], Role::input, spec.inputs[i]);
    }
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void run(const SlotPointers& pointers) override {
    const TensorDesc out = spec_.dst();
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      const TensorDesc& in = spec_.inputs[i];
      const std::int64_t bytes = in.c * bytes_of(in.dtype);
      copy_pixels<Machine>(this->queue(),
                           {.src = pointers[kSources[i]],
                            .dst = static_cast<std::byte*>(pointers[Slot::dst]) + bytes_before(spec_, i),
                            .n = in.n,
                            .src_height = in.h,
                            .src_width = in.w,
                            .dst_height = out.h,
                            .dst_width = out.w,
                            .src_pitch = bytes,
                            .dst_pitch = out.c * bytes_of(out.dtype),
                            .bytes = bytes,
                            .top = -((out.h - in.h) / 2),
                            .left = -((out.w - in.w) / 2)});
    }
  }

  double flops() const override { return 0; }

 private:
  Concat spec_;
};

template <class Machine>
class ConcatBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = ConcatBackward;
  static Dtype dtype_of(const ConcatBackward& spec) {
    return ConcatOperation<Machine>::dtype_of(spec.forward);
  }
  static std::optional<std::string> unsupported(const ConcatBackward& spec) {
    const auto reason = spec.invalid();
    return reason ? reason : not_nhwc(spec.forward.dst());
  }

  ConcatBackwardOperation(const ConcatBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::diff_dst, Role::input, spec.forward.dst());
    this->add_activation(Slot::diff_src, Role::output, spec.src());
  }

  void run(const SlotPointers& pointers) override {
    const TensorDesc out = spec_.forward.dst();
    const TensorDesc& in = spec_.src();
    const std::int64_t bytes = in.c * bytes_of(in.dtype);
    copy_pixels<Machine>(this->queue(), {.src = static_cast<const std::byte*>(pointers[Slot::diff_dst]) +
                                                bytes_before(spec_.forward, spec_.index),
                                         .dst = pointers[Slot::diff_src],
                                         .n = in.n,
                                         .src_height = out.h,
                                         .src_width = out.w,
                                         .dst_height = in.h,
                                         .dst_width = in.w,
                                         .src_pitch = out.c * bytes_of(out.dtype),
                                         .dst_pitch = bytes,
                                         .bytes = bytes,
                                         .top = (out.h - in.h) / 2,
                                         .left = (out.w - in.w) / 2});
  }

  double flops() const override { return 0; }

 private:
  ConcatBackward spec_;
};

}  // namespace bench::kernels::cuda
