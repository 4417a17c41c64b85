// Looking up rows of a table, and the table's gradient, token after token; the formulas stand in embedding.h.
#include <algorithm>

#include "kernels/embedding/embedding.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferenceEmbedding final : public ReferenceOperation {
 public:
  explicit ReferenceEmbedding(const Embedding& spec) : spec_(spec) {
    add_opaque(Slot::src, Role::input, spec.token_bytes());
    if (spec.direction == Embedding::Direction::forward) {
      add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
      mark_looked_up(Slot::weights, spec.dst().bytes());
      add_activation(Slot::dst, Role::output, spec.dst());
    } else {
      add_activation(Slot::diff_dst, Role::input, spec.dst());
      add_values(Slot::diff_weights, spec.add ? Role::state : Role::output, spec.weight_count(), spec.dtype);
    }
  }

  void run(const SlotPointers& pointers) override {
    const auto* const tokens = static_cast<const std::int32_t*>(pointers[Slot::src]);
    if (spec_.direction == Embedding::Direction::forward) {
      const std::vector<float> table = read_values(pointers, Slot::weights);
      std::vector<float> dst(static_cast<std::size_t>(spec_.rows * spec_.width));
      for_named_rows(tokens, [&](std::int64_t row, std::int64_t named) {
        std::copy_n(table.begin() + named * spec_.width, spec_.width, dst.begin() + row * spec_.width);
      });
      write(pointers, Slot::dst, dst);
      return;
    }
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<float> table(static_cast<std::size_t>(spec_.weight_count()));
    if (spec_.add) {
      table = read_values(pointers, Slot::diff_weights);
    }
    std::vector<double> sums(table.begin(), table.end());
    for_named_rows(tokens, [&](std::int64_t row, std::int64_t named) {
      for (std::int64_t i = 0; i < spec_.width; ++i) {
        sums[named * spec_.width + i] += diff_dst[row * spec_.width + i];
      }
    });
    std::ranges::transform(sums, table.begin(), [](double sum) { return static_cast<float>(sum); });
    write_values(pointers, Slot::diff_weights, table);
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Visit>
  void for_named_rows(const std::int32_t* tokens, Visit visit) const {
    for (std::int64_t row = 0; row < spec_.rows; ++row) {
      if (tokens[row] >= 0 && tokens[row] < spec_.vocabulary) {
        visit(row, static_cast<std::int64_t>(tokens[row]));
      }
    }
  }

  Embedding spec_;
};

const Registration<Implementation<Embedding>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const Embedding& /*spec*/, const Device& /*device*/) -> std::optional<std::string> {
      return std::nullopt;
    },
    .make = [](const Embedding& spec,
               Device& /*device*/) { return std::make_unique<ReferenceEmbedding>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
