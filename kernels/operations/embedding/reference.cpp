// Rows of a table, and the table's gradient, row after row; the formulas are in embedding.h.
#include <algorithm>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/embedding/embedding.h"

namespace bench::kernels {

PlainSlots plain_slots(const Embedding& spec) {
  PlainSlots slots;
  if (spec.kind == Embedding::Kind::tokens) {
    slots.add_opaque(Slot::src, Role::input, spec.token_bytes());
  } else if (spec.forward()) {
    slots.add_activation(Slot::src, Role::input, spec.dst());
  }
  if (spec.forward()) {
    slots.add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
    slots.mark_looked_up(Slot::weights, spec.dst().bytes());
    slots.add_activation(Slot::dst, Role::output, spec.dst());
  } else {
    slots.add_activation(Slot::diff_dst, Role::input, spec.dst());
    slots.add_values(Slot::diff_weights, spec.add ? Role::state : Role::output, spec.weight_count(),
                     spec.dtype);
  }
  return slots;
}

namespace {

class ReferenceEmbedding final : public ReferenceOf<Embedding> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const bool tokens = spec_.kind == Embedding::Kind::tokens;
    if (spec_.forward()) {
      const std::vector<float> table = read_values(pointers, Slot::weights);
      std::vector<float> dst(static_cast<std::size_t>(spec_.rows * spec_.width));
      if (!tokens) {
        dst = read(pointers, Slot::src);
      }
      for_each_value(pointers, [&](std::int64_t at, std::int64_t in_table) { dst[at] += table[in_table]; });
      return write(pointers, Slot::dst, dst);
    }
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<float> table(static_cast<std::size_t>(spec_.weight_count()));
    if (spec_.add) {
      table = read_values(pointers, Slot::diff_weights);
    }
    std::vector<double> sums(table.begin(), table.end());
    for_each_value(pointers, [&](std::int64_t at, std::int64_t in_table) { sums[in_table] += diff_dst[at]; });
    std::ranges::transform(sums, table.begin(), [](double sum) { return static_cast<float>(sum); });
    write_values(pointers, Slot::diff_weights, table);
  }

 private:
  // Each value of a batch's rows with its place in the table.
  template <class Visit>
  void for_each_value(const SlotPointers& pointers, Visit visit) const {
    const auto* const tokens = static_cast<const std::int32_t*>(pointers[Slot::src]);
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      const std::int64_t taken = spec_.kind == Embedding::Kind::tokens ? tokens[row] : row % spec_.sequence;
      if (taken < 0 || taken >= spec_.vocabulary) {
        continue;
      }
      for (std::int64_t i = 0; i < spec_.width; ++i) {
        visit(row * spec_.width + i, taken * spec_.width + i);
      }
    }
  }
};

const Registration<Implementation<Embedding>> BENCH_REGISTERED{
    reference_implementation<Embedding, ReferenceEmbedding>()};

}  // namespace
}  // namespace bench::kernels
