// Convolution by oneDNN, with bias, residual and activation fused after it: first which of its algorithms
// computes one, and in how many parts of the batch, then the operation.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "kernels/backends/onednn/onednn.h"
#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels {
namespace {

using onednn::describe;
using onednn::describe_vector;
using MemoryDesc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
using Forward = dnnl::convolution_forward;

constexpr auto kDirect = dnnl::algorithm::convolution_direct;
constexpr auto kWinograd = dnnl::algorithm::convolution_winograd;

std::string described(const Conv2d& spec) {
  return fmt::format("conv2d {} {} n{} c{} {}x{} k{} {}x{} groups {} {}->{}", name_of(spec.direction),
                     name_of(spec.dtype), spec.batch, spec.in_channels, spec.height, spec.width,
                     spec.out_channels, spec.kernel_h, spec.kernel_w, spec.groups, name_of(spec.src_layout),
                     name_of(spec.dst_layout));
}

dnnl::memory::dims weight_dims(const Conv2d& spec) {
  const std::int64_t in = spec.in_channels / spec.groups;
  return spec.groups == 1 ? dnnl::memory::dims{spec.out_channels, in, spec.kernel_h, spec.kernel_w}
                          : dnnl::memory::dims{spec.groups, spec.out_channels / spec.groups, in,
                                               spec.kernel_h, spec.kernel_w};
}

MemoryDesc plain_weights(const Conv2d& spec) {
  return {weight_dims(spec), dnnl::memory::data_type::f32, spec.groups == 1 ? Tag::oihw : Tag::goihw};
}

// In the order oneDNN finds fastest.
MemoryDesc any_weights(const Conv2d& spec) {
  return {weight_dims(spec), onednn::type_of(spec.dtype), dnnl::memory::format_tag::any};
}

onednn::Convolution shape_of(const Conv2d& spec, dnnl::algorithm algorithm) {
  // The end padding is what the windows reach: a stride may leave the last rows of padding unread.
  const auto end = [](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                      std::int64_t pad, std::int64_t dilation) {
    return (out - 1) * stride + dilation * (kernel - 1) + 1 - in - pad;
  };
  return {.algorithm = algorithm,
          .src = describe(spec.src()),
          .weights = any_weights(spec),
          .bias = spec.bias ? std::optional(describe_vector(spec.out_channels)) : std::nullopt,
          .dst = describe(spec.dst()),
          .strides = {spec.stride_h, spec.stride_w},
          .dilates = {spec.dilation_h - 1, spec.dilation_w - 1},
          .pad_begin = {spec.pad_h, spec.pad_w},
          .pad_end = {
              end(spec.height, spec.out_height(), spec.kernel_h, spec.stride_h, spec.pad_h, spec.dilation_h),
              end(spec.width, spec.out_width(), spec.kernel_w, spec.stride_w, spec.pad_w, spec.dilation_w)}};
}

dnnl::primitive_attr fused(const Conv2d& spec) {
  dnnl::post_ops post_ops;
  if (spec.residual) {
    post_ops.append_sum();
  }
  onednn::append(post_ops, spec.activation);
  return onednn::attributes(post_ops);
}

std::int64_t stored_bytes(const MemoryDesc& stored) {
  return static_cast<std::int64_t>(stored.get_size());
}

bool suits_winograd(const Conv2d& spec) {
  return spec.dtype == Dtype::fp32 && spec.groups == 1 && spec.kernel_h == 3 && spec.kernel_w == 3 &&
         spec.stride_h == 1 && spec.stride_w == 1 && spec.dilation_h == 1 && spec.dilation_w == 1 &&
         spec.src_layout == Layout::nchw16c && spec.dst_layout == Layout::nchw16c;
}

// Tiles of tile × tile outputs of an image; those at its edge are whole.
std::int64_t tiles_of_image(const Conv2d& spec, std::int64_t tile) {
  const auto along = [&](std::int64_t size) { return (size + tile - 1) / tile; };
  return along(spec.out_height()) * along(spec.out_width());
}

// Winograd F(m×m, 3×3) multiplies (m+2)² numbers a tile, channel and output channel.
double winograd_flops(const Conv2d& spec, std::int64_t tile) {
  const std::int64_t products = tiles_of_image(spec, tile) * (tile + 2) * (tile + 2);
  return 2.0 * static_cast<double>(spec.batch * spec.in_channels * spec.out_channels * products);
}

// The fewest operations of a Winograd whose transformed weights, (m+2)² numbers for each pair of channels,
// spec.extra pays for; infinity where it pays for none.
double fewest_winograd_flops(const Conv2d& spec, std::int64_t lean_bytes) {
  const auto padded = [](std::int64_t channels) { return (channels + 15) / 16 * 16; };
  double fewest = std::numeric_limits<double>::infinity();
  for (const std::int64_t tile : {2, 4}) {
    const std::int64_t bytes =
        (tile + 2) * (tile + 2) * padded(spec.in_channels) * padded(spec.out_channels) * 4;
    if (bytes - lean_bytes <= spec.extra.parameters) {
      fewest = std::min(fewest, winograd_flops(spec, tile));
    }
  }
  return fewest;
}

struct ForwardPlan {
  Forward::primitive_desc descriptor;  // of one part
  std::int64_t parts = 1;  // equal parts of the batch, run one after the other with the same weights
  double flops = 0;        // of the whole batch
};

struct Winograd {
  Forward::primitive_desc descriptor;
  double flops = 0;
  std::int64_t weights = 0;  // bytes
  std::int64_t scratch = 0;  // bytes
};

// All that oneDNN has for it; none for many shapes.
std::vector<Winograd> find_winograds(const Conv2d& spec) {
  std::vector<Winograd> found;
  for (const Forward::primitive_desc& descriptor : onednn::convolutions_forward(
           shape_of(spec, kWinograd), dnnl::prop_kind::forward_inference, fused(spec))) {
    const std::string name = descriptor.impl_info_str();
    found.push_back({.descriptor = descriptor,
                     .flops = winograd_flops(spec, name.find("4x3") != std::string::npos ? 4 : 2),
                     .weights = stored_bytes(descriptor.weights_desc()),
                     .scratch = stored_bytes(descriptor.scratchpad_desc())});
  }
  return found;
}

// oneDNN's last resort, a hundred times slower than its other algorithms.
bool is_plain_loop(const dnnl::primitive_desc& descriptor) {
  return std::string_view(descriptor.impl_info_str()).starts_with("ref");
}

// With channels in groups of 16, oneDNN has only its plain loops for some convolutions: those of 4 to 15
// channels, and gradients of depthwise weights beyond 3×3 and of patches of 16×16. Of this one it has others,
// and converting costs little.
Conv2d without_blocks(Conv2d spec) {
  spec.dtype = Dtype::fp32;
  spec.src_layout = Layout::nhwc;
  spec.dst_layout = Layout::nhwc;
  return spec;
}

// The second where the first is oneDNN's plain loops and the second is not.
template <class Descriptor, class MakeOther>
Descriptor avoiding_plain_loops(const Descriptor& found, const MakeOther& make_other) {
  if (!is_plain_loop(found)) {
    return found;
  }
  const Descriptor other = make_other();
  return other.get(true) == nullptr || is_plain_loop(other) ? found : other;
}

Forward::primitive_desc find_direct(const Conv2d& spec) {
  const auto find = [](const Conv2d& asked, bool allow_empty) {
    return onednn::convolution_forward(shape_of(asked, kDirect), dnnl::prop_kind::forward_inference,
                                       fused(asked), allow_empty);
  };
  const Forward::primitive_desc found = find(spec, false);
  // A residual is summed onto what is in dst, as it is stored.
  return spec.residual ? found
                       : avoiding_plain_loops(found, [&] { return find(without_blocks(spec), true); });
}

// Empty where oneDNN has none.
Forward::primitive_desc training_forward(const Conv2d& spec, dnnl::algorithm algorithm) {
  return onednn::convolution_forward(shape_of(spec, algorithm), dnnl::prop_kind::forward_training,
                                     onednn::attributes(), true);
}

// A convolution is queried once for each budget that is tried, and for a single image at every batch. An
// answer takes some 16 KiB: 64 of each, owned by the planning thread (see QueryCache).
struct QueryCaches {
  onednn::QueryCache<Conv2d, Forward::primitive_desc> direct{64};
  onednn::QueryCache<Conv2d, Forward::primitive_desc> direct_training{64};
  onednn::QueryCache<Conv2d, std::vector<Winograd>> winograds{64};
};

QueryCaches& caches() {
  thread_local QueryCaches all;
  return all;
}

// oneDNN's answer does not depend on the extra bytes.
Conv2d asked_of(Conv2d spec) {
  spec.extra = {};
  return spec;
}

// Takes the place of `best` where a Winograd in `parts` parts does less work within spec.extra.
void try_winograd(const Conv2d& spec, std::int64_t parts, std::int64_t lean_bytes, ForwardPlan& best) {
  // Operations a byte of weights below which an image by itself would wait for its weights. Processors do
  // about 4 while a byte arrives from memory; a part should stay above that.
  constexpr double kEnoughWork = 6;
  Conv2d part = spec;
  part.batch = spec.batch / parts;
  for (const Winograd& winograd : caches().winograds.of(asked_of(part), find_winograds)) {
    const bool worth_parting =
        parts == 1 || winograd.flops >= kEnoughWork * static_cast<double>(winograd.weights);
    const double flops = winograd.flops * static_cast<double>(parts);
    if (worth_parting && flops < best.flops && winograd.weights - lean_bytes <= spec.extra.parameters &&
        winograd.scratch <= spec.extra.scratch) {
      best = {winograd.descriptor, parts, flops};
    }
  }
}

// Direct; or Winograd, where spec.extra pays for it and it does fewer operations. Winograd's transforms turn
// a 3×3 stride-1 convolution into 36 multiplications a 4×4 tile (or 16 a 2×2 tile) instead of 144 (36), for
// weights four times (16/9) as large. It goes through the batch image by image where an image brings enough
// work for the weights it reads: the transformed tiles then stay in the cache.
//
// oneDNN 2.6 answers for F(2×2) after a search over all blocks of an image's pixels, 35 ms for 512×512: the
// larger the caches, the more convolutions it does that for. So it is asked only where a Winograd could do
// less work than what was found before.
ForwardPlan plan_forward(const Conv2d& spec) {
  ForwardPlan best{.descriptor = caches().direct.of(asked_of(spec), find_direct), .flops = spec.flops()};
  if (spec.extra.parameters > 0 && suits_winograd(spec)) {
    const std::int64_t lean_bytes = stored_bytes(best.descriptor.weights_desc());
    const double fewest = fewest_winograd_flops(spec, lean_bytes);
    for (const std::int64_t parts : {spec.batch, std::int64_t{1}}) {
      if (fewest < best.flops) {
        try_winograd(spec, parts, lean_bytes, best);
      }
    }
  }
  return best;
}

// The forward pass that oneDNN plans the gradients of `spec` with. Good until the next call.
const Forward::primitive_desc& direct_training(const Conv2d& spec) {
  Conv2d asked = asked_of(spec);
  asked.direction = Direction::forward;
  return caches().direct_training.of(
      asked, [](const Conv2d& forward) { return training_forward(forward, kDirect); });
}

// Operations of Winograd in training, instead of the 2·macs of the direct algorithm: each of the three
// directions transforms the weights at every step (into scratch), or gathers their gradient in the
// transformed form. nullopt where Winograd does not exist, or saves less than the transform costs.
std::optional<double> winograd_flops_in_training(const Conv2d& spec) {
  constexpr std::int64_t kTile = 4;  // the only one oneDNN trains with
  constexpr std::int64_t kTransformed = (kTile + 2) * (kTile + 2);
  // Where no schedule transforms a few tiles at a time, oneDNN looks for that of the weights' gradient by
  // dividing the number of all tiles by every smaller number, 1 to 2 ns each: half a millisecond at this
  // many, a tenth of a second at the 64 million of `unet` at batch 4096. So large a batch fits few machines,
  // but its plan may be asked for.
  constexpr std::int64_t kMostTiles = std::int64_t{1} << 18;
  // Operations that pass while a byte of weights is transformed and read back, about: at 512 channels on 7×7,
  // where the transform is most of the work, it pays from a batch of 8 on.
  constexpr double kTransformFlopsPerByte = 16;
  if (!suits_winograd(spec) || (spec.direction == Direction::backward_weights &&
                                spec.batch * tiles_of_image(spec, kTile) > kMostTiles)) {
    return std::nullopt;
  }
  const double flops = winograd_flops(spec, kTile);
  const auto bytes = static_cast<double>(spec.in_channels * spec.out_channels * kTransformed * 4);
  const bool pays = flops + kTransformFlopsPerByte * bytes < spec.flops();
  return pays ? std::optional(flops) : std::nullopt;
}

class OnednnConv2d final : public onednn::PrimitiveOperation {
 public:
  explicit OnednnConv2d(const Conv2d& spec) : PrimitiveOperation(described(spec)), spec_(spec) {
    onednn::translated(described(spec), [&] {
      switch (spec.direction) {
        case Direction::forward:
          return forward();
        case Direction::backward_data:
          return backward_data();
        case Direction::backward_weights:
          return backward_weights();
        case Direction::backward:
          break;
      }
    });
  }

