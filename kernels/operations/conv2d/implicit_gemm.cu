// Forward convolution by our own implicit matrix product, in fp32 (implicit_gemm_fp32.cuh) or fp16
// (implicit_gemm_fp16.cuh), to be found by its name only: the block size, and weights in the order the
// kernels read them.
#include <span>
#include <vector>

#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/conv2d/implicit_gemm_fp16.cuh"
#include "kernels/operations/conv2d/implicit_gemm_fp32.cuh"

namespace bench::kernels::cuda {

// Calls visit with the places of each weight, in the plain and in the packed form.
template <class Visit>
void for_each_weight(const Conv2d& spec, Visit visit) {
  const std::int64_t taps = spec.kernel_h * spec.kernel_w;
  for (std::int64_t output = 0; output < spec.out_channels; ++output) {
    for (std::int64_t channel = 0; channel < spec.in_channels; ++channel) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        visit((output * spec.in_channels + channel) * taps + tap,
              (tap * spec.in_channels + channel) * spec.out_channels + output);
      }
    }
  }
}

template <class Machine>
class ImplicitGemmOperation final : public KernelOperation<Machine, Conv2d> {
 public:
  static Implementation<Conv2d> entry() {
    auto made = implementation<Machine, ImplicitGemmOperation>();
    made.name = "implicit_gemm";
    made.preference = -1;
    return made;
  }
  static Batch batch_of(const Conv2d& spec) {
    return {spec.batch, std::max(elements_of_sample(spec.src()), elements_of_sample(spec.dst()))};
  }
  static Conv2d of_samples(Conv2d spec, std::int64_t samples) {
    spec.batch = samples;
    return spec;
  }
  static std::optional<std::string> unsupported(const Conv2d& spec) {
    if (spec.direction != Conv2d::Direction::forward || spec.training) {
      return "implicit_gemm does the forward pass of inference only";
    }
    if (spec.dtype != Dtype::fp32 && spec.dtype != Dtype::fp16) {
      return "implicit_gemm computes in fp32 and fp16, not " + std::string(name_of(spec.dtype));
    }
    if (spec.groups != 1) {
      return "implicit_gemm takes one group of channels, not " + std::to_string(spec.groups);
    }
    if (spec.bias || spec.residual || spec.activation != Activation::none) {
      return "implicit_gemm fuses nothing behind the convolution";
    }
    if (spec.weight_count() > kMostUnits) {
      return "implicit_gemm counts to " + std::to_string(kMostUnits) + ", there are " +
             std::to_string(spec.weight_count()) + " weights";
    }
    const auto reason = not_nhwc(spec.src());
    return reason ? reason : not_nhwc(spec.dst());
  }

  ImplicitGemmOperation(const Conv2d& spec, Device& device)
      : KernelOperation<Machine, Conv2d>(spec, device, {}) {
    this->add_activation(Slot::src, Role::input, spec.src());
    this->add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  // Between plain weights, [outputs][channels][taps], and [taps][channels][outputs].
  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    std::vector<float> values(plain.size());
    for_each_weight(spec_, [&](std::int64_t from, std::int64_t to) { values[to] = plain[from]; });
    ReferenceOperation::pack(slot, values, packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    std::vector<float> values(plain.size());
    ReferenceOperation::unpack(slot, packed, values);
    for_each_weight(spec_, [&](std::int64_t to, std::int64_t from) { plain[to] = values[from]; });
  }

  void run(const SlotPointers& pointers) override {
    spec_.dtype == Dtype::fp32 ? run_in_registers(pointers) : run_in_tiles(pointers);
  }

  std::string algorithm() const override { return "implicit_gemm"; }

 private:
  std::int64_t blocks(int pixels, int outputs) const {
    return blocks_for(spec_.batch * spec_.out_height() * spec_.out_width(), pixels) *
           blocks_for(spec_.out_channels, outputs);
  }

  // The largest block that still gives each multiprocessor two of them, else the smallest.
  void run_in_registers(const SlotPointers& pointers) const {
    const std::int64_t enough = std::int64_t{this->queue().multiprocessors()} * 2;
    if (spec_.out_channels > 64 && blocks(128, 128) >= enough) {
      run_in_registers<128, 128, 8>(pointers);
    } else if (spec_.out_channels <= 64 && blocks(128, 64) >= enough) {
      run_in_registers<128, 64, 8>(pointers);
    } else {
      run_in_registers<64, 64, 16>(pointers);
    }
  }

  void run_in_tiles(const SlotPointers& pointers) const {
    const std::int64_t enough = std::int64_t{this->queue().multiprocessors()} * 2;
    if (spec_.out_channels > 64 && blocks(128, 128) >= enough) {
      run_in_tiles<128>(pointers);
    } else {
      run_in_tiles<64>(pointers);
    }
  }

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
  void run_in_registers(const SlotPointers& pointers) const {
    with_accesses<typename Machine::Fp32>(pointers, [&]<int kCount>() {
      this->launch(
          ImplicitGemm<typename Machine::Memory, kPixels, kOutputs, kDepth, kCount>{
              .shape = shape(),
              .output_tiles = static_cast<std::uint32_t>(blocks_for(spec_.out_channels, kOutputs)),
              .src = floats(pointers, Slot::src),
              .weights = floats(pointers, Slot::weights),
              .dst = floats(pointers, Slot::dst)},
          blocks(kPixels, kOutputs));
    });
  }

  template <int kOutputs>
  void run_in_tiles(const SlotPointers& pointers) const {
    using Element = typename Machine::Fp16;
    with_accesses<Element>(pointers, [&]<int kCount>() {
      using Kernel = ImplicitGemmTiles<Element, typename Machine::template Tiles<Element>, kOutputs, kCount>;
      this->launch(
          Kernel{.shape = shape(),
                 .output_tiles = static_cast<std::uint32_t>(blocks_for(spec_.out_channels, kOutputs)),
                 .src = stored<Element>(pointers, Slot::src),
                 .weights = stored<Element>(pointers, Slot::weights),
                 .dst = stored<Element>(pointers, Slot::dst)},
          blocks(Kernel::kPixels, kOutputs));
    });
  }

  // Every access begins at a channel of a pixel, or at an output of a term: both counts must allow it.
  template <class Element, class Visit>
  void with_accesses(const SlotPointers& pointers, const Visit& visit) const {
    with_access<Element>(spec_.in_channels | spec_.out_channels, visit, stored<Element>(pointers, Slot::src),
                         stored<Element>(pointers, Slot::weights), stored<Element>(pointers, Slot::dst));
  }

  using KernelOperation<Machine, Conv2d>::spec_;
};

template struct OnGpu<ImplicitGemmOperation>;

}  // namespace bench::kernels::cuda
