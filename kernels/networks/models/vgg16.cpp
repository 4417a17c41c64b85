// VGG-16 (configuration D), Simonyan and Zisserman 2014 (arXiv:1409.1556), as torchvision builds it: an
// adaptive average pool before the classifier lets it take any image from 32 pixels on. Its dropout is left
// out. `vgg16_gap` has global average pooling and one linear layer in place of the three that hold nine
// parameters in ten (Lin et al. 2013, arXiv:1312.4400).
#include <fmt/format.h>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

Value features(Graph& g) {
  Value x = g.image();
  struct Stage {
    int convolutions;
    std::int64_t channels;
  };
  int index = 0;  // torchvision numbers the layers of `features`
  const auto feature = [&index] { return fmt::format("features.{}", index++); };
  for (const Stage stage : {Stage{2, 64}, Stage{2, 128}, Stage{3, 256}, Stage{3, 512}, Stage{3, 512}}) {
    for (int i = 0; i < stage.convolutions; ++i) {
      x = g.conv2d(feature(), x, {.channels = stage.channels, .kernel = 3, .pad = 1, .bias = true});
      x = g.relu(feature(), x);
    }
    x = g.max_pool(feature(), x, {.kernel = 2, .stride = 2});
  }
  return x;
}

Graph vgg16(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  Value x = g.flatten("flatten", g.average_pool("avgpool", features(g), 7));
  x = g.relu("classifier.1", g.linear("classifier.0", x, 4096));
  x = g.relu("classifier.4", g.linear("classifier.3", x, 4096));
  g.linear("classifier.6", x, 1000);
  return g;
}

Graph vgg16_gap(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  g.linear("classifier", g.flatten("flatten", g.average_pool("avgpool", features(g))), 1000);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "vgg16",
    .description = "VGG-16, 138 M parameters, 15.5 GMAC at 224 (torchvision)",
    .build = vgg16,
    .published_parameters = 138'357'544,
    .published_macs = 15.47e9,
}};

const NetworkRegistration BENCH_REGISTERED{{
    .name = "vgg16_gap",
    .description = "VGG-16 with global average pooling at its end, 15.2 M parameters",
    .build = vgg16_gap,
    .published_parameters = 14'714'688 + 512 * 1000 + 1000,  // Keras' VGG16 without its top; the classifier
    .published_macs = 15.35e9,
}};

}  // namespace
}  // namespace bench::kernels
