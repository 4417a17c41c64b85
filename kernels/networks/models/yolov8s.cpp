// YOLOv8s, Ultralytics 2023, layer for layer as its yolov8.yaml numbers them, for the 80 classes of COCO.
// Three heads, at 1/8, 1/16 and 1/32 of the image's size, predict a box for each pixel: 4 sides of 16
// distances each, and 80 classes. The output is a row of 144 for each box, the finest head's first. The sum
// that makes a side of its distances and the decoding of boxes are no part of it, and in training the loss is
// a softmax cross-entropy over each row: Ultralytics' assigns boxes to objects first, which takes more time
// and memory.
#include <array>

#include <fmt/format.h>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr std::int64_t kSides = 4 * 16;
constexpr std::int64_t kCocoClasses = 80;
constexpr double kBottleneckGain = 0.5;  // of the branches that are summed, as in ResNet

Value conv_silu(Graph& g, const std::string& name, Value x, std::int64_t channels, std::int64_t kernel,
                std::int64_t stride = 1, double gain = 1) {
  x = g.conv2d(name + ".conv", x,
               {.channels = channels, .kernel = kernel, .stride = stride, .pad = kernel / 2});
  x = g.append(name + ".bn", {x}, BatchNormOptions{.gain = gain, .epsilon = 1e-3F});
  return g.activation(name + ".act", x, Activation::silu);
}

// C2f: one half of the channels passes bottlenecks, and all that comes out of each is joined.
Value bottlenecks(Graph& g, int number, Value x, std::int64_t channels, int count, bool residual) {
  const std::string name = fmt::format("{}", number);
  const std::int64_t half = channels / 2;
  x = conv_silu(g, name + ".cv1", x, channels, 1);
  std::vector<Value> parts;
  for (const std::int64_t start : {std::int64_t{0}, half}) {
    parts.push_back(g.append(fmt::format("{}.chunk{}", name, start == 0 ? 0 : 1), {x},
                             SliceOptions{.dimension = 1, .start = start, .size = half}));
  }
  for (int i = 0; i < count; ++i) {
    const std::string inner = fmt::format("{}.m.{}", name, i);
    const Value last = parts.back();
    Value y = conv_silu(g, inner + ".cv1", last, half, 3);
    y = conv_silu(g, inner + ".cv2", y, half, 3, 1, residual ? kBottleneckGain : 1);
    parts.push_back(residual ? g.add(inner + ".add", last, y) : y);
  }
  return conv_silu(g, name + ".cv2", g.concat(name + ".cat", parts), channels, 1);
}

// SPPF: maxima over windows of 5, 9 and 13 pixels.
Value pooled_pyramid(Graph& g, Value x) {
  const std::int64_t channels = g[x].shape.channels();
  std::vector<Value> parts{conv_silu(g, "9.cv1", x, channels / 2, 1)};
  for (int i = 0; i < 3; ++i) {
    parts.push_back(g.max_pool(fmt::format("9.m{}", i), parts.back(), {.kernel = 5, .stride = 1, .pad = 2}));
  }
  return conv_silu(g, "9.cv2", g.concat("9.cat", parts), channels, 1);
}

Value box_head(Graph& g, int scale, Value x) {
  const auto branch = [&](const char* name, std::int64_t width, std::int64_t outputs) {
    const std::string of = fmt::format("22.{}.{}", name, scale);
    const Value inner = conv_silu(g, of + ".1", conv_silu(g, of + ".0", x, width, 3), width, 3);
    return g.conv2d(of + ".2", inner, {.channels = outputs, .bias = true});
  };
  const Value boxes = branch("cv2", kSides, kSides);
  return g.concat(fmt::format("22.cat{}", scale), {boxes, branch("cv3", 128, kCocoClasses)});
}

Graph yolov8s(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  Value x = conv_silu(g, "1", conv_silu(g, "0", g.image(), 32, 3, 2), 64, 3, 2);
  x = bottlenecks(g, 2, x, 64, 1, true);
  const Value fine = bottlenecks(g, 4, conv_silu(g, "3", x, 128, 3, 2), 128, 2, true);
  const Value middle = bottlenecks(g, 6, conv_silu(g, "5", fine, 256, 3, 2), 256, 2, true);
  const Value coarse =
      pooled_pyramid(g, bottlenecks(g, 8, conv_silu(g, "7", middle, 512, 3, 2), 512, 1, true));
  const Value up = bottlenecks(g, 12, g.concat("11", {g.upsample("10", coarse), middle}), 256, 1, false);
  const Value p3 = bottlenecks(g, 15, g.concat("14", {g.upsample("13", up), fine}), 128, 1, false);
  const Value p4 = bottlenecks(g, 18, g.concat("17", {conv_silu(g, "16", p3, 128, 3, 2), up}), 256, 1, false);
  const Value p5 =
      bottlenecks(g, 21, g.concat("20", {conv_silu(g, "19", p4, 256, 3, 2), coarse}), 512, 1, false);
  std::vector<Value> heads;
  for (const Value scale : {p3, p4, p5}) {
    heads.push_back(box_head(g, static_cast<int>(heads.size()), scale));
  }
  g.rows("22", heads, kSides + kCocoClasses);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "yolov8s",
    .description = "YOLOv8s, 11.2 M parameters, 14.3 GMAC at 640 (Ultralytics)",
    .build = yolov8s,
    .published_parameters = 11'166'544,  // those with a gradient
    .published_macs = 14.3e9,            // 28.6 billion operations
    .image_size = 640,
    .image_step = 32,
}};

}  // namespace
}  // namespace bench::kernels
