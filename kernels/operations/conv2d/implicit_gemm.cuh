// Forward convolution by our own implicit matrix product, fp32 or fp16: which block, and weights in the order
// it reads them. The machine's tiles come before (kernels/backends/cuda/kernel_operation.h).
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/operations/conv2d/conv2d.h"

namespace bench::kernels::cuda {

// Where the terms of a convolution's sums lie in its input.

// A forward convolution over NHWC, groups 1.
struct ConvolutionShape {
  int height, width, channels;
  int outputs;  // channels of dst
  int stride_h, stride_w;
  int pad_h, pad_w;
  int dilation_h, dilation_w;
  std::uint32_t pixels;  // of dst, all samples'
  std::uint32_t depth;   // terms of a sum
  Divider out_w, out_h;
  Divider by_channels, by_kernel_w;

  // A window's upper left corner, or a tap's place in it; of pixels that are not there, so far above that no
  // tap is inside.
  struct Corner {
    int y, x;
    int at;  // in src
  };

  BENCH_DEVICE Corner window(std::uint32_t pixel) const {
    constexpr int kFarAbove = -(1 << 30);
    std::uint32_t rest = pixel;
    Corner corner;
    corner.x = static_cast<int>(out_w.take(rest)) * stride_w - pad_w;
    corner.y = static_cast<int>(out_h.take(rest)) * stride_h - pad_h;
    const int row = static_cast<int>(rest) * height + corner.y;
    corner.at = (row * width + corner.x) * channels;
    if (pixel >= pixels) {
      corner.y = kFarAbove;
    }
    return corner;
  }

  // A term's tap and channel; behind the last term, so far to the right that it is outside every input.
  BENCH_DEVICE Corner tap(std::uint32_t term) const {
    constexpr int kFarRight = 1 << 30;
    std::uint32_t rest = term;
    const auto channel = static_cast<int>(by_channels.take(rest));
    Corner corner;
    corner.x = static_cast<int>(by_kernel_w.take(rest)) * dilation_w;
    corner.y = static_cast<int>(rest) * dilation_h;
    corner.at = (corner.y * width + corner.x) * channels + channel;
    if (term >= depth) {
      corner.x = kFarRight;
    }
    return corner;
  }

  // Whether the tap of the window reads an input; then that is at window.at + tap.at.
  BENCH_DEVICE bool inside(const Corner& window, const Corner& tap) const {
    const int y = window.y + tap.y;
    const int x = window.x + tap.x;
    return y >= 0 && y < height && x >= 0 && x < width;
  }
};

// Convolution as a product of matrices whose left one is never stored: row m of it is the window of output
// pixel m, gathered from the input while it is needed.
//
//   dst[m][k] = Σ_d window(m, d) · weights[d][k]     d = (r · kernel_w + s) · channels + c
//
// A block does kPixels × kOutputs of dst. It takes the sums' kDepth next terms into shared memory while it
// adds up the ones before; a thread holds kMine × kMine sums in registers, so that each value it reads from
// shared memory serves kMine multiply-adds.

// One access of shared memory.
struct alignas(16) Quad {
  float at[4];
};

// kCount: floats of one access to global memory, 4 where channels and addresses allow it, else 1.
template <class Memory, int kPixels, int kOutputs, int kDepth, int kCount>
struct ImplicitGemm {
  using Corner = ConvolutionShape::Corner;
  // Sums of a thread: in groups of four neighbours, one group in each half of the tile where it has eight.
  static constexpr int kMine = kPixels * kOutputs == 64 * 64 ? 4 : 8;
  static constexpr int kGroups = kMine / 4;
  static constexpr int kThreads = kPixels * kOutputs / (kMine * kMine);
  // While some warps wait for memory or a barrier, those of another block compute.
  static constexpr int kResident = kThreads == 256 ? 2 : 3;
  static constexpr const char* kName = "implicit gemm";
  static constexpr int kWindowLoads = kPixels * kDepth / 4 / kThreads;
  static constexpr int kWeightQuads = kOutputs * kDepth / 4;  // loads of a block
  static constexpr int kWeightLoads = (kWeightQuads + kThreads - 1) / kThreads;
  static_assert(kPixels * kDepth % (4 * kThreads) == 0);

