// Convolution over nhwc maps in inference, for processors with AVX2 and FMA: a matrix product of output
// pixels and packed weights. The pixels are not packed.
//
// A block of pixels stays in the second cache, a part of sixteen output channels' weights in the first (Goto
// and van de Geijn 2008, doi:10.1145/1356052.1356053). Measured with Zen 3 and oneDNN 2.6.3 on 3×3
// convolutions of ResNet-50: 1 to 1.2 times as fast as its direct convolution; its convolution of one pixel
// is 1.1 times as fast as this.
#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/backends/onednn/primitives.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/conv2d/packed_pixels.h"
#include "kernels/operations/conv2d/packed_tiles.h"

namespace bench::kernels {
namespace {

using packed::kMostPixels;
using packed::kVector;

constexpr std::int64_t kPanel = packed::kMostVectors * kVector;  // output channels
constexpr std::int64_t kInner = 320;       // inputs of a pixel and a chunk: with a panel's weights 28 KiB
constexpr std::int64_t kBlock = 32 << 10;  // floats that a block of pixels reads in a chunk, about
constexpr std::int64_t kLeastBlock = 48;   // pixels
constexpr std::int64_t kMostBlock = 384;
constexpr std::int64_t kGroup = 26;  // panels whose sums stay in the second cache between chunks
constexpr std::int64_t kMostTaps = 128;
constexpr std::int64_t kMostInputs = kMostTaps * kLeastBlock;  // of a block
constexpr std::int64_t kMostChannels = 4096;                   // of the input
constexpr float kInfinity = std::numeric_limits<float>::infinity();

alignas(64) constexpr std::array<float, kMostChannels> kZeros{};  // a pixel of padding

std::int64_t parts(std::int64_t whole, std::int64_t most) {
  return (whole + most - 1) / most;
}

// The bounds that an activation cuts at; nullopt: it does something else.
std::optional<std::pair<float, float>> bounds_of(Activation activation) {
  using K = ActivationKind;
  switch (activation.kind) {
    case K::none:
      return std::pair(-kInfinity, kInfinity);
    case K::relu:
      return std::pair(0.0F, kInfinity);
    case K::relu6:
      return std::pair(0.0F, 6.0F);
    case K::clip:
      return std::pair(activation.alpha, activation.beta);
    default:
      return std::nullopt;
  }
}

class PackedConv2d final : public Operation {
 public:
  explicit PackedConv2d(const Conv2d& spec) : spec_(spec), order_(spec) {
    plan_chunks();
    const auto activation = [&](Slot slot, Role role, const TensorDesc& tensor) {
      slots_.push_back({.slot = slot, .role = role, .bytes = tensor.bytes(), .tensor = tensor});
    };
    activation(Slot::src, Role::input, spec.src());
    slots_.push_back({.slot = Slot::weights,
                      .role = Role::parameter,
                      .bytes = 4 * stored_channels(spec.out_channels) * inner(),
                      .plain_count = spec.weight_count()});
    if (spec.bias) {
      slots_.push_back({.slot = Slot::bias,
                        .role = Role::parameter,
                        .bytes = 4 * spec.out_channels,
                        .plain_count = spec.out_channels});
    }
    if (spec.residual) {
      activation(Slot::src1, Role::input, spec.dst());
    }
    activation(Slot::dst, Role::output, spec.dst());
  }

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  bool in_place_sum() const override { return spec_.residual; }
  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return "packed"; }

  // Packed: [16 output channels][tap][channel][output channel]; of the last ones, if no more than 8 are
  // left, 8.
  void pack(Slot slot, std::span<const float> plain, void* to) override {
    check(slot, plain.size());
    auto* const all = static_cast<float*>(to);
    if (slot == Slot::bias) {
      std::ranges::copy(plain, all);
      return;
    }
    for_each_weight([&](std::int64_t channel, std::int64_t at, std::int64_t stored) {
      all[stored] = channel < spec_.out_channels ? plain[static_cast<std::size_t>(at)] : 0.0F;
    });
  }
  void unpack(Slot slot, const void* from, std::span<float> plain) override {
    check(slot, plain.size());
    const auto* const all = static_cast<const float*>(from);
    if (slot == Slot::bias) {
      std::copy_n(all, plain.size(), plain.begin());
      return;
    }
    for_each_weight([&](std::int64_t channel, std::int64_t at, std::int64_t stored) {
      if (channel < spec_.out_channels) {
        plain[static_cast<std::size_t>(at)] = all[stored];
      }
    });
  }

