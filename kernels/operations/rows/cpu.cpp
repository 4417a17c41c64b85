// Rows and their gradient on the CPU. A pixel's rows lie together in dst as its channels do in nhwc: channels
// are copied pixel by pixel, in the pieces in which the map's layout has them, samples and pixels over OpenMP
// threads.
#include <algorithm>
#include <cstring>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/rows/rows.h"

namespace bench::kernels {
namespace {

// One map within dst, sizes in bytes.
struct MapPart {
  std::int64_t samples = 0, pixels = 0;
  std::int64_t blocks = 0;      // of a pixel's channels
  std::int64_t block = 0;       // size as stored, padding counted
  std::int64_t channels = 0;    // of a pixel, no padding
  std::int64_t sample_out = 0;  // from a sample of dst to the next
  std::int64_t first_out = 0;   // of the map's first row in a sample of dst

  std::int64_t at(std::int64_t sample, std::int64_t pixel, std::int64_t index) const {
    return ((sample * blocks + index) * pixels + pixel) * block;
  }
  std::int64_t out(std::int64_t sample, std::int64_t pixel, std::int64_t index) const {
    return sample * sample_out + first_out + pixel * channels + index * block;
  }
  std::int64_t piece(std::int64_t index) const { return std::min(block, channels - index * block); }
};

MapPart part_of(const Rows& spec, std::size_t index) {
  const TensorDesc& map = spec.maps[index];
  const ChannelBlocks blocks = channel_blocks(map);
  const std::int64_t size = bytes_of(map.dtype);
  const std::int64_t row = spec.classes * size;
  return {.samples = map.n,
          .pixels = map.h * map.w,
          .blocks = blocks.count,
          .block = blocks.width * size,
          .channels = map.c * size,
          .sample_out = spec.dst().h * row,
          .first_out = spec.first_row(index) * row};
}

// For each piece of each pixel.
template <class Visit>
void for_each_piece(const MapPart& part, Visit visit) {
  constexpr std::int64_t kWorthThreads = 1 << 14;  // elements: some microseconds of copying
#pragma omp parallel for collapse(2) \
    schedule(static) if (part.samples * part.pixels * part.channels >= kWorthThreads)
  for (std::int64_t sample = 0; sample < part.samples; ++sample) {
    for (std::int64_t pixel = 0; pixel < part.pixels; ++pixel) {
      for (std::int64_t index = 0; index < part.blocks; ++index) {
        visit(part.at(sample, pixel, index), part.out(sample, pixel, index), part.piece(index));
      }
    }
  }
}

class CpuRows final : public LoopsOf<Rows> {
 public:
  using LoopsOf::LoopsOf;

  void run(const SlotPointers& pointers) override {
    const auto bytes_at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (!spec_.forward()) {
      const MapPart part = part_of(spec_, spec_.index);
      for_each_piece(part, [&, diff_src = bytes_at(Slot::diff_src), diff_dst = bytes_at(Slot::diff_dst)](
                               std::int64_t in, std::int64_t out, std::int64_t bytes) {
        std::memcpy(diff_src + in, diff_dst + out, static_cast<std::size_t>(bytes));
        std::memset(diff_src + in + bytes, 0, static_cast<std::size_t>(part.block - bytes));
      });
      return;
    }
    for (std::size_t i = 0; i < spec_.maps.size(); ++i) {
      for_each_piece(part_of(spec_, i), [dst = bytes_at(Slot::dst), map = bytes_at(kSources[i])](
                                            std::int64_t in, std::int64_t out, std::int64_t bytes) {
        std::memcpy(dst + out, map + in, static_cast<std::size_t>(bytes));
      });
    }
  }
};

const Registration<Implementation<Rows>> BENCH_REGISTERED{cpu_implementation<Rows, CpuRows>(
    "cpu", 10,
    [](const Rows& spec, const Device& device) { return device.unsupported(spec.maps[0].dtype); })};

}  // namespace
}  // namespace bench::kernels
