// The workload `conv2d`: one convolution of a chosen shape, forward or one of its gradients. And
// `implicit_gemm`: the same forward by our own implementation, whichever is the best, so that a sweep can
// name it.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/devices/cuda/tf32_override.h"
#include "kernels/networks/eager/terms.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/workloads/kernel_points.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

using Direction = Conv2d::Direction;

// All that is registered, on whichever device.
std::vector<std::string> implementations() {
  std::vector<std::string> names{"best"};
  for (const auto& one : registry<Implementation<Conv2d>>().entries()) {
    names.push_back(one->name);
  }
  return names;
}

constexpr std::int64_t kWide = 65536;
constexpr std::int64_t kNarrow = 1024;
const WholeOption kInChannels{"in-channels", 64, 1, kWide, "channels of the input"};
const WholeOption kOutChannels{"out-channels", 64, 1, kWide, "channels of the output"};
const WholeOption kHeight{"height", 56, 1, kWide, "rows of the input, in pixels"};
const WholeOption kWidth{"width", 56, 1, kWide, "columns of the input, in pixels"};
const WholeOption kKernel{"kernel", 3, 1, kNarrow, "rows and columns of the window"};
const WholeOption kStride{"stride", 1, 1, kNarrow, "step of the window"};
const WholeOption kPadding{"padding", 1, 0, kNarrow, "zeros on each side of the input"};
const WholeOption kDilation{"dilation", 1, 1, kNarrow, "distance between the window's taps"};
const WholeOption kGroups{"groups", 1, 1, kWide, "groups of channels; a divisor of both channel counts"};

Direction direction_of(const std::string& mode) {
  if (mode == "backward-data") {
    return Direction::backward_data;
  }
  return mode == "backward-weights" ? Direction::backward_weights : Direction::forward;
}

// Empty for the best one.
std::string implementation(const WorkloadSpec& spec) {
  const std::string name = option_text(spec, "implementation", "best");
  word_index("implementation", name, implementations());
  return name == "best" ? "" : name;
}

Conv2d read_conv2d(const WorkloadSpec& spec) {
  Conv2d conv;
  conv.batch = spec.batch;
  conv.dtype = spec.dtype;
  conv.direction = direction_of(spec.mode);
  conv.in_channels = kInChannels.read(spec);
  conv.out_channels = kOutChannels.read(spec);
  conv.height = kHeight.read(spec);
  conv.width = kWidth.read(spec);
  conv.kernel_h = conv.kernel_w = kKernel.read(spec);
  conv.stride_h = conv.stride_w = kStride.read(spec);
  conv.pad_h = conv.pad_w = kPadding.read(spec);
  conv.dilation_h = conv.dilation_w = kDilation.read(spec);
  conv.groups = kGroups.read(spec);

  if (conv.in_channels % conv.groups != 0 || conv.out_channels % conv.groups != 0) {
    throw UsageError(fmt::format(
        "--groups: '{}' was given; accepted: divisors of both --in-channels {} and --out-channels {}",
        conv.groups, conv.in_channels, conv.out_channels));
  }
  const std::int64_t extent = conv.dilation_h * (conv.kernel_h - 1) + 1;
  const std::int64_t smaller = std::min(conv.height, conv.width);
  if (extent > smaller + 2 * conv.pad_h) {
    throw UsageError(fmt::format(
        "--kernel: '{}' was given, but spans {} pixels with --dilation {}; accepted: kernels that fit "
        "the {} pixels of --height or --width with --padding {}",
        conv.kernel_h, extent, conv.dilation_h, smaller, conv.pad_h));
  }
  if (const auto wrong = conv.invalid()) {
    throw UsageError(*wrong);
  }
  return conv;
}

// With the device's layouts and, as for a network, as much memory for faster algorithms as the rule allows.
Conv2d place(Conv2d conv, const Device& device) {
  const NetworkLayouts layouts = layouts_for(device, conv.dtype);
  const bool stem = conv.in_channels < 16 && conv.direction == Direction::forward;
  conv.src_layout = stem ? layouts.image : layouts.inner;
  conv.dst_layout = layouts.inner;
  conv.extra =
      extra_budget(conv.weight_count() * bytes_of(conv.dtype), conv.src().bytes() + conv.dst().bytes());
  return conv;
}

Conv2d single(Conv2d conv) {
  conv.batch = 1;
  conv.dtype = Dtype::fp32;
  conv.src_layout = conv.dst_layout = Layout::nchw;
  return conv;
}

// A gradient is a product as large as the convolution.
NetworkTerms conv2d_terms(const Conv2d& conv) {
  Graph graph(Image{conv.in_channels, conv.height, conv.width});
  graph.conv2d("conv2d", graph.image(),
               {.channels = conv.out_channels,
                .kernel = {conv.kernel_h, conv.kernel_w},
                .stride = {conv.stride_h, conv.stride_w},
                .pad = {conv.pad_h, conv.pad_w},
                .dilation = {conv.dilation_h, conv.dilation_w},
                .groups = conv.groups});
  NetworkTerms terms = eager_terms(graph, {.dtype = conv.dtype, .cast_whole = true});
  if (conv.direction != Direction::forward) {
    std::swap(terms.per_sample.flops, terms.per_sample.grads);
  }
  return terms;
}