  // A unit of work is a panel of channels for a block of pixels. Each thread takes the same number of units
  // in a row.
  void run(const SlotPointers& pointers) override {
    const std::int64_t pixels = spec_.batch * spec_.out_height() * spec_.out_width();
    const std::int64_t fitting = std::min(
        std::clamp(kBlock / std::min(inner(), kInner), kLeastBlock, kMostBlock), kMostInputs / taps());
    // Where there are few panels, enough blocks that threads end together.
    constexpr std::int64_t kEach = 8;
    const std::int64_t wanted = parts(kEach * omp_get_max_threads(), panels());
    const std::int64_t blocks =
        std::max(parts(pixels, fitting), std::min(wanted, parts(pixels, kMostPixels)));
#pragma omp parallel
    {
      const std::int64_t units = blocks * panels();
      const std::int64_t thread = omp_get_thread_num();
      const std::int64_t threads = omp_get_num_threads();
      const std::int64_t end = units * (thread + 1) / threads;
      for (std::int64_t unit = units * thread / threads; unit < end;) {
        const std::int64_t block = unit / panels();
        const std::int64_t panel = unit % panels();
        const std::int64_t count = std::min(panels() - panel, end - unit);
        const std::int64_t first = pixels * block / blocks;
        run_block(pointers, first, pixels * (block + 1) / blocks - first, panel, panel + count);
        unit += count;
      }
    }
  }

 private:
  // A part of the taps and channels.
  struct Chunk {
    std::int64_t tap = 0, taps = 1, channel = 0, channels = 1;
  };

  std::int64_t taps() const {
    return spec_.kernel_h * spec_.kernel_w;
  }
  std::int64_t inner() const {
    return taps() * spec_.in_channels;
  }
  std::int64_t panels() const {
    return parts(spec_.out_channels, kPanel);
  }
  // As many vectors as hold them.
  static std::int64_t stored_channels(std::int64_t channels) {
    return parts(channels, kVector) * kVector;
  }
  std::int64_t width(std::int64_t panel) const {
    return std::min(spec_.out_channels - panel * kPanel, kPanel);
  }
  std::int64_t stored_width(std::int64_t panel) const {
    return stored_channels(width(panel));
  }
  std::int64_t first_of_panel(std::int64_t panel) const {
    return panel * kPanel * inner();
  }

  // use(output channel, place in the plain weights, place in the packed ones); of channels beyond the last
  // there is no plain one.
  template <class Use>
  void for_each_weight(const Use& use) const {
#pragma omp parallel for schedule(static)
    for (std::int64_t channel = 0; channel < stored_channels(spec_.out_channels); ++channel) {
      const std::int64_t step = stored_width(channel / kPanel);
      std::int64_t stored = first_of_panel(channel / kPanel) + channel % kPanel;
      for (std::int64_t tap = 0; tap < taps(); ++tap) {
        for (std::int64_t c = 0; c < spec_.in_channels; ++c, stored += step) {
          use(channel, (channel * spec_.in_channels + c) * taps() + tap, stored);
        }
      }
    }
  }

  void check(Slot slot, std::size_t count) const {
    const SlotInfo* const info = find(slot);
    if (info == nullptr || info->plain_count != static_cast<std::int64_t>(count)) {
      throw std::invalid_argument("the wrong number of values for " + std::string(name_of(slot)));
    }
  }

  // Splits the taps and channels into chunks of at most kInner inputs: a part of one tap's channels, or whole
  // taps.
  void plan_chunks() {
    const std::int64_t channels = spec_.in_channels;
    const std::int64_t pieces = parts(channels, kInner);
    const std::int64_t runs = pieces > 1 ? taps() : parts(taps(), kInner / channels);
    for (std::int64_t run = 0; run < runs; ++run) {
      const std::int64_t tap = taps() * run / runs;
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        const std::int64_t from = channels * piece / pieces;
        chunks_.push_back({.tap = tap,
                           .taps = taps() * (run + 1) / runs - tap,
                           .channel = from,
                           .channels = channels * (piece + 1) / pieces - from});
      }
    }
  }

