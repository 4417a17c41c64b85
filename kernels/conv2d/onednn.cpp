// Convolution by oneDNN, with bias, residual and activation fused behind it.
//
// Winograd's transforms turn a 3×3 stride-1 convolution into 36 multiplications a 4×4 tile (or 16 a 2×2 tile)
// instead of 144 (36), for weights up to four times as large: taken where Conv2d::extra_bytes pays for them.
#include <array>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "kernels/conv2d/conv2d.h"
#include "kernels/onednn/primitive_operation.h"

namespace bench::kernels {
namespace {

using onednn::describe;
using onednn::describe_vector;
using Dims = dnnl::memory::dims;
using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

Dims weight_dims(const Conv2d& spec) {
  const std::int64_t in = spec.in_channels / spec.groups;
  if (spec.groups == 1) {
    return {spec.out_channels, in, spec.kernel_h, spec.kernel_w};
  }
  return {spec.groups, spec.out_channels / spec.groups, in, spec.kernel_h, spec.kernel_w};
}

MemoryDesc plain_weights(const Conv2d& spec) {
  return {weight_dims(spec), dnnl::memory::data_type::f32, spec.groups == 1 ? Tag::oihw : Tag::goihw};
}

// In the order oneDNN finds fastest.
MemoryDesc any_weights(const Conv2d& spec) {
  return {weight_dims(spec), onednn::type_of(spec.dtype), Tag::any};
}

struct Geometry {
  Dims strides;
  Dims dilates;  // oneDNN counts the gaps: 0 is dense
  Dims pad_begin;
  Dims pad_end;
};

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

bool may_use_winograd(const Conv2d& spec) {
  return spec.extra_bytes > 0 && spec.dtype == Dtype::fp32 && spec.groups == 1 && spec.kernel_h == 3 &&
         spec.kernel_w == 3 && spec.stride_h == 1 && spec.stride_w == 1 && spec.dilation_h == 1 &&
         spec.dilation_w == 1 && spec.src_layout == Layout::nchw16c && spec.dst_layout == Layout::nchw16c;
}

Forward::primitive_desc plan_forward(const Conv2d& spec) {
  dnnl::post_ops post_ops;
  if (spec.residual) {
    post_ops.append_sum();
  }
  onednn::append(post_ops, spec.activation);
  const dnnl::primitive_attr attributes = onednn::attributes(post_ops);
  const auto inference = dnnl::prop_kind::forward_inference;
  Forward::primitive_desc direct(forward_desc(spec, inference, dnnl::algorithm::convolution_direct),
                                 attributes, onednn::engine());
  if (may_use_winograd(spec)) {
    // Named, because next_impl() reads it again. allow_empty: where oneDNN has no Winograd for this shape, an
    // empty descriptor rather than an exception.
    const Forward::desc desc = forward_desc(spec, inference, dnnl::algorithm::convolution_winograd);
    Forward::primitive_desc winograd(desc, attributes, onednn::engine(), true);
    while (winograd.get(true) != nullptr) {
      const auto extra = static_cast<std::int64_t>(winograd.weights_desc().get_size()) -
                         static_cast<std::int64_t>(direct.weights_desc().get_size()) +
                         static_cast<std::int64_t>(winograd.scratchpad_desc().get_size());
      if (extra <= spec.extra_bytes) {
        return winograd;
      }
      if (!winograd.next_impl()) {
        break;
      }
    }
  }
  return direct;
}

std::string described(const Conv2d& spec) {
  constexpr std::array kDirections{"forward", "backward-data", "backward-weights"};
  return fmt::format("conv2d {} {} n{} c{} {}x{} k{} {}x{} groups {} {}->{}",
                     kDirections[static_cast<std::size_t>(spec.direction)], name_of(spec.dtype), spec.batch,
                     spec.in_channels, spec.height, spec.width, spec.out_channels, spec.kernel_h,
                     spec.kernel_w, spec.groups, name_of(spec.src_layout), name_of(spec.dst_layout));
}

class OnednnConv2d final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnConv2d(const Conv2d& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      switch (spec.direction) {
        case Conv2d::Direction::forward:
          return forward();
        case Conv2d::Direction::backward_data:
          return backward_data();
        case Conv2d::Direction::backward_weights:
          return backward_weights();
      }
    });
  }

  void run(const SlotPointers& pointers) override {
    // The sum post-op adds onto what is in dst.
    if (spec_.residual && pointers[Slot::dst] != pointers[Slot::src1]) {
      std::memcpy(pointers[Slot::dst], pointers[Slot::src1], static_cast<std::size_t>(spec_.dst().bytes()));
    }
    PrimitiveOperation::run(pointers);
  }

  bool in_place_sum() const override { return spec_.residual; }
  double flops() const override { return flops_; }

 private:
  void forward() {
    const Forward::primitive_desc pd = plan_forward(spec_);
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), pd.src_desc());
    bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain_weights(spec_));
    if (spec_.bias) {
      bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, pd.bias_desc(), pd.bias_desc());
    }
    if (spec_.residual) {
      declare(Slot::src1, Role::input, spec_.dst());
    }
    bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec_.dst(), pd.dst_desc());
    plan(pd);
    flops_ = forward_flops();
  }

  void backward_data() {
    const Forward::primitive_desc hint = backward_hint();
    const Geometry g = geometry(spec_);
    const BackwardData::primitive_desc pd(
        BackwardData::desc(dnnl::algorithm::convolution_direct, describe(spec_.src()), any_weights(spec_),
                           describe(spec_.dst()), g.strides, g.dilates, g.pad_begin, g.pad_end),
        onednn::attributes(), onednn::engine(), hint);
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), pd.diff_dst_desc());
    bind_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS, pd.weights_desc(), plain_weights(spec_));
    bind_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec_.src(), pd.diff_src_desc());
    plan(pd);
  }

  void backward_weights() {
    const Forward::primitive_desc hint = backward_hint();
    const Geometry g = geometry(spec_);
    const auto direct = dnnl::algorithm::convolution_direct;
    const MemoryDesc src = describe(spec_.src());
    const MemoryDesc dst = describe(spec_.dst());
    const MemoryDesc bias = describe_vector(spec_.out_channels);
    const auto desc = spec_.bias ? BackwardWeights::desc(direct, src, any_weights(spec_), bias, dst,
                                                         g.strides, g.dilates, g.pad_begin, g.pad_end)
                                 : BackwardWeights::desc(direct, src, any_weights(spec_), dst, g.strides,
                                                         g.dilates, g.pad_begin, g.pad_end);
    const BackwardWeights::primitive_desc pd(desc, onednn::attributes(), onednn::engine(), hint);
    bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), pd.src_desc());
    bind_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(), pd.diff_dst_desc());
    bind_parameter(Slot::diff_weights, Role::output, DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc(),
                   plain_weights(spec_));
    if (spec_.bias) {
      bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc(),
                     pd.diff_bias_desc());
    }
    plan(pd);
  }

  // oneDNN plans a gradient beside the forward pass it belongs to.
  Forward::primitive_desc backward_hint() const {
    return {forward_desc(spec_, dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct),
            onednn::attributes(), onednn::engine()};
  }

  // Winograd F(m×m, 3×3) multiplies (m+2)² numbers a tile, channel and output channel; edge tiles are whole.
  double forward_flops() const {
    const std::string name = algorithm();
    const bool winograd = name.find("wino") != std::string::npos;
    if (!winograd) {
      return 2.0 * static_cast<double>(spec_.macs());
    }
    const std::int64_t tile = name.find("4x3") != std::string::npos ? 4 : 2;
    const auto tiles = [&](std::int64_t size) { return (size + tile - 1) / tile; };
    const std::int64_t products =
        tiles(spec_.out_height()) * tiles(spec_.out_width()) * (tile + 2) * (tile + 2);
    return 2.0 * static_cast<double>(spec_.batch * spec_.in_channels * spec_.out_channels * products);
  }

  Conv2d spec_;
  double flops_ = 2.0 * static_cast<double>(spec_.macs());
};

const Registration<Implementation<Conv2d>> registered{{
    .name = "onednn",
    .device_kind = "cpu",
    .preference = 10,
    .unsupported = [](const Conv2d& spec, const Device& device) -> std::optional<std::string> {
      const auto wrong = spec.invalid();
      return wrong ? wrong : device.unsupported(spec.dtype);
    },
    .make = [](const Conv2d& spec, Device& /*device*/) { return std::make_unique<OnednnConv2d>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
