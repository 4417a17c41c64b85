// Attention in inference on the CPU, a head at a time: some rows of scores, their softmax and its product
// with the values, while those rows are in a core's cache. So scratch grows with the threads, not with heads
// and batch. Rows are divided by their sums after the second product, which is narrower than the scores.
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numbers>

#include "kernels/backends/onednn/onednn.h"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/attention/attention.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kScoreBytes = 256 << 10;  // of a thread: they stay in the second cache
constexpr std::int64_t kLeastRows = 32;          // below, a product's rows are too few for its kernels

// Some floats, which lie at any address; their bits; and how many they are.
template <std::int64_t kWidth>
struct Vectors;
template <>
struct Vectors<4> {
  using Floats = float __attribute__((vector_size(16), aligned(4)));
  using Bits = std::int32_t __attribute__((vector_size(16), aligned(4)));
};
template <>
struct Vectors<8> {
  using Floats = float __attribute__((vector_size(32), aligned(4)));
  using Bits = std::int32_t __attribute__((vector_size(32), aligned(4)));
};
template <>
struct Vectors<16> {
  using Floats = float __attribute__((vector_size(64), aligned(4)));
  using Bits = std::int32_t __attribute__((vector_size(64), aligned(4)));
};

// e^x for x of at most 0, within 2 units in the last place down to e^−87, and that below: 2^n · e^r with
// r = x − n ln 2, |r| ≤ ln 2 / 2, and the polynomial of Cephes' expf (S. Moshier) for e^r.
template <std::int64_t kWidth>
[[gnu::always_inline]] inline void exponential(typename Vectors<kWidth>::Floats& x) {
  using Floats = typename Vectors<kWidth>::Floats;
  using Bits = typename Vectors<kWidth>::Bits;
  constexpr float kRound = 12582912;  // 1.5 · 2²³: added, it leaves a rounded number in the last bits
  x = x > -87.0F ? x : Floats{} - 87.0F;
  const Floats rounded = x * std::numbers::log2e_v<float> + kRound;
  const Floats n = rounded - kRound;
  const Floats r = (x - n * 0.693359375F) + n * 2.12194440e-4F;  // NOLINT(modernize-use-std-numbers)
  Floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  x = reinterpret_cast<Floats>(reinterpret_cast<Bits>(p) + (reinterpret_cast<Bits>(rounded) << 23));
}

// Each row's scores, of which `padded` are stored, become exponentials of their distances from the largest;
// `shares` one over their sums.
template <std::int64_t kWidth>
[[gnu::always_inline]] inline void soften(float* scores, std::int64_t rows, std::int64_t count,
                                          std::int64_t padded, float* shares) {
  using Floats = typename Vectors<kWidth>::Floats;
  for (std::int64_t row = 0; row < rows; ++row) {
    float* const x = scores + row * padded;
    std::fill(x + count, x + padded, std::numeric_limits<float>::lowest());
    const auto at = [&](std::int64_t j) -> Floats& { return *reinterpret_cast<Floats*>(x + j); };
    Floats most = at(0);
    for (std::int64_t j = kWidth; j < padded; j += kWidth) {
      most = at(j) > most ? at(j) : most;
    }
    float largest = most[0];
    for (std::int64_t i = 1; i < kWidth; ++i) {
      largest = std::max(largest, static_cast<float>(most[i]));
    }
    Floats sums{};
    for (std::int64_t j = 0; j < padded; j += kWidth) {
      Floats value = at(j) - largest;
      exponential<kWidth>(value);
      at(j) = value;
      sums += value;
    }
    float sum = 0;
    for (std::int64_t i = 0; i < kWidth; ++i) {
      sum += static_cast<float>(sums[i]);
    }
    for (std::int64_t j = count; j < padded; ++j) {
      sum -= x[j];
    }
    shares[row] = 1 / sum;
  }
}

using Soften = void (*)(float* scores, std::int64_t rows, std::int64_t count, std::int64_t padded,
                        float* shares);
[[gnu::target("avx512f,avx512dq")]] void soften_avx512(float* scores, std::int64_t rows, std::int64_t count,
                                                       std::int64_t padded, float* shares) {
  soften<16>(scores, rows, count, padded, shares);
}
[[gnu::target("avx2,fma")]] void soften_avx2(float* scores, std::int64_t rows, std::int64_t count,
                                             std::int64_t padded, float* shares) {
  soften<8>(scores, rows, count, padded, shares);
}
void soften_plain(float* scores, std::int64_t rows, std::int64_t count, std::int64_t padded, float* shares) {
  soften<4>(scores, rows, count, padded, shares);
}
Soften fastest_soften() {
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
    return soften_avx512;
  }
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 ? soften_avx2
                                                                                   : soften_plain;
}

