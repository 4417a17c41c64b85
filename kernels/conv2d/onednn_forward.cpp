#include "kernels/conv2d/onednn_forward.h"

#include <string>
#include <vector>

#include "kernels/onednn/remembered.h"

namespace bench::kernels::onednn {
namespace {

using Dims = dnnl::memory::dims;
using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Forward = dnnl::convolution_forward;

// Operations a byte of weights below which an image by itself would wait for its weights. Processors do about
// 4 while a byte arrives from memory; a part should stay above that.
constexpr double kEnoughWork = 6;

// Where no schedule transforms a few tiles at a time, oneDNN looks for that of the weights' gradient by
// dividing the number of all tiles by every smaller number, 1 to 2 ns each: half a millisecond at this many,
// a tenth of a second at the 64 million of `unet` at batch 4096. So large a batch fits few machines, but its
// plan may be asked for.
constexpr std::int64_t kMostTiles = std::int64_t{1} << 18;

// Operations that pass while a byte of weights is transformed and read back, about: at 512 channels on 7×7,
// where the transform is most of the work, it pays from a batch of 8 on.
constexpr double kTransformFlopsPerByte = 16;

Dims weight_dims(const Conv2d& spec) {
  const std::int64_t in = spec.in_channels / spec.groups;
  if (spec.groups == 1) {
    return {spec.out_channels, in, spec.kernel_h, spec.kernel_w};
  }
  return {spec.groups, spec.out_channels / spec.groups, in, spec.kernel_h, spec.kernel_w};
}

bool suits_winograd(const Conv2d& spec) {
  return spec.dtype == Dtype::fp32 && spec.groups == 1 && spec.kernel_h == 3 && spec.kernel_w == 3 &&
         spec.stride_h == 1 && spec.stride_w == 1 && spec.dilation_h == 1 && spec.dilation_w == 1 &&
         spec.src_layout == Layout::nchw16c && spec.dst_layout == Layout::nchw16c;
}

std::int64_t tiles(std::int64_t size, std::int64_t tile) {
  return (size + tile - 1) / tile;
}

// Winograd F(m×m, 3×3) multiplies (m+2)² numbers a tile, channel and output channel; edge tiles are whole.
double winograd_flops(const Conv2d& spec, std::int64_t tile) {
  const std::int64_t products =
      tiles(spec.out_height(), tile) * tiles(spec.out_width(), tile) * (tile + 2) * (tile + 2);
  return 2.0 * static_cast<double>(spec.batch * spec.in_channels * spec.out_channels * products);
}

std::int64_t tile_of(const std::string& implementation) {
  return implementation.find("4x3") != std::string::npos ? 4 : 2;
}

std::int64_t bytes_of(const MemoryDesc& stored) {
  return static_cast<std::int64_t>(stored.get_size());
}

dnnl::primitive_attr fused(const Conv2d& spec) {
  dnnl::post_ops post_ops;
  if (spec.residual) {
    post_ops.append_sum();
  }
  append(post_ops, spec.activation);
  return onednn::attributes(post_ops);
}

// Whatever a convolution may spend, oneDNN answers the same.
Conv2d asked_of(Conv2d spec) {
  spec.extra = {};
  return spec;
}

struct Winograd {
  Forward::primitive_desc descriptor;
  double flops = 0;
  std::int64_t weights = 0;  // bytes
  std::int64_t scratch = 0;  // bytes
};

// All that oneDNN has for it; none for many shapes.
std::vector<Winograd> find_winograds(const Conv2d& spec) {
  // Named, because next_impl() reads it again. allow_empty: where oneDNN has no Winograd for this shape, an
  // empty descriptor rather than an exception.
  const Forward::desc desc =
      forward_desc(spec, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_winograd);
  Forward::primitive_desc descriptor(desc, fused(spec), engine(), true);
  std::vector<Winograd> found;
  bool more = descriptor.get(true) != nullptr;
  for (; more; more = descriptor.next_impl()) {
    found.push_back({.descriptor = descriptor,
                     .flops = winograd_flops(spec, tile_of(descriptor.impl_info_str())),
                     .weights = bytes_of(descriptor.weights_desc()),
                     .scratch = bytes_of(descriptor.scratchpad_desc())});
  }
  return found;
}

// A convolution is described once for each budget that is tried, and a single image of it at every batch. An
// answer takes some 16 KiB.
struct Answers {
  Remembered<Conv2d, Forward::primitive_desc> direct{64};
  Remembered<Conv2d, Forward::primitive_desc> direct_training{64};
  Remembered<Conv2d, std::vector<Winograd>> winograds{64};
};

Answers& answers() {
  thread_local Answers all;
  return all;
}

Forward::primitive_desc find_direct(const Conv2d& spec) {
  return {forward_desc(spec, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct),
          fused(spec), engine()};
}

// Takes the place of `best` where a Winograd in `parts` parts does less work within spec.extra.
void try_winograd(const Conv2d& spec, std::int64_t parts, std::int64_t lean_bytes, ForwardPlan& best) {
  Conv2d part = spec;
  part.batch = spec.batch / parts;
  for (const Winograd& winograd : answers().winograds.of(asked_of(part), find_winograds)) {
    const bool worth_parting =
        parts == 1 || winograd.flops >= kEnoughWork * static_cast<double>(winograd.weights);
    const double flops = winograd.flops * static_cast<double>(parts);
    if (worth_parting && flops < best.flops && winograd.weights - lean_bytes <= spec.extra.parameters &&
        winograd.scratch <= spec.extra.scratch) {
      best = {winograd.descriptor, parts, flops};
    }
  }
}

}  // namespace

Geometry geometry(const Conv2d& spec) {
  // The end padding is what the windows reach: a stride may leave the last rows of padding unread.
  const auto end = [](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                      std::int64_t pad, std::int64_t dilation) {
    return (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad;
  };
  return {{spec.stride_h, spec.stride_w},
          {spec.dilation_h - 1, spec.dilation_w - 1},
          {spec.pad_h, spec.pad_w},
          {end(spec.height, spec.out_height(), spec.kernel_h, spec.stride_h, spec.pad_h, spec.dilation_h),
           end(spec.width, spec.out_width(), spec.kernel_w, spec.stride_w, spec.pad_w, spec.dilation_w)}};
}

MemoryDesc plain_weights(const Conv2d& spec) {
  return {weight_dims(spec), dnnl::memory::data_type::f32, spec.groups == 1 ? Tag::oihw : Tag::goihw};
}

MemoryDesc any_weights(const Conv2d& spec) {
  return {weight_dims(spec), type_of(spec.dtype), Tag::any};
}

Forward::desc forward_desc(const Conv2d& spec, dnnl::prop_kind kind, dnnl::algorithm algorithm) {
  const Geometry g = geometry(spec);
  if (spec.bias) {
    return {kind,
            algorithm,
            describe(spec.src()),
            any_weights(spec),
            describe_vector(spec.out_channels),
            describe(spec.dst()),
            g.strides,
            g.dilates,
            g.pad_begin,
            g.pad_end};
  }
  return {kind,      algorithm, describe(spec.src()), any_weights(spec), describe(spec.dst()),
          g.strides, g.dilates, g.pad_begin,          g.pad_end};
}

ForwardPlan plan_forward(const Conv2d& spec) {
  ForwardPlan best{.descriptor = answers().direct.of(asked_of(spec), find_direct),
                   .flops = 2.0 * static_cast<double>(spec.macs())};
  if (spec.extra.parameters > 0 && suits_winograd(spec)) {
    const std::int64_t lean_bytes = bytes_of(best.descriptor.weights_desc());
    try_winograd(spec, spec.batch, lean_bytes, best);
    if (spec.batch > 1) {
      try_winograd(spec, 1, lean_bytes, best);
    }
  }
  return best;
}

Forward::primitive_desc training_forward(const Conv2d& spec, dnnl::algorithm algorithm) {
  return {forward_desc(spec, dnnl::prop_kind::forward_training, algorithm), onednn::attributes(), engine(),
          true};
}

const Forward::primitive_desc& direct_training(const Conv2d& spec) {
  Conv2d asked = asked_of(spec);
  asked.direction = Conv2d::Direction::forward;
  return answers().direct_training.of(asked, [](const Conv2d& forward) {
    return training_forward(forward, dnnl::algorithm::convolution_direct);
  });
}

std::optional<double> winograd_flops_in_training(const Conv2d& spec) {
  if (!suits_winograd(spec)) {
    return std::nullopt;
  }
  constexpr std::int64_t kTile = 4;  // the only one oneDNN trains with
  const std::int64_t all = spec.batch * tiles(spec.out_height(), kTile) * tiles(spec.out_width(), kTile);
  if (spec.direction == Conv2d::Direction::backward_weights && all > kMostTiles) {
    return std::nullopt;
  }
  constexpr std::int64_t kTransformed = (kTile + 2) * (kTile + 2);
  const double flops = winograd_flops(spec, kTile);
  const auto bytes = static_cast<double>(spec.in_channels * spec.out_channels * kTransformed * 4);
  const bool pays = flops + kTransformFlopsPerByte * bytes < 2.0 * static_cast<double>(spec.macs());
  return pays ? std::optional(flops) : std::nullopt;
}

bool fits_scratch(const Conv2d& spec, const dnnl::primitive_desc_base& descriptor) {
  return bytes_of(descriptor.query_md(dnnl::query::scratchpad_md)) <= spec.extra.scratch;
}

}  // namespace bench::kernels::onednn