  ConvolutionShape shape;
  std::uint32_t output_tiles;
  const float* src;
  const float* weights;  // [depth][outputs]
  float* dst;

  struct Shared {
    // A row has one quad more than it needs: rows that are written together then lie in other banks.
    Quad windows[2][kDepth][kPixels / 4 + 1];
    Quad weights[2][kDepth][kOutputs / 4];
  };

  // A quad of a window: a load's pixel in the tile, and its first term of every kDepth, the same in all of a
  // thread's loads.
  static BENCH_DEVICE int pixel_of(int load) { return load / (kDepth / 4); }
  static BENCH_DEVICE int term_of(int load) { return load % (kDepth / 4) * 4; }
  static_assert(kThreads % (kDepth / 4) == 0);

  // kCount neighbouring terms; zeros outside the input.
  BENCH_DEVICE void gather(const Corner& window, const Corner& tap, float (&values)[kCount]) const {
    if (shape.inside(window, tap)) {
      load_floats<Memory>(src + (window.at + tap.at), values);
    } else {
      for (int i = 0; i < kCount; ++i) {
        values[i] = 0;
      }
    }
  }

  // Four neighbouring outputs' weights of one term.
  BENCH_DEVICE Quad weight_quad(int load, std::uint32_t step, int first_output) const {
    const std::uint32_t term = step + static_cast<std::uint32_t>(load / (kOutputs / 4));
    const int output = first_output + load % (kOutputs / 4) * 4;
    Quad quad;
    BENCH_UNROLL
    for (int i = 0; i < 4; i += kCount) {
      float values[kCount] = {};
      if (term < shape.depth && output + i < shape.outputs) {
        load_floats<Memory>(weights + (term * static_cast<std::uint32_t>(shape.outputs) +
                                       static_cast<std::uint32_t>(output + i)),
                            values);
      }
      for (int j = 0; j < kCount; ++j) {
        quad.at[i + j] = values[j];
      }
    }
    return quad;
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    const auto block = static_cast<std::uint32_t>(thread.block());
    const std::uint32_t pixel_tile = block / output_tiles;
    const std::uint32_t first_pixel = pixel_tile * kPixels;
    const int first_output = static_cast<int>(block - pixel_tile * output_tiles) * kOutputs;
    const int me = thread.index();

    Corner from[kWindowLoads];
    Quad next_windows[kWindowLoads];
    Quad next_weights[kWeightLoads];
    BENCH_UNROLL
    for (int l = 0; l < kWindowLoads; ++l) {
      from[l] = shape.window(first_pixel + static_cast<std::uint32_t>(pixel_of(me + l * kThreads)));
    }
    const auto fetch = [&](std::uint32_t step) {
      BENCH_UNROLL
      for (int i = 0; i < 4; i += kCount) {
        const Corner tap = shape.tap(step + static_cast<std::uint32_t>(term_of(me) + i));
        BENCH_UNROLL
        for (int l = 0; l < kWindowLoads; ++l) {
          float values[kCount];
          gather(from[l], tap, values);
          for (int j = 0; j < kCount; ++j) {
            next_windows[l].at[i + j] = values[j];
          }
        }
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        if (const int load = me + l * kThreads; load < kWeightQuads) {
          next_weights[l] = weight_quad(load, step, first_output);
        }
      }
    };
    const auto keep = [&](int room) {
      BENCH_UNROLL
      for (int l = 0; l < kWindowLoads; ++l) {
        BENCH_UNROLL
        for (int i = 0; i < 4; ++i) {
          const int pixel = pixel_of(me + l * kThreads);
          shared.windows[room][term_of(me) + i][pixel / 4].at[pixel % 4] = next_windows[l].at[i];
        }
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        if (const int load = me + l * kThreads; load < kWeightQuads) {
          shared.weights[room][load / (kOutputs / 4)][load % (kOutputs / 4)] = next_weights[l];
        }
      }
    };

    // A warp is eight threads wide over outputs and four high over pixels: what its lanes read together lies
    // in few rows of the banks.
    constexpr int kWarpsAcross = kOutputs / kMine / 8;
    const int warp = me / 32;
    const int across = warp % kWarpsAcross * 8 + me % 8;
    const int down = warp / kWarpsAcross * 4 + me % 32 / 8;

    float sums[kMine][kMine] = {};
    fetch(0);
    keep(0);
    thread.sync();
    int room = 0;
    for (std::uint32_t step = 0; step < shape.depth; step += kDepth) {
      const bool more = step + kDepth < shape.depth;
      if (more) {
        fetch(step + kDepth);
      }
      BENCH_UNROLL
      for (int d = 0; d < kDepth; ++d) {
        Quad left[kGroups];
        Quad right[kGroups];
        BENCH_UNROLL
        for (int g = 0; g < kGroups; ++g) {
          left[g] = shared.windows[room][d][down + g * (kPixels / 8)];
          right[g] = shared.weights[room][d][across + g * (kOutputs / 8)];
        }
        BENCH_UNROLL
        for (int i = 0; i < kMine; ++i) {
          BENCH_UNROLL
          for (int j = 0; j < kMine; ++j) {
            sums[i][j] = fmaf(left[i / 4].at[i % 4], right[j / 4].at[j % 4], sums[i][j]);
          }
        }
      }
      // The other room was read before the last barrier.
      room = 1 - room;
      if (more) {
        keep(room);
      }
      thread.sync();
    }

    BENCH_UNROLL
    for (int i = 0; i < kMine; ++i) {
      const std::uint32_t pixel =
          first_pixel + static_cast<std::uint32_t>(i / 4 * (kPixels / 2) + down * 4 + i % 4);
      BENCH_UNROLL
      for (int j = 0; j < kMine; j += kCount) {
        const int output = first_output + j / 4 * (kOutputs / 2) + across * 4 + j % 4;
        if (pixel < shape.pixels && output < shape.outputs) {
          float values[kCount];
          for (int n = 0; n < kCount; ++n) {
            values[n] = sums[i][j + n];
          }
          store_floats<Memory>(
              dst + (pixel * static_cast<std::uint32_t>(shape.outputs) + static_cast<std::uint32_t>(output)),
              values);
        }
      }
    }
  }
};

// The implicit product of kernels/operations/conv2d/implicit_gemm.cuh in fp16 on tensor cores, sums in fp32.

// A block does 128 pixels × kOutputs: its eight warps are four high and two wide, each with two rows of
// kOutputs / 32 tiles. The sums' next 32 terms come into shared memory while the ones before are added up.
// kCount: elements of one access to global memory, 8 where channels and addresses allow it, else 1.
template <class Element, class Tiles, int kOutputs, int kCount>
struct ImplicitGemmTiles {
  using Corner = ConvolutionShape::Corner;
  using Stored = typename Element::Stored;
  using Memory = typename Element::Memory;
  static constexpr int kThreads = 256;
  static constexpr int kResident = kOutputs > 64 ? 1 : 2;  // more registers than half of them hold
  static constexpr const char* kName = "implicit gemm on tensor cores";
  static constexpr int kPixels = 128;
  static constexpr int kDepth = 32;
  static constexpr int kEight = 8;  // elements of one access to shared memory
  static constexpr int kDown = 2;   // tiles of a warp
  static constexpr int kAcross = kOutputs / (2 * kTile);
  static constexpr int kWindowEights = kDepth / kEight;  // of a pixel's terms
  static constexpr int kWeightEights = kOutputs / kEight;
  static constexpr int kWindowLoads = kPixels * kWindowEights / kThreads;
  static constexpr int kWeightLoads = kDepth * kWeightEights / kThreads;
  static_assert(kPixels * kWindowEights % kThreads == 0 && kDepth * kWeightEights % kThreads == 0);

