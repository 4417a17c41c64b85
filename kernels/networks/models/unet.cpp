// U-Net, Ronneberger et al. 2015 (arXiv:1505.04597), as it is mostly built in PyTorch since
// (github.com/milesial/Pytorch-UNet, UNet(n_channels=3, n_classes=2)), whose names its layers have: batch
// norm after every convolution, 3×3 convolutions padded so that they keep the size, transposed convolutions
// on the way up. Where a size on the way down is odd, the map that comes up is a pixel smaller than the one
// it is joined with; the concatenation pads it with zeros, as F.pad does there. The output is a row of class
// scores for each pixel.
#include <array>

#include <fmt/format.h>

#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

using Value = Graph::Value;

constexpr std::int64_t kPixelClasses = 2;

Value double_conv(Graph& g, const std::string& name, Value x, std::int64_t channels) {
  for (int i = 0; i < 6; i += 3) {
    const auto part = [&](int index) { return fmt::format("{}.double_conv.{}", name, i + index); };
    x = g.conv2d(part(0), x, {.channels = channels, .kernel = 3, .pad = 1});
    x = g.relu(part(2), g.batch_norm(part(1), x));
  }
  return x;
}

Graph unet(std::int64_t image_size) {
  Graph g({3, image_size, image_size});
  std::array<Value, 4> skips{};
  Value x = double_conv(g, "inc", g.image(), 64);
  for (int level = 0; level < 4; ++level) {
    const std::string name = fmt::format("down{}.maxpool_conv", level + 1);
    skips[level] = x;
    x = g.max_pool(name + ".0", x, {.kernel = 2, .stride = 2});
    x = double_conv(g, name + ".1", x, std::int64_t{128} << level);
  }
  for (int level = 3; level >= 0; --level) {
    const std::string name = fmt::format("up{}", 4 - level);
    const std::int64_t channels = std::int64_t{64} << level;
    x = g.conv_transpose(name + ".up", x, channels, 2);
    x = double_conv(g, name + ".conv", g.concat(name + ".cat", {skips[level], x}), channels);
  }
  g.rows("pixels", {g.conv2d("outc.conv", x, {.channels = kPixelClasses, .kernel = 1, .bias = true})},
         kPixelClasses);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "unet",
    .description = "U-Net with batch norm, 31.0 M parameters, 193 GMAC at 512 (Pytorch-UNet)",
    .build = unet,
    .published_parameters = 31'037'698,
    // From the layers: 9·64·(3 + 64) = 38'592 products a pixel in front, 9·(64·128 + 128²)/4 = 55'296 for
    // each level down, 9·(128·64 + 64²) + 4·128·64/4 = 118'784 for each level up, 128 after; times 512²
    // pixels. Tools that count a transposed convolution as one with kernel² inputs an output say 219 GMAC.
    .published_macs = 192.7e9,
    .image_size = 512,
}};

}  // namespace
}  // namespace bench::kernels