  void run_block(const SlotPointers& pointers, std::int64_t first, std::int64_t count,
                 std::int64_t first_panel, std::int64_t end_panel) const {
    std::array<const float*, kMostInputs> inputs;
    std::array<std::int64_t, kMostBlock> places;
    order_.find(first, count, static_cast<const float*>(pointers[Slot::src]), kZeros.data(), inputs.data(),
                places.data());
    packed::Tiles tiles;
    tiles.inputs = inputs.data();
    tiles.tap_step = count;
    tiles.places = places.data();
    for (std::int64_t group = first_panel; group < end_panel; group += kGroup) {
      for (const Chunk& chunk : chunks_) {
        for (std::int64_t panel = group; panel < std::min(group + kGroup, end_panel); ++panel) {
          run_panel(pointers, count, panel, chunk, tiles);
        }
      }
    }
  }

  void run_panel(const SlotPointers& pointers, std::int64_t count, std::int64_t panel, const Chunk& chunk,
                 packed::Tiles tiles) const {
    const bool begins = &chunk == &chunks_.front();
    const bool ends = &chunk == &chunks_.back();
    const std::int64_t channel = panel * kPanel;
    const std::int64_t vectors = stored_width(panel) / kVector;
    tiles.inputs += chunk.tap * count;
    tiles.padding = kZeros.data();
    tiles.taps = chunk.taps;
    tiles.first_channel = chunk.channel;
    tiles.channels = chunk.channels;
    tiles.weights = static_cast<const float*>(pointers[Slot::weights]) + first_of_panel(panel) +
                    (chunk.tap * spec_.in_channels + chunk.channel) * stored_width(panel);
    tiles.bias = begins && spec_.bias ? static_cast<const float*>(pointers[Slot::bias]) + channel : nullptr;
    tiles.dst = static_cast<float*>(pointers[Slot::dst]) + channel;
    tiles.summand = !begins          ? tiles.dst
                    : spec_.residual ? static_cast<const float*>(pointers[Slot::src1]) + channel
                                     : nullptr;
    tiles.last = width(panel) - (vectors - 1) * kVector;
    std::tie(tiles.least, tiles.most) =
        ends ? bounds_of(spec_.activation).value() : std::pair(-kInfinity, kInfinity);
    // Tiles of two heights that differ by a pixel, the higher ones first.
    const std::int64_t number = parts(count, kMostPixels);
    const std::int64_t height = count / number;
    const std::int64_t higher = count % number;
    for (const auto& [each, of_them] : {std::pair(height + 1, higher), std::pair(height, number - higher)}) {
      tiles.count = of_them;
      if (of_them > 0) {
        packed::compute_tiles(each, vectors, tiles);
      }
      tiles.inputs += each * of_them;
      tiles.places += each * of_them;
    }
  }

  Conv2d spec_;
  packed::PixelOrder order_;
  std::vector<Chunk> chunks_;
  std::vector<SlotInfo> slots_;
};

std::optional<std::string> unsupported(const Conv2d& spec, const Device& /*device*/) {
  constexpr std::int64_t kLeastChannels = 8;
  const std::int64_t taps = spec.kernel_h * spec.kernel_w;
  if (spec.direction != Direction::forward || spec.training || spec.dtype != Dtype::fp32) {
    return "packed convolutions are those of inference in fp32";
  }
  if (spec.src_layout != Layout::nhwc || spec.dst_layout != Layout::nhwc || !bounds_of(spec.activation)) {
    return "packed convolutions read and write nhwc maps and apply activations that cut";
  }
  if (taps == 1 || taps > kMostTaps || spec.groups != 1 || spec.in_channels < kLeastChannels ||
      spec.in_channels > kMostChannels) {
    return "packed convolutions have 2 to 128 taps, 8 to 4096 channels and one group";
  }
  if (onednn::has_avx512()) {
    return "with AVX-512 oneDNN's convolutions are faster";
  }
  if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0) {
    return "this processor has no AVX2 with FMA";
  }
  return std::nullopt;
}

const Registration<Implementation<Conv2d>> BENCH_REGISTERED{
    cpu_implementation<Conv2d, PackedConv2d>("packed", 20, unsupported)};

}  // namespace
}  // namespace bench::kernels