  ConvolutionShape shape;
  std::uint32_t output_tiles;
  const Stored* src;
  const Stored* weights;  // [depth][outputs]
  Stored* dst;

  struct alignas(16) Eight {
    Vector<16> words;
  };
  // Rows have one access more than they need: the rows of a tile then lie in different banks.
  struct Factors {
    Eight windows[2][kPixels][kWindowEights + 1];
    Eight weights[2][kDepth][kWeightEights + 1];
  };
  static constexpr int kSumStride = kTile + 4;
  struct alignas(32) Shared {
    union {
      Factors factors;
      float sums[kThreads / 32][kTile * kSumStride];  // of one tile of each warp, on their way out
    };
  };

  // Where there is nothing: zeros.
  static BENCH_DEVICE void read(const Stored* from, bool there, int at, Vector<16>& into) {
    if (there) {
      const auto words = load_vector<Element, kCount>(from);
      if constexpr (kCount == kEight) {
        into = words;
      } else {
        put(into, at, static_cast<Stored>(words.word[0]));
      }
    }
  }

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& shared = thread.template shared<Shared>();
    auto& factors = shared.factors;
    const auto block = static_cast<std::uint32_t>(thread.block());
    const std::uint32_t pixel_tile = block / output_tiles;
    const std::uint32_t first_pixel = pixel_tile * kPixels;
    const int first_output = static_cast<int>(block - pixel_tile * output_tiles) * kOutputs;
    const int me = thread.index();

