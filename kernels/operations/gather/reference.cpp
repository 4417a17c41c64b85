// Gathering element by element, as it is defined in gather.h.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/gather/gather.h"

namespace bench::kernels {

std::optional<std::string> Gather::invalid() const {
  if (outer < 1 || extent < 1 || inner < 1 || indices.empty()) {
    return std::string("gather: sizes must be at least 1");
  }
  const auto wrong =
      std::ranges::find_if(indices, [&](std::int32_t index) { return index < 0 || index >= extent; });
  return wrong == indices.end()
             ? std::nullopt
             : std::optional(fmt::format("gather: index {} is not below {}", *wrong, extent));
}

PlainSlots plain_slots(const Gather& spec) {
  return PlainSlots::without_parameters(spec.forward(), spec.src(), spec.dst());
}

std::vector<GatheredPlace> sorted_places(const Gather& spec) {
  std::vector<GatheredPlace> places;
  for (const std::int32_t index : spec.indices) {
    places.push_back({index, static_cast<std::int32_t>(places.size())});
  }
  std::ranges::stable_sort(places, {}, &GatheredPlace::index);
  return places;
}

namespace {

class ReferenceGather final : public ReferenceOf<Gather> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const std::vector<float> given = read(pointers, spec_.forward() ? Slot::src : Slot::diff_dst);
    std::vector<double> made(
        static_cast<std::size_t>((spec_.forward() ? spec_.dst() : spec_.src()).elements()));
    for (std::int64_t o = 0; o < spec_.outer; ++o) {
      for (std::int64_t i = 0; i < spec_.count(); ++i) {
        for (std::int64_t k = 0; k < spec_.inner; ++k) {
          const std::int64_t in_src = (o * spec_.extent + spec_.indices[i]) * spec_.inner + k;
          const std::int64_t in_dst = (o * spec_.count() + i) * spec_.inner + k;
          if (spec_.forward()) {
            made[in_dst] = given[in_src];
          } else {
            made[in_src] += given[in_dst];
          }
        }
      }
    }
    write(pointers, spec_.forward() ? Slot::dst : Slot::diff_src,
          std::vector<float>(made.begin(), made.end()));
  }
};

const Registration<Implementation<Gather>> BENCH_REGISTERED{
    reference_implementation<Gather, ReferenceGather>()};

}  // namespace
}  // namespace bench::kernels
