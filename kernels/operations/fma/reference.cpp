// Multiply-adds as they are defined in fma.h, in double, the recurrences solved: thousands of dependent steps
// on millions of elements would take longer than all that is measured.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/fma/fma.h"

namespace bench::kernels {

PlainSlots plain_slots(const Fma& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.tensor());
  slots.add_activation(Slot::dst, Role::output, spec.tensor());
  return slots;
}

namespace {

class ReferenceFma final : public ReferenceOf<Fma> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    std::vector<float> values = read(pointers, Slot::src);
    spec_.kind == Fma::Kind::chains ? run_chains(values) : run_tiles(values);
    write(pointers, Slot::dst, values);
  }

 private:
  // The distance to the fixed point, where f · x + s = x, shrinks by the factor f in each step.
  void run_chains(std::vector<float>& values) const {
    constexpr auto kFactor = static_cast<double>(Fma::kFactor);
    constexpr double kFixedPoint = static_cast<double>(Fma::kSummand) / (1 - kFactor);
    const double shrunk = std::pow(kFactor, static_cast<double>(spec_.steps));
    for (float& value : values) {
      value = static_cast<float>(kFixedPoint + shrunk * (static_cast<double>(value) - kFixedPoint));
    }
  }

  // S is steps · X · M: a sum of equal terms.
  void run_tiles(std::vector<float>& values) const {
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      for (std::int64_t first = 0; first < spec_.count; first += Fma::kTileElements) {
        const std::span<float> tile(
            values.data() + row * spec_.count + first,
            static_cast<std::size_t>(std::min(Fma::kTileElements, spec_.count - first)));
        multiply(tile);
      }
    }
  }

  void multiply(std::span<float> tile) const {
    const std::vector<float> x(tile.begin(), tile.end());
    for (std::size_t at = 0; at < tile.size(); ++at) {
      const std::size_t column = at % Fma::kTileSide;
      const std::size_t line = at - column;
      double sum = 0;
      for (std::size_t k = 0; k < Fma::kTileSide && line + k < x.size(); ++k) {
        sum += static_cast<double>(x[line + k]) *
               static_cast<double>(fma_matrix(static_cast<int>(k), static_cast<int>(column)));
      }
      tile[at] = static_cast<float>(static_cast<double>(spec_.steps) * sum);
    }
  }
};

const Registration<Implementation<Fma>> BENCH_REGISTERED{reference_implementation<Fma, ReferenceFma>()};

}  // namespace
}  // namespace bench::kernels
