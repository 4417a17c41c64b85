// Transposed convolution and its gradients by the reference convolution, of which it is the gradient.
#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {

std::optional<std::string> ConvTranspose::invalid() const {
  constexpr std::int64_t kLargest = 1 << 20;
  for (const std::int64_t size : {src.n, src.c, src.h, src.w, out_channels, kernel.h, kernel.w, stride.h,
                                  stride.w, dilation.h, dilation.w, groups}) {
    if (size < 1 || size > kLargest) {
      return fmt::format("conv_transpose: a size is {}, but must be between 1 and {}", size, kLargest);
    }
  }
  for (const std::int64_t size : {pad.top, pad.left, pad.bottom, pad.right, output_pad.h, output_pad.w}) {
    if (size < 0 || size > kLargest) {
      return fmt::format("conv_transpose: padding is {}, but must be between 0 and {}", size, kLargest);
    }
  }
  if (src.c % groups != 0 || out_channels % groups != 0) {
    return fmt::format("conv_transpose: groups {} does not divide {} to {} channels", groups, src.c,
                       out_channels);
  }
  if (output_pad.h >= stride.h || output_pad.w >= stride.w) {
    return fmt::format("conv_transpose: output padding {}x{} must be below the stride {}x{}", output_pad.h,
                       output_pad.w, stride.h, stride.w);
  }
  if (const TensorDesc result = dst(); result.h < 1 || result.w < 1) {
    return fmt::format("conv_transpose: padding leaves nothing of {}x{} pixels", src.h, src.w);
  }
  if (direction == Direction::backward) {
    return std::string("conv_transpose: its gradients are computed one by one");
  }
  if (direction == Direction::backward_data && bias) {
    return std::string("conv_transpose: the gradient of src does not depend on a bias");
  }
  return std::nullopt;
}

std::int64_t ConvTranspose::macs() const {
  return exchanged_convolution(*this).macs();
}

PlainSlots plain_slots(const ConvTranspose& spec) {
  return PlainSlots::with_weights(spec.direction, spec.src, spec.dst(), spec.weight_count(),
                                  spec.bias ? spec.out_channels : 0);
}

Conv2d exchanged_convolution(const ConvTranspose& spec) {
  const TensorDesc dst = spec.dst();
  return {.batch = dst.n,
          .in_channels = dst.c,
          .height = dst.h,
          .width = dst.w,
          .out_channels = spec.src.c,
          .kernel_h = spec.kernel.h,
          .kernel_w = spec.kernel.w,
          .stride_h = spec.stride.h,
          .stride_w = spec.stride.w,
          .pad_h = spec.pad.top,
          .pad_w = spec.pad.left,
          .pad_bottom = spec.pad.bottom - spec.pad.top,
          .pad_right = spec.pad.right - spec.pad.left,
          .dilation_h = spec.dilation.h,
          .dilation_w = spec.dilation.w,
          .groups = spec.groups,
          .direction = spec.direction == Direction::forward         ? Direction::backward_data
                       : spec.direction == Direction::backward_data ? Direction::forward
                                                                    : spec.direction,
          .dtype = spec.src.dtype,
          .src_layout = spec.src.layout,
          .dst_layout = spec.src.layout};
}

namespace {

// In fp32 and NCHW, as ReferenceOperation reads tensors.
Conv2d convolution_of(const ConvTranspose& spec) {
  Conv2d convolution = exchanged_convolution(spec);
  convolution.dtype = Dtype::fp32;
  convolution.src_layout = Layout::nchw;
  convolution.dst_layout = Layout::nchw;
  return convolution;
}

class ReferenceConvTranspose final : public ReferenceOf<ConvTranspose> {
 public:
  ReferenceConvTranspose(const ConvTranspose& spec, Device& device)
      : ReferenceOf(spec), convolution_(make_operation(convolution_of(spec), device, "reference")) {}

  void run(const SlotPointers& pointers) override {
    SlotPointers exchanged;
    exchanged[Slot::weights] = pointers[Slot::weights];
    exchanged[Slot::diff_weights] = pointers[Slot::diff_weights];
    std::vector<float> src;
    std::vector<float> dst;
    switch (spec_.direction) {
      case Direction::forward:
        src = read(pointers, Slot::src);
        dst.resize(static_cast<std::size_t>(spec_.dst().elements()));
        exchanged[Slot::diff_dst] = src.data();
        exchanged[Slot::diff_src] = dst.data();
        convolution_->run(exchanged);
        add_bias(pointers, dst);
        return write(pointers, Slot::dst, dst);
      case Direction::backward_data:
        dst = read(pointers, Slot::diff_dst);
        src.resize(static_cast<std::size_t>(spec_.src.elements()));
        exchanged[Slot::src] = dst.data();
        exchanged[Slot::dst] = src.data();
        convolution_->run(exchanged);
        return write(pointers, Slot::diff_src, src);
      case Direction::backward_weights:
        src = read(pointers, Slot::src);
        dst = read(pointers, Slot::diff_dst);
        exchanged[Slot::src] = dst.data();
        exchanged[Slot::diff_dst] = src.data();
        convolution_->run(exchanged);
        return sum_bias(pointers, dst);
      case Direction::backward:
        break;
    }
  }

 private:
  // Calls visit(channel, place) for each value of dst in NCHW order.
  template <class Visit>
  void for_each_output(Visit visit) const {
    const TensorDesc dst = spec_.dst();
    for (std::int64_t plane = 0; plane < dst.n * dst.c; ++plane) {
      for (std::int64_t i = 0; i < dst.h * dst.w; ++i) {
        visit(plane % dst.c, plane * dst.h * dst.w + i);
      }
    }
  }

  void add_bias(const SlotPointers& pointers, std::vector<float>& dst) const {
    if (spec_.bias) {
      const std::span<const float> bias = values(pointers, Slot::bias);
      for_each_output([&](std::int64_t channel, std::int64_t at) { dst[at] += bias[channel]; });
    }
  }

  // diff_bias[k] = Σ_{n,y,x} diff_dst[n,k,y,x]
  void sum_bias(const SlotPointers& pointers, const std::vector<float>& diff_dst) const {
    if (spec_.bias) {
      std::vector<double> sums(static_cast<std::size_t>(spec_.out_channels));
      for_each_output([&](std::int64_t channel, std::int64_t at) { sums[channel] += diff_dst[at]; });
      write_values(pointers, Slot::diff_bias, std::vector<float>(sums.begin(), sums.end()));
    }
  }

  std::unique_ptr<Operation> convolution_;
};

const Registration<Implementation<ConvTranspose>> BENCH_REGISTERED{
    {.name = "reference",
     .device_kind = "cpu",
     .preference = -1,
     .unsupported = [](const ConvTranspose& spec, const Device& /*device*/) { return spec.invalid(); },
     .make = [](const ConvTranspose& spec,
                Device& device) { return std::make_unique<ReferenceConvTranspose>(spec, device); }}};

}  // namespace
}  // namespace bench::kernels
