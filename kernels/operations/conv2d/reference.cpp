// Convolution and its gradients, sum by sum as in the formulas of conv2d.h. With out(p, r) =
// p · stride − pad + r · dilation the input row that tap r of output row p reads, the gradients are
//
//   diff_src[n,c,h,w]     = Σ_{k,r,s} diff_dst[n,k,p,q] · weights[k,c,r,s]   over p, q with out(p, r) = h,
//   out(q, s) = w diff_weights[k,c,r,s] = Σ_{n,p,q} diff_dst[n,k,p,q] · src[n,c,out(p, r),out(q, s)]
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
  const WindowAxis rows{height, out_height(), kernel_h, stride_h, pad_h, dilation_h};
  const WindowAxis columns{width, out_width(), kernel_w, stride_w, pad_w, dilation_w};
  return batch * out_channels * (in_channels / groups) * rows.real_taps() * columns.real_taps();
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
  // Signed: the division in out_height() would round a negative size up to one row.
  if (height + 2 * pad_h < dilation_h * (kernel_h - 1) + 1 ||
      width + 2 * pad_w < dilation_w * (kernel_w - 1) + 1) {
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

namespace {

std::vector<float> nhwc_from(const TensorDesc& tensor, const std::vector<float>& nchw) {
  std::vector<float> nhwc(nchw.size());
  store({tensor.n, tensor.c, tensor.h, tensor.w, Layout::nhwc, Dtype::fp32}, nchw, nhwc.data());
  return nhwc;
}

class ReferenceConv2d final : public ReferenceOperation {
 public:
  explicit ReferenceConv2d(const Conv2d& spec)
      : spec_(spec),
        rows_{spec.height, spec.out_height(), spec.kernel_h, spec.stride_h, spec.pad_h, spec.dilation_h},
        columns_{spec.width, spec.out_width(), spec.kernel_w, spec.stride_w, spec.pad_w, spec.dilation_w},
        zeros_(static_cast<std::size_t>(spec.in_channels / spec.groups)) {
    switch (spec.direction) {
      case Conv2d::Direction::forward:
        add_activation(Slot::src, Role::input, spec.src());
        add_values(Slot::weights, Role::parameter, spec.weight_count());
        if (spec.bias) {
          add_values(Slot::bias, Role::parameter, spec.out_channels);
        }
        if (spec.residual) {
          add_activation(Slot::src1, Role::input, spec.dst());
        }
        add_activation(Slot::dst, Role::output, spec.dst());
        break;
      case Conv2d::Direction::backward_data:
        add_activation(Slot::diff_dst, Role::input, spec.dst());
        add_values(Slot::weights, Role::parameter, spec.weight_count());
        add_activation(Slot::diff_src, Role::output, spec.src());
        break;
      case Conv2d::Direction::backward_weights:
        add_activation(Slot::src, Role::input, spec.src());
        add_activation(Slot::diff_dst, Role::input, spec.dst());
        add_values(Slot::diff_weights, Role::output, spec.weight_count());
        if (spec.bias) {
          add_values(Slot::diff_bias, Role::output, spec.out_channels);
        }
        break;
      case Conv2d::Direction::backward:
        break;
    }
  }

  void run(const SlotPointers& pointers) override {
    switch (spec_.direction) {
      case Conv2d::Direction::forward:
        return forward(pointers);
      case Conv2d::Direction::backward_data:
        return backward_data(pointers);
      case Conv2d::Direction::backward_weights:
        return backward_weights(pointers);
      case Conv2d::Direction::backward:
        break;
    }
  }

  bool in_place_sum() const override { return spec_.residual; }
  double flops() const override { return 2.0 * static_cast<double>(spec_.macs()); }

 private:
  std::int64_t group_in() const { return spec_.in_channels / spec_.groups; }
  std::int64_t group_out() const { return spec_.out_channels / spec_.groups; }
  std::int64_t weight_at(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) const {
    return ((k * group_in() + c) * spec_.kernel_h + r) * spec_.kernel_w + s;
  }

  void forward(const SlotPointers& pointers) const {
    const std::vector<float> src = nhwc_from(spec_.src(), read(pointers, Slot::src));
    const std::span<const float> weights = values(pointers, Slot::weights);
    const std::span<const float> bias = spec_.bias ? values(pointers, Slot::bias) : std::span<float>();
    const std::vector<float> residual = spec_.residual ? read(pointers, Slot::src1) : std::vector<float>();
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));

    // A block of output channels at a time, so that its weights stay in the cache while the image passes.
    const std::int64_t blocks = (group_out() + DotBlock::kOutputs - 1) / DotBlock::kOutputs;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (std::int64_t job = 0; job < spec_.groups * blocks; ++job) {
      for (std::int64_t n = 0; n < spec_.batch; ++n) {
        const std::int64_t group = job / blocks;
        const std::int64_t first = group * group_out() + job % blocks * DotBlock::kOutputs;
        const std::int64_t count = std::min(DotBlock::kOutputs, (group + 1) * group_out() - first);
        const std::vector<float> tap_major = tap_major_weights(weights, first, count);
        for (std::int64_t p = 0; p < rows_.out; ++p) {
          for (std::int64_t q = 0; q < columns_.out; q += DotBlock::kPixels) {
            const DotBlock dots = windows(src, tap_major, n, p, q, group);
            const std::int64_t pixels = std::min(DotBlock::kPixels, columns_.out - q);
            for (std::int64_t k = 0; k < count; ++k) {
              for (std::int64_t i = 0; i < pixels; ++i) {
                const std::int64_t at =
                    ((n * spec_.out_channels + first + k) * rows_.out + p) * columns_.out + q + i;
                const double value = dots.sums[i][k] + (spec_.bias ? bias[first + k] : 0.0F) +
                                     (spec_.residual ? residual[at] : 0.0F);
                dst[at] = apply(spec_.activation, static_cast<float>(value));
              }
            }
          }
        }
      }
    }
    write(pointers, Slot::dst, dst);
  }

  // weights[first + k][c][r][s] as [r][s][c][k], zeros for k from `count` on.
  std::vector<float> tap_major_weights(std::span<const float> weights, std::int64_t first,
                                       std::int64_t count) const {
    std::vector<float> result;
    result.reserve(
        static_cast<std::size_t>(spec_.kernel_h * spec_.kernel_w * group_in() * DotBlock::kOutputs));
    for (std::int64_t r = 0; r < spec_.kernel_h; ++r) {
      for (std::int64_t s = 0; s < spec_.kernel_w; ++s) {
        for (std::int64_t c = 0; c < group_in(); ++c) {
          for (std::int64_t k = 0; k < DotBlock::kOutputs; ++k) {
            result.push_back(k < count ? weights[weight_at(first + k, c, r, s)] : 0.0F);
          }
        }
      }
    }
    return result;
  }

  // sums[i][k] = Σ_{r,s,c} src[n, out(p, r), out(q + i, s), c] · weights[r][s][c][k]
  DotBlock windows(const std::vector<float>& src, const std::vector<float>& tap_major, std::int64_t n,
                   std::int64_t p, std::int64_t q, std::int64_t group) const {
    DotBlock dots;
    for (std::int64_t r = 0; r < rows_.kernel; ++r) {
      const std::int64_t h = rows_.at(p, r);
      if (h < 0 || h >= rows_.in) {
        continue;
      }
      for (std::int64_t s = 0; s < columns_.kernel; ++s) {
        for (std::int64_t i = 0; i < DotBlock::kPixels; ++i) {
          const std::int64_t w = columns_.at(q + i, s);
          dots.pixels[i] =
              w < 0 || w >= columns_.in
                  ? zeros_.data()
                  : &src[((n * rows_.in + h) * columns_.in + w) * spec_.in_channels + group * group_in()];
        }
        dots.add(&tap_major[(r * columns_.kernel + s) * group_in() * DotBlock::kOutputs], group_in());
      }
    }
    return dots;
  }

  void backward_data(const SlotPointers& pointers) const {
    const std::vector<float> diff_dst = nhwc_from(spec_.dst(), read(pointers, Slot::diff_dst));
    const std::span<const float> weights = values(pointers, Slot::weights);
    std::vector<float> diff_src(static_cast<std::size_t>(spec_.src().elements()));
    const std::int64_t taps = rows_.kernel * columns_.kernel;
    // weights[k][c][r][s] as [k][r][s][c]
    std::vector<float> channel_last(weights.size());
    for (std::int64_t k = 0; k < spec_.out_channels; ++k) {
      for (std::int64_t c = 0; c < group_in(); ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          channel_last[(k * taps + tap) * group_in() + c] = weights[(k * group_in() + c) * taps + tap];
        }
      }
    }
    const std::int64_t area = rows_.in * columns_.in;
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (std::int64_t n = 0; n < spec_.batch; ++n) {
      for (std::int64_t i = 0; i < area; ++i) {
        std::vector<double> sum(group_in());
        for (std::int64_t group = 0; group < spec_.groups; ++group) {
          std::ranges::fill(sum, 0.0);
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            const auto p = window_reading(rows_, i / columns_.in, tap / columns_.kernel);
            const auto q = window_reading(columns_, i % columns_.in, tap % columns_.kernel);
            if (!p || !q) {
              continue;
            }
            const float* gradient =
                &diff_dst[((n * rows_.out + *p) * columns_.out + *q) * spec_.out_channels];
            for (std::int64_t k = group * group_out(); k < (group + 1) * group_out(); ++k) {
              const float* weight = &channel_last[(k * taps + tap) * group_in()];
              for (std::int64_t c = 0; c < group_in(); ++c) {
                sum[c] += static_cast<double>(gradient[k]) * weight[c];
              }
            }
          }
          for (std::int64_t c = 0; c < group_in(); ++c) {
            diff_src[(n * spec_.in_channels + group * group_in() + c) * area + i] =
                static_cast<float>(sum[c]);
          }
        }
      }
    }
    write(pointers, Slot::diff_src, diff_src);
  }

  // The window o whose tap k reads element `at`: o · stride = at + pad − k · dilation.
  static std::optional<std::int64_t> window_reading(const WindowAxis& axis, std::int64_t at, std::int64_t k) {
    const std::int64_t reach = at + axis.pad - k * axis.dilation;
    if (reach < 0 || reach % axis.stride != 0 || reach / axis.stride >= axis.out) {
      return std::nullopt;
    }
    return reach / axis.stride;
  }

  void backward_weights(const SlotPointers& pointers) const {
    const std::vector<float> src = nhwc_from(spec_.src(), read(pointers, Slot::src));
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const std::span<float> diff_weights = values(pointers, Slot::diff_weights);
    const std::span<float> diff_bias = spec_.bias ? values(pointers, Slot::diff_bias) : std::span<float>();
    const std::int64_t taps = rows_.kernel * columns_.kernel;
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

  Conv2d spec_;
  WindowAxis rows_;
  WindowAxis columns_;
  std::vector<float> zeros_;  // a pixel of padding
};

const Registration<Implementation<Conv2d>> registered{reference_implementation<Conv2d, ReferenceConv2d>()};

}  // namespace
}  // namespace bench::kernels
