// The stream kernels by kernels of our own: four of them element by element, `read` as sums in two steps.
#include <array>

#include "kernels/backends/cuda/elementwise.cuh"
#include "kernels/backends/cuda/gpu.cuh"
#include "kernels/backends/cuda/row_group.cuh"
#include "kernels/operations/stream/stream.h"

namespace bench::kernels::cuda {

struct CopyFunction {
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return x[0]; }
};
struct ScaleFunction {
  BENCH_DEVICE float operator()(const float (&x)[1]) const { return Stream::kScalar * x[0]; }
};
struct SumFunction {
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return x[0] + x[1]; }
};
struct TriadFunction {
  BENCH_DEVICE float operator()(const float (&x)[2]) const { return x[0] + Stream::kScalar * x[1]; }
};

// partial[row][part] = Σ src² over a part of the row. Each block sums one part; a thread has kUnroll accesses
// under way before it needs the first.
template <class Element, int kCount>
struct SquareSums {
  static constexpr int kThreads = 256;
  static constexpr int kResident = 6;
  static constexpr int kUnroll = 4;
  static constexpr const char* kName = "sums of squares";
  using Stored = typename Element::Stored;

  const Stored* src;
  float* partial;
  std::int64_t count;     // elements of a row
  std::int64_t each;      // accesses of a part
  std::int32_t parts;     // of a row
  std::int64_t accesses;  // whole ones of a row; the last part takes what is left after them

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = thread.block() / parts;
    const std::int64_t part = thread.block() - row * parts;
    const Stored* const from = src + row * count;
    const std::int64_t end = (part + 1) * each;
    const std::int64_t last = end < accesses ? end : accesses;

    float sums[kCount] = {};
    for (std::int64_t first = part * each + thread.index(); first < last; first += kThreads * kUnroll) {
      Vector<kBytesOf<Element, kCount>> words[kUnroll];
      BENCH_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        if (const std::int64_t at = first + u * kThreads; at < last) {
          words[u] = load_vector<Element, kCount>(from + at * kCount);
        }
      }
      BENCH_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        if (const std::int64_t at = first + u * kThreads; at < last) {
          float x[kCount];
          unpack<Element>(words[u], x);
          BENCH_UNROLL
          for (int i = 0; i < kCount; ++i) {
            sums[i] += x[i] * x[i];
          }
        }
      }
    }
    if (const std::int64_t at = accesses * kCount + thread.index(); part == parts - 1 && at < count) {
      float x[1];
      load_values<Element>(from + at, x);
      sums[0] += x[0] * x[0];
    }
    float sum = sums[0];
    BENCH_UNROLL
    for (int i = 1; i < kCount; ++i) {
      sum += sums[i];
    }
    sum = join_group<kThreads>(thread, sum, Sum{}, room);
    if (thread.index() == 0) {
      partial[thread.block()] = sum;
    }
  }
};

// dst[row] = the sum of the row's parts, a warp a row.
template <class Memory>
struct FinishSquareSums {
  static constexpr int kThreads = RowGroup<kWarp>::kThreads;
  static constexpr const char* kName = "finish sums of squares";

  const float* partial;
  float* dst;
  std::int64_t rows;
  std::int32_t parts;

  using Shared = WarpValues<float>;

  template <class Thread>
  BENCH_DEVICE void operator()(const Thread& thread) const {
    auto& room = thread.template shared<Shared>();
    const std::int64_t row = RowGroup<kWarp>::row(thread);
    const int lane = RowGroup<kWarp>::lane(thread);
    float sum = 0;
    for (std::int32_t part = lane; row < rows && part < parts; part += kWarp) {
      sum += partial[row * parts + part];
    }
    sum = join_group<kWarp>(thread, sum, Sum{}, room);
    if (lane == 0 && row < rows) {
      dst[row] = sum;
    }
  }
};

template <class Machine>
class StreamOperation final : public KernelOperation<Machine, Stream> {
 public:
  using Kind = Stream::Kind;

  StreamOperation(const Stream& spec, Device& device) : KernelOperation<Machine, Stream>(spec, device) {
    if (spec.kind == Kind::read) {
      this->add_opaque(Slot::workspace, Role::scratch,
                       spec.rows * parts() * static_cast<std::int64_t>(sizeof(float)));
    }
  }

  void run(const SlotPointers& pointers) override {
    with_element<Machine>(spec_.dtype, [&]<class Element>() {
      const auto* const src = stored<Element>(pointers, Slot::src);
      const auto* const src1 = stored<Element>(pointers, Slot::src1);
      const auto each = [&](const auto& in, const auto& function) {
        launch_elementwise<Element>(this->queue(), in, stored<Element>(pointers, Slot::dst),
                                    stored_elements(spec_.src()), function);
      };
      switch (spec_.kind) {
        case Kind::copy:
          return each(std::array{src}, CopyFunction{});
        case Kind::scale:
          return each(std::array{src}, ScaleFunction{});
        case Kind::add:
          return each(std::array{src, src1}, SumFunction{});
        case Kind::triad:
          return each(std::array{src, src1}, TriadFunction{});
        case Kind::read:
          return this->template read<Element>(pointers, src);
      }
    });
  }

 private:
  // As many blocks as the device holds at once, shared among the rows; none with less than one round of all
  // its threads. The same for every access, for it sizes the workspace.
  std::int64_t parts() const {
    using Sums = SquareSums<typename Machine::Fp32, 4>;
    constexpr std::int64_t kLeast = std::int64_t{Sums::kThreads} * Sums::kUnroll * 4;  // elements
    const std::int64_t wanted = this->queue().template resident<Sums>() / spec_.rows;
    return std::clamp<std::int64_t>((spec_.count + kLeast - 1) / kLeast, 1,
                                    std::max<std::int64_t>(1, wanted));
  }

  template <class Element>
  void read(const SlotPointers& pointers, const typename Element::Stored* src) const {
    float* const partial = floats(pointers, Slot::workspace);
    const auto parts = static_cast<std::int32_t>(this->parts());
    const auto sum = [&]<int kCount>() {
      const std::int64_t accesses = spec_.count / kCount;
      this->launch(SquareSums<Element, kCount>{.src = src,
                                               .partial = partial,
                                               .count = spec_.count,
                                               .each = blocks_for(accesses, parts),
                                               .parts = parts,
                                               .accesses = accesses},
                   spec_.rows * parts);
    };
    // A single row may end within an access; of several each must begin at one.
    with_access<Element>(spec_.rows == 1 ? 0 : spec_.count, sum, src);
    this->launch(
        FinishSquareSums<typename Element::Memory>{partial, floats(pointers, Slot::dst), spec_.rows, parts},
        RowGroup<kWarp>::blocks(spec_.rows));
  }

  using KernelOperation<Machine, Stream>::spec_;
};

template struct OnGpu<StreamOperation>;

}  // namespace bench::kernels::cuda
