// Concatenation and its gradient on the CPU: pixels are copied as they are stored, rows over OpenMP threads.
// oneDNN joins maps too, but only maps of the same size: a padded one would be written twice.
#include <cstring>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/concat/concat.h"

namespace bench::kernels {
namespace {

// One input of a concatenation within its result. All sizes in bytes but those in planes and pixels.
struct InputPart {
  std::int64_t planes = 0;  // samples · blocks of channels
  std::int64_t height = 0, width = 0;
  std::int64_t outer_height = 0, outer_width = 0;
  std::int64_t top = 0, left = 0;  // zeros around it
  std::int64_t run = 0;            // a pixel's channels that lie together
  std::int64_t step = 0;           // from a pixel of the result to its neighbour
  std::int64_t blocks = 0, outer_blocks = 0, first_block = 0, first_byte = 0;

  std::int64_t row_in(std::int64_t plane, std::int64_t y) const { return (plane * height + y) * width * run; }
  std::int64_t row_out(std::int64_t plane, std::int64_t y) const {
    const std::int64_t outer_plane = plane / blocks * outer_blocks + first_block + plane % blocks;
    return (outer_plane * outer_height + y) * outer_width * step + first_byte;
  }
  std::int64_t bytes() const { return planes * height * width * run; }
};

InputPart part_of(const Concat& spec, std::size_t index) {
  const TensorDesc& in = spec.inputs[index];
  const TensorDesc out = spec.dst();
  const ChannelBlocks inner = channel_blocks(in);
  const ChannelBlocks outer = channel_blocks(out);
  const std::int64_t first = spec.first_channel(index);
  return {.planes = in.n * inner.count,
          .height = in.h,
          .width = in.w,
          .outer_height = out.h,
          .outer_width = out.w,
          .top = (out.h - in.h) / 2,
          .left = (out.w - in.w) / 2,
          .run = inner.width * bytes_of(in.dtype),
          .step = outer.width * bytes_of(in.dtype),
          .blocks = inner.count,
          .outer_blocks = outer.count,
          .first_block = first / outer.width,
          .first_byte = first % outer.width * bytes_of(in.dtype)};
}

void copy_pixels(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                 std::int64_t run, std::int64_t count) {
  if (to_step == run && from_step == run) {
    std::memcpy(to, from, static_cast<std::size_t>(run * count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(run));
  }
}

void clear_pixels(std::byte* to, std::int64_t step, std::int64_t run, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memset(to + i * step, 0, static_cast<std::size_t>(run));
  }
}

class CpuConcat final : public LoopsOf<Concat> {
 public:
  using LoopsOf::LoopsOf;

  void run(const SlotPointers& pointers) override {
    const auto bytes_at = [&](Slot slot) { return static_cast<std::byte*>(pointers[slot]); };
    if (!spec_.forward()) {
      return read_part(part_of(spec_, spec_.index), bytes_at(Slot::diff_dst), bytes_at(Slot::diff_src));
    }
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      write_part(part_of(spec_, i), bytes_at(kSources[i]), bytes_at(Slot::dst));
    }
  }

 private:
  static constexpr std::int64_t kWorthThreads = 1 << 16;  // bytes: some microseconds of copying

  static void write_part(const InputPart& part, const std::byte* src, std::byte* dst) {
#pragma omp parallel for collapse(2) schedule(static) if (part.bytes() >= kWorthThreads)
    for (std::int64_t plane = 0; plane < part.planes; ++plane) {
      for (std::int64_t row = 0; row < part.outer_height; ++row) {
        std::byte* const to = dst + part.row_out(plane, row);
        const std::int64_t y = row - part.top;
        if (y < 0 || y >= part.height) {
          clear_pixels(to, part.step, part.run, part.outer_width);
          continue;
        }
        const std::int64_t right = part.left + part.width;
        clear_pixels(to, part.step, part.run, part.left);
        copy_pixels(to + part.left * part.step, part.step, src + part.row_in(plane, y), part.run, part.run,
                    part.width);
        clear_pixels(to + right * part.step, part.step, part.run, part.outer_width - right);
      }
    }
  }

  static void read_part(const InputPart& part, const std::byte* diff_dst, std::byte* diff_src) {
#pragma omp parallel for collapse(2) schedule(static) if (part.bytes() >= kWorthThreads)
    for (std::int64_t plane = 0; plane < part.planes; ++plane) {
      for (std::int64_t y = 0; y < part.height; ++y) {
        copy_pixels(diff_src + part.row_in(plane, y), part.run,
                    diff_dst + part.row_out(plane, y + part.top) + part.left * part.step, part.step, part.run,
                    part.width);
      }
    }
  }
};

// A block of dst would hold channels of two inputs.
std::optional<std::string> splits_a_block(const Concat& spec) {
  for (std::size_t i = 1; i < spec.inputs.size() && spec.inputs[0].layout == Layout::nchw16c; ++i) {
    if (spec.first_channel(i) % channel_blocks(spec.inputs[0]).width != 0) {
      return "concat: in nchw16c all inputs but the last need a multiple of 16 channels";
    }
  }
  return std::nullopt;
}

const Registration<Implementation<Concat>> BENCH_REGISTERED{
    cpu_implementation<Concat, CpuConcat>("cpu", 10, [](const Concat& spec, const Device& device) {
      const auto splits = splits_a_block(spec);
      return splits ? splits : device.unsupported(spec.inputs[0].dtype);
    })};

}  // namespace
}  // namespace bench::kernels
