// Transposed convolution and its gradients as their sums are written in conv_transpose.h.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/backends/reference/products.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"

namespace bench::kernels {
std::optional<std::string> ConvTranspose::invalid() const {
  constexpr std::int64_t kLargest = 1 << 20;
  for (const std::int64_t size : {src.n, src.c, src.h, src.w, out_channels, kernel, stride}) {
    if (size < 1 || size > kLargest) {
      return fmt::format("conv_transpose: a size is {}, but must be between 1 and {}", size, kLargest);
    }
  }
  if (direction == Direction::backward) {
    return std::string("conv_transpose: its gradients are computed one by one");
  }
  if (direction == Direction::backward_data && bias) {
    return std::string("conv_transpose: the gradient of src does not depend on a bias");
  }
  return std::nullopt;
}

namespace {

class ReferenceConvTranspose final : public ReferenceOperation {
 public:
  explicit ReferenceConvTranspose(const ConvTranspose& spec) : spec_(spec), dst_(spec.dst()) {
    switch (spec.direction) {
      case ConvTranspose::Direction::forward:
        add_activation(Slot::src, Role::input, spec.src);
        add_values(Slot::weights, Role::parameter, spec.weight_count());
        if (spec.bias) {
          add_values(Slot::bias, Role::parameter, spec.out_channels);
        }
        add_activation(Slot::dst, Role::output, dst_);
        break;
      case ConvTranspose::Direction::backward_data:
        add_activation(Slot::diff_dst, Role::input, dst_);
        add_values(Slot::weights, Role::parameter, spec.weight_count());
        add_activation(Slot::diff_src, Role::output, spec.src);
        break;
      case ConvTranspose::Direction::backward_weights:
        add_activation(Slot::src, Role::input, spec.src);
        add_activation(Slot::diff_dst, Role::input, dst_);
        add_values(Slot::diff_weights, Role::output, spec.weight_count());
        if (spec.bias) {
          add_values(Slot::diff_bias, Role::output, spec.out_channels);
        }
        break;
      case ConvTranspose::Direction::backward:
        break;
    }
  }

  void run(const SlotPointers& pointers) override {
    switch (spec_.direction) {
      case ConvTranspose::Direction::forward:
        return forward(pointers);
      case ConvTranspose::Direction::backward_data:
        return backward_data(pointers);
      case ConvTranspose::Direction::backward_weights:
        return backward_weights(pointers);
      case ConvTranspose::Direction::backward:
        break;
    }
  }

  double flops() const override { return 2.0 * static_cast<double>(spec_.macs()); }

 private:
  // Both in NCHW order, of the plane (n, channel).
  std::int64_t src_plane(std::int64_t n, std::int64_t c) const {
    return (n * spec_.src.c + c) * spec_.src.h * spec_.src.w;
  }
  std::int64_t dst_plane(std::int64_t n, std::int64_t k) const { return (n * dst_.c + k) * dst_.h * dst_.w; }
  std::int64_t weight_at(std::int64_t c, std::int64_t k) const {
    return (c * spec_.out_channels + k) * spec_.kernel * spec_.kernel;
  }

  // For each input pixel of a plane and each tap: their places, and that of the output they meet.
  template <class Visit>
  void for_each_product(Visit visit) const {
    for (std::int64_t h = 0; h < spec_.src.h; ++h) {
      for (std::int64_t w = 0; w < spec_.src.w; ++w) {
        for (std::int64_t r = 0; r < spec_.kernel; ++r) {
          for (std::int64_t s = 0; s < spec_.kernel; ++s) {
            visit(h * spec_.src.w + w, r * spec_.kernel + s,
                  (h * spec_.stride + r) * dst_.w + w * spec_.stride + s);
          }
        }
      }
    }
  }

