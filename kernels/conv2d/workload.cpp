// The workload `conv2d`: one convolution of a chosen shape, forward or one of its gradients. And
// `implicit_gemm`: the same forward by our own implementation, whichever is the best, so that a sweep can
// name it.
#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/device/cuda/tf32_override.h"
#include "kernels/networks/budget.h"
#include "kernels/networks/layout.h"
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

const std::vector<WorkloadType::Option>& options() {
  static const std::vector<WorkloadType::Option> all{
      {"in-channels", "64", "channels of the input, 1 to 65536"},
      {"out-channels", "64", "channels of the output, 1 to 65536"},
      {"height", "56", "rows of the input, 1 to 65536 pixels"},
      {"width", "56", "columns of the input, 1 to 65536 pixels"},
      {"kernel", "3", "rows and columns of the window, 1 to 1024"},
      {"stride", "1", "step of the window, 1 to 1024"},
      {"padding", "1", "zeros on each side of the input, 0 to 1024"},
      {"dilation", "1", "distance between the window's taps, 1 to 1024"},
      {"groups", "1", "groups of channels, a divisor of both channel counts"},
      {"implementation", "best", "how it is done: the best that can, or the one of that name", "",
       implementations},
  };
  return all;
}

Direction direction_of(const std::string& mode) {
  if (mode == "backward-data") {
    return Direction::backward_data;
  }
  return mode == "backward-weights" ? Direction::backward_weights : Direction::forward;
}

// Empty for the best one.
std::string implementation(const WorkloadSpec& spec) {
  const auto at = spec.options.find("implementation");
  return at == spec.options.end() || at->second == "best" ? "" : at->second;
}

void check_implementation(const WorkloadSpec& spec) {
  const std::vector<std::string> names = implementations();
  const auto at = spec.options.find("implementation");
  if (at == spec.options.end() || std::ranges::find(names, at->second) != names.end()) {
    return;
  }
  throw UsageError(
      fmt::format("--implementation {}: accepted are {}", quote(at->second), fmt::join(names, ", ")));
}

Conv2d described(const WorkloadSpec& spec) {
  constexpr std::int64_t kWide = 65536;
  constexpr std::int64_t kNarrow = 1024;
  check_implementation(spec);
  Conv2d conv;
  conv.batch = spec.batch;
  conv.dtype = spec.dtype;
  conv.direction = direction_of(spec.mode);
  conv.in_channels = whole_option(spec, "in-channels", 1, kWide);
  conv.out_channels = whole_option(spec, "out-channels", 1, kWide);
  conv.height = whole_option(spec, "height", 1, kWide);
  conv.width = whole_option(spec, "width", 1, kWide);
  conv.kernel_h = conv.kernel_w = whole_option(spec, "kernel", 1, kNarrow);
  conv.stride_h = conv.stride_w = whole_option(spec, "stride", 1, kNarrow);
  conv.pad_h = conv.pad_w = whole_option(spec, "padding", 0, kNarrow);
  conv.dilation_h = conv.dilation_w = whole_option(spec, "dilation", 1, kNarrow);
  conv.groups = spec.options.contains("groups") ? whole_option(spec, "groups", 1, kWide) : 1;

  if (conv.in_channels % conv.groups != 0 || conv.out_channels % conv.groups != 0) {
    throw UsageError(
        fmt::format("--groups '{}': accepted are divisors of both --in-channels {} and --out-channels {}",
                    conv.groups, conv.in_channels, conv.out_channels));
  }
  const std::int64_t extent = conv.dilation_h * (conv.kernel_h - 1) + 1;
  const std::int64_t smaller = std::min(conv.height, conv.width);
  if (extent > smaller + 2 * conv.pad_h) {
    throw UsageError(
        fmt::format("--kernel '{}': with --dilation {} it spans {} pixels; accepted are kernels that fit "
                    "the {} pixels of --height or --width with --padding {}",
                    conv.kernel_h, conv.dilation_h, extent, smaller, conv.pad_h));
  }
  if (const auto wrong = conv.invalid()) {
    throw UsageError(*wrong);
  }
  return conv;
}

// With the device's layouts and, as for a network, as much memory for faster algorithms as the rule allows.
Conv2d placed(Conv2d conv, const Device& device) {
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

// Rows of forward and backward-data are the reference's; the weights' gradient is a sum over the batch, in
// which sample 0 comes first and as often as sample 1 or once more.
Answers expected(const WorkloadSpec& spec, const Answers& answers) {
  if (direction_of(spec.mode) != Direction::backward_weights) {
    return answers;
  }
  const std::int64_t pairs = spec.batch / 2;
  const auto count0 = static_cast<double>(spec.batch - pairs);
  const auto count1 = static_cast<double>(pairs);
  std::vector<float> sum(answers[0].size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = static_cast<float>(count0 * static_cast<double>(answers[0][i]) +
                                count1 * static_cast<double>(answers[1][i]));
  }
  return {sum};
}

// By cuDNN, which is the best on a card. Our own implementation computes in what it is given.
std::optional<std::string> computed_otherwise(const WorkloadSpec& spec, const Device& device) {
  const std::string name = implementation(spec);
  return name.empty() || name == "cudnn" ? cuda::libraries_compute_otherwise(device, spec.dtype)
                                         : std::nullopt;
}

// fp32 leaves room for Winograd's transforms.
constexpr Tolerances kTolerances{.fp32 = 1e-4, .tf32 = 3e-3, .fp16 = 3e-3, .bf16 = 1.5e-2};

OperationType<Conv2d> conv2d_type() {
  return {.name = "conv2d",
          .description = "2-D convolution; by default ResNet's 3x3 on 64 channels of 56x56",
          .modes = {"forward", "backward-data", "backward-weights"},
          .options = options(),
          .described = described,
          .placed = placed,
          .single = single,
          .tolerance = [](const Conv2d& conv) { return kTolerances.of(conv.dtype); },
          .expected = expected,
          .implementation = implementation,
          .computed_otherwise = computed_otherwise};
}

// What it cannot do, groups of channels, is no option of it.
OperationType<Conv2d> implicit_gemm_type() {
  OperationType<Conv2d> type = conv2d_type();
  type.name = "implicit_gemm";
  type.description = "conv2d's forward pass by a kernel of our own, in fp32 and fp16; GPUs only";
  type.modes = {"forward"};
  std::erase_if(type.options, [](const WorkloadType::Option& option) {
    return option.name == "groups" || option.name == "implementation";
  });
  type.implementation = [](const WorkloadSpec& /*spec*/) { return std::string("implicit_gemm"); };
  type.computed_otherwise = {};
  return type;
}

const Registration<WorkloadType> registered{operation_workload(conv2d_type())};
const Registration<WorkloadType> registered_own{operation_workload(implicit_gemm_type())};

}  // namespace
}  // namespace bench::kernels
