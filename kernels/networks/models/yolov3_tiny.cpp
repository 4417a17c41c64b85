// YOLOv3-tiny, Redmon and Farhadi 2018 (arXiv:1804.02767), as Darknet's cfg/yolov3-tiny.cfg has it for the 80
// classes of COCO; layers have its numbers. The maximum pool of layer 11 keeps the size: it reads one row and
// column beyond the map, below and to the right. Two heads, at 1/32 and 1/16 of the image's size, predict 3
// boxes a pixel with 85 scores each: 4 for the box, 1 for whether there is an object, 80 classes. The output
// is a row of 85 for each box, the coarse head's first. Its anchors and the decoding of boxes are no part of
// it, and in training the loss is a softmax cross-entropy over each row: of the same cost as YOLO's own, not
// the same meaning.
#include <fmt/format.h>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr std::int64_t kScores = 4 + 1 + 80;
constexpr std::int64_t kBoxes = 3;  // a pixel

Value conv(Graph& g, int number, Value x, std::int64_t channels, std::int64_t kernel) {
  const std::string name = std::to_string(number);
  x = g.conv2d(name + ".conv", x, {.channels = channels, .kernel = kernel, .pad = kernel / 2});
  return g.leaky_relu(name + ".leaky", g.batch_norm(name + ".bn", x));
}

Value head(Graph& g, int number, Value x) {
  return g.conv2d(fmt::format("{}.conv", number), x,
                  {.channels = kBoxes * kScores, .kernel = 1, .bias = true});
}

Graph yolov3_tiny(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  Value x = g.image();
  Value fine = x;  // layer 8, at 1/16
  for (int i = 0; i < 6; ++i) {
    x = conv(g, 2 * i, x, std::int64_t{16} << i, 3);
    if (i == 4) {
      fine = x;
    }
    x = i < 5 ? g.max_pool(fmt::format("{}.maxpool", 2 * i + 1), x, {.kernel = 2, .stride = 2})
              : g.max_pool("11.maxpool", x, {.kernel = 2, .stride = 1, .end_pad = 1});
  }
  const Value coarse = conv(g, 13, conv(g, 12, x, 1024, 3), 256, 1);
  const Value coarse_head = head(g, 15, conv(g, 14, coarse, 512, 3));
  x = g.upsample("19.upsample", conv(g, 18, coarse, 128, 1));
  x = conv(g, 21, g.concat("20.route", {x, fine}), 256, 3);
  g.rows("boxes", {coarse_head, head(g, 22, x)}, kScores);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "yolov3_tiny",
    .description = "YOLOv3-tiny, 8.85 M parameters, 2.78 GMAC at 416 (Darknet, Ultralytics)",
    .build = yolov3_tiny,
    .published_parameters = 8'852'366,  // Ultralytics
    .published_macs = 2.78e9,           // Darknet: 5.56 billion operations
    .image_size = 416,
    .image_step = 32,  // the map that is scaled up must meet layer 8's
}};

}  // namespace
}  // namespace bench::kernels