  void forward(const SlotPointers& pointers) const {
    TensorDesc channels_last = spec_.src;
    channels_last.layout = Layout::nhwc;
    channels_last.dtype = Dtype::fp32;
    std::vector<float> src(static_cast<std::size_t>(spec_.src.elements()));
    store(channels_last, read(pointers, Slot::src), src.data());
    const std::vector<float> zeros(static_cast<std::size_t>(spec_.src.c));
    const std::span<const float> weights = values(pointers, Slot::weights);
    const std::span<const float> bias = spec_.bias ? values(pointers, Slot::bias) : std::span<float>();
    std::vector<float> dst(static_cast<std::size_t>(dst_.elements()));
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (std::int64_t first = 0; first < dst_.c; first += DotBlock::kOutputs) {
      for (std::int64_t n = 0; n < dst_.n; ++n) {
        const std::vector<float> tap_major = tap_major_weights(weights, first);
        const std::int64_t count = std::min(DotBlock::kOutputs, dst_.c - first);
        // Outputs `stride` pixels apart meet the same taps: from `phase` on, every stride-th.
        for (std::int64_t y = 0; y < dst_.h; ++y) {
          for (std::int64_t phase = 0; phase < std::min(spec_.stride, dst_.w); ++phase) {
            for (std::int64_t x = phase; x < dst_.w; x += DotBlock::kPixels * spec_.stride) {
              DotBlock dots;
              for (std::int64_t r = y % spec_.stride; r < spec_.kernel; r += spec_.stride) {
                for (std::int64_t s = phase; s < spec_.kernel; s += spec_.stride) {
                  const std::int64_t h = (y - r) / spec_.stride;
                  for (std::int64_t i = 0; i < DotBlock::kPixels; ++i) {
                    const std::int64_t w = (x - s) / spec_.stride + i;
                    const bool real =
                        y >= r && h < spec_.src.h && x - s + i * spec_.stride >= 0 && w < spec_.src.w;
                    dots.pixels[i] =
                        real ? &src[((n * spec_.src.h + h) * spec_.src.w + w) * spec_.src.c] : zeros.data();
                  }
                  dots.add(&tap_major[(r * spec_.kernel + s) * spec_.src.c * DotBlock::kOutputs],
                           spec_.src.c);
                }
              }
              for (std::int64_t i = 0; i < DotBlock::kPixels && x + i * spec_.stride < dst_.w; ++i) {
                for (std::int64_t k = 0; k < count; ++k) {
                  dst[dst_plane(n, first + k) + y * dst_.w + x + i * spec_.stride] =
                      static_cast<float>(dots.sums[i][k] + (spec_.bias ? bias[first + k] : 0.0F));
                }
              }
            }
          }
        }
      }
    }
    write(pointers, Slot::dst, dst);
  }

  // weights[c][first + k][r][s] as [r][s][c][k], zeros beyond the output channels.
  std::vector<float> tap_major_weights(std::span<const float> weights, std::int64_t first) const {
    std::vector<float> result;
    for (std::int64_t tap = 0; tap < spec_.kernel * spec_.kernel; ++tap) {
      for (std::int64_t c = 0; c < spec_.src.c; ++c) {
        for (std::int64_t k = first; k < first + DotBlock::kOutputs; ++k) {
          result.push_back(k < spec_.out_channels ? weights[weight_at(c, k) + tap] : 0.0F);
        }
      }
    }
    return result;
  }

  void backward_data(const SlotPointers& pointers) const {
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    const std::span<const float> weights = values(pointers, Slot::weights);
    std::vector<double> sums(static_cast<std::size_t>(spec_.src.elements()));
    for (std::int64_t n = 0; n < dst_.n; ++n) {
      for (std::int64_t c = 0; c < spec_.src.c; ++c) {
        for (std::int64_t k = 0; k < dst_.c; ++k) {
          for_each_product([&](std::int64_t pixel, std::int64_t tap, std::int64_t out) {
            sums[src_plane(n, c) + pixel] += static_cast<double>(diff_dst[dst_plane(n, k) + out]) *
                                             static_cast<double>(weights[weight_at(c, k) + tap]);
          });
        }
      }
    }
    write(pointers, Slot::diff_src, std::vector<float>(sums.begin(), sums.end()));
  }

  void backward_weights(const SlotPointers& pointers) const {
    const std::vector<float> src = read(pointers, Slot::src);
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<double> sums(static_cast<std::size_t>(spec_.weight_count()));
    std::vector<double> bias(static_cast<std::size_t>(dst_.c));
    for (std::int64_t n = 0; n < dst_.n; ++n) {
      for (std::int64_t k = 0; k < dst_.c; ++k) {
        for (std::int64_t i = 0; i < dst_.h * dst_.w; ++i) {
          bias[k] += diff_dst[dst_plane(n, k) + i];
        }
        for (std::int64_t c = 0; c < spec_.src.c; ++c) {
          for_each_product([&](std::int64_t pixel, std::int64_t tap, std::int64_t out) {
            sums[weight_at(c, k) + tap] += static_cast<double>(diff_dst[dst_plane(n, k) + out]) *
                                           static_cast<double>(src[src_plane(n, c) + pixel]);
          });
        }
      }
    }
    write_values(pointers, Slot::diff_weights, std::vector<float>(sums.begin(), sums.end()));
    if (spec_.bias) {
      write_values(pointers, Slot::diff_bias, std::vector<float>(bias.begin(), bias.end()));
    }
  }

  ConvTranspose spec_;
  TensorDesc dst_;
};

const Registration<Implementation<ConvTranspose>> registered{
    reference_implementation<ConvTranspose, ReferenceConvTranspose>()};

}  // namespace
}  // namespace bench::kernels
