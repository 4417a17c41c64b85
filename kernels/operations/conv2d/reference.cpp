// Convolution and its gradients, sum by sum as in the formulas of conv2d.h. With out(p, r) =
// p · stride − pad + r · dilation the input row that tap r of output row p reads, the gradients are
//
//   diff_src[n,c,h,w]     = Σ_{k,r,s} diff_dst[n,k,p,q] · weights[k,c,r,s]
//                           over p, q with out(p, r) = h, out(q, s) = w
//   diff_weights[k,c,r,s] = Σ_{n,p,q} diff_dst[n,k,p,q] · src[n,c,out(p, r),out(q, s)]
//   diff_bias[k]          = Σ_{n,p,q} diff_dst[n,k,p,q]
//
// Inside, tensors are NHWC: the innermost loop then runs over neighbouring channels, which the compiler
// vectorises.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "kernels/backends/reference/products.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/window.h"

namespace bench::kernels {
namespace {

std::string too_many(std::string_view options, std::string_view tensor, double elements) {
  return fmt::format("{} makes {} of {:.0f} elements; accepted are at most 2^40 = {} in a tensor", options,
                     tensor, elements, std::int64_t{1} << 40);
}

// Named as the command line names the sizes. As doubles: the products may pass 2^63.
std::optional<std::string> too_large(const Conv2d& conv) {
  constexpr double kMostElements = 0x1p40;
  const auto product = [](auto... sizes) { return (static_cast<double>(sizes) * ...); };
  if (const double src = product(conv.batch, conv.in_channels, conv.height, conv.width);
      src > kMostElements) {
    return too_many(fmt::format("--batch {} with --in-channels {}, --height {} and --width {}", conv.batch,
                                conv.in_channels, conv.height, conv.width),
                    "an input", src);
  }
  if (const double dst = product(conv.batch, conv.out_channels, conv.out_height(), conv.out_width());
      dst > kMostElements) {
    return too_many(fmt::format("--batch {} with --out-channels {}, --height {} and --width {}", conv.batch,
                                conv.out_channels, conv.height, conv.width),
                    fmt::format("an output ({}x{} pixels)", conv.out_height(), conv.out_width()), dst);
  }
  if (const double weights =
          product(conv.out_channels, conv.in_channels / conv.groups, conv.kernel_h, conv.kernel_w);
      weights > kMostElements) {
    return too_many(
        fmt::format("--kernel {} with --in-channels {}, --out-channels {} and --groups {}",
                    std::max(conv.kernel_h, conv.kernel_w), conv.in_channels, conv.out_channels, conv.groups),
        "weights", weights);
  }
  return std::nullopt;
}

}  // namespace

std::int64_t Conv2d::macs() const {
  return batch * out_channels * (in_channels / groups) * rows().real_taps() * columns().real_taps();
}

std::optional<std::string> Conv2d::invalid() const {
  if (direction == Direction::backward) {
    return std::string("conv2d: its gradients are computed one by one");
  }
  struct Field {
    const char* name;
    std::int64_t value;
    std::int64_t smallest;
  };
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  for (const Field& field : {Field{"batch", batch, 1},
                             {"in_channels", in_channels, 1},
                             {"height", height, 1},
                             {"width", width, 1},
                             {"out_channels", out_channels, 1},
                             {"kernel_h", kernel_h, 1},
                             {"kernel_w", kernel_w, 1},
                             {"stride_h", stride_h, 1},
                             {"stride_w", stride_w, 1},
                             {"pad_h", pad_h, 0},
                             {"pad_w", pad_w, 0},
                             {"dilation_h", dilation_h, 1},
                             {"dilation_w", dilation_w, 1},
                             {"groups", groups, 1}}) {
    if (field.value < field.smallest || field.value > kLargest) {
      return fmt::format("conv2d: {} is {}, but must be between {} and {}", field.name, field.value,
                         field.smallest, kLargest);
    }
  }
  if (in_channels % groups != 0 || out_channels % groups != 0) {
    return fmt::format("conv2d: groups {} does not divide {} {}", groups,
                       in_channels % groups != 0 ? "in_channels" : "out_channels",
                       in_channels % groups != 0 ? in_channels : out_channels);
  }
  if (pad_h + pad_bottom < 0 || pad_w + pad_right < 0 || pad_bottom > kLargest || pad_right > kLargest) {
    return fmt::format("conv2d: padding at the bottom and right is {} and {}, but must be between 0 and {}",
                       pad_h + pad_bottom, pad_w + pad_right, kLargest);
  }
  // Signed: the division in out_height() would round a negative size up to one row.
  if (height + 2 * pad_h + pad_bottom < dilation_h * (kernel_h - 1) + 1 ||
      width + 2 * pad_w + pad_right < dilation_w * (kernel_w - 1) + 1) {
    return fmt::format(
        "conv2d: a {}x{} kernel with dilation {}x{} does not fit an input of {}x{} with padding {}x{}",
        kernel_h, kernel_w, dilation_h, dilation_w, height, width, pad_h, pad_w);
  }
  if (auto wrong = too_large(*this)) {
    return wrong;
  }
  if (direction != Direction::forward && (residual || activation != Activation::none)) {
    return std::string("conv2d: residual and activation belong to the forward direction");
  }
  if (direction == Direction::backward_data && bias) {
    return std::string("conv2d: the gradient of src does not depend on a bias");
  }
  return std::nullopt;
}

PlainSlots plain_slots(const Conv2d& spec) {
  PlainSlots slots = PlainSlots::with_weights(spec.direction, spec.src(), spec.dst(), spec.weight_count(),
                                              spec.bias ? spec.out_channels : 0);
  if (spec.residual) {
    slots.add_activation(Slot::src1, Role::input, spec.dst());
  }
  return slots;
}

namespace {

std::vector<float> nhwc_from(const TensorDesc& tensor, const std::vector<float>& nchw) {
  std::vector<float> nhwc(nchw.size());
  store({tensor.n, tensor.c, tensor.h, tensor.w, Layout::nhwc, Dtype::fp32}, nchw, nhwc.data());
  return nhwc;
}

class ReferenceConv2d final : public ReferenceOf<Conv2d> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    if (spec_.direction == Direction::backward_weights) {
      backward_weights(pointers);
    } else {
      multiply(pointers);
    }
  }

