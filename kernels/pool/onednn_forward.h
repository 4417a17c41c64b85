// Pooling as oneDNN describes it: its forward pass is also the hint that the backward pass is planned with.
#pragma once

#include "kernels/onednn/onednn.h"
#include "kernels/pool/pool.h"

namespace bench::kernels::onednn {

struct PoolGeometry {
  dnnl::memory::dims strides;
  dnnl::memory::dims kernel;
  dnnl::memory::dims pad_begin;
  dnnl::memory::dims pad_end;
};

inline PoolGeometry pool_geometry(const Pool& spec) {
  // The end padding is what the windows reach: a stride may leave the last rows of padding unread.
  return {.strides = {spec.stride_h, spec.stride_w},
          .kernel = {spec.kernel_h, spec.kernel_w},
          .pad_begin = {spec.pad_h, spec.pad_w},
          .pad_end = {(spec.out_height() - 1) * spec.stride_h + spec.kernel_h - spec.src.h - spec.pad_h,
                      (spec.out_width() - 1) * spec.stride_w + spec.kernel_w - spec.src.w - spec.pad_w}};
}

inline dnnl::algorithm algorithm_of(Pool::Kind kind) {
  return kind == Pool::Kind::max ? dnnl::algorithm::pooling_max
                                 : dnnl::algorithm::pooling_avg_exclude_padding;
}

// In training maximum pooling has a workspace: which input was chosen.
inline dnnl::pooling_forward::primitive_desc plan_pool(const Pool& spec, bool training) {
  const PoolGeometry g = pool_geometry(spec);
  const auto kind = training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  return {dnnl::pooling_forward::desc(kind, algorithm_of(spec.kind), describe(spec.src), describe(spec.dst()),
                                      g.strides, g.kernel, g.pad_begin, g.pad_end),
          attributes(), engine()};
}

}  // namespace bench::kernels::onednn