// The weights' gradient is a sum over the batch; its rows are the output channels.
std::int64_t conv2d_rows(const Conv2d& conv) {
  return conv.direction == Direction::backward_weights ? conv.out_channels : conv.batch;
}

// The gradient of one output channel's weights: of all samples, the channel's group and its own output.
ReferenceRow<Conv2d> conv2d_row(const Conv2d& conv, std::int64_t row) {
  ReferenceRow<Conv2d> reference{.spec = single(conv)};
  if (conv.direction != Direction::backward_weights) {
    reference.excerpt.first_sample = row;
    return reference;
  }
  const std::int64_t group = row / (conv.out_channels / conv.groups);
  Conv2d& spec = reference.spec;
  spec.batch = conv.batch;
  spec.in_channels = conv.in_channels / conv.groups;
  spec.out_channels = spec.groups = 1;
  reference.excerpt.skipped = {{Slot::src, group * spec.in_channels * spec.height * spec.width},
                               {Slot::diff_dst, row * spec.out_height() * spec.out_width()}};
  return reference;
}

// By cuDNN, which is the best on a card. Our own implementation computes in what it is given.
std::optional<std::string> computed_otherwise(const Conv2d& conv, const std::string& implementation,
                                              const Device& device) {
  return implementation.empty() || implementation == "cudnn"
             ? cuda::libraries_compute_otherwise(device, conv.dtype)
             : std::nullopt;
}

// ResNet's 3×3 convolutions: channels double where height and width halve.
void add_resnet_shapes(KernelPoints& points, const KernelRequest& request, const Device& device,
                       const std::string& mode, Dtype dtype) {
  for (const std::int64_t batch : batches_or(request, {needs_large_work(device) ? 64 : 8})) {
    for (std::int64_t channels = 64, size = 56; channels <= 512; channels *= 2, size /= 2) {
      points.add_hot_and_cold(
          mode, dtype, batch,
          {{"in-channels", channels}, {"out-channels", channels}, {"height", size}, {"width", size}});
    }
  }
}

std::vector<KernelPoint> conv2d_points(const KernelRequest& request, const Device& device) {
  KernelPoints points(request);
  for (const std::string& mode : request.modes) {
    for (const Dtype dtype : request.dtypes) {
      add_resnet_shapes(points, request, device, mode, dtype);
    }
  }
  return std::move(points).take();
}

// In its own dtypes, unless others are requested: those give the reason. A device that is no GPU gives it
// once.
std::vector<KernelPoint> implicit_gemm_points(const KernelRequest& request, const Device& device) {
  const std::vector<Dtype> own =
      dtypes_where(request, [](Dtype dtype) { return dtype == Dtype::fp32 || dtype == Dtype::fp16; });
  KernelPoints points(request);
  for (const Dtype dtype : given_dtypes_or(request, own)) {
    if (!needs_large_work(device)) {
      points.add("forward", dtype, batches_or(request, {8}).front(),
                 {{"in-channels", 64}, {"out-channels", 64}, {"height", 56}, {"width", 56}}, {});
      break;
    }
    add_resnet_shapes(points, request, device, "forward", dtype);
  }
  return std::move(points).take();
}

// fp32 leaves room for Winograd's transforms.
constexpr Tolerances kConv2dTolerances{.fp32 = 1e-4, .tf32 = 3e-3, .fp16 = 3e-3, .bf16 = 1.5e-2};

OperationType<Conv2d> conv2d_type() {
  std::vector<CommandOption> options =
      declare(kInChannels, kOutChannels, kHeight, kWidth, kKernel, kStride, kPadding, kDilation, kGroups);
  options.push_back({.name = "implementation",
                     .default_value = "best",
                     .help = "how it is done: the best that can, or the one of that name",
                     .words = implementations});
  return {.name = "conv2d",
          .description = "2-D convolution; by default ResNet's 3x3 on 64 channels of 56x56",
          .modes = {"forward", "backward-data", "backward-weights"},
          .options = std::move(options),
          .describe = read_conv2d,
          .place = place,
          .single = single,
          .tolerance = [](const Conv2d& conv) { return kConv2dTolerances.of(conv.dtype); },
          .rows = conv2d_rows,
          .row = conv2d_row,
          .implementation = implementation,
          .computed_otherwise = computed_otherwise,
          .eager_terms = conv2d_terms,
          .kernel_points = conv2d_points};
}

// Without the option for groups of channels, which it does not support.
OperationType<Conv2d> implicit_gemm_type() {
  OperationType<Conv2d> type = conv2d_type();
  type.name = "implicit_gemm";
  type.description = "conv2d's forward pass by a kernel of our own, in fp32 and fp16; GPUs only";
  type.modes = {"forward"};
  type.options = declare(kInChannels, kOutChannels, kHeight, kWidth, kKernel, kStride, kPadding, kDilation);
  type.implementation = [](const WorkloadSpec& /*spec*/) { return std::string("implicit_gemm"); };
  type.computed_otherwise = {};
  type.eager_terms = {};  // a kernel of our own
  type.kernel_points = implicit_gemm_points;
  return type;
}

const Registration<WorkloadType> BENCH_REGISTERED{operation_workload(conv2d_type())};
const Registration<WorkloadType> BENCH_REGISTERED{operation_workload(implicit_gemm_type())};

}  // namespace
}  // namespace bench::kernels