  bool in_place_sum() const override { return spec_.residual; }

 private:
  bool forward() const { return spec_.direction == Direction::forward; }
  std::int64_t group_in() const { return spec_.in_channels / spec_.groups; }
  std::int64_t group_out() const { return spec_.out_channels / spec_.groups; }
  std::int64_t taps() const { return rows_.kernel * columns_.kernel; }

  // Where a tap leads along an axis; nullopt where it reads padding or nothing. Forward from a window to the
  // input that it reads; backward from an input to the window that reads it with this tap:
  // o · stride = at + pad − k · dilation.
  std::optional<std::int64_t> place_of(const WindowAxis& axis, std::int64_t at, std::int64_t tap) const {
    if (forward()) {
      const std::int64_t read = axis.at(at, tap);
      return read < 0 || read >= axis.in ? std::nullopt : std::optional(read);
    }
    const std::int64_t reach = at + axis.pad - tap * axis.dilation;
    const bool read = reach >= 0 && reach % axis.stride == 0 && reach / axis.stride < axis.out;
    return read ? std::optional(reach / axis.stride) : std::nullopt;
  }

  // dst from src, or diff_src from diff_dst.
  void multiply(const SlotPointers& pointers) const {
    const TensorDesc from = forward() ? spec_.src() : spec_.dst();
    const TensorDesc to = forward() ? spec_.dst() : spec_.src();
    const std::vector<float> source = nhwc_from(from, read(pointers, forward() ? Slot::src : Slot::diff_dst));
    const std::span<const float> weights = values(pointers, Slot::weights);
    const std::span<const float> bias = spec_.bias ? values(pointers, Slot::bias) : std::span<float>();
    const std::vector<float> residual = spec_.residual ? read(pointers, Slot::src1) : std::vector<float>();
    std::vector<float> result(static_cast<std::size_t>(to.elements()));

    // A block of output channels at a time, so that its weights stay in the cache while the image passes.
    const std::int64_t outputs = to.c / spec_.groups;
    const std::int64_t blocks = (outputs + DotBlock::kOutputs - 1) / DotBlock::kOutputs;
    // Backward, pixels `stride` apart are read with the same taps.
    const std::int64_t step = forward() ? 1 : columns_.stride;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (std::int64_t job = 0; job < spec_.groups * blocks; ++job) {
      for (std::int64_t n = 0; n < spec_.batch; ++n) {
        const std::int64_t group = job / blocks;
        const std::int64_t first = job % blocks * DotBlock::kOutputs;
        const std::int64_t count = std::min(DotBlock::kOutputs, outputs - first);
        const std::vector<float> tap_major = tap_major_weights(weights, group, first, count);
        for (std::int64_t y = 0; y < to.h; ++y) {
          for (std::int64_t start = 0; start < to.w; start += DotBlock::kPixels * step) {
            for (std::int64_t x = start; x < std::min(start + step, to.w); ++x) {
              const DotBlock dots = sums_at(source, from, tap_major, n, group, y, x, step);
              for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t channel = group * outputs + first + k;
                for (std::int64_t i = 0; i < DotBlock::kPixels && x + i * step < to.w; ++i) {
                  const std::int64_t at = ((n * to.c + channel) * to.h + y) * to.w + x + i * step;
                  const double value = dots.sums[i][k] + (spec_.bias ? bias[channel] : 0.0F) +
                                       (spec_.residual ? residual[at] : 0.0F);
                  result[at] = apply(spec_.activation, static_cast<float>(value));
                }
              }
            }
          }
        }
      }
    }
    write(pointers, forward() ? Slot::dst : Slot::diff_src, result);
  }

  // A group's weights as [r][s][channel read][output], of outputs `first` to `first + count`; zeros after
  // them.
  std::vector<float> tap_major_weights(std::span<const float> weights, std::int64_t group, std::int64_t first,
                                       std::int64_t count) const {
    const std::int64_t channels = forward() ? group_in() : group_out();
    std::vector<float> result(static_cast<std::size_t>(taps() * channels * DotBlock::kOutputs));
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t out = group * group_out() + (forward() ? first + k : channel);
        const std::int64_t in = forward() ? channel : first + k;
        for (std::int64_t tap = 0; tap < taps(); ++tap) {
          result[(tap * channels + channel) * DotBlock::kOutputs + k] =
              weights[(out * group_in() + in) * taps() + tap];
        }
      }
    }
    return result;
  }

  // The sums over taps and channels for a block of outputs at pixels (y, x), (y, x + step), …
  DotBlock sums_at(const std::vector<float>& source, const TensorDesc& from,
                   const std::vector<float>& tap_major, std::int64_t n, std::int64_t group, std::int64_t y,
                   std::int64_t x, std::int64_t step) const {
    const std::int64_t channels = from.c / spec_.groups;
    DotBlock dots;
    for (std::int64_t tap = 0; tap < taps(); ++tap) {
      const auto row = place_of(rows_, y, tap / columns_.kernel);
      bool reads = false;
      for (std::int64_t i = 0; row && i < DotBlock::kPixels; ++i) {
        const auto column = place_of(columns_, x + i * step, tap % columns_.kernel);
        dots.pixels[i] = column
                             ? &source[((n * from.h + *row) * from.w + *column) * from.c + group * channels]
                             : zeros_.data();
        reads = reads || column;
      }
      if (reads) {
        dots.add(&tap_major[tap * channels * DotBlock::kOutputs], channels);
      }
    }
    return dots;
  }

  void backward_weights(const SlotPointers& pointers) const {
    const std::vector<float> src = nhwc_from(spec_.src(), read(pointers, Slot::src));
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const std::span<float> diff_weights = values(pointers, Slot::diff_weights);
    const std::span<float> diff_bias = spec_.bias ? values(pointers, Slot::diff_bias) : std::span<float>();
    const std::int64_t taps = this->taps();
    const std::int64_t area = rows_.out * columns_.out;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t k = 0; k < spec_.out_channels; ++k) {
      const std::int64_t first = k / group_out() * group_in();
      std::vector<double> sum(taps * group_in());  // [r][s][c]
      double bias = 0;
      for (std::int64_t n = 0; n < spec_.batch; ++n) {
        for (std::int64_t i = 0; i < area; ++i) {
          const double gradient = diff_dst[(n * spec_.out_channels + k) * area + i];
          bias += gradient;
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const std::int64_t h = rows_.at(i / columns_.out, tap / columns_.kernel);
            const std::int64_t w = columns_.at(i % columns_.out, tap % columns_.kernel);
            if (h < 0 || h >= rows_.in || w < 0 || w >= columns_.in) {
              continue;
            }
            const float* x = &src[((n * rows_.in + h) * columns_.in + w) * spec_.in_channels + first];
            for (std::int64_t c = 0; c < group_in(); ++c) {
              sum[tap * group_in() + c] += gradient * x[c];
            }
          }
        }
      }
      for (std::int64_t c = 0; c < group_in(); ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          diff_weights[(k * group_in() + c) * taps + tap] = static_cast<float>(sum[tap * group_in() + c]);
        }
      }
      if (spec_.bias) {
        diff_bias[k] = static_cast<float>(bias);
      }
    }
  }

  WindowAxis rows_ = spec_.rows();
  WindowAxis columns_ = spec_.columns();
  // A pixel of padding.
  std::vector<float> zeros_ = std::vector<float>(static_cast<std::size_t>(std::max(group_in(), group_out())));
};

const Registration<Implementation<Conv2d>> BENCH_REGISTERED{
    reference_implementation<Conv2d, ReferenceConv2d>()};

}  // namespace
}  // namespace bench::kernels
