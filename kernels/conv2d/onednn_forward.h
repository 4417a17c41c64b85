// Which of oneDNN's algorithms computes a convolution, and in how many parts of the batch.
#pragma once

#include <optional>

#include "kernels/conv2d/conv2d.h"
#include "kernels/onednn/onednn.h"

namespace bench::kernels::onednn {

struct Geometry {
  dnnl::memory::dims strides;
  dnnl::memory::dims dilates;  // oneDNN counts the gaps: 0 is dense
  dnnl::memory::dims pad_begin;
  dnnl::memory::dims pad_end;
};

Geometry geometry(const Conv2d& spec);
dnnl::memory::desc plain_weights(const Conv2d& spec);
// In the order oneDNN finds fastest.
dnnl::memory::desc any_weights(const Conv2d& spec);
dnnl::convolution_forward::desc forward_desc(const Conv2d& spec, dnnl::prop_kind kind,
                                             dnnl::algorithm algorithm);

struct ForwardPlan {
  dnnl::convolution_forward::primitive_desc descriptor;  // of one part
  std::int64_t parts = 1;  // equal parts of the batch, run one after the other with the same weights
  double flops = 0;        // of the whole batch
};

// Direct; or Winograd, where spec.extra pays for it and it does fewer operations. Winograd's transforms turn
// a 3×3 stride-1 convolution into 36 multiplications a 4×4 tile (or 16 a 2×2 tile) instead of 144 (36), for
// weights four times (16/9) as large. It goes through the batch image by image where an image brings enough
// work for the weights it reads: the transformed tiles then stay in the cache.
ForwardPlan plan_forward(const Conv2d& spec);

dnnl::convolution_forward::primitive_desc training_forward(const Conv2d& spec, dnnl::algorithm algorithm);
// The forward pass that oneDNN plans the gradients of `spec` beside. Good until the next call.
const dnnl::convolution_forward::primitive_desc& direct_training(const Conv2d& spec);

// In training, where each of the three directions transforms the weights anew at every step (into scratch),
// or gathers their gradient in the transformed form: what Winograd does instead of the 2·macs of the direct
// algorithm, where that saves more than the transform costs; nullopt where it does not, or cannot be.
std::optional<double> winograd_flops_in_training(const Conv2d& spec);
bool fits_scratch(const Conv2d& spec, const dnnl::primitive_desc_base& descriptor);

}  // namespace bench::kernels::onednn
