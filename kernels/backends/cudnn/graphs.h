// Descriptions of cuDNN's work: a convolution with what is fused after it, or a pass of attention. Needs
// no header of cuDNN; toolkit/ puts the graphs together.
//
// The three passes of a convolution share the names of the forward one: x is what it reads, w its filter, y
// what it writes. Forward: x, w → y. Backward data: y, w → x. Backward weights: x, y → w. Behind the forward
// pass come, in this order, what the description asks for:
//   y = act( Σ x · w + residual + bias ).
// It is the order in which cuDNN has ready-made kernels. Those take a bias in the tensors' own dtype.
//
// Attention is the graph that cuDNN's fused kernels recognise: scores and probabilities are tensors between
// operations, which are never in memory. For the backward pass the forward one keeps a number for each row,
// the logarithm of its sum of exponentials.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "bench/dtype.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::cudnn {

// The convolution alone, and with everything fused that the description asks for. Two equal ones are the same
// work, and the key under which plans are kept.
Conv2d bare(const Conv2d& spec);
Conv2d fused(const Conv2d& spec);
// Whether anything is fused after it.
bool fuses(const Conv2d& convolution);

// Dimensions n, c, h, w, whatever the order in memory; strides in elements.
struct Tensor {
  std::array<std::int64_t, 4> dims{};
  std::array<std::int64_t, 4> strides{};
};

// Channels innermost, or the columns; nothing between the elements.
Tensor channels_last(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w);
Tensor channels_first(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w);

// All three in the layout of the source. Operations of our own are NHWC; NCHW is what eager PyTorch asks for.
struct ConvolutionTensors {
  Tensor x, w, y;  // w as [out][in / groups][kernel_h][kernel_w]; cuDNN infers the groups from x and w
};
ConvolutionTensors tensors_of(const Conv2d& convolution);

// How a batch is cut: cuDNN's kernels for tensors of 2^31 elements and more are few and slow where it has
// any, so that each part has less of every tensor. A sample of a convolution that alone has more is left to
// cuDNN's own answer, one of attention is unsupported.
cuda::Parts parts_of(const Conv2d& spec);
cuda::Parts parts_of(const Attention& spec);

// A description of fewer samples.
template <class Spec>
Spec of_samples(Spec spec, std::int64_t samples) {
  spec.batch = samples;
  return spec;
}

// "forward fp16 n32 c64 56x56 k64 3x3 stride 1 pad 1 +bias+relu"
std::string described(const Conv2d& convolution);
// "attention training fp16 n8, 12 heads of 64, sequence 1024"
std::string described(const Attention& spec);

// Why cuDNN cannot compute it on a device of that compute capability (75 for 7.5); nullopt where it may. Only
// what is known without asking cuDNN: the description, its layouts and the dtype.
std::optional<std::string> unsupported(const Conv2d& spec, int compute_capability);
std::optional<std::string> unsupported(Dtype dtype, int compute_capability);
// `version` of cuDNN: 91900 is 9.19.0.
std::optional<std::string> unsupported(const Attention& spec, int compute_capability, std::int64_t version);

}  // namespace bench::kernels::cudnn