    Corner from[kWindowLoads];
    Eight next_windows[kWindowLoads];
    Eight next_weights[kWeightLoads];
    BENCH_UNROLL
    for (int l = 0; l < kWindowLoads; ++l) {
      from[l] = shape.window(first_pixel + static_cast<std::uint32_t>((me + l * kThreads) / kWindowEights));
    }
    const auto fetch = [&](std::uint32_t step) {
      BENCH_UNROLL
      for (int l = 0; l < kWindowLoads; ++l) {
        next_windows[l] = {};
      }
      BENCH_UNROLL
      for (int i = 0; i < kEight; i += kCount) {
        const Corner tap = shape.tap(step + static_cast<std::uint32_t>(me % kWindowEights * kEight + i));
        BENCH_UNROLL
        for (int l = 0; l < kWindowLoads; ++l) {
          read(src + (from[l].at + tap.at), shape.inside(from[l], tap), i, next_windows[l].words);
        }
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        const int load = me + l * kThreads;
        const std::uint32_t term = step + static_cast<std::uint32_t>(load / kWeightEights);
        next_weights[l] = {};
        BENCH_UNROLL
        for (int i = 0; i < kEight; i += kCount) {
          const auto output = static_cast<std::uint32_t>(first_output + load % kWeightEights * kEight + i);
          const auto outputs = static_cast<std::uint32_t>(shape.outputs);
          read(weights + (term * outputs + output), term < shape.depth && output < outputs, i,
               next_weights[l].words);
        }
      }
    };
    const auto keep = [&](int room) {
      BENCH_UNROLL
      for (int l = 0; l < kWindowLoads; ++l) {
        const int load = me + l * kThreads;
        factors.windows[room][load / kWindowEights][load % kWindowEights] = next_windows[l];
      }
      BENCH_UNROLL
      for (int l = 0; l < kWeightLoads; ++l) {
        const int load = me + l * kThreads;
        factors.weights[room][load / kWeightEights][load % kWeightEights] = next_weights[l];
      }
    };

    const int warp = me / 32;
    const int top = warp / 2 * kDown * kTile;
    const int left_edge = warp % 2 * kAcross * kTile;
    typename Tiles::Sums sums[kDown][kAcross];
    BENCH_UNROLL
    for (int i = 0; i < kDown; ++i) {
      BENCH_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        sums[i][j].clear(thread);
      }
    }
    fetch(0);
    keep(0);
    thread.sync();
    int room = 0;
    for (std::uint32_t step = 0; step < shape.depth; step += kDepth) {
      const bool more = step + kDepth < shape.depth;
      if (more) {
        fetch(step + kDepth);
      }
      BENCH_UNROLL
      for (int d = 0; d < kDepth; d += kTile) {
        typename Tiles::Left left[kDown];
        BENCH_UNROLL
        for (int i = 0; i < kDown; ++i) {
          left[i].load(&factors.windows[room][top + i * kTile][d / kEight], (kWindowEights + 1) * kEight);
        }
        BENCH_UNROLL
        for (int j = 0; j < kAcross; ++j) {
          typename Tiles::Right right;
          right.load(&factors.weights[room][d][(left_edge + j * kTile) / kEight],
                     (kWeightEights + 1) * kEight);
          BENCH_UNROLL
          for (int i = 0; i < kDown; ++i) {
            sums[i][j].add(left[i], right);
          }
        }
      }
      // The other room was read before the last barrier.
      room = 1 - room;
      if (more) {
        keep(room);
      }
      thread.sync();
    }

