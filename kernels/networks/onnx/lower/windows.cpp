#include "kernels/networks/onnx/lower/windows.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench::kernels::onnx {
namespace {

constexpr std::int64_t kMost = (1 << 30) - 1;

// `what`: "strides".
void require(const std::string& what, const std::vector<std::int64_t>& sizes, std::size_t count,
             std::int64_t least) {
  const auto fits = [least](std::int64_t size) { return size >= least && size <= kMost; };
  if (sizes.size() == count && std::ranges::all_of(sizes, fits)) {
    return;
  }
  constexpr std::size_t kMostTold = 8;
  const std::string given = sizes.empty()              ? "not given as integers"
                            : sizes.size() > kMostTold ? fmt::format("{} numbers", sizes.size())
                                                       : fmt::format("{}", fmt::join(sizes, ", "));
  throw Refused(fmt::format("its {} are {}; {} of {} to {} are accepted", what, given, count, least, kMost));
}

// "SAME_UPPER"; empty: the attribute `pads` tells.
std::string automatic_padding(const Lowering& node) {
  std::string automatic = text_of(node.node, "auto_pad", "NOTSET");
  if (automatic.empty() || automatic == "NOTSET") {
    return "";
  }
  if (automatic != "VALID" && automatic != "SAME_UPPER" && automatic != "SAME_LOWER") {
    throw Refused(fmt::format("its auto_pad is '{}'; NOTSET, VALID, SAME_UPPER and SAME_LOWER are accepted",
                              automatic));
  }
  return automatic;
}

PerAxis per_axis(const Lowering& node, const std::string& attribute, std::size_t axes) {
  const std::vector<std::int64_t> sizes = sizes_of(node, attribute, axes);
  return axes == 1 ? PerAxis(1, sizes[0]) : PerAxis(sizes[0], sizes[1]);
}

// Total SAME padding along an axis.
std::int64_t same_padding(std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t out = (in + stride - 1) / stride;
  return std::max<std::int64_t>(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - in);
}

bool takes(const Value& value, std::optional<double> border) {
  if (value.padded == nullptr || !border) {
    return false;
  }
  const Padded& padded = *value.padded;
  const bool none = padded.border == *border || (*border < 0 && padded.border <= -3.4e38);
  const auto fits = [](const std::vector<std::int64_t>& sizes) {
    return sizes[0] == 0 && sizes[1] == 0 &&
           std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 0; });
  };
  return none && fits(padded.before) && fits(padded.behind);
}

}  // namespace

std::vector<std::int64_t> sizes_of(const Lowering& node, const std::string& attribute, std::size_t axes) {
  std::vector<std::int64_t> sizes =
      integers_of(node.node, attribute).value_or(std::vector<std::int64_t>(axes, 1));
  require(attribute, sizes, axes, 1);
  return sizes;
}

void require_kernel(const Lowering& node, const std::vector<std::int64_t>& kernel, const Shape& weights) {
  const auto given = integers_of(node.node, "kernel_shape");
  if (given && !given->empty() && *given != kernel) {
    throw Refused(fmt::format("its kernel_shape differs from its weights of {}", weights.text()));
  }
}

void require_sizes(const std::vector<std::int64_t>& kernel) {
  require("windows", kernel, kernel.size(), 1);
}

std::vector<std::int64_t> pads_of(const Lowering& node, std::size_t axes) {
  const std::vector<std::int64_t> none(2 * axes, 0);
  std::vector<std::int64_t> pads =
      automatic_padding(node) == "VALID" ? none : integers_of(node.node, "pads").value_or(none);
  require("pads", pads, none.size(), 0);
  return pads;
}

Windows windows_of(const Lowering& node, const std::vector<std::int64_t>& kernel) {
  const std::size_t axes = kernel.size();
  if (axes < 1 || axes > 2 || node.rank(0) != axes + 2) {
    throw Refused(
        fmt::format("windows of {} dimensions over {}; one or two are accepted", axes, node.shape(0).text()));
  }
  require_sizes(kernel);
  Windows windows;
  windows.kernel = axes == 1 ? PerAxis(1, kernel[0]) : PerAxis(kernel[0], kernel[1]);
  windows.stride = per_axis(node, "strides", axes);
  windows.dilation = per_axis(node, "dilations", axes);
  const std::string automatic = automatic_padding(node);
  if (automatic.starts_with("SAME")) {
    const Shape& shape = node.shape(0);
    const bool transposed = node.node.op == "ConvTranspose";
    const auto all = [&](std::int64_t in, std::int64_t k, std::int64_t s, std::int64_t d) {
      return transposed ? std::max<std::int64_t>(0, d * (k - 1) + 1 - s) : same_padding(in, k, s, d);
    };
    const std::int64_t rows =
        axes == 1 ? 0 : all(shape[2].size, windows.kernel.h, windows.stride.h, windows.dilation.h);
    const std::int64_t columns =
        all(shape[axes + 1].size, windows.kernel.w, windows.stride.w, windows.dilation.w);
    const std::int64_t lower = automatic == "SAME_LOWER" ? 1 : 0;
    const std::int64_t top = (rows + lower) / 2;
    const std::int64_t left = (columns + lower) / 2;
    windows.pad = Padding(top, left, rows - top, columns - left);
  } else {
    const std::vector<std::int64_t> pads = pads_of(node, axes);
    windows.pad = axes == 1 ? Padding(0, pads[0], 0, pads[1]) : Padding(pads[0], pads[1], pads[2], pads[3]);
  }
  return windows;
}

Maps maps_of(const Lowering& node, const Windows& windows, std::optional<double> border) {
  const Value* value = &node.in(0);
  Maps maps{.windows = windows};
  Padding& pad = maps.windows.pad;
  if (takes(*value, border)) {
    const Padded& padded = *value->padded;
    const bool rows = padded.before.size() == 4;
    pad = Padding(pad.top + (rows ? padded.before[2] : 0), pad.left + padded.before.back(),
                  pad.bottom + (rows ? padded.behind[2] : 0), pad.right + padded.behind.back());
    value = padded.of.get();
  }
  const Shape& shape = value->shape;
  maps.signal = shape.rank() == 3;
  maps.channels = shape[1].size;
  const Shape as_maps = maps.signal ? Shape{shape[0], shape[1], 1, shape[2]} : shape;
  if (!as_maps.is_maps()) {
    throw Refused(fmt::format("it needs maps whose first dimension is the batch, not {}", shape.text()));
  }
  maps.layer = maps.signal ? node.all.reshaped(node.all.elements(*value), as_maps) : node.all.layer(*value);
  return maps;
}

Shape Maps::result(const Shape& maps) const {
  return signal ? Shape{maps[0], maps[1], maps[3]} : maps;
}

}  // namespace bench::kernels::onnx