  // The end of planning.
  void prepare() override {
    onednn::clear_query_caches();
    PrimitiveOperation::prepare();
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
    const ForwardPlan chosen = spec_.training ? plan_training() : plan_forward(spec_);
    const Forward::primitive_desc& pd = chosen.descriptor;
    // A part's maps are stored as the operation's are.
    const auto bind_maps = [&](Slot slot, Role role, int argument, const TensorDesc& tensor,
                               const MemoryDesc& wanted) {
      if (chosen.parts > 1) {
        bind_activation(slot, role, argument, tensor, wanted);
      } else {
        bind_converted_activation(slot, role, argument, tensor, wanted);
      }
    };
    bind_maps(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), pd.src_desc());
    bind_converted_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS,
                             spec_.training ? direct_training(spec_).weights_desc() : pd.weights_desc(),
                             pd.weights_desc(), plain_weights(spec_));
    if (spec_.bias) {
      bind_parameter(Slot::bias, Role::parameter, DNNL_ARG_BIAS, pd.bias_desc(), pd.bias_desc());
    }
    if (spec_.residual) {
      declare(Slot::src1, Role::input, spec_.dst());
    }
    bind_maps(Slot::dst, Role::output, DNNL_ARG_DST, spec_.dst(), pd.dst_desc());
    plan(pd, chosen.parts);
    flops_ = chosen.flops;
  }

  void backward_data() {
    const Forward::primitive_desc hint = direct_training(spec_);
    const auto make = [](const Conv2d& spec, dnnl::algorithm algorithm,
                         const Forward::primitive_desc& ahead) {
      return onednn::convolution_backward_data(shape_of(spec, algorithm), ahead, onednn::attributes(), true);
    };
    const auto pd = planned_by(hint, make);
    bind_converted_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(),
                              pd.diff_dst_desc());
    bind_converted_parameter(Slot::weights, Role::parameter, DNNL_ARG_WEIGHTS,
                             spec_.training ? hint.weights_desc() : pd.weights_desc(), pd.weights_desc(),
                             plain_weights(spec_));
    bind_converted_activation(Slot::diff_src, Role::output, DNNL_ARG_DIFF_SRC, spec_.src(),
                              pd.diff_src_desc());
    plan(pd);
  }

  void backward_weights() {
    const Forward::primitive_desc hint = direct_training(spec_);
    const auto make = [](const Conv2d& spec, dnnl::algorithm algorithm,
                         const Forward::primitive_desc& ahead) {
      return onednn::convolution_backward_weights(shape_of(spec, algorithm), ahead, onednn::attributes(),
                                                  true);
    };
    const auto pd = planned_by(hint, make);
    bind_converted_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec_.src(), pd.src_desc());
    bind_converted_activation(Slot::diff_dst, Role::input, DNNL_ARG_DIFF_DST, spec_.dst(),
                              pd.diff_dst_desc());
    bind_converted_parameter(Slot::diff_weights, Role::output, DNNL_ARG_DIFF_WEIGHTS,
                             spec_.training ? hint.weights_desc() : pd.diff_weights_desc(),
                             pd.diff_weights_desc(), plain_weights(spec_));
    if (spec_.bias) {
      bind_parameter(Slot::diff_bias, Role::output, DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc(),
                     pd.diff_bias_desc());
    }
    plan(pd);
  }

  ForwardPlan plan_training() {
    const Forward::primitive_desc hint = direct_training(spec_);
    const auto make = [&](const Conv2d& spec, dnnl::algorithm algorithm,
                          const Forward::primitive_desc& direct) {
      if (algorithm == kDirect) {
        return direct;
      }
      const Forward::primitive_desc made = training_forward(spec, algorithm);
      return made.get(true) != nullptr && made.weights_desc() == hint.weights_desc()
                 ? made
                 : Forward::primitive_desc();
    };
    const auto pd = planned_by(hint, make);
    return {.descriptor = pd, .flops = flops_};
  }

  // Winograd where it pays, oneDNN has it and its scratch is granted; else direct. `make` returns an empty
  // descriptor where oneDNN has nothing.
  template <class Make>
  std::invoke_result_t<Make, dnnl::algorithm> with_cheapest(const Make& make) {
    const std::optional<double> fewer = winograd_flops_in_training(spec_);
    if (spec_.extra.scratch > 0 && fewer) {
      const auto winograd = make(kWinograd);
      if (winograd.get(true) != nullptr &&
          stored_bytes(winograd.query_md(dnnl::query::scratchpad_md)) <= spec_.extra.scratch) {
        flops_ = *fewer;
        return winograd;
      }
    }
    return make(kDirect);
  }

  template <class Make>
  std::invoke_result_t<Make, const Conv2d&, dnnl::algorithm, const Forward::primitive_desc&> planned_by(
      const Forward::primitive_desc& hint, const Make& make) {
    return avoiding_plain_loops(
        with_cheapest([&](dnnl::algorithm algorithm) { return make(spec_, algorithm, hint); }), [&] {
          const Conv2d other = without_blocks(spec_);
          return make(other, kDirect, direct_training(other));
        });
  }

  Conv2d spec_;
  double flops_ = spec_.flops();
};

const Registration<Implementation<Conv2d>> BENCH_REGISTERED{cpu_implementation<Conv2d, OnednnConv2d>(
    "onednn", 10, [](const Conv2d& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
