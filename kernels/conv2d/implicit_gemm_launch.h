// Forward convolution by our own implicit matrix product: which tile, and weights in the order it reads them.
#pragma once

#include "kernels/conv2d/conv2d.h"
#include "kernels/conv2d/implicit_gemm.cuh"
#include "kernels/cuda/kernel_operation.h"

namespace bench::kernels::cuda {

// Why the implicit matrix product cannot do a convolution; nullopt where it can.
std::optional<std::string> implicit_gemm_unsupported(const Conv2d& spec);

// Between plain weights, [outputs][channels][taps], and [taps][channels][outputs].
void pack_depth_major(const Conv2d& spec, const float* plain, float* packed);
void unpack_depth_major(const Conv2d& spec, const float* packed, float* plain);

template <class Machine>
class ImplicitGemmOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Conv2d;
  static Dtype dtype_of(const Conv2d& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Conv2d& spec) {
    return implicit_gemm_unsupported(spec);
  }

  ImplicitGemmOperation(const Conv2d& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.src());
    this->add_values(Slot::weights, Role::parameter, spec.weight_count());
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void pack(Slot /*slot*/, std::span<const float> plain, void* packed) override {
    pack_depth_major(spec_, plain.data(), static_cast<float*>(packed));
  }
  void unpack(Slot /*slot*/, const void* packed, std::span<float> plain) override {
    unpack_depth_major(spec_, static_cast<const float*>(packed), plain.data());
  }

  // The largest tile that still gives each multiprocessor two blocks, else the smallest.
  void run(const SlotPointers& pointers) override {
    const std::int64_t enough = std::int64_t{this->queue().multiprocessors()} * 2;
    const auto tiles = [&](std::int64_t pixels, std::int64_t outputs) {
      return blocks_for(spec_.dst().n * spec_.out_height() * spec_.out_width(), static_cast<int>(pixels)) *
             blocks_for(spec_.out_channels, static_cast<int>(outputs));
    };
    if (spec_.out_channels > 64 && tiles(128, 128) >= enough) {
      run_tiled<128, 128, 8>(pointers, tiles(128, 128));
    } else if (spec_.out_channels <= 64 && tiles(128, 64) >= enough) {
      run_tiled<128, 64, 8>(pointers, tiles(128, 64));
    } else {
      run_tiled<64, 64, 16>(pointers, tiles(64, 64));
    }
  }

  double flops() const override { return 2.0 * static_cast<double>(spec_.macs()); }
  std::string algorithm() const override { return "implicit_gemm"; }

 private:
  ConvolutionShape shape() const {
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    return {.height = size(spec_.height),
            .width = size(spec_.width),
            .channels = size(spec_.in_channels),
            .outputs = size(spec_.out_channels),
            .stride_h = size(spec_.stride_h),
            .stride_w = size(spec_.stride_w),
            .pad_h = size(spec_.pad_h),
            .pad_w = size(spec_.pad_w),
            .dilation_h = size(spec_.dilation_h),
            .dilation_w = size(spec_.dilation_w),
            .pixels = static_cast<std::uint32_t>(spec_.batch * spec_.out_height() * spec_.out_width()),
            .depth = static_cast<std::uint32_t>(spec_.in_channels * spec_.kernel_h * spec_.kernel_w),
            .out_w = Divider(spec_.out_width()),
            .out_h = Divider(spec_.out_height()),
            .by_channels = Divider(spec_.in_channels),
            .by_kernel_w = Divider(spec_.kernel_w)};
  }

  template <int kPixels, int kOutputs, int kDepth>
  void run_tiled(const SlotPointers& pointers, std::int64_t blocks) const {
    const float* const src = this->floats(pointers, Slot::src);
    const float* const weights = this->floats(pointers, Slot::weights);
    float* const dst = this->floats(pointers, Slot::dst);
    const auto launch = [&]<int kCount>() {
      this->queue().launch(
          ImplicitGemm<typename Machine::Memory, kPixels, kOutputs, kDepth, kCount>{
              .shape = shape(),
              .output_tiles = static_cast<std::uint32_t>(blocks_for(spec_.out_channels, kOutputs)),
              .src = src,
              .weights = weights,
              .dst = dst},
          blocks);
    };
    // Every access begins at a channel of a pixel, or at an output of a term.
    with_access<typename Machine::Fp32>(spec_.in_channels | spec_.out_channels, launch, src, weights, dst);
  }

  Conv2d spec_;
};

}  // namespace bench::kernels::cuda
