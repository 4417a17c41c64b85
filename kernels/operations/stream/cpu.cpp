// The stream kernels on the CPU: each OpenMP thread takes one part of the arrays. Copies go through memcpy,
// which writes past the caches where the array is large. The other kinds write through them: a line is
// fetched before it is overwritten, traffic that is not counted here, as in the original STREAM.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/stream/stream.h"

namespace bench::kernels {
namespace {

[[gnu::target_clones("avx512f", "avx2", "default")]] void scale(const float* a, float* to,
                                                                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = Stream::kScalar * a[i];
  }
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void add(const float* a, const float* b, float* to,
                                                              std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = a[i] + b[i];
  }
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void triad(const float* a, const float* b, float* to,
                                                                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = a[i] + Stream::kScalar * b[i];
  }
}

[[gnu::target_clones("avx512f", "avx2", "default")]] double square_sum(const float* a, std::int64_t count) {
  // Independent sums hide the addition's latency and become the lanes of vectors.
  constexpr std::int64_t kLanes = 64;
  std::array<float, kLanes> lanes{};
  const std::int64_t whole = count / kLanes * kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      lanes[static_cast<std::size_t>(lane)] += a[i + lane] * a[i + lane];
    }
  }
  double sum = 0;
  for (const float lane : lanes) {
    sum += static_cast<double>(lane);
  }
  for (std::int64_t i = whole; i < count; ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(a[i]);
  }
  return sum;
}

class CpuStream final : public ReferenceOf<Stream> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const auto* a = static_cast<const float*>(pointers[Slot::src]);
    auto* to = static_cast<float*>(pointers[Slot::dst]);
    if (spec_.kind == Stream::Kind::read) {
      return sum_rows(a, to);
    }
    const auto* b = static_cast<const float*>(pointers[Slot::src1]);
    const std::int64_t all = spec_.rows * spec_.count;
    const std::int64_t parts = omp_get_max_threads();
#pragma omp parallel for schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = all * part / parts;
      run_part(a + begin, b == nullptr ? nullptr : b + begin, to + begin, all * (part + 1) / parts - begin);
    }
  }

  std::string algorithm() const override {
    return "cpu";
  }

 private:
  void run_part(const float* a, const float* b, float* to, std::int64_t count) const {
    switch (spec_.kind) {
      case Stream::Kind::scale:
        return scale(a, to, count);
      case Stream::Kind::add:
        return add(a, b, to, count);
      case Stream::Kind::triad:
        return triad(a, b, to, count);
      default:
        std::memcpy(to, a, static_cast<std::size_t>(count) * sizeof(float));
    }
  }

  void sum_rows(const float* a, float* to) const {
    constexpr std::int64_t kPiece = std::int64_t{1}
                                    << 20;  // elements: a float sums no more than 16,384 squares
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
      for (std::int64_t begin = 0; begin < spec_.count; begin += kPiece) {
        sum += square_sum(a + row * spec_.count + begin, std::min(kPiece, spec_.count - begin));
      }
      to[row] = static_cast<float>(sum);
    }
  }
};

const Registration<Implementation<Stream>> BENCH_REGISTERED{cpu_implementation<Stream, CpuStream>(
    "cpu", 10, [](const Stream& spec, const Device& /*device*/) -> std::optional<std::string> {
      return spec.dtype == Dtype::fp32
                 ? std::nullopt
                 : std::optional<std::string>("on the CPU the stream kernels are in fp32");
    })};

}  // namespace
}  // namespace bench::kernels