    // Tile by tile through shared memory, where a lane finds eight neighbours of one pixel.
    float* const staged = shared.sums[warp];
    const int row = me % 32 / 2;
    const int column = me % 2 * kEight;
    BENCH_UNROLL
    for (int i = 0; i < kDown; ++i) {
      BENCH_UNROLL
      for (int j = 0; j < kAcross; ++j) {
        sums[i][j].store(staged, kSumStride);
        thread.sync();
        const std::uint32_t pixel = first_pixel + static_cast<std::uint32_t>(top + i * kTile + row);
        const int output = first_output + left_edge + j * kTile + column;
        BENCH_UNROLL
        for (int n = 0; n < kEight; n += kCount) {
          if (pixel < shape.pixels && output + n < shape.outputs) {
            float values[kCount];
            for (int k = 0; k < kCount; ++k) {
              values[k] = staged[row * kSumStride + column + n + k];
            }
            store_values<Element>(dst + (pixel * static_cast<std::uint32_t>(shape.outputs) +
                                         static_cast<std::uint32_t>(output + n)),
                                  values);
          }
        }
        thread.sync();
      }
    }
  }
};

// Calls visit with the places of each weight, in the plain and in the packed form.
template <class Visit>
void for_each_weight(const Conv2d& spec, Visit visit) {
  const std::int64_t taps = spec.kernel_h * spec.kernel_w;
  for (std::int64_t output = 0; output < spec.out_channels; ++output) {
    for (std::int64_t channel = 0; channel < spec.in_channels; ++channel) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        visit((output * spec.in_channels + channel) * taps + tap,
              (tap * spec.in_channels + channel) * spec.out_channels + output);
      }
    }
  }
}

// Why the implicit matrix product cannot do a convolution; nullopt where it can.
inline std::optional<std::string> implicit_gemm_unsupported(const Conv2d& spec) {
  if (auto wrong = spec.invalid()) {
    return wrong;
  }
  if (spec.direction != Conv2d::Direction::forward || spec.training) {
    return "implicit_gemm does the forward pass of inference only";
  }
  if (spec.dtype != Dtype::fp32 && spec.dtype != Dtype::fp16) {
    return "implicit_gemm computes in fp32 and fp16, not " + std::string(name_of(spec.dtype));
  }
  if (spec.groups != 1) {
    return "implicit_gemm takes one group of channels, not " + std::to_string(spec.groups);
  }
  if (spec.bias || spec.residual || spec.activation != Activation::none) {
    return "implicit_gemm fuses nothing behind the convolution";
  }
  if (auto reason = not_nhwc(spec.src())) {
    return reason;
  }
  if (auto reason = not_nhwc(spec.dst())) {
    return reason;
  }
  if (spec.weight_count() > kMostUnits) {
    return "implicit_gemm counts to " + std::to_string(kMostUnits) + ", there are " +
           std::to_string(spec.weight_count()) + " weights";
  }
  return std::nullopt;
}

// Between plain weights, [outputs][channels][taps], and [taps][channels][outputs].
inline std::vector<float> depth_major(const Conv2d& spec, std::span<const float> plain) {
  std::vector<float> packed(plain.size());
  for_each_weight(spec, [&](std::int64_t from, std::int64_t to) { packed[to] = plain[from]; });
  return packed;
}

inline void undo_depth_major(const Conv2d& spec, std::span<const float> packed, std::span<float> plain) {
  for_each_weight(spec, [&](std::int64_t to, std::int64_t from) { plain[to] = packed[from]; });
}

