// Position embeddings as they are defined in position_embedding.h.
#include "kernels/position_embedding/position_embedding.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels {
namespace {

class ReferencePositionEmbedding final : public ReferenceOperation {
 public:
  explicit ReferencePositionEmbedding(const PositionEmbedding& spec) : spec_(spec) {
    if (spec.direction == PositionEmbedding::Direction::forward) {
      add_activation(Slot::src, Role::input, spec.tensor());
      add_values(Slot::weights, Role::parameter, spec.weight_count(), spec.dtype);
      mark_looked_up(Slot::weights, spec.tensor().bytes());
      add_activation(Slot::dst, Role::output, spec.tensor());
    } else {
      add_activation(Slot::diff_dst, Role::input, spec.tensor());
      add_values(Slot::diff_weights, Role::output, spec.weight_count(), spec.dtype);
    }
  }

  void run(const SlotPointers& pointers) override {
    if (spec_.direction == PositionEmbedding::Direction::forward) {
      std::vector<float> x = read(pointers, Slot::src);
      const std::vector<float> table = read_values(pointers, Slot::weights);
      for_each([&](std::int64_t at, std::int64_t in_table) { x[at] += table[in_table]; });
      write(pointers, Slot::dst, x);
      return;
    }
    const std::vector<float> diff_dst = read(pointers, Slot::diff_dst);
    std::vector<double> sums(static_cast<std::size_t>(spec_.weight_count()));
    for_each([&](std::int64_t at, std::int64_t in_table) { sums[in_table] += diff_dst[at]; });
    const std::vector<float> table(sums.begin(), sums.end());
    write_values(pointers, Slot::diff_weights, table);
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Visit>
  void for_each(Visit visit) const {
    const std::int64_t sample = spec_.sequence * spec_.width;
    for (std::int64_t at = 0; at < spec_.batch * sample; ++at) {
      visit(at, at % sample);
    }
  }

  PositionEmbedding spec_;
};

const Registration<Implementation<PositionEmbedding>> registered{{
    .name = "reference",
    .device_kind = "cpu",
    .preference = -1,
    .unsupported = [](const PositionEmbedding& /*spec*/,
                      const Device& /*device*/) -> std::optional<std::string> { return std::nullopt; },
    .make = [](const PositionEmbedding& spec,
               Device& /*device*/) { return std::make_unique<ReferencePositionEmbedding>(spec); },
}};

}  // namespace
}  // namespace bench::kernels
