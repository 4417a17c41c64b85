// A convolution as a graph of cuDNN describes it: three tensors with dimensions and strides, and what is
// fused behind the forward pass. No header of cuDNN is needed.
//
// The three passes share the names of the forward one: x is what it reads, w its filter, y what it writes.
// fprop: x, w → y.  dgrad: y, w → x.  wgrad: x, y → w.
//
// Behind fprop come, in this order, what the description asks for:
//   y = act( Σ x · w + residual + bias ).
// It is the order in which cuDNN has ready-made kernels. Those take a bias in the tensors' own dtype.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/dtype.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/operations/activation.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::cudnn {

// Dimensions n, c, h, w, whatever the order in memory; strides in elements.
struct Tensor {
  std::array<std::int64_t, 4> dims{};
  std::array<std::int64_t, 4> strides{};
  auto operator<=>(const Tensor&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Channels innermost, nothing between the elements.
Tensor channels_last(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w);

enum class Pass { fprop, dgrad, wgrad };

// Also the key under which plans are kept: two equal ones are the same work.
struct Convolution {
  Pass pass = Pass::fprop;
  Dtype dtype = Dtype::fp32;
  Tensor x, w, y;  // w as [out][in / groups][kernel_h][kernel_w]; cuDNN infers the groups from x and w
  std::array<std::int64_t, 2> pad{}, stride{}, dilation{};  // rows, columns
  // fprop only
  bool bias = false;
  bool residual = false;
  Activation activation = Activation::none;

  bool fuses() const { return bias || residual || activation != Activation::none; }
  auto operator<=>(const Convolution&) const = default;  // NOLINT(modernize-use-nullptr)
};

// The convolution alone, and with everything fused that the description asks for.
Convolution bare(const Conv2d& spec);
Convolution fused(const Conv2d& spec);

// How a batch is cut: cuDNN's kernels for tensors of 2^31 elements and more are few and slow where it has
// any, so that each part has less of x and of y. A sample that alone has more is left to cuDNN's own answer.
cuda::Parts parts_of(const Conv2d& spec);
Conv2d of_samples(Conv2d spec, std::int64_t samples);

// "forward fp16 n32 c64 56x56 k64 3x3 stride 1 pad 1 groups 1 +bias+relu"
std::string described(const Convolution& convolution);

// Why cuDNN cannot compute it on a device of that compute capability (75 for 7.5); nullopt where it may. Only
// what is known without asking cuDNN: the description, its layouts and the dtype.
std::optional<std::string> unsupported(const Conv2d& spec, int compute_capability);
std::optional<std::string> unsupported(Dtype dtype, int compute_capability);

}  // namespace bench::kernels::cudnn