void multiply(bool transposed, std::int64_t rows, std::int64_t columns, std::int64_t inner, float scale,
              const float* a, std::int64_t a_step, const float* b, std::int64_t b_step, float* c,
              std::int64_t c_step) {
  const dnnl_status_t status = dnnl_sgemm('N', transposed ? 'T' : 'N', rows, columns, inner, scale, a, a_step,
                                          b, b_step, 0, c, c_step);
  if (status != dnnl_success) {
    onednn::rethrow(dnnl::error(status, "dnnl_sgemm"), "attention");
  }
}

class CpuAttention final : public ReferenceOf<Attention> {
 public:
  explicit CpuAttention(const Attention& spec)
      : ReferenceOf(spec),
        threads_(omp_get_max_threads()),
        padded_((spec.key_count() + kLanes - 1) / kLanes * kLanes),
        rows_(rows_of(spec, padded_, threads_)) {
    add_opaque(Slot::workspace, Role::scratch, threads_ * scratch_floats() * bytes_of(Dtype::fp32));
  }

  std::string algorithm() const override { return "a head at a time"; }

  void run(const SlotPointers& pointers) override {
    const std::int64_t blocks = (spec_.sequence + rows_ - 1) / rows_;
    auto* const scratch = static_cast<float*>(pointers[Slot::workspace]);
#pragma omp parallel for collapse(3) schedule(static) num_threads(threads_)
    for (std::int64_t n = 0; n < spec_.batch; ++n) {
      for (std::int64_t head = 0; head < spec_.heads; ++head) {
        for (std::int64_t block = 0; block < blocks; ++block) {
          run_block(pointers, n, head, block * rows_, scratch + omp_get_thread_num() * scratch_floats());
        }
      }
    }
  }

 private:
  static constexpr std::int64_t kLanes = 16;  // floats of the widest vector

  // Rows whose scores fit, as many as make blocks of one size; fewer where there are less heads than threads.
  static std::int64_t rows_of(const Attention& spec, std::int64_t padded, int threads) {
    const std::int64_t fit = std::max(kScoreBytes / bytes_of(Dtype::fp32) / padded, std::int64_t{kLeastRows});
    std::int64_t blocks = (spec.sequence + fit - 1) / fit;
    while (spec.batch * spec.heads * blocks < threads && spec.sequence / (blocks + 1) >= kLeastRows) {
      ++blocks;
    }
    return (spec.sequence + blocks - 1) / blocks;
  }
  // Scores and shares of a thread.
  std::int64_t scratch_floats() const {
    return (rows_ * (padded_ + 1) + kLanes - 1) / kLanes * kLanes;
  }

  void run_block(const SlotPointers& pointers, std::int64_t n, std::int64_t head, std::int64_t first,
                 float* scores) const {
    const auto part = [&](std::size_t which, std::int64_t positions, std::int64_t position) {
      const auto* const all =
          reinterpret_cast<const float*>(part_of(spec_, pointers, kAttentionInputs, which));
      return all + (n * positions + position) * spec_.row() + head * spec_.head_size;
    };
    const std::int64_t rows = std::min(rows_, spec_.sequence - first);
    const std::int64_t keys = spec_.key_count();
    float* const shares = scores + rows_ * padded_;
    multiply(true, rows, keys, spec_.head_size, static_cast<float>(spec_.factor()),
             part(0, spec_.sequence, first), spec_.row(), part(1, keys, 0), spec_.row(), scores, padded_);
    soften_(scores, rows, keys, padded_, shares);
    float* const dst = static_cast<float*>(pointers[Slot::dst]) +
                       (n * spec_.sequence + first) * spec_.width() + head * spec_.head_size;
    multiply(false, rows, spec_.head_size, keys, 1, scores, padded_, part(2, keys, 0), spec_.row(), dst,
             spec_.width());
    for (std::int64_t row = 0; row < rows; ++row) {
      float* const out = dst + row * spec_.width();
#pragma omp simd
      for (std::int64_t f = 0; f < spec_.head_size; ++f) {
        out[f] *= shares[row];
      }
    }
  }

  Soften soften_ = fastest_soften();
  int threads_;
  std::int64_t padded_;  // a row of scores, in floats
  std::int64_t rows_;    // of a block
};

const Registration<Implementation<Attention>> BENCH_REGISTERED{{
    .name = "cpu",
    .device_kind = "cpu",
    .preference = 20,
    .unsupported = [](const Attention& spec, const Device& /*device*/) -> std::optional<std::string> {
      if (auto wrong = spec.invalid()) {
        return wrong;
      }
      if (spec.training || !spec.forward() || spec.causal || spec.dtype != Dtype::fp32) {
        return "it keeps nothing for a gradient, hides no position and computes in fp32";
      }
      return std::nullopt;
    },
    .make = [](const Attention& spec, Device& /*device*/) { return std::make_unique<CpuAttention>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