template <class Machine>
class ImplicitGemmOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Conv2d;
  static Dtype dtype_of(const Conv2d& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Conv2d& spec) {
    return implicit_gemm_unsupported(spec);
  }

  ImplicitGemmOperation(const Conv2d& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.src());
    this->add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
    this->add_activation(Slot::dst, Role::output, spec.dst());
  }

  void pack(Slot slot, std::span<const float> plain, void* packed) override {
    ReferenceOperation::pack(slot, depth_major(spec_, plain), packed);
  }
  void unpack(Slot slot, const void* packed, std::span<float> plain) override {
    std::vector<float> values(plain.size());
    ReferenceOperation::unpack(slot, packed, values);
    undo_depth_major(spec_, values, plain);
  }

  void run(const SlotPointers& pointers) override {
    spec_.dtype == Dtype::fp32 ? run_in_registers(pointers) : run_in_tiles(pointers);
  }

  double flops() const override { return 2.0 * static_cast<double>(spec_.macs()); }
  std::string algorithm() const override { return "implicit_gemm"; }

 private:
  std::int64_t blocks(int pixels, int outputs) const {
    return blocks_for(spec_.batch * spec_.out_height() * spec_.out_width(), pixels) *
           blocks_for(spec_.out_channels, outputs);
  }

  // The largest block that still gives each multiprocessor two of them, else the smallest.
  void run_in_registers(const SlotPointers& pointers) const {
    const std::int64_t enough = std::int64_t{this->queue().multiprocessors()} * 2;
    if (spec_.out_channels > 64 && blocks(128, 128) >= enough) {
      run_in_registers<128, 128, 8>(pointers);
    } else if (spec_.out_channels <= 64 && blocks(128, 64) >= enough) {
      run_in_registers<128, 64, 8>(pointers);
    } else {
      run_in_registers<64, 64, 16>(pointers);
    }
  }

  void run_in_tiles(const SlotPointers& pointers) const {
    const std::int64_t enough = std::int64_t{this->queue().multiprocessors()} * 2;
    if (spec_.out_channels > 64 && blocks(128, 128) >= enough) {
      run_in_tiles<128>(pointers);
    } else {
      run_in_tiles<64>(pointers);
    }
  }

  ConvolutionShape shape() const {
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    return {.height = size(spec_.height),
            .width = size(spec_.width),
            .channels = size(spec_.in_channels),
            .outputs = size(spec_.out_channels),
            .stride_h = size(spec_.stride_h),
            .stride_w = size(spec_.stride_w),
            .pad_h = size(spec_.pad_h),
            .pad_w = size(spec_.pad_w),
            .dilation_h = size(spec_.dilation_h),
            .dilation_w = size(spec_.dilation_w),
            .pixels = static_cast<std::uint32_t>(spec_.batch * spec_.out_height() * spec_.out_width()),
            .depth = static_cast<std::uint32_t>(spec_.in_channels * spec_.kernel_h * spec_.kernel_w),
            .out_w = Divider(spec_.out_width()),
            .out_h = Divider(spec_.out_height()),
            .by_channels = Divider(spec_.in_channels),
            .by_kernel_w = Divider(spec_.kernel_w)};
  }

  template <int kPixels, int kOutputs, int kDepth>
  void run_in_registers(const SlotPointers& pointers) const {
    with_accesses<typename Machine::Fp32>(pointers, [&]<int kCount>() {
      this->queue().launch(
          ImplicitGemm<typename Machine::Memory, kPixels, kOutputs, kDepth, kCount>{
              .shape = shape(),
              .output_tiles = static_cast<std::uint32_t>(blocks_for(spec_.out_channels, kOutputs)),
              .src = this->floats(pointers, Slot::src),
              .weights = this->floats(pointers, Slot::weights),
              .dst = this->floats(pointers, Slot::dst)},
          blocks(kPixels, kOutputs));
    });
  }

  template <int kOutputs>
  void run_in_tiles(const SlotPointers& pointers) const {
    using Element = typename Machine::Fp16;
    with_accesses<Element>(pointers, [&]<int kCount>() {
      using Kernel =
          ImplicitGemmTiles<Element, typename TilesOf<Machine>::template Of<Element>, kOutputs, kCount>;
      this->queue().launch(
          Kernel{.shape = shape(),
                 .output_tiles = static_cast<std::uint32_t>(blocks_for(spec_.out_channels, kOutputs)),
                 .src = this->template stored<Element>(pointers, Slot::src),
                 .weights = this->template stored<Element>(pointers, Slot::weights),
                 .dst = this->template stored<Element>(pointers, Slot::dst)},
          blocks(Kernel::kPixels, kOutputs));
    });
  }

  // Every access begins at a channel of a pixel, or at an output of a term: both counts must allow it.
  template <class Element, class Visit>
  void with_accesses(const SlotPointers& pointers, const Visit& visit) const {
    with_access<Element>(spec_.in_channels | spec_.out_channels, visit,
                         this->template stored<Element>(pointers, Slot::src),
                         this->template stored<Element>(pointers, Slot::weights),
                         this->template stored<Element>(pointers, Slot::dst));
  }

  Conv2d spec_;
};

}  // namespace bench::kernels::cuda
