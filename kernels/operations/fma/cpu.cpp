// Multiply-adds on the CPU, in the widest vectors the processor has, parts of the array on OpenMP threads.
#include <omp.h>

#include <algorithm>
#include <array>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/fma/fma.h"

namespace bench::kernels {
namespace {

// Chains under way at once: 16 vectors of 16 lanes. A multiply-add takes about four cycles and two start in
// each, so eight vectors suffice; more hide the loop's own instructions.
constexpr std::int64_t kChains = 256;

[[gnu::target_clones("avx512f", "arch=haswell", "default")]] void chains(const float* from, float* to,
                                                                         std::int64_t steps) {
  std::array<float, kChains> x;
  std::copy(from, from + kChains, x.begin());
  for (std::int64_t step = 0; step < steps; ++step) {
    for (float& value : x) {
      value = Fma::kFactor * value + Fma::kSummand;
    }
  }
  std::copy(x.begin(), x.end(), to);
}

class CpuFma final : public ReferenceOf<Fma> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const auto* src = static_cast<const float*>(pointers[Slot::src]);
    auto* dst = static_cast<float*>(pointers[Slot::dst]);
    const std::int64_t all = spec_.rows * spec_.count;
    const std::int64_t blocks = all / kChains;
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < blocks; ++block) {
      chains(src + block * kChains, dst + block * kChains, spec_.steps);
    }
    const std::int64_t done = blocks * kChains;
    if (done < all) {  // a part of a block, through a whole one
      std::array<float, kChains> padded{};
      std::copy(src + done, src + all, padded.begin());
      chains(padded.data(), padded.data(), spec_.steps);
      std::copy(padded.begin(), padded.begin() + (all - done), dst + done);
    }
  }

  std::string algorithm() const override {
    return "cpu";
  }
};

const Registration<Implementation<Fma>> BENCH_REGISTERED{cpu_implementation<Fma, CpuFma>(
    "cpu", 10, [](const Fma& spec, const Device& /*device*/) -> std::optional<std::string> {
      if (spec.kind == Fma::Kind::tiles) {
        return "fma on tensor cores needs a CUDA device; the CPU has none";
      }
      return spec.dtype == Dtype::fp32
                 ? std::nullopt
                 : std::optional<std::string>("on the CPU the multiply-adds are in fp32");
    })};

}  // namespace
}  // namespace bench::kernels
